//! A full queue: what its policy does, which limit it names, and what the client is told.

use std::sync::Arc;

use slipring_core::{
    ConnectionKey, DROPPED_PROPERTY, Delivery, Dropped, Limit, Limits, Message, Outgoing, Overflow,
    Packets, Priority, Pushed, RetainedPage, Terms,
};
use slipring_wire::{
    Packet, PacketId, PacketSplit, PropertyId, Publish, QoS, Value, Version, split_packet,
};

const CONNECTION: ConnectionKey = ConnectionKey::new(1);
const TERMS: Terms =
    Terms { version: Version::V5, receive_max: 100, packet_bytes: 200, topic_aliases: 0 };

/// A connected client with room for two messages.
fn here(policy: Overflow) -> (Outgoing, Limits) {
    let limits = Limits {
        inflight: 1,
        queue_messages: 2,
        outbox_bytes: 20,
        qos0_full: policy,
        qos12_full: policy,
        ..Limits::default()
    };
    let mut outgoing = Outgoing::new(&limits);
    outgoing.attach(CONNECTION, TERMS, &limits);
    (outgoing, limits)
}

fn push(outgoing: &mut Outgoing, payload: &str) -> Pushed {
    let publish = Publish { qos: QoS::AtLeastOnce, ..Publish::new("t", payload.as_bytes()) };
    let message = Arc::new(Message::new(&publish, "t".into(), 0));
    outgoing.push(Delivery::plain(message, QoS::AtLeastOnce))
}

fn push_encoded(outgoing: &mut Outgoing, payload: &str) -> Pushed {
    let mut bytes = Vec::new();
    Packet::Publish(Publish::new("t", payload.as_bytes())).encode(Version::V5, &mut bytes);
    outgoing.push_encoded(&bytes, None, Priority::Normal)
}

/// What a take sends: each payload, and the number of dropped messages that it reports.
fn take(outgoing: &mut Outgoing) -> Vec<(String, Option<String>)> {
    let mut packets = Packets::default();
    outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut packets);
    let bytes = packets.to_vec();
    let (mut rest, mut sent) = (&bytes[..], Vec::new());
    while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
        let Ok(Packet::Publish(publish)) = Packet::decode(&whole, Version::V5) else { panic!() };
        let told = publish.properties.iter().find_map(|(id, value)| match (id, value) {
            (PropertyId::UserProperty, Value::Pair(DROPPED_PROPERTY, count)) => Some(count.into()),
            _ => None,
        });
        sent.push((String::from_utf8_lossy(publish.payload).into(), told));
        rest = &rest[whole.length..];
    }
    sent
}

fn dropped(limit: Option<Limit>, messages: u32) -> Pushed {
    Pushed::Dropped(Dropped { limit, messages, wake: false })
}

fn plain(payload: &str) -> (String, Option<String>) {
    (payload.into(), None)
}

fn telling(payload: &str, count: &str) -> (String, Option<String>) {
    (payload.into(), Some(count.into()))
}

#[test]
fn a_full_queue_follows_its_policy_and_names_its_limit() {
    let full = Some(Limit::QueueMessages);
    for (policy, answer, first, second) in [
        (Overflow::DropOldest, dropped(full, 1), "b", "c"),
        (Overflow::DropNewest, dropped(full, 1), "a", "b"),
        (Overflow::Disconnect, Pushed::Overflow(Limit::QueueMessages), "a", "b"),
    ] {
        let (mut outgoing, _) = here(policy);
        assert_eq!(push(&mut outgoing, "a"), Pushed::Wake);
        assert_eq!(push(&mut outgoing, "b"), Pushed::Quiet);
        assert_eq!(push(&mut outgoing, "c"), answer);
        assert_eq!(take(&mut outgoing), [telling(first, "1")], "{policy:?}");
        outgoing.acked(PacketId::new(1).unwrap());
        assert_eq!(take(&mut outgoing), [plain(second)], "reported once");
    }
}

