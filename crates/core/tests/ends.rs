//! Requests and their ends in the queue of one client: what bounds them, and what is dropped when memory is short.

use std::sync::Arc;

use slipring_core::requests::RequestKey;
use slipring_core::{
    ConnectionKey, Delivery, Durability, JournalPlace, Limit, Limits, Message, Offset, Outgoing,
    Packets, Priority, Pushed, RetainedPage, Terms,
};
use slipring_wire::{PacketId, PropertiesBuf, PropertyId, Publish, QoS, Value, Version};

const TERMS: Terms =
    Terms { version: Version::V5, receive_max: 1, packet_bytes: u32::MAX, topic_aliases: 0 };
const FULL: Pushed = Pushed::EndsConnection(Limit::QueueBytes);

fn limits() -> Limits {
    Limits { queue_messages: 2, queue_bytes: 1_000, ..Limits::default() }
}

fn connected() -> Outgoing {
    let mut outgoing = Outgoing::new(&limits());
    connect(&mut outgoing, 1);
    outgoing
}

fn connect(outgoing: &mut Outgoing, key: u64) {
    outgoing.attach(ConnectionKey::new(key), TERMS, &limits());
}

/// Adds a message of a request: 101 bytes and its properties.
fn push(outgoing: &mut Outgoing, properties: &PropertiesBuf) -> (Pushed, Arc<Message>) {
    let qos = QoS::AtLeastOnce;
    let publish = Publish { qos, properties: properties.borrow(), ..Publish::new("t", &[7; 100]) };
    let message = Arc::new(Message::new(&publish, "t".into(), 0));
    let delivery = Delivery { of_request: true, ..Delivery::plain(Arc::clone(&message), qos) };
    (outgoing.push(delivery), message)
}

fn push_end(outgoing: &mut Outgoing) -> Pushed {
    push(outgoing, &PropertiesBuf::new()).0
}

fn push_request(outgoing: &mut Outgoing, key: u64) -> (Pushed, Arc<Message>) {
    let mut properties = PropertiesBuf::new();
    let topic = RequestKey::new(key).answer_topic();
    properties.push(PropertyId::ResponseTopic, Value::Text(&topic));
    push(outgoing, &properties)
}

#[test]
fn an_asker_that_does_not_take_its_ends_is_disconnected_and_loses_none() {
    let mut outgoing = connected();
    let pushed: Vec<_> = (0..20).map(|_| push_end(&mut outgoing)).collect();
    let full = pushed.iter().position(|pushed| *pushed == FULL);
    assert_eq!(full, Some(10), "10 have 1,010 bytes");
    assert_eq!((outgoing.waiting().0, outgoing.end_bytes()), (20, 2_020));
    outgoing.detach(ConnectionKey::new(1));
    assert_eq!(push_end(&mut outgoing), Pushed::Quiet, "limits.requests bounds them");
    connect(&mut outgoing, 2);
    assert_ne!(push_end(&mut outgoing), FULL, "it did not keep the asker from taking them before");
}

#[test]
fn a_service_is_not_disconnected_for_its_requests() {
    let mut outgoing = connected();
    assert!((0..50).all(|key| push_request(&mut outgoing, key).0 != FULL));
    assert_ne!(push_end(&mut outgoing), FULL, "it asks others");
    assert_eq!(outgoing.end_bytes(), 101);
}

#[test]
fn an_asker_with_ten_thousand_requests_is_not_disconnected_by_default() {
    let mut outgoing = Outgoing::new(&Limits::default());
    outgoing.attach(ConnectionKey::new(1), TERMS, &Limits::default());
    assert!((0..10_000).all(|_| push_end(&mut outgoing) != FULL));
}

#[test]
fn ends_in_flight_count_until_they_are_acknowledged() {
    let mut outgoing = connected();
    push_end(&mut outgoing);
    outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut Packets::default());
    assert_eq!((outgoing.inflight(), outgoing.end_bytes()), (1, 101));
    outgoing.acked(slipring_wire::PacketId::new(1).unwrap());
    assert_eq!(outgoing.end_bytes(), 0);
}

#[test]
fn requests_that_are_over_are_dropped_when_memory_is_short() {
    let mut outgoing = Outgoing::new(&limits());
    let requests: Vec<_> = (0..4).map(|key| push_request(&mut outgoing, key).1).collect();
    push_end(&mut outgoing);
    requests[1].withdraw();
    requests[3].withdraw();
    assert_eq!((outgoing.drop_withdrawn(), outgoing.waiting().0), (0, 3));
    let bytes = 2 * requests[0].bytes() + 101;
    assert_eq!((outgoing.queue_bytes(), outgoing.waiting().1), (bytes, bytes));
    assert_eq!(outgoing.end_bytes(), 101);
}

/// The packets that are sent now.
fn take(outgoing: &mut Outgoing) -> Vec<u8> {
    let mut packets = Packets::default();
    outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut packets);
    packets.to_vec()
}

#[test]
fn a_plain_message_with_the_response_topic_of_a_request_that_is_over_is_delivered() {
    let mut outgoing = connected();
    let (_, message) = push_request(&mut outgoing, 1);
    message.withdraw();
    assert!(take(&mut outgoing).is_empty(), "the request is over");
    outgoing.push(Delivery::plain(message, QoS::AtLeastOnce));
    assert!(!take(&mut outgoing).is_empty());
}

#[test]
fn an_end_that_waits_for_an_asker_that_is_away_is_exchanged_and_comes_in_its_place() {
    let mut outgoing = Outgoing::new(&limits());
    push_request(&mut outgoing, 1);
    push_end(&mut outgoing);
    let request_bytes = outgoing.queue_bytes() - 101;
    let shorter = |_: &Message| Some(Message::new(&Publish::new("t", b"!"), "t".into(), 0));
    outgoing.exchange_ends(Priority::High, &mut { shorter });
    assert_eq!(outgoing.end_bytes(), 101, "it has another priority");
    outgoing.exchange_ends(Priority::Normal, &mut { shorter });
    assert_eq!((outgoing.end_bytes(), outgoing.waiting()), (2, (2, request_bytes + 2)));
    assert_eq!(outgoing.queue_bytes(), request_bytes + 2);
    connect(&mut outgoing, 1);
    outgoing.exchange_ends(Priority::Normal, &mut |_| panic!("it is here"));
    take(&mut outgoing);
    outgoing.acked(PacketId::new(1).unwrap());
    assert!(take(&mut outgoing).ends_with(b"t\0\x02\0!"), "{:?}", take(&mut outgoing));
    assert_eq!((outgoing.waiting(), outgoing.end_bytes()), ((1, 2), 2), "in flight");
}

#[test]
fn an_end_that_the_journal_has_is_not_exchanged() {
    let mut outgoing = Outgoing::new(&limits());
    let qos = QoS::AtLeastOnce;
    let place = JournalPlace { offset: Offset::new(7), durability: Durability::Disk };
    let message = Message::new(&Publish::new("t", &[7; 100]), "t".into(), 0).at(place);
    outgoing.push(Delivery { of_request: true, ..Delivery::plain(Arc::new(message), qos) });
    outgoing.exchange_ends(Priority::Normal, &mut |_| panic!("it is only a copy"));
}
