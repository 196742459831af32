//! Wherever a crash cuts the journal off, a will is still pending in it, or published, and never both.

use std::path::PathBuf;
use std::time::Duration;

use slipring_core::ledger::{BatchHead, Ledger};
use slipring_core::{JournalRule, Offset, Plan};
use slipring_journal::{JournalOptions, StateBatch};
use slipring_wire::{Connect, Packet, Properties, PropertiesBuf, PropertyId, QoS, Value, Will};
use tokio::time::timeout;

use super::*;
use crate::connection_end::ConnectionEnd;
use crate::connection_handle::ConnectionHandle;
use crate::origin::Origin;
use crate::party::Party;
use crate::test_peer::{Terms, TestPeer};

const HOUR_S: u32 = 3_600;

/// How many wills are pending in the journal, and how many are published.
type Wills = (usize, usize);

const PENDING: Wills = (1, 0);
const PUBLISHED: Wills = (0, 1);

/// A broker with a journal in a folder that goes when the test ends.
struct Journaling {
    broker: Arc<Broker>,
    folder: PathBuf,
}

impl Journaling {
    fn new(name: &str) -> Self {
        let folder = format!("slipring-wills-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let journal = JournalRule::new(vec!["#".to_owned()]).unwrap();
        let plan = Plan { journal, ..Plan::default() };
        let (broker, _) = Broker::open(plan, Some(&folder), JournalOptions::default()).unwrap();
        Self { broker: Arc::new(broker), folder }
    }

    /// What each beginning of the journal has of the wills, as far as it changes.
    fn wills(&self) -> Vec<Wills> {
        self.broker.journal.sync().unwrap();
        let (mut ledger, mut published, mut found) = (Ledger::default(), 0, Vec::new());
        let mut reader = self.broker.journal.get().unwrap().reader();
        let follow = &mut |batch: StateBatch<'_>| {
            let base_offset = Offset::new(batch.base_offset);
            let (messages, receive_ns) = (batch.count, batch.receive_ns);
            ledger.apply(BatchHead { base_offset, messages, receive_ns }, batch.records).unwrap();
            published += batch.messages().filter(|(_, message)| message.topic == "will").count();
            let pending = ledger.sessions().values().filter(|kept| kept.will.is_some()).count();
            found.push((pending, published));
        };
        reader.follow(None, follow).unwrap();
        found.dedup();
        found
    }

    /// The same, once the will is published.
    async fn wills_at_last(&self) -> Vec<Wills> {
        loop {
            let found = self.wills();
            if found.last().is_some_and(|(_, published)| *published > 0) {
                return found;
            }
            tokio::task::yield_now().await;
        }
    }
}

impl Drop for Journaling {
    fn drop(&mut self) {
        let _ = self.broker.journal.close();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn dying(expiry_s: u32, delay_s: u32) -> Terms {
    Terms { expiry_s, will_delay_s: Some(delay_s), ..Terms::new("dying") }
}

#[tokio::test]
async fn the_will_of_a_kept_session_is_pending_until_it_is_published() {
    let journaling = Journaling::new("kept");
    let (peer, _) = TestPeer::connect(&journaling.broker, dying(HOUR_S, 0)).await;
    peer.lose(&journaling.broker).await;
    assert_eq!(journaling.wills_at_last().await, [PENDING, PUBLISHED]);
}

#[tokio::test]
async fn the_will_of_a_session_that_ends_with_its_connection_is_pending_until_it_is_published() {
    let journaling = Journaling::new("ending");
    let (peer, _) = TestPeer::connect(&journaling.broker, dying(0, 600)).await;
    peer.lose(&journaling.broker).await;
    assert_eq!(journaling.wills_at_last().await, [PENDING, PUBLISHED]);
}

#[tokio::test]
async fn the_will_of_a_session_that_an_operator_ends_is_pending_until_it_is_published() {
    let journaling = Journaling::new("operator");
    let (_peer, _) = TestPeer::connect(&journaling.broker, dying(HOUR_S, 600)).await;
    assert!(journaling.broker.end_by_operator("dying").await);
    assert_eq!(journaling.wills(), [PENDING, PUBLISHED]);
}

#[tokio::test]
async fn the_will_of_a_session_that_a_clean_start_ends_is_pending_until_it_is_published() {
    let journaling = Journaling::new("clean-start");
    let (peer, _) = TestPeer::connect(&journaling.broker, dying(HOUR_S, 600)).await;
    peer.lose(&journaling.broker).await;
    let again = Terms { clean_start: true, will_delay_s: None, ..dying(HOUR_S, 0) };
    let (_peer, session_present) = TestPeer::connect(&journaling.broker, again).await;
    assert!(!session_present);
    assert_eq!(journaling.wills(), [PENDING, PUBLISHED]);
}

#[tokio::test]
async fn a_client_that_comes_back_waits_until_the_journal_has_its_will() {
    let journaling = Journaling::new("back");
    let broker = &journaling.broker;
    let (_peer, _) = TestPeer::connect(broker, dying(HOUR_S, 0)).await;
    let client = Arc::clone(&broker.sessions.registry().sessions["dying"]);
    let connection = client.connection().unwrap();
    let underway = broker.leave(&client, &connection, true, None).expect("a will is due");
    let mut back = Box::pin(TestPeer::connect(broker, dying(HOUR_S, 0)));
    assert!(timeout(Duration::from_millis(50), &mut back).await.is_err(), "it waits");
    publish(broker, &mut Feed::default(), underway).await;
    let (_peer, session_present) = back.await;
    assert!(session_present);
    assert_eq!(journaling.wills(), [PENDING, PUBLISHED, (1, 1)], "its next will is pending");
}

#[tokio::test]
async fn a_session_that_is_taken_by_force_has_the_will_of_its_earlier_connection_published() {
    let journaling = Journaling::new("force");
    let broker = &journaling.broker;
    let mut stuck = stuck_party(broker).await;
    let without_will = Terms { will_delay_s: None, ..dying(HOUR_S, 0) };
    let (_peer, session_present) = TestPeer::connect(broker, without_will).await;
    assert!(session_present);
    assert_eq!(journaling.wills(), [PENDING, PUBLISHED]);
    stuck.leave(&ConnectionEnd::Lost("late".into())).await;
    assert_eq!(journaling.wills(), [PENDING, PUBLISHED], "it has no will any more");
}

/// A client with a will, by a connection that does not let go of its session when it is asked to.
async fn stuck_party(broker: &Arc<Broker>) -> Party {
    let origin = Origin { address: "here".into(), listener: 0, user: None, certificates: None };
    let key = broker.connections.next_key();
    let connection = ConnectionHandle::new(key, origin, broker.clock.now_ns());
    let mut party = Party::new(Arc::clone(broker), Arc::new(connection));
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::SessionExpiryInterval, Value::Four(HOUR_S));
    let (qos, none) = (QoS::AtLeastOnce, Properties::NONE);
    let connect = Packet::Connect(Box::new(Connect {
        version: Version::V5,
        clean_start: false,
        keep_alive_s: 0,
        client_id: "dying",
        properties: properties.borrow(),
        will: Some(Will { topic: "will", payload: b"gone", qos, retain: false, properties: none }),
        user_name: None,
        password: None,
    }));
    party.take(connect).unwrap();
    party.feed.journal(broker).await.unwrap();
    party
}