#[test]
fn a_full_outbox_follows_its_policy_and_names_its_limit() {
    let full = Some(Limit::OutboxBytes);
    for (policy, answer, kept) in [
        (Overflow::DropOldest, dropped(full, 1), [telling("b234", "1"), plain("c234")]),
        (Overflow::DropNewest, dropped(full, 1), [telling("a234", "1"), plain("b234")]),
        (
            Overflow::Disconnect,
            Pushed::Overflow(Limit::OutboxBytes),
            [telling("a234", "1"), plain("b234")],
        ),
    ] {
        let (mut outgoing, _) = here(policy);
        assert_eq!(push_encoded(&mut outgoing, "a234"), Pushed::Wake);
        assert_eq!(push_encoded(&mut outgoing, "b234"), Pushed::Quiet);
        assert_eq!(push_encoded(&mut outgoing, "c234"), answer);
        assert_eq!(take(&mut outgoing), kept, "{policy:?}");
    }
}

#[test]
fn a_client_that_is_away_is_not_disconnected_but_loses_the_newest() {
    let (mut outgoing, _) = here(Overflow::Disconnect);
    outgoing.detach(CONNECTION);
    for payload in ["a", "b"] {
        assert_eq!(push(&mut outgoing, payload), Pushed::Quiet);
    }
    assert_eq!(push(&mut outgoing, "c"), dropped(Some(Limit::QueueMessages), 1));
}

#[test]
fn one_large_message_may_replace_several_small_ones() {
    let limits = Limits { queue_bytes: 10, inflight: 1, ..Limits::default() };
    let mut outgoing = Outgoing::new(&limits);
    for payload in ["1", "2", "3", "4", "5"] {
        assert_eq!(push(&mut outgoing, payload), Pushed::Quiet);
    }
    assert_eq!(push(&mut outgoing, "large"), dropped(Some(Limit::QueueBytes), 3));
    // Dropping all others would not be enough, so they stay.
    assert_eq!(push(&mut outgoing, "larger than all"), dropped(Some(Limit::QueueBytes), 1));
}

#[test]
fn a_packet_larger_than_the_client_accepts_is_dropped_and_names_no_limit() {
    let (mut outgoing, _) = here(Overflow::DropOldest);
    let large = "x".repeat(201);
    assert_eq!(push_encoded(&mut outgoing, &large), dropped(None, 1));
    push(&mut outgoing, &large);
    let taken = outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut Packets::default());
    assert_eq!((taken.messages, taken.dropped), (0, 1));
    push(&mut outgoing, "small");
    assert_eq!(take(&mut outgoing), [telling("small", "2")]);
}

#[test]
fn a_full_window_is_reported_once_until_no_message_waits() {
    let limits = Limits { inflight: 1, ..Limits::default() };
    let mut outgoing = Outgoing::new(&limits);
    outgoing.attach(CONNECTION, TERMS, &limits);
    push(&mut outgoing, "a");
    take(&mut outgoing);
    assert_eq!(push(&mut outgoing, "b"), Pushed::Held);
    assert_eq!(push(&mut outgoing, "c"), Pushed::Quiet);
    for id in 1..=3 {
        outgoing.acked(PacketId::new(id).unwrap());
        take(&mut outgoing);
    }
    push(&mut outgoing, "d");
    push(&mut outgoing, "e");
    assert!(
        outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut Packets::default()).held,
        "one of two was sent"
    );
}

#[test]
fn a_window_that_the_client_made_small_is_not_reported() {
    let limits = Limits { inflight: 2, ..Limits::default() };
    let mut outgoing = Outgoing::new(&limits);
    outgoing.attach(CONNECTION, Terms { receive_max: 1, ..TERMS }, &limits);
    push(&mut outgoing, "a");
    take(&mut outgoing);
    assert_eq!(push(&mut outgoing, "b"), Pushed::Quiet);
}
