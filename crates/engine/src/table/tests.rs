//! What a publisher's samples make the table do, without sockets; neither the beat nor the readers' task runs.

use std::sync::Arc;
use std::time::Duration;

use slipring_core::desk::{DeclaredEntry, Desk};
use slipring_core::table::{Definition, Needs, Table};
use slipring_core::{Limits, Plan};
use slipring_journal::JournalOptions;
use slipring_wire::frame::{CONTENT_TYPE, FrameBuf, Header, Kind, Qualities, Quality};
use slipring_wire::{
    Packet, PacketId, PropertiesBuf, PropertyId, Publish, Subscribe, Subscription, Value, Version,
};
use tokio::time::{sleep, timeout_at};

use crate::broker::Broker;
use crate::party::Party;
use crate::returning::tests::{connect, take};
use crate::test_peer::{Terms, TestPeer, Told, running};

const PARAMETERS: u32 = 2_000;
const ALL: std::ops::Range<u32> = 0..PARAMETERS;

/// A broker and the publisher of its parameters.
fn world() -> (Arc<Broker>, Party) {
    let broker =
        Arc::new(Broker::open(Plan::default(), None, JournalOptions::default()).unwrap().0);
    let jet = declare(&broker, r#"{"type": "u8"}"#);
    (broker, jet)
}

/// The publisher of parameters that are all defined like this.
fn declare(broker: &Arc<Broker>, definition: &str) -> Party {
    let jet = connect(broker, b'j');
    let definition = Definition::from_json(definition).unwrap();
    let entry = |at| DeclaredEntry::new(at as usize, format!("p/{at}"), definition.clone());
    let asked: Vec<_> = ALL.map(entry).collect();
    let key = jet.client.as_ref().unwrap().key;
    let mut inner = broker.table.lock();
    let bounds = Table::bounds(&Limits::default());
    let declared = inner.table.registry.declare(key, "j", &asked, &bounds, Vec::new()).unwrap();
    inner.table.changed(&declared.change, broker.clock.arrival());
    drop(inner);
    broker.table.begin_use(broker);
    jet
}

/// The packet of a frame with a sample of each parameter.
fn frame(broker: &Broker) -> Vec<u8> {
    let (table, time_ns) =
        (broker.table.lock().table.registry.entries().id(), broker.clock.now_ns());
    let (mut buf, mut payload, mut bytes) = (FrameBuf::new(), Vec::new(), Vec::new());
    let (values, qualities) = (vec![1; PARAMETERS as usize], Qualities::All(Quality::GOOD));
    let all = std::slice::from_ref(&ALL);
    buf.push_row(Kind::U8, all, time_ns, qualities, &values).unwrap();
    let header = Header { table, sequence: 0, sent_ns: time_ns, hops: None };
    buf.finish(&header, false, &mut payload);
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::ContentType, Value::Text(CONTENT_TYPE));
    let properties = properties.borrow();
    Packet::Publish(Publish { properties, ..Publish::new("f", &payload) })
        .encode(Version::V5, &mut bytes);
    bytes
}

fn publish(jet: &mut Party, frame: &[u8]) {
    let broker = Arc::clone(&jet.broker);
    jet.feed.begin(&broker, broker.clock.now_ns());
    take(jet, frame);
    assert!(jet.feed.refusal.is_none() && broker.table.status().refused == 0);
}

/// A client subscribes with these needs.
fn choose(client: &mut Party, filter: &str, needs: &[(&str, &str)]) {
    let mut properties = PropertiesBuf::new();
    for (name, text) in needs {
        properties.push(PropertyId::UserProperty, Value::Pair(name, text));
    }
    let (packet_id, properties) = (PacketId::new(1).unwrap(), properties.borrow());
    let subscriptions = vec![Subscription::new(filter)];
    let mut bytes = Vec::new();
    Packet::Subscribe(Subscribe { packet_id, properties, subscriptions })
        .encode(Version::V5, &mut bytes);
    while !take(client, &bytes) {
        client.feed.work.begin_long();
    }
}

#[test]
fn the_beat_learns_what_is_due_after_what_was_due_at_once() {
    let (broker, mut jet) = world();
    let mut client = connect(&broker, b'c');
    choose(&mut client, "$selection/now/#", &[("deliver", "frame"), ("beat", "0")]);
    choose(&mut client, "$selection/soon/#", &[("deliver", "frame"), ("beat", "5000")]);
    publish(&mut jet, &frame(&broker));
    broker.table.lock().beat_ms = u64::MAX;
    publish(&mut jet, &frame(&broker));
    let inner = broker.table.lock();
    assert_eq!(inner.next_due_ms(), Some(inner.beat_ms));
}

