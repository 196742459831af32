//! The protocol as rows: bytes in, events and bytes out, at a time we choose.

mod proving;
mod publishing;
mod receiving;
mod reconnecting;
mod selecting;
mod writers;

use std::time::{Duration, Instant};

use slipring_wire::{
    ConnAck, Disconnect, Packet, PacketId, Properties, PropertiesBuf, PropertyId, Publish, QoS,
    Reason, SubAck, UnsubAck, Value, Version,
};

use super::*;

const S: Duration = Duration::from_secs(1);

fn options() -> ConnectOptions {
    ConnectOptions {
        client_id: "me".to_owned(),
        keep_alive_s: 10,
        timeout: 5 * S,
        ..ConnectOptions::default()
    }
}

fn begin(options: ConnectOptions, now: Instant) -> ClientProtocol {
    ClientProtocol::new(options, 1 << 16, now)
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

fn feed(protocol: &mut ClientProtocol, bytes: &[u8], now: Instant) -> Vec<ProtocolEvent> {
    let mut events = Vec::new();
    protocol.receive(bytes, now, &mut events);
    events
}

fn output(protocol: &mut ClientProtocol, now: Instant) -> Vec<u8> {
    protocol.take_output(Vec::new(), now)
}

/// A protocol whose CONNECT was answered with these properties.
fn open_with(properties: &PropertiesBuf, now: Instant) -> ClientProtocol {
    let mut protocol = begin(options(), now);
    output(&mut protocol, now);
    feed(&mut protocol, &connack(Reason::Success, properties), now);
    protocol
}

fn open(now: Instant) -> ClientProtocol {
    open_with(&PropertiesBuf::new(), now)
}

/// A protocol that connects again after a loss.
fn lasting(now: Instant) -> ClientProtocol {
    let mut protocol = begin(ConnectOptions { reconnect: Duration::MAX, ..options() }, now);
    output(&mut protocol, now);
    feed(&mut protocol, &connack(Reason::Success, &PropertiesBuf::new()), now);
    protocol
}

/// Loses the connection and makes another one. Returns what is sent after CONNECT.
fn again(protocol: &mut ClientProtocol, session_present: bool, now: Instant) -> Vec<u8> {
    protocol.receive_eof();
    protocol.retry(now, 0).unwrap();
    assert_eq!(protocol.connection(), None);
    protocol.handle_timeout(now);
    output(protocol, now);
    let (reason, properties) = (Reason::Success, Properties::NONE);
    feed(protocol, &bytes(&Packet::ConnAck(ConnAck { session_present, reason, properties })), now);
    output(protocol, now)
}

/// The tags of the messages among these events.
fn tags(events: &[ProtocolEvent]) -> Vec<DeliveryTag> {
    let tag = |event: &ProtocolEvent| match event {
        ProtocolEvent::Message { message, .. } => message.tag,
        ProtocolEvent::Client(_) => None,
    };
    events.iter().filter_map(tag).collect()
}

#[test]
fn the_first_output_is_connect_and_the_answer_sets_the_terms() {
    let now = Instant::now();
    let mut protocol = begin(options(), now);
    assert_eq!(protocol.output()[0], 0x10);
    let mut terms = PropertiesBuf::new();
    terms
        .push(PropertyId::AssignedClientIdentifier, Value::Text("yours"))
        .push(PropertyId::ServerKeepAlive, Value::Two(7))
        .push(PropertyId::MaximumPacketSize, Value::Four(100))
        .push(PropertyId::RetainAvailable, Value::Byte(0))
        .push(PropertyId::SubscriptionIdentifierAvailable, Value::Byte(0))
        .push(PropertyId::ReceiveMaximum, Value::Two(5))
        .push(PropertyId::MaximumQoS, Value::Byte(0));
    let events = feed(&mut protocol, &connack(Reason::Success, &terms), now);
    let session = GrantedTerms {
        client_id: "yours".to_owned(),
        session_present: false,
        session_expiry_s: 0,
        keep_alive_s: 7,
        packet_bytes_max: 100,
        qos_max: QoS::AtMostOnce,
        receive_max: 5,
        retain_available: false,
        identifiers_available: false,
    };
    assert_eq!(events, [ProtocolEvent::Client(ClientEvent::Connected(session))]);
    assert_eq!(protocol.deadline(), Some(now + 7 * S));
}

#[test]
fn a_refusal_carries_the_brokers_reason_and_words() {
    let now = Instant::now();
    let mut protocol = begin(options(), now);
    let mut words = PropertiesBuf::new();
    words.push(PropertyId::ReasonString, Value::Text("full"));
    feed(&mut protocol, &connack(Reason::ServerBusy, &words), now);
    let loss =
        ConnectionLoss::Refused { reason: Reason::ServerBusy, text: Some("full".to_owned()) };
    assert_eq!(protocol.loss(), Some(&loss));
    assert!(protocol.is_closed());
}

#[test]
fn a_first_packet_that_is_not_a_connack_is_refused() {
    let now = Instant::now();
    for answer in
        [&b"HTTP/1.1 400 Bad PendingRequest\r\n\r\n"[..], b"SSH-2.0-OpenSSH\r\n", b"\xd0\0"]
    {
        let mut protocol = begin(options(), now);
        feed(&mut protocol, answer, now);
        assert!(matches!(protocol.loss(), Some(ConnectionLoss::NotMqtt(_))), "{answer:?}");
    }
    let mut protocol = begin(options(), now);
    feed(&mut protocol, &[0x20, 2, 0, 1], now);
    assert!(
        matches!(protocol.loss(), Some(ConnectionLoss::Refused { .. })),
        "a broker of MQTT 3.1.1"
    );
}

#[test]
fn a_broker_that_does_not_answer_is_given_up_in_time() {
    let now = Instant::now();
    let mut protocol = begin(options(), now);
    protocol.handle_timeout(now + 4 * S);
    assert!(!protocol.is_closed());
    protocol.handle_timeout(now + 5 * S);
    assert_eq!(protocol.loss(), Some(&ConnectionLoss::ConnectTimeout(5 * S)));
}

#[test]
fn a_message_is_published_within_the_brokers_terms() {
    let now = Instant::now();
    let mut terms = PropertiesBuf::new();
    terms
        .push(PropertyId::MaximumPacketSize, Value::Four(20))
        .push(PropertyId::RetainAvailable, Value::Byte(0));
    let mut protocol = open_with(&terms, now);
    protocol.publish(&Publish::new("a/b", b"42")).unwrap();
    assert_eq!(output(&mut protocol, now), b"\x30\x08\0\x03a/b\x0042");
    let refused = protocol.publish(&Publish::new("a/b", &[0; 13])).unwrap_err();
    assert_eq!(refused, SendError::TooLarge(21, 20));
    let kept = Publish { retain: true, ..Publish::new("a", b"") };
    assert_eq!(protocol.publish(&kept), Err(SendError::Retain));
    assert!(matches!(protocol.publish(&Publish::new("a/#", b"")), Err(SendError::Topic(..))));
    assert!(protocol.output().is_empty());
}

#[test]
fn nothing_is_sent_before_the_broker_has_answered() {
    let now = Instant::now();
    let mut protocol = begin(options(), now);
    let refused = protocol.publish(&Publish::new("a", b""));
    assert_eq!(refused, Err(SendError::NotConnected(None)));
}

#[test]
fn a_subscription_is_answered_for_each_filter_and_gets_its_messages() {
    let now = Instant::now();
    let mut protocol = open(now);
    let id = protocol.subscribe(&["a/#", "secret"], QoS::AtMostOnce, &[]).unwrap();
    let early = feed(&mut protocol, &bytes(&Packet::Publish(Publish::new("a/1", b"x"))), now);
    assert!(
        matches!(&early[..], [ProtocolEvent::Message { subscriptions, .. }] if **subscriptions == [id])
    );
    let reasons = vec![Reason::Success, Reason::NotAuthorized];
    let packet_id = PacketId::new(1).unwrap();
    let suback = Packet::SubAck(SubAck { packet_id, properties: Properties::NONE, reasons });
    let refusal =
        RefusedFilter { filter: "secret".to_owned(), reason: Reason::NotAuthorized, text: None };
    let answer = ClientEvent::Subscribed { id, refused: vec![refusal] };
    assert_eq!(feed(&mut protocol, &bytes(&suback), now), [ProtocolEvent::Client(answer)]);
    let late = feed(&mut protocol, &bytes(&Packet::Publish(Publish::new("secret", b"x"))), now);
    assert!(
        matches!(&late[..], [ProtocolEvent::Message { subscriptions, .. }] if subscriptions.is_empty())
    );
}

#[test]
fn a_subscription_given_up_is_unsubscribed_unless_another_needs_the_filter() {
    let now = Instant::now();
    let mut protocol = open(now);
    let first = protocol.subscribe(&["a"], QoS::AtMostOnce, &[]).unwrap();
    let second = protocol.subscribe(&["a"], QoS::AtMostOnce, &[]).unwrap();
    output(&mut protocol, now);
    protocol.unsubscribe(first);
    assert!(protocol.output().is_empty());
    protocol.unsubscribe(second);
    assert_eq!(output(&mut protocol, now), b"\xa2\x06\0\x03\0\0\x01a");
    let packet_id = PacketId::new(3).unwrap();
    let reasons = vec![Reason::Success];
    let unsuback = Packet::UnsubAck(UnsubAck { packet_id, properties: Properties::NONE, reasons });
    assert!(feed(&mut protocol, &bytes(&unsuback), now).is_empty());
    assert!(protocol.loss().is_none());
}

#[test]
fn a_ping_is_answered_with_its_round_trip() {
    let now = Instant::now();
    let mut protocol = open(now);
    protocol.set_reading(false, now);
    protocol.handle_timeout(now + 10 * S);
    protocol.handle_timeout(now + 20 * S);
    let id = protocol.ping(now + 21 * S).unwrap();
    assert_eq!(output(&mut protocol, now), [0xc0, 0, 0xc0, 0, 0xc0, 0]);
    let own = feed(&mut protocol, &[0xd0, 0, 0xd0, 0], now + 22 * S);
    assert!(own.is_empty(), "the keep-alive's own");
    let answer = ClientEvent::Pong { id, round_trip: 2 * S };
    assert_eq!(feed(&mut protocol, &[0xd0, 0], now + 23 * S), [ProtocolEvent::Client(answer)]);
}

#[test]
fn a_peer_that_is_silent_after_a_ping_is_given_up() {
    let now = Instant::now();
    let mut protocol = open(now);
    protocol.handle_timeout(now + 10 * S);
    assert_eq!(output(&mut protocol, now + 10 * S), [0xc0, 0]);
    assert_eq!(protocol.deadline(), Some(now + 20 * S));
    protocol.handle_timeout(now + 20 * S);
    assert_eq!(protocol.loss(), Some(&ConnectionLoss::Silent(20 * S)));
}

#[test]
fn goodbye_comes_after_everything_accepted_and_ends_the_calls() {
    let now = Instant::now();
    let mut protocol = open(now);
    protocol.publish(&Publish::new("a", b"")).unwrap();
    protocol.disconnect(S, now);
    assert_eq!(output(&mut protocol, now), b"\x30\x04\0\x01a\0\xe0\0");
    assert_eq!(protocol.own_bytes(), 2);
    assert_eq!(protocol.ping(now), Err(SendError::NotConnected(None)));
    protocol.handle_timeout(now + S);
    assert_eq!(protocol.loss(), Some(&ConnectionLoss::CloseTimeout(S)));
}

#[test]
fn a_broker_that_breaks_the_rules_gets_the_reason() {
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
        let mut protocol = open(now);
        assert!(feed(&mut protocol, &answer, now).is_empty());
        assert!(protocol.is_closing(), "{answer:x?}");
        assert_eq!(output(&mut protocol, now), [0xe0, 2, code, 0], "{answer:x?}");
    }
}

#[test]
fn the_brokers_goodbye_is_the_end() {
    let now = Instant::now();
    let mut protocol = open(now);
    let reason = Reason::ServerShuttingDown;
    let goodbye = Packet::Disconnect(Disconnect { reason, properties: Properties::NONE });
    feed(&mut protocol, &bytes(&goodbye), now);
    assert_eq!(protocol.loss(), Some(&ConnectionLoss::Disconnected { reason, text: None }));
    assert!(protocol.is_closed());
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
