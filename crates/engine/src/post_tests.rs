//! A publisher and the gates that its deliveries wait for.

use super::*;
use crate::connection_handle::ConnectionHandle;
use crate::origin::Origin;
use slipring_core::{ConnectionKey, Plan};
use slipring_journal::{CommitProgress, JournalOptions};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_publisher_is_woken_for_what_waits_for_a_gate_that_none_of_its_answers_has() {
    let (broker, _) = Broker::open(Plan::default(), None, JournalOptions::default()).unwrap();
    let origin = Origin { address: "here".into(), listener: 0, user: None, certificates: None };
    let (connection, count) = (
        Arc::new(ConnectionHandle::new(ConnectionKey::new(1), origin, 0)),
        Arc::new(Count::default()),
    );
    connection.waker.register(&Waker::from(Arc::clone(&count)));
    let mut post = Post::default();
    post.send_after(&broker, Gate { level: Durability::Disk, mark: 10 }, Vec::new());
    post.release_for(&broker, &connection);
    post.release_for(&broker, &connection);
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
    broker.journal.gates.progress(&CommitProgress {
        written: 10,
        synced: 10,
        ..CommitProgress::default()
    });
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    post.release_for(&broker, &connection);
    assert!(post.later.is_empty());
}