/// How many frames a publisher sends in a long turn.
fn frames_in_a_turn(broker: &Arc<Broker>, jet: &mut Party) -> usize {
    let frame = frame(broker);
    jet.feed.work.begin_long();
    let mut frames = 0;
    while !jet.feed.work.is_over() {
        publish(jet, &frame);
        frames += 1;
    }
    frames
}

#[test]
fn what_selections_and_readers_get_of_a_frame_is_work_of_its_publisher() {
    let needs: &[(&str, &str)] = &[("deliver", "frame"), ("beat", "0")];
    for (needs, what) in [(needs, "selections"), (&[], "readers")] {
        let (broker, mut jet) = world();
        let alone = frames_in_a_turn(&broker, &mut jet);
        let mut clients: Vec<Party> = (b'a'..b'i').map(|name| connect(&broker, name)).collect();
        for client in &mut clients {
            choose(client, "#", needs);
        }
        let with_others = frames_in_a_turn(&broker, &mut jet);
        assert!(with_others < alone, "{what}: {with_others} frames, {alone} without them");
    }
}

#[test]
fn a_shared_subscription_that_began_anew_is_read_once() {
    const FILTER: &str = "$share/g/#";
    let (broker, _jet) = world();
    let (mut first, mut second) = (connect(&broker, b'a'), connect(&broker, b'b'));
    choose(&mut first, FILTER, &[]);
    let first = first.client.unwrap();
    // The last member leaves the routes, another one comes, and then the table learns of the first.
    let (_, options) = first.state().session.plain().next().unwrap();
    let left = slipring_core::Options { needs: Some(Needs::default()), ..options };
    broker.subscribe(&first, std::iter::once((FILTER, left)));
    choose(&mut second, FILTER, &[]);
    broker.table.stop_reading(&broker.topics, &first, &[FILTER]);
    assert_eq!(broker.table.lock().table.readers.count(), (1, 0));
}

#[test]
fn a_subscriber_that_waits_for_text_does_not_delay_the_mending_of_others() {
    let (broker, mut jet) = world();
    let mut waiting: Vec<Party> = (b'A'..=b'Z').map(|name| connect(&broker, name)).collect();
    for client in &mut waiting {
        choose(client, "#", &[("deliver", "text")]);
    }
    let mut other = connect(&broker, b'o');
    choose(&mut other, "#", &[("deliver", "frame")]);
    publish(&mut jet, &frame(&broker));
    let key = |party: &Party| party.client.as_ref().unwrap().key;
    let mut inner = broker.table.lock();
    for session in waiting.iter().chain([&other]).map(key) {
        assert!(inner.table.groups.missed(session));
        inner.mending.insert(session);
    }
    inner.mend(&broker, &mut jet.feed.post);
    assert!(!inner.mending.contains(&key(&other)));
    assert_eq!(inner.mending.len(), waiting.len());
}

#[tokio::test(start_paused = true)]
async fn samples_are_gathered_for_the_beat_of_a_selection() {
    let broker = running(Plan::default());
    let mut jet = declare(&broker, r#"{"type": "u8"}"#);
    let (mut client, _) = TestPeer::connect(&broker, Terms::new("c")).await;
    client.subscribe("$selection/s/p/1", &[("deliver", "frame"), ("beat", "200")]).await;
    let mut sent_ms = Vec::new();
    for _ in 0..20 {
        publish(&mut jet, &frame(&broker));
        jet.finish();
        let until = broker.clock.now() + Duration::from_millis(50);
        while let Ok(told) = timeout_at(until, client.next()).await {
            assert!(matches!(told, Told::Message(..)));
            sent_ms.push(broker.clock.now_ms());
        }
    }
    assert_eq!(sent_ms, [0, 200, 400, 600, 800], "the first at once, then one for each beat");
}

#[tokio::test(start_paused = true)]
async fn a_parameter_that_is_silent_for_five_periods_is_stale() {
    let broker = running(Plan::default());
    let mut jet = declare(&broker, r#"{"type": "u8", "rate_hz": 0.1}"#);
    for _ in 0..10 {
        publish(&mut jet, &frame(&broker));
        jet.finish();
        sleep(Duration::from_secs(49)).await;
        assert_eq!(broker.table.status().stale, 0);
    }
    sleep(Duration::from_secs(2)).await;
    assert_eq!(broker.table.status().stale, PARAMETERS as usize);
}
