//! The machine as rows: bytes in, events and bytes out, at a time we choose.

mod publishing;
mod receiving;
mod reconnecting;
mod selecting;
mod streaming;

use std::time::{Duration, Instant};

use slipring_wire::{
    ConnAck, Disconnect, Packet, PacketId, Properties, PropertiesBuf, PropertyId, Publish, QoS,
    Reason, SubAck, UnsubAck, Value, Version,
};

use super::*;
use crate::Credentials;

const S: Duration = Duration::from_secs(1);

fn greeting() -> Greeting {
    Greeting {
        client_id: "me".to_owned(),
        credentials: Credentials::default(),
        keep_alive_s: 10,
        timeout: 5 * S,
        packet_bytes_max: 1 << 16,
        session_expiry_s: 0,
        clean_start: true,
        reconnect: Duration::ZERO,
    }
}

fn bytes(packet: &Packet<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(Version::V5, &mut bytes);
    bytes
}

fn connack(reason: Reason, properties: &PropertiesBuf) -> Vec<u8> {
    let properties = properties.borrow();
    bytes(&Packet::ConnAck(ConnAck { session_present: false, reason, properties }))
}

fn feed(machine: &mut Machine, bytes: &[u8], now: Instant) -> Vec<Event> {
    let mut events = Vec::new();
    machine.receive(bytes, now, &mut events);
    events
}

fn output(machine: &mut Machine, now: Instant) -> Vec<u8> {
    machine.take_output(Vec::new(), now)
}

/// A machine whose CONNECT was answered with these properties.
fn open_with(properties: &PropertiesBuf, now: Instant) -> Machine {
    let mut machine = Machine::new(greeting(), now);
    output(&mut machine, now);
    feed(&mut machine, &connack(Reason::Success, properties), now);
    machine
}

fn open(now: Instant) -> Machine {
    open_with(&PropertiesBuf::new(), now)
}

#[test]
fn the_first_output_is_connect_and_the_answer_sets_the_terms() {
    let now = Instant::now();
    let mut machine = Machine::new(greeting(), now);
    assert_eq!(machine.output()[0], 0x10);
    let mut terms = PropertiesBuf::new();
    terms
        .push(PropertyId::AssignedClientIdentifier, Value::Text("yours"))
        .push(PropertyId::ServerKeepAlive, Value::Two(7))
        .push(PropertyId::MaximumPacketSize, Value::Four(100))
        .push(PropertyId::RetainAvailable, Value::Byte(0))
        .push(PropertyId::SubscriptionIdentifierAvailable, Value::Byte(0))
        .push(PropertyId::ReceiveMaximum, Value::Two(5))
        .push(PropertyId::MaximumQoS, Value::Byte(0));
    let events = feed(&mut machine, &connack(Reason::Success, &terms), now);
    let session = Session {
        client_id: "yours".to_owned(),
        present: false,
        expiry_s: 0,
        keep_alive_s: 7,
        packet_bytes_max: 100,
        qos_max: QoS::AtMostOnce,
        receive_max: 5,
        retain_available: false,
        identifiers_available: false,
    };
    assert_eq!(events, [Event::Notice(Notice::Connected(session))]);
    assert_eq!(machine.deadline(), Some(now + 7 * S));
}

#[test]
fn a_refusal_carries_the_brokers_reason_and_words() {
    let now = Instant::now();
    let mut machine = Machine::new(greeting(), now);
    let mut words = PropertiesBuf::new();
    words.push(PropertyId::ReasonString, Value::Text("full"));
    feed(&mut machine, &connack(Reason::ServerBusy, &words), now);
    let loss = Loss::Refused { reason: Reason::ServerBusy, text: Some("full".to_owned()) };
    assert_eq!(machine.loss(), Some(&loss));
    assert!(machine.is_closed());
}

#[test]
fn what_is_not_a_connack_is_not_a_broker() {
    let now = Instant::now();
    for answer in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"SSH-2.0-OpenSSH\r\n", b"\xd0\0"] {
        let mut machine = Machine::new(greeting(), now);
        feed(&mut machine, answer, now);
        assert!(matches!(machine.loss(), Some(Loss::NotMqtt(_))), "{answer:?}");
    }
    let mut machine = Machine::new(greeting(), now);
    feed(&mut machine, &[0x20, 2, 0, 1], now);
    assert!(matches!(machine.loss(), Some(Loss::Refused { .. })), "a broker of MQTT 3.1.1");
}

