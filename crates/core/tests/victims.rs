//! Messages that are dropped from a queue, or freed in flight: in which order, who is told, and what comes next (T12).

use std::sync::Arc;

use slipring_core::{
    ConnectionKey, DROPPED_PROPERTY, Delivery, Limit, Limits, Message, Outgoing, PRIORITY_PROPERTY,
    Packets, Priority, RetainedPage, SessionKey, Terms, Victims,
};
use slipring_wire::{
    Packet, PacketId, PacketSplit, PropertiesBuf, PropertyId, Publish, QoS, Value, Version,
    split_packet,
};

const PUBLISHER: SessionKey = SessionKey::new(7);
const TERMS: Terms =
    Terms { version: Version::V5, receive_max: 100, packet_bytes: u32::MAX, topic_aliases: 0 };

fn push(outgoing: &mut Outgoing, payload: &str, qos: QoS, priority: Priority) {
    let mut properties = PropertiesBuf::new();
    let pair = Value::Pair(PRIORITY_PROPERTY, priority.name());
    properties.push(PropertyId::UserProperty, pair);
    let properties = properties.borrow();
    let publish = Publish { qos, properties, ..Publish::new("t", payload.as_bytes()) };
    let message = Arc::new(Message::new(&publish, "t".into(), 0).by(PUBLISHER));
    let priority = message.priority(Priority::Normal);
    outgoing.push(Delivery { priority, ..Delivery::plain(message, qos) });
}

fn connect(outgoing: &mut Outgoing, key: u64, limits: &Limits) {
    outgoing.attach(ConnectionKey::new(key), TERMS, limits);
}

/// The packets that are sent now, in words.
fn take(outgoing: &mut Outgoing) -> Vec<String> {
    let mut packets = Packets::default();
    outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut packets);
    let bytes = packets.to_vec();
    let (mut rest, mut sent) = (&bytes[..], Vec::new());
    while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
        sent.push(match Packet::decode(&whole, Version::V5).unwrap() {
            Packet::Publish(publish) => {
                let told = publish.properties.iter().find_map(|(_, value)| match value {
                    Value::Pair(DROPPED_PROPERTY, count) => Some(format!(" after {count}")),
                    _ => None,
                });
                String::from_utf8_lossy(publish.payload).into_owned() + &told.unwrap_or_default()
            }
            Packet::PubRel(ack) => format!("release {}", ack.packet_id.get()),
            other => format!("{other:?}"),
        });
        rest = &rest[whole.length..];
    }
    sent
}

fn lost(outgoing: &mut Outgoing) -> Option<(u64, Limit)> {
    let mut victims = Victims::default();
    outgoing.take_victims(&mut victims);
    victims.publishers().get(&PUBLISHER).map(|loss| (loss.messages, loss.limit))
}

#[test]
fn lower_priorities_are_dropped_first_and_their_publisher_is_told() {
    let limits = Limits::default();
    let mut outgoing = Outgoing::new(&limits);
    for (payload, priority) in [
        ("high", Priority::High),
        ("normal", Priority::Normal),
        ("low", Priority::Low),
        ("newer", Priority::Normal),
    ] {
        push(&mut outgoing, payload, QoS::AtLeastOnce, priority);
    }
    assert_eq!(outgoing.shrink_queue(Priority::Low, 0), 1);
    assert_eq!(lost(&mut outgoing), Some((1, Limit::MemoryBytes)));
    assert_eq!(outgoing.shrink_queue(Priority::Normal, 0), 2);
    assert_eq!(lost(&mut outgoing), Some((2, Limit::MemoryBytes)));
    assert_eq!(lost(&mut outgoing), None, "they are told once");
    connect(&mut outgoing, 1, &limits);
    assert_eq!(take(&mut outgoing), ["high after 3"]);
}

#[test]
fn a_full_queue_tells_who_published_what_it_drops() {
    let limits = Limits { queue_messages: 2, ..Limits::default() };
    let mut outgoing = Outgoing::new(&limits);
    for payload in ["1", "2", "3", "4"] {
        push(&mut outgoing, payload, QoS::AtLeastOnce, Priority::Normal);
    }
    assert_eq!(lost(&mut outgoing), Some((2, Limit::QueueMessages)));
}

#[test]
fn what_is_freed_in_flight_can_be_acknowledged_and_is_lost_on_the_next_connection() {
    let limits = Limits::default();
    let mut outgoing = Outgoing::new(&limits);
    connect(&mut outgoing, 1, &limits);
    for (payload, qos) in [
        ("acknowledged", QoS::AtLeastOnce),
        ("lost", QoS::AtLeastOnce),
        ("received", QoS::ExactlyOnce),
        ("perhaps", QoS::ExactlyOnce),
    ] {
        push(&mut outgoing, payload, qos, Priority::Normal);
    }
    assert_eq!(take(&mut outgoing).len(), 4);
    let before = outgoing.sent_bytes();
    assert_eq!(outgoing.forget_sent(Priority::High, 0), 0);
    assert_eq!(outgoing.sent_bytes(), before, "they have another priority");
    outgoing.forget_sent(Priority::Normal, 0);
    assert_eq!((outgoing.sent_bytes(), outgoing.inflight()), (0, 4));
    assert_eq!(lost(&mut outgoing), Some((4, Limit::MemoryBytes)));
    let id = |number| PacketId::new(number).unwrap();
    assert!(outgoing.acked(id(1)), "the client has it after all");
    assert!(!outgoing.acked(id(3)), "PUBACK is not for QoS 2 (MQTT-4.3.3-3)");
    assert!(outgoing.received(id(3), false) && outgoing.completed(id(3)));
    connect(&mut outgoing, 2, &limits);
    push(&mut outgoing, "next", QoS::AtLeastOnce, Priority::Normal);
    assert_eq!(take(&mut outgoing), ["release 4", "next after 2"]);
    assert!(outgoing.completed(id(4)));
}
