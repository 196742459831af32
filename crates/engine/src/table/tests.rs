//! What a publisher's samples make the table do, without sockets; neither the beat nor the readers' task runs.

use std::sync::Arc;

use slipring_core::Plan;
use slipring_core::table::{Bounds, Definition, Needs};
use slipring_journal::Options;
use slipring_wire::frame::{CONTENT_TYPE, FrameBuf, Header, Kind, Qualities, Quality};
use slipring_wire::{
    Packet, PacketId, PropertiesBuf, PropertyId, Publish, Subscribe, Subscription, Value, Version,
};

use crate::broker::Broker;
use crate::event::now_ns;
use crate::party::Party;
use crate::returning::tests::{connect, take};

const PARAMETERS: u32 = 2_000;
const ALL: std::ops::Range<u32> = 0..PARAMETERS;

/// A broker and the publisher of its parameters.
fn world() -> (Arc<Broker>, Party) {
    let broker = Arc::new(Broker::open(Plan::default(), None, Options::default()).unwrap().0);
    let jet = connect(&broker, b'j');
    let definition = Definition::from_json(r#"{"type": "u8"}"#).unwrap();
    let asked: Vec<_> = ALL.map(|number| (format!("p/{number}"), definition.clone())).collect();
    let key = jet.client.as_ref().unwrap().key;
    let mut inner = broker.table.lock();
    let bounds = Bounds::default();
    let declared = inner.table.registry.declare(key, "j", &asked, &bounds).unwrap();
    inner.table.changed(&declared.change, broker.arrival(now_ns()));
    drop(inner);
    broker.use_table();
    (broker, jet)
}

/// The packet of a frame with a sample of each parameter.
fn frame(broker: &Broker) -> Vec<u8> {
    let (table, time_ns) = (broker.table.lock().table.registry.id(), now_ns());
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
    jet.feed.begin(&broker, now_ns());
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
    assert_eq!(inner.table.next_due_ms(), Some(inner.beat_ms));
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
    broker.enter_routes(&first, std::iter::once((FILTER, left)));
    choose(&mut second, FILTER, &[]);
    broker.stop_reading(&first, &[FILTER]);
    assert_eq!(broker.table.lock().table.readers.count(), (1, 0));
}

#[test]
fn who_waits_for_text_does_not_keep_others_from_being_mended() {
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
        assert!(inner.table.missed(session));
        inner.mending.insert(session);
    }
    inner.mend(&broker, &mut jet.feed.post);
    assert!(!inner.mending.contains(&key(&other)));
    assert_eq!(inner.mending.len(), waiting.len());
}
