//! Streams: counted, told of refusals, and held back in a session that does not know them.

use slipring_wire::{Ack, Framed, frame};

use super::*;

fn lasting(now: Instant) -> Machine {
    let mut machine = Machine::new(Greeting { reconnect: Duration::MAX, ..greeting() }, now);
    output(&mut machine, now);
    feed(&mut machine, &connack(Reason::Success, &PropertiesBuf::new()), now);
    machine
}

fn again(machine: &mut Machine, session_present: bool, now: Instant) -> Vec<u8> {
    machine.receive_eof();
    machine.retry(now, 0).unwrap();
    assert_eq!(machine.connection(), None);
    machine.handle_timeout(now);
    output(machine, now);
    let (reason, properties) = (Reason::Success, Properties::NONE);
    feed(machine, &bytes(&Packet::ConnAck(ConnAck { session_present, reason, properties })), now);
    output(machine, now)
}

fn send(machine: &mut Machine, stream: BatchId, payload: &[u8]) {
    let publish = Publish { qos: QoS::AtLeastOnce, ..Publish::new("s", payload) };
    machine.publish_on(stream, &publish).unwrap();
}

fn answer(machine: &mut Machine, id: u16, reason: Reason, now: Instant) -> Vec<Event> {
    let mut words = PropertiesBuf::new();
    words.push(PropertyId::ReasonString, Value::Text("no"));
    let packet_id = PacketId::new(id).unwrap();
    let ack = Ack { packet_id, reason, properties: words.borrow() };
    feed(machine, &bytes(&Packet::PubAck(ack)), now)
}

/// First byte and payload of each message.
fn messages(output: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let (mut rest, mut messages) = (output, Vec::new());
    while let Ok(Framed::Whole(whole)) = frame(rest, usize::MAX) {
        if let Packet::Publish(publish) = Packet::decode(&whole, Version::V5).unwrap() {
            messages.push((whole.first, publish.payload.to_vec()));
        }
        rest = &rest[whole.length..];
    }
    messages
}

#[test]
fn refusals_are_told_and_counted_with_the_last_reason() {
    let now = Instant::now();
    let mut machine = lasting(now);
    let stream = machine.open_stream();
    (0..3).for_each(|_| send(&mut machine, stream, b"x"));
    let told = [Event::Notice(Notice::Refused(stream))];
    assert!(answer(&mut machine, 1, Reason::Success, now).is_empty());
    assert_eq!(answer(&mut machine, 2, Reason::NotAuthorized, now), told);
    assert_eq!(answer(&mut machine, 3, Reason::QuotaExceeded, now), told);
    let tally = machine.tally(stream);
    assert_eq!((tally.settled, tally.outstanding, tally.refused), (3, 0, 2));
    let text = Some("no".to_owned());
    let last = Outcome::Refused { reason: Reason::QuotaExceeded, text };
    assert_eq!(tally.fault.map(|(_, outcome)| outcome), Some(last));
}

#[test]
fn in_the_same_session_it_is_sent_again_at_once() {
    let now = Instant::now();
    let mut machine = lasting(now);
    let stream = machine.open_stream();
    send(&mut machine, stream, b"1");
    assert_eq!(messages(&again(&mut machine, true, now)), [(0x3a, b"1".to_vec())]);
}

#[test]
fn in_a_new_session_it_waits_until_its_stream_goes_on() {
    let now = Instant::now();
    let mut machine = lasting(now);
    assert_eq!(machine.connection(), Some(1));
    let stream = machine.open_stream();
    send(&mut machine, stream, b"1");
    send(&mut machine, stream, b"2");
    answer(&mut machine, 1, Reason::Success, now);
    send(&mut machine, stream, b"3");
    machine.publish(&Publish { qos: QoS::AtLeastOnce, ..Publish::new("t", b"other") }).unwrap();
    let held = machine.unacknowledged_bytes();
    assert_eq!(messages(&again(&mut machine, false, now)), [(0x32, b"other".to_vec())]);
    assert_eq!(machine.connection(), Some(2));
    assert_eq!(machine.unacknowledged_bytes(), held, "it still counts");
    assert!(messages(&again(&mut machine, true, now))[0].1 == b"other");
    machine.resume_stream(stream);
    let sent = messages(&output(&mut machine, now));
    assert_eq!(sent, [(0x32, b"2".to_vec()), (0x32, b"3".to_vec())]);
    assert_eq!(machine.tally(stream).outstanding, 2);
    for id in 1..=10 {
        answer(&mut machine, id, Reason::Success, now);
    }
    assert_eq!(machine.tally(stream).outstanding, 0);
    assert_eq!(machine.unacknowledged_bytes(), 0);
}

#[test]
fn nothing_of_a_stream_is_sent_before_the_broker_has_answered() {
    let now = Instant::now();
    let mut machine = lasting(now);
    let stream = machine.open_stream();
    send(&mut machine, stream, b"1");
    again(&mut machine, false, now);
    machine.publish(&Publish { qos: QoS::AtLeastOnce, ..Publish::new("t", b"other") }).unwrap();
    machine.receive_eof();
    machine.retry(now, 0).unwrap();
    machine.resume_stream(stream);
    machine.abandon_stream(stream, &mut Vec::new());
    assert!(machine.output().is_empty());
}

#[test]
fn what_is_given_up_counts_as_refused() {
    let now = Instant::now();
    let mut machine = lasting(now);
    let stream = machine.open_stream();
    send(&mut machine, stream, b"1");
    again(&mut machine, false, now);
    let mut told = Vec::new();
    machine.abandon_stream(stream, &mut told);
    assert_eq!(told, [Event::Notice(Notice::Refused(stream))]);
    let tally = machine.tally(stream);
    assert_eq!((tally.settled, tally.outstanding, tally.refused), (1, 0, 1));
    assert_eq!((machine.unacknowledged_bytes(), machine.waiting_bytes()), (0, 0));
}
