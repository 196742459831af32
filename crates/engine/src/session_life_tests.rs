//! Sessions that come back, over connections without sockets.

use std::sync::Arc;
use std::time::Duration;

use slipring_core::{Plan, Priority};
use slipring_journal::JournalOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use crate::broker::Broker;
use crate::connection::{self, FirstBytes};
use crate::origin::Origin;

/// CONNECT of MQTT 5 as `c`, without a clean start; its session is kept for an hour.
const CONNECT: &[u8] = b"\x10\x13\x00\x04MQTT\x05\x00\x00\x3c\x05\x11\x00\x00\x0e\x10\x00\x01c";
/// The place of "session present" in CONNACK, behind its length.
const SESSION_PRESENT: usize = 2;

fn broker() -> Arc<Broker> {
    Arc::new(Broker::open(Plan::default(), None, JournalOptions::default()).unwrap().0)
}

/// Connects; whether there was a session.
async fn connect(broker: &Arc<Broker>) -> (DuplexStream, bool) {
    let (mut near, far) = duplex(8 << 20);
    let origin = Origin { address: "here".into(), listener: 0, user: None, certificates: None };
    let heard = FirstBytes::nothing(broker);
    tokio::spawn(connection::serve(far, heard, origin, Arc::clone(broker)));
    near.write_all(CONNECT).await.unwrap();
    let mut connack = [0; 64];
    let count = near.read(&mut connack).await.unwrap();
    assert_eq!((connack[0], connack[3]), (0x20, 0), "{:?}", &connack[..count]);
    (near, connack[SESSION_PRESENT] == 1)
}

/// Loses the connection, and waits until the broker knows.
async fn lose(broker: &Broker, line: DuplexStream) {
    drop(line);
    while broker.sessions.registry().sessions["c"].connection().is_some() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_session_past_its_time_is_over_although_nobody_has_ended_it_yet() {
    let broker = broker();
    let (line, is_there) = connect(&broker).await;
    assert!(!is_there);
    lose(&broker, line).await;
    let (line, is_there) = connect(&broker).await;
    assert!(is_there, "its hour is not over");
    let first = Arc::clone(&broker.sessions.registry().sessions["c"]);
    lose(&broker, line).await;
    first.state().expires_ms = Some(broker.clock.now_ms()); // no timer runs that would end it
    let (_line, is_there) = connect(&broker).await;
    assert!(!is_there);
    assert!(first.state().ended);
    assert_ne!(broker.sessions.registry().sessions["c"].key, first.key);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_took_its_session_over_is_patient_for_its_keep_alive() {
    let broker = broker();
    let (_earlier, _) = connect(&broker).await;
    let (mut line, is_there) = connect(&broker).await;
    assert!(is_there);
    let connect_ms = broker.plan.load().limits.connect_ms;
    let quiet = Duration::from_millis(connect_ms) + Duration::from_secs(1);
    assert!(quiet < Duration::from_secs(60), "{quiet:?} is within its keep-alive");
    let more = tokio::time::timeout(quiet, line.read_u8()).await;
    assert!(more.is_err(), "it is told nothing, and is not disconnected: {more:?}");
}

#[tokio::test]
async fn a_client_that_takes_over_its_own_connection_needs_no_further_one() {
    let broker = broker();
    let (_line, _) = connect(&broker).await;
    let mut plan = Plan::clone(&broker.plan.load());
    plan.limits.connections = 0; // since then
    broker.plan.store(Arc::new(plan));
    let (_line, is_there) = connect(&broker).await;
    assert!(is_there);
}

/// Reads what is there; whether PINGRESP was among it, which no payload looks like.
async fn hears_ping(line: &mut DuplexStream) -> bool {
    let mut bytes = vec![0; 1 << 16];
    let count = line.read(&mut bytes).await.unwrap();
    bytes[..count].windows(2).any(|pair| pair == b"\xd0\x00")
}

#[tokio::test]
async fn a_client_that_always_has_more_to_get_is_heard() {
    let broker = broker();
    let (mut line, _) = connect(&broker).await;
    let client = Arc::clone(&broker.sessions.registry().sessions["c"]);
    let flood = tokio::spawn(async move {
        loop {
            while client.outgoing().outbox_bytes() < 4 << 20 {
                client.outgoing().push_encoded(
                    &[b"\x30\xff\x07\x00\x01t", &[b'x'; 1_020][..]].concat(),
                    None,
                    Priority::Normal,
                );
            }
            client.wake();
            tokio::task::yield_now().await;
        }
    });
    line.write_all(b"\xc0\x00").await.unwrap();
    let mut reads = 0;
    while !hears_ping(&mut line).await {
        reads += 1;
        assert!(reads < 2_000, "no answer in {} MiB", reads >> 4);
    }
    flood.abort();
}