#[test]
fn a_broker_that_does_not_answer_is_given_up_in_time() {
    let now = Instant::now();
    let mut machine = Machine::new(greeting(), now);
    machine.handle_timeout(now + 4 * S);
    assert!(!machine.is_closed());
    machine.handle_timeout(now + 5 * S);
    assert_eq!(machine.loss(), Some(&Loss::ConnectTimeout(5 * S)));
}

#[test]
fn a_message_is_published_within_the_brokers_terms() {
    let now = Instant::now();
    let mut terms = PropertiesBuf::new();
    terms
        .push(PropertyId::MaximumPacketSize, Value::Four(20))
        .push(PropertyId::RetainAvailable, Value::Byte(0));
    let mut machine = open_with(&terms, now);
    machine.publish(&Publish::new("a/b", b"42")).unwrap();
    assert_eq!(output(&mut machine, now), b"\x30\x08\0\x03a/b\x0042");
    let refused = machine.publish(&Publish::new("a/b", &[0; 13])).unwrap_err();
    assert_eq!(refused, SendError::TooLarge(21, 20));
    let kept = Publish { retain: true, ..Publish::new("a", b"") };
    assert_eq!(machine.publish(&kept), Err(SendError::Retain));
    assert!(matches!(machine.publish(&Publish::new("a/#", b"")), Err(SendError::Topic(..))));
    assert!(machine.output().is_empty());
}

#[test]
fn nothing_is_sent_before_the_broker_has_answered() {
    let now = Instant::now();
    let mut machine = Machine::new(greeting(), now);
    let refused = machine.publish(&Publish::new("a", b""));
    assert_eq!(refused, Err(SendError::NotConnected(None)));
}

#[test]
fn a_subscription_is_answered_for_each_filter_and_gets_its_messages() {
    let now = Instant::now();
    let mut machine = open(now);
    let id = machine.subscribe(&["a/#", "secret"], QoS::AtMostOnce, &[]).unwrap();
    let early = feed(&mut machine, &bytes(&Packet::Publish(Publish::new("a/1", b"x"))), now);
    assert!(
        matches!(&early[..], [Event::Message { subscriptions, .. }] if **subscriptions == [id])
    );
    let reasons = vec![Reason::Success, Reason::NotAuthorized];
    let packet_id = PacketId::new(1).unwrap();
    let suback = Packet::SubAck(SubAck { packet_id, properties: Properties::NONE, reasons });
    let refusal =
        Refusal { filter: "secret".to_owned(), reason: Reason::NotAuthorized, text: None };
    let answer = Notice::Subscribed { id, refused: vec![refusal] };
    assert_eq!(feed(&mut machine, &bytes(&suback), now), [Event::Notice(answer)]);
    let late = feed(&mut machine, &bytes(&Packet::Publish(Publish::new("secret", b"x"))), now);
    assert!(
        matches!(&late[..], [Event::Message { subscriptions, .. }] if subscriptions.is_empty())
    );
}

#[test]
fn a_subscription_given_up_is_unsubscribed_unless_another_needs_the_filter() {
    let now = Instant::now();
    let mut machine = open(now);
    let first = machine.subscribe(&["a"], QoS::AtMostOnce, &[]).unwrap();
    let second = machine.subscribe(&["a"], QoS::AtMostOnce, &[]).unwrap();
    output(&mut machine, now);
    machine.unsubscribe(first);
    assert!(machine.output().is_empty());
    machine.unsubscribe(second);
    assert_eq!(output(&mut machine, now), b"\xa2\x06\0\x03\0\0\x01a");
    let packet_id = PacketId::new(3).unwrap();
    let reasons = vec![Reason::Success];
    let unsuback = Packet::UnsubAck(UnsubAck { packet_id, properties: Properties::NONE, reasons });
    assert!(feed(&mut machine, &bytes(&unsuback), now).is_empty());
    assert!(machine.loss().is_none());
}

