//! What a status must not hold up.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use slipring_core::Plan;
use slipring_journal::JournalOptions;

use super::*;
use crate::returning::tests::connect;

#[test]
fn a_status_and_a_session_that_ends_do_not_wait_for_each_other() {
    let opened = Broker::open(Plan::default(), None, JournalOptions::default());
    let broker = Arc::new(opened.unwrap().0);
    let client = connect(&broker, b'a').client.clone().unwrap();
    let (done, is_done) = channel();
    let repeat = |work: fn(&Broker, &Client)| {
        let (broker, client, done) = (Arc::clone(&broker), Arc::clone(&client), done.clone());
        thread::spawn(move || {
            (0..20_000).for_each(|_| work(&broker, &client));
            done.send(()).unwrap();
        });
    };
    repeat(|broker, _| {
        broker.shortage.last_look.forget();
        broker.status();
    });
    repeat(|broker, client| {
        let _registry = broker.sessions.registry(); // as the end of a session does
        broker.topics.leave(client, &[]);
    });
    for _ in 0..2 {
        is_done.recv_timeout(Duration::from_secs(60)).expect("they wait for each other");
    }
}
