//! Messages at QoS 1 and 2 that arrive: acknowledged in order, when their readers are done.

use super::*;

fn arriving(id: u16, qos: QoS) -> Vec<u8> {
    let packet_id = PacketId::new(id);
    bytes(&Packet::Publish(Publish { qos, packet_id, ..Publish::new("a", b"x") }))
}

fn subscribed(qos: QoS, now: Instant) -> Machine {
    let mut machine = open(now);
    machine.subscribe(&["a"], qos, &[]).unwrap();
    output(&mut machine, now);
    machine
}

fn receipts(events: &[Event]) -> Vec<Receipt> {
    let receipt = |event: &Event| match event {
        Event::Message { message, .. } => message.receipt,
        Event::Notice(_) => None,
    };
    events.iter().filter_map(receipt).collect()
}

#[test]
fn a_message_is_acknowledged_when_its_reader_is_done_and_in_order() {
    let now = Instant::now();
    let mut machine = subscribed(QoS::AtLeastOnce, now);
    let two = [arriving(7, QoS::AtLeastOnce), arriving(3, QoS::AtLeastOnce)].concat();
    let receipts = receipts(&feed(&mut machine, &two, now));
    assert_eq!(receipts.len(), 2);
    machine.done(&receipts[1..]);
    assert!(machine.output().is_empty(), "the first one comes first");
    machine.done(&receipts[..1]);
    assert_eq!(output(&mut machine, now), [0x40, 2, 0, 7, 0x40, 2, 0, 3]);
    machine.done(&receipts);
    assert!(machine.output().is_empty());
}

#[test]
fn a_message_for_two_readers_waits_for_both() {
    let now = Instant::now();
    let mut machine = subscribed(QoS::AtLeastOnce, now);
    machine.subscribe(&["+"], QoS::AtLeastOnce, &[]).unwrap();
    output(&mut machine, now);
    let receipts = receipts(&feed(&mut machine, &arriving(1, QoS::AtLeastOnce), now));
    machine.done(&receipts);
    assert!(machine.output().is_empty());
    machine.done(&receipts);
    assert_eq!(output(&mut machine, now), [0x40, 2, 0, 1]);
}

#[test]
fn a_message_nobody_reads_any_more_is_acknowledged_at_once() {
    let now = Instant::now();
    let mut machine = open(now);
    let id = machine.subscribe(&["a"], QoS::AtLeastOnce, &[]).unwrap();
    machine.unsubscribe(id);
    output(&mut machine, now);
    feed(&mut machine, &arriving(1, QoS::AtLeastOnce), now);
    assert_eq!(output(&mut machine, now), [0x40, 2, 0, 1]);
}

#[test]
fn a_message_at_qos_2_is_delivered_once_however_often_it_is_sent() {
    let now = Instant::now();
    let mut machine = subscribed(QoS::ExactlyOnce, now);
    let receipts = receipts(&feed(&mut machine, &arriving(1, QoS::ExactlyOnce), now));
    machine.done(&receipts);
    assert_eq!(output(&mut machine, now), [0x50, 2, 0, 1]);
    assert!(feed(&mut machine, &arriving(1, QoS::ExactlyOnce), now).is_empty());
    assert_eq!(output(&mut machine, now), [0x50, 2, 0, 1]);
    feed(&mut machine, &[0x62, 2, 0, 1], now);
    assert_eq!(output(&mut machine, now), [0x70, 2, 0, 1]);
    feed(&mut machine, &[0x62, 2, 0, 1], now);
    assert_eq!(output(&mut machine, now), [0x70, 3, 0, 1, 0x92]);
    assert_eq!(feed(&mut machine, &arriving(1, QoS::ExactlyOnce), now).len(), 1, "a new one");
}

#[test]
fn an_identifier_that_is_in_use_breaks_the_rules() {
    let now = Instant::now();
    let mut machine = subscribed(QoS::AtLeastOnce, now);
    feed(&mut machine, &arriving(1, QoS::AtLeastOnce), now);
    feed(&mut machine, &arriving(1, QoS::AtLeastOnce), now);
    assert_eq!(output(&mut machine, now), [0xe0, 2, 0x82, 0]);
}

#[test]
fn a_broker_that_sends_more_than_the_window_is_told() {
    let now = Instant::now();
    let mut machine = subscribed(QoS::AtLeastOnce, now);
    for id in 1..=4096 {
        feed(&mut machine, &arriving(id, QoS::AtLeastOnce), now);
    }
    assert!(!machine.is_closing());
    feed(&mut machine, &arriving(5000, QoS::AtLeastOnce), now);
    assert_eq!(output(&mut machine, now), [0xe0, 2, 0x93, 0]);
}

#[test]
fn a_filter_that_two_subscriptions_use_keeps_the_better_quality() {
    let now = Instant::now();
    let mut machine = open(now);
    machine.subscribe(&["a"], QoS::AtLeastOnce, &[]).unwrap();
    assert_eq!(output(&mut machine, now), b"\x82\x07\0\x01\0\0\x01a\x01");
    machine.subscribe(&["a"], QoS::AtMostOnce, &[]).unwrap();
    assert_eq!(output(&mut machine, now), b"\x82\x07\0\x02\0\0\x01a\x01");
}

#[test]
fn what_a_message_carries_is_seen() {
    let now = Instant::now();
    let mut machine = subscribed(QoS::AtLeastOnce, now);
    let sent = MessageProperties {
        content_type: Some("text/plain"),
        response_topic: Some("b"),
        correlation_data: Some(b"7"),
        expiry_s: Some(60),
    };
    let properties = sent.encode([("unit", "rpm")]).unwrap();
    let publish = Publish { properties: properties.borrow(), ..Publish::new("a", b"x") };
    let events = feed(&mut machine, &bytes(&Packet::Publish(publish)), now);
    let [Event::Message { message, .. }] = &events[..] else { panic!("{events:?}") };
    let extras = message.extras.as_deref().unwrap();
    assert_eq!(extras.content_type.as_deref(), Some("text/plain"));
    assert_eq!(extras.response_topic.as_deref(), Some("b"));
    assert_eq!(extras.correlation_data.as_deref(), Some(&b"7"[..]));
    assert_eq!(extras.expiry_s, Some(60));
    assert_eq!(*message.properties, [("unit".to_owned(), "rpm".to_owned())]);
}