#[test]
fn a_ping_is_answered_with_its_round_trip() {
    let now = Instant::now();
    let mut machine = open(now);
    machine.set_reading(false, now);
    machine.handle_timeout(now + 10 * S);
    machine.handle_timeout(now + 20 * S);
    let id = machine.ping(now + 21 * S).unwrap();
    assert_eq!(output(&mut machine, now), [0xc0, 0, 0xc0, 0, 0xc0, 0]);
    let own = feed(&mut machine, &[0xd0, 0, 0xd0, 0], now + 22 * S);
    assert!(own.is_empty(), "the keep-alive's own");
    let answer = Notice::Pong { id, round_trip: 2 * S };
    assert_eq!(feed(&mut machine, &[0xd0, 0], now + 23 * S), [Event::Notice(answer)]);
}

#[test]
fn a_peer_that_is_silent_after_a_ping_is_given_up() {
    let now = Instant::now();
    let mut machine = open(now);
    machine.handle_timeout(now + 10 * S);
    assert_eq!(output(&mut machine, now + 10 * S), [0xc0, 0]);
    assert_eq!(machine.deadline(), Some(now + 20 * S));
    machine.handle_timeout(now + 20 * S);
    assert_eq!(machine.loss(), Some(&Loss::Silent(20 * S)));
}

#[test]
fn goodbye_comes_after_everything_accepted_and_ends_the_calls() {
    let now = Instant::now();
    let mut machine = open(now);
    machine.publish(&Publish::new("a", b"")).unwrap();
    machine.disconnect(S, now);
    assert_eq!(output(&mut machine, now), b"\x30\x04\0\x01a\0\xe0\0");
    assert_eq!(machine.own_bytes(), 2);
    assert_eq!(machine.ping(now), Err(SendError::NotConnected(None)));
    machine.handle_timeout(now + S);
    assert_eq!(machine.loss(), Some(&Loss::CloseTimeout(S)));
}

#[test]
fn a_broker_that_breaks_the_rules_is_told_why() {
    let now = Instant::now();
    let above =
        Publish { qos: QoS::AtLeastOnce, packet_id: PacketId::new(1), ..Publish::new("a", b"") };
    let mut alias = PropertiesBuf::new();
    alias.push(PropertyId::TopicAlias, Value::Two(1));
    let alias = Publish { properties: alias.borrow(), ..Publish::new("a", b"") };
    for (answer, code) in [
        (bytes(&Packet::Publish(above)), 0x9b),
        (bytes(&Packet::Publish(alias)), 0x94),
        (vec![0x90, 4, 0, 9, 0, 0], 0x82),
        (vec![0xc0, 0], 0x82),
        (vec![0x30, 0xff, 0xff, 0xff, 0x7f], 0x95),
    ] {
        let mut machine = open(now);
        assert!(feed(&mut machine, &answer, now).is_empty());
        assert!(machine.is_closing(), "{answer:x?}");
        assert_eq!(output(&mut machine, now), [0xe0, 2, code, 0], "{answer:x?}");
    }
}

#[test]
fn the_brokers_goodbye_is_the_end() {
    let now = Instant::now();
    let mut machine = open(now);
    let reason = Reason::ServerShuttingDown;
    let goodbye = Packet::Disconnect(Disconnect { reason, properties: Properties::NONE });
    feed(&mut machine, &bytes(&goodbye), now);
    assert_eq!(machine.loss(), Some(&Loss::Disconnected { reason, text: None }));
    assert!(machine.is_closed());
}

#[test]
fn properties_that_do_not_fit_are_refused() {
    let long = "x".repeat(65_536);
    let refused = |name: &str| Err(SendError::Property(name.to_owned()));
    let none = MessageProperties::default();
    assert!(none.encode([("a", "b"), ("a", "c")]).is_ok());
    assert_eq!(none.encode([("a", long.as_str())]), refused("a"));
    assert_eq!(none.encode([("\0", "")]), refused("\0"));
    let kind = MessageProperties { content_type: Some(&long), ..none };
    assert_eq!(kind.encode([]), refused("content_type"));
    let data = MessageProperties { correlation_data: Some(long.as_bytes()), ..none };
    assert_eq!(data.encode([]), refused("correlation_data"));
    let answer = MessageProperties { response_topic: Some("a/#"), ..none };
    assert!(matches!(answer.encode([]), Err(SendError::Topic(..))));
}
