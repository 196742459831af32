//! Messages at QoS 1 and 2 that arrive: acknowledged in order, when their readers are done.

use super::*;

fn arriving(id: u16, qos: QoS) -> Vec<u8> {
    let packet_id = PacketId::new(id);
    bytes(&Packet::Publish(Publish { qos, packet_id, ..Publish::new("a", b"x") }))
}

fn subscribed(qos: QoS, now: Instant) -> ClientProtocol {
    let mut protocol = open(now);
    protocol.subscribe(&["a"], qos, &[]).unwrap();
    output(&mut protocol, now);
    protocol
}

#[test]
fn a_message_is_acknowledged_when_its_reader_is_done_and_in_order() {
    let now = Instant::now();
    let mut protocol = subscribed(QoS::AtLeastOnce, now);
    let two = [arriving(7, QoS::AtLeastOnce), arriving(3, QoS::AtLeastOnce)].concat();
    let tags = tags(&feed(&mut protocol, &two, now));
    assert_eq!(tags.len(), 2);
    protocol.done(&tags[1..]);
    assert!(protocol.output().is_empty(), "the first one comes first");
    protocol.done(&tags[..1]);
    assert_eq!(output(&mut protocol, now), [0x40, 2, 0, 7, 0x40, 2, 0, 3]);
    protocol.done(&tags);
    assert!(protocol.output().is_empty());
}

#[test]
fn a_message_for_two_readers_waits_for_both() {
    let now = Instant::now();
    let mut protocol = subscribed(QoS::AtLeastOnce, now);
    protocol.subscribe(&["+"], QoS::AtLeastOnce, &[]).unwrap();
    output(&mut protocol, now);
    let tags = tags(&feed(&mut protocol, &arriving(1, QoS::AtLeastOnce), now));
    protocol.done(&tags);
    assert!(protocol.output().is_empty());
    protocol.done(&tags);
    assert_eq!(output(&mut protocol, now), [0x40, 2, 0, 1]);
}

#[test]
fn a_message_without_a_reader_is_acknowledged_at_once() {
    let now = Instant::now();
    let mut protocol = open(now);
    let id = protocol.subscribe(&["a"], QoS::AtLeastOnce, &[]).unwrap();
    protocol.unsubscribe(id);
    output(&mut protocol, now);
    feed(&mut protocol, &arriving(1, QoS::AtLeastOnce), now);
    assert_eq!(output(&mut protocol, now), [0x40, 2, 0, 1]);
}

#[test]
fn a_message_at_qos_2_is_delivered_once_however_often_it_is_sent() {
    let now = Instant::now();
    let mut protocol = subscribed(QoS::ExactlyOnce, now);
    let tags = tags(&feed(&mut protocol, &arriving(1, QoS::ExactlyOnce), now));
    protocol.done(&tags);
    assert_eq!(output(&mut protocol, now), [0x50, 2, 0, 1]);
    assert!(feed(&mut protocol, &arriving(1, QoS::ExactlyOnce), now).is_empty());
    assert_eq!(output(&mut protocol, now), [0x50, 2, 0, 1]);
    feed(&mut protocol, &[0x62, 2, 0, 1], now);
    assert_eq!(output(&mut protocol, now), [0x70, 2, 0, 1]);
    feed(&mut protocol, &[0x62, 2, 0, 1], now);
    assert_eq!(output(&mut protocol, now), [0x70, 3, 0, 1, 0x92]);
    assert_eq!(feed(&mut protocol, &arriving(1, QoS::ExactlyOnce), now).len(), 1, "a new one");
}

#[test]
fn an_identifier_that_is_in_use_breaks_the_rules() {
    let now = Instant::now();
    let mut protocol = subscribed(QoS::AtLeastOnce, now);
    feed(&mut protocol, &arriving(1, QoS::AtLeastOnce), now);
    feed(&mut protocol, &arriving(1, QoS::AtLeastOnce), now);
    assert_eq!(output(&mut protocol, now), [0xe0, 2, 0x82, 0]);
}

#[test]
fn a_broker_that_exceeds_the_window_is_disconnected() {
    let now = Instant::now();
    let mut protocol = subscribed(QoS::AtLeastOnce, now);
    for id in 1..=4096 {
        feed(&mut protocol, &arriving(id, QoS::AtLeastOnce), now);
    }
    assert!(!protocol.is_closing());
    feed(&mut protocol, &arriving(5000, QoS::AtLeastOnce), now);
    assert_eq!(output(&mut protocol, now), [0xe0, 2, 0x93, 0]);
}

#[test]
fn a_filter_that_two_subscriptions_use_keeps_the_higher_qos() {
    let now = Instant::now();
    let mut protocol = open(now);
    protocol.subscribe(&["a"], QoS::AtLeastOnce, &[]).unwrap();
    assert_eq!(output(&mut protocol, now), b"\x82\x07\0\x01\0\0\x01a\x01");
    protocol.subscribe(&["a"], QoS::AtMostOnce, &[]).unwrap();
    assert_eq!(output(&mut protocol, now), b"\x82\x07\0\x02\0\0\x01a\x01");
}

#[test]
fn the_properties_of_a_message_are_decoded() {
    let now = Instant::now();
    let mut protocol = subscribed(QoS::AtLeastOnce, now);
    let sent = MessageProperties {
        content_type: Some("text/plain"),
        response_topic: Some("b"),
        correlation_data: Some(b"7"),
        expiry_s: Some(60),
    };
    let properties = sent.encode([("unit", "rpm")]).unwrap();
    let publish = Publish { properties: properties.borrow(), ..Publish::new("a", b"x") };
    let events = feed(&mut protocol, &bytes(&Packet::Publish(publish)), now);
    let [ProtocolEvent::Message { message, .. }] = &events[..] else { panic!("{events:?}") };
    let extras = message.properties.as_deref().unwrap();
    assert_eq!(extras.content_type.as_deref(), Some("text/plain"));
    assert_eq!(extras.response_topic.as_deref(), Some("b"));
    assert_eq!(extras.correlation_data.as_deref(), Some(&b"7"[..]));
    assert_eq!(extras.expiry_s, Some(60));
    assert_eq!(*message.user_properties, [("unit".to_owned(), "rpm".to_owned())]);
}
