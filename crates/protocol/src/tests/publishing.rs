//! Messages at QoS 1 and 2: the window, the acknowledgements, and the events for them.

use super::*;

fn message(topic: &str, qos: QoS) -> Publish<'_> {
    Publish { qos, ..Publish::new(topic, b"x") }
}

fn ack(
    kind: fn(slipring_wire::Ack<'static>) -> Packet<'static>,
    id: u16,
    reason: Reason,
) -> Vec<u8> {
    let packet_id = PacketId::new(id).unwrap();
    bytes(&kind(slipring_wire::Ack { packet_id, reason, properties: Properties::NONE }))
}

fn puback(id: u16) -> Vec<u8> {
    ack(Packet::PubAck, id, Reason::Success)
}

fn window_of(most: u16) -> PropertiesBuf {
    let mut terms = PropertiesBuf::new();
    terms.push(PropertyId::ReceiveMaximum, Value::Two(most));
    terms
}

/// The identifiers of the messages in these bytes.
fn sent(output: &[u8]) -> Vec<u16> {
    let (mut rest, mut ids) = (output, Vec::new());
    while let Ok(slipring_wire::PacketSplit::Whole(whole)) =
        slipring_wire::split_packet(rest, usize::MAX)
    {
        if let Ok(Packet::Publish(publish)) = Packet::decode(&whole, Version::V5) {
            ids.extend(publish.packet_id.map(PacketId::get));
        }
        rest = &rest[whole.length..];
    }
    ids
}

fn published(id: PublishId, outcome: PublishOutcome) -> ProtocolEvent {
    ProtocolEvent::Client(ClientEvent::Published { id, outcome })
}

#[test]
fn a_message_at_qos_1_is_reported_when_the_broker_has_it() {
    let now = Instant::now();
    let mut protocol = open(now);
    let id = protocol.publish(&message("a/b", QoS::AtLeastOnce)).unwrap().unwrap();
    assert_eq!(output(&mut protocol, now), b"\x32\x09\0\x03a/b\0\x01\0x");
    let told = feed(&mut protocol, &puback(1), now);
    assert_eq!(told, [published(id, PublishOutcome::Acknowledged)]);
    assert!(feed(&mut protocol, &puback(1), now).is_empty(), "told once");
    assert_eq!(protocol.unacknowledged_bytes(), 0);
}

#[test]
fn a_refusal_is_reported_with_the_brokers_reason_and_words() {
    let now = Instant::now();
    let mut protocol = open(now);
    let mut words = PropertiesBuf::new();
    words.push(PropertyId::ReasonString, Value::Text("disk full"));
    for (qos, packet) in [
        (QoS::AtLeastOnce, Packet::PubAck as fn(_) -> _),
        (QoS::ExactlyOnce, Packet::PubRec as fn(_) -> _),
    ] {
        let id = protocol.publish(&message("a", qos)).unwrap().unwrap();
        let packet_id = PacketId::new(sent(&output(&mut protocol, now))[0]).unwrap();
        let reason = Reason::QuotaExceeded;
        let properties = words.borrow();
        let refusal = packet(slipring_wire::Ack { packet_id, reason, properties });
        let outcome = PublishOutcome::Refused { reason, text: Some("disk full".to_owned()) };
        assert_eq!(feed(&mut protocol, &bytes(&refusal), now), [published(id, outcome)]);
        assert!(protocol.output().is_empty(), "a refused message is not released");
    }
}

#[test]
fn a_message_at_qos_2_is_released_and_then_reported() {
    let now = Instant::now();
    let mut protocol = open(now);
    let id = protocol.publish(&message("a", QoS::ExactlyOnce)).unwrap().unwrap();
    assert_eq!(output(&mut protocol, now), b"\x34\x07\0\x01a\0\x01\0x");
    let received = ack(Packet::PubRec, 1, Reason::Success);
    for _ in 0..2 {
        assert!(feed(&mut protocol, &received, now).is_empty());
        assert_eq!(output(&mut protocol, now), [0x62, 2, 0, 1]);
    }
    let told = feed(&mut protocol, &ack(Packet::PubComp, 1, Reason::Success), now);
    assert_eq!(told, [published(id, PublishOutcome::Acknowledged)]);
    assert!(feed(&mut protocol, &received, now).is_empty());
    assert_eq!(output(&mut protocol, now), [0x62, 3, 0, 1, 0x92], "it is not known any more");
}

#[test]
fn no_more_messages_are_in_flight_than_the_broker_allows() {
    let now = Instant::now();
    let mut protocol = open_with(&window_of(2), now);
    for _ in 0..5 {
        protocol.publish(&message("a", QoS::AtLeastOnce)).unwrap();
    }
    assert_eq!(sent(&output(&mut protocol, now)), [1, 2]);
    assert!(protocol.waiting_bytes() > 0);
    feed(&mut protocol, &puback(2), now);
    assert_eq!(sent(&output(&mut protocol, now)), [3]);
    feed(&mut protocol, &[puback(1), puback(3)].concat(), now);
    assert_eq!(sent(&output(&mut protocol, now)), [4, 5]);
    assert_eq!(protocol.waiting_bytes(), 0);
    protocol.publish(&message("b", QoS::AtMostOnce)).unwrap();
    assert!(!protocol.output().is_empty(), "QoS 0 has no window");
}

#[test]
fn an_identifier_in_use_is_passed_over() {
    let now = Instant::now();
    let mut protocol = open(now);
    protocol.publish(&message("a", QoS::AtLeastOnce)).unwrap();
    protocol.subscribe(&["b"], QoS::AtMostOnce, &[]).unwrap();
    output(&mut protocol, now);
    protocol.newest_packet_id = u16::MAX;
    protocol.publish(&message("a", QoS::AtLeastOnce)).unwrap();
    assert_eq!(sent(&output(&mut protocol, now)), [3]);
}

#[test]
fn a_batch_is_reported_once_when_all_of_it_is_acknowledged() {
    let now = Instant::now();
    let mut protocol = open(now);
    let batch = protocol.open_batch();
    for _ in 0..1000 {
        protocol.publish_in(batch, &message("a", QoS::AtLeastOnce)).unwrap();
    }
    protocol.publish_in(batch, &message("a", QoS::AtMostOnce)).unwrap();
    let mut acks: Vec<Vec<u8>> = (1..=1000).map(puback).collect();
    let first = acks.remove(0);
    let mut told = Vec::new();
    for ack in acks {
        told.extend(feed(&mut protocol, &ack, now));
    }
    assert!(told.is_empty());
    let tally = protocol.tally(batch);
    assert_eq!((tally.outstanding, tally.settled), (1, 1), "the first one is missing");
    assert_eq!(
        feed(&mut protocol, &first, now),
        [ProtocolEvent::Client(ClientEvent::Tallied(batch))]
    );
    let whole = PublishTally { accepted: 1001, settled: 1001, ..PublishTally::default() };
    assert_eq!(protocol.tally(batch), whole);
    protocol.close_batch(batch);
    assert_eq!(protocol.tally(batch), PublishTally::default());
}

#[test]
fn the_first_refusal_of_a_batch_is_reported_at_once_with_its_position() {
    let now = Instant::now();
    let mut protocol = open(now);
    let batch = protocol.open_batch();
    for _ in 0..4 {
        protocol.publish_in(batch, &message("a", QoS::AtLeastOnce)).unwrap();
    }
    let refused = |id| ack(Packet::PubAck, id, Reason::QuotaExceeded);
    let news = [ProtocolEvent::Client(ClientEvent::Tallied(batch))];
    assert_eq!(feed(&mut protocol, &refused(3), now), news);
    assert!(feed(&mut protocol, &refused(2), now).is_empty(), "no news");
    feed(&mut protocol, &[puback(1), puback(4)].concat(), now);
    let outcome = PublishOutcome::Refused { reason: Reason::QuotaExceeded, text: None };
    assert_eq!(protocol.tally(batch).fault, Some((1, outcome)));
}

#[test]
fn goodbye_waits_for_acknowledgements_but_not_for_ever() {
    let now = Instant::now();
    let mut protocol = open(now);
    protocol.publish(&message("a", QoS::AtLeastOnce)).unwrap();
    output(&mut protocol, now);
    protocol.disconnect(S, now);
    assert!(protocol.is_draining() && protocol.output().is_empty());
    assert!(protocol.publish(&message("a", QoS::AtLeastOnce)).is_err());
    let late = bytes(&Packet::Publish(Publish::new("a", b"late")));
    assert!(feed(&mut protocol, &late, now).is_empty(), "nobody reads it any more");
    feed(&mut protocol, &puback(1), now);
    assert_eq!(output(&mut protocol, now), [0xe0, 0]);

    let mut protocol = open(now);
    protocol.publish(&message("a", QoS::AtLeastOnce)).unwrap();
    protocol.disconnect(S, now);
    protocol.handle_timeout(now + S);
    assert_eq!(protocol.loss(), Some(&ConnectionLoss::CloseTimeout(S)));
}

#[test]
fn an_acknowledgement_of_the_wrong_kind_breaks_the_rules() {
    let now = Instant::now();
    for (qos, kind) in [
        (QoS::ExactlyOnce, Packet::PubAck as fn(_) -> _),
        (QoS::ExactlyOnce, Packet::PubComp as fn(_) -> _),
        (QoS::AtLeastOnce, Packet::PubRec as fn(_) -> _),
    ] {
        let mut protocol = open(now);
        protocol.publish(&message("a", qos)).unwrap();
        feed(&mut protocol, &ack(kind, 1, Reason::Success), now);
        assert!(protocol.is_closing());
    }
}

#[test]
fn a_qos_the_broker_does_not_have_is_refused() {
    let now = Instant::now();
    let mut terms = PropertiesBuf::new();
    terms.push(PropertyId::MaximumQoS, Value::Byte(1));
    let mut protocol = open_with(&terms, now);
    assert!(protocol.publish(&message("a", QoS::AtLeastOnce)).is_ok());
    assert_eq!(protocol.publish(&message("a", QoS::ExactlyOnce)), Err(SendError::QoS(2, 1)));
}

#[test]
fn memory_is_counted_until_the_broker_has_the_message() {
    let now = Instant::now();
    let mut protocol = open(now);
    let large = [0; 10_000];
    protocol.publish(&Publish { qos: QoS::AtLeastOnce, ..Publish::new("a", &large) }).unwrap();
    protocol.publish(&message("a", QoS::AtLeastOnce)).unwrap();
    let held = protocol.unacknowledged_bytes();
    assert!(held > 10_000);
    feed(&mut protocol, &puback(2), now);
    assert!(protocol.unacknowledged_bytes() > 10_000);
    feed(&mut protocol, &puback(1), now);
    assert_eq!(protocol.unacknowledged_bytes(), 0);
}
