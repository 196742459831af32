//! Frames of writers: counted, refusals reported, and held back in a new session.

use slipring_wire::{Ack, PacketSplit, split_packet};

use super::*;

fn send(protocol: &mut ClientProtocol, writer: BatchId, payload: &[u8]) {
    let publish = Publish { qos: QoS::AtLeastOnce, ..Publish::new("s", payload) };
    protocol.publish_frame(writer, &publish).unwrap();
}

fn answer(
    protocol: &mut ClientProtocol,
    id: u16,
    reason: Reason,
    now: Instant,
) -> Vec<ProtocolEvent> {
    let mut words = PropertiesBuf::new();
    words.push(PropertyId::ReasonString, Value::Text("no"));
    let packet_id = PacketId::new(id).unwrap();
    let ack = Ack { packet_id, reason, properties: words.borrow() };
    feed(protocol, &bytes(&Packet::PubAck(ack)), now)
}

/// First byte and payload of each message.
fn messages(output: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let (mut rest, mut messages) = (output, Vec::new());
    while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
        if let Packet::Publish(publish) = Packet::decode(&whole, Version::V5).unwrap() {
            messages.push((whole.first, publish.payload.to_vec()));
        }
        rest = &rest[whole.length..];
    }
    messages
}

#[test]
fn refusals_are_reported_and_counted_with_the_last_reason() {
    let now = Instant::now();
    let mut protocol = lasting(now);
    let writer = protocol.open_batch();
    (0..3).for_each(|_| send(&mut protocol, writer, b"x"));
    let told = [ProtocolEvent::Client(ClientEvent::Refused(writer))];
    assert!(answer(&mut protocol, 1, Reason::Success, now).is_empty());
    assert_eq!(answer(&mut protocol, 2, Reason::NotAuthorized, now), told);
    assert_eq!(answer(&mut protocol, 3, Reason::QuotaExceeded, now), told);
    let tally = protocol.tally(writer);
    assert_eq!((tally.settled, tally.outstanding, tally.refused), (3, 0, 2));
    let text = Some("no".to_owned());
    let last = PublishOutcome::Refused { reason: Reason::QuotaExceeded, text };
    assert_eq!(tally.fault.map(|(_, outcome)| outcome), Some(last));
}

#[test]
fn in_the_same_session_a_frame_is_sent_again_at_once() {
    let now = Instant::now();
    let mut protocol = lasting(now);
    let writer = protocol.open_batch();
    send(&mut protocol, writer, b"1");
    assert_eq!(messages(&again(&mut protocol, true, now)), [(0x3a, b"1".to_vec())]);
}

#[test]
fn in_a_new_session_a_frame_waits_until_its_writer_resumes() {
    let now = Instant::now();
    let mut protocol = lasting(now);
    assert_eq!(protocol.connection(), Some(1));
    let writer = protocol.open_batch();
    send(&mut protocol, writer, b"1");
    send(&mut protocol, writer, b"2");
    answer(&mut protocol, 1, Reason::Success, now);
    send(&mut protocol, writer, b"3");
    protocol.publish(&Publish { qos: QoS::AtLeastOnce, ..Publish::new("t", b"other") }).unwrap();
    let held = protocol.unacknowledged_bytes();
    assert_eq!(messages(&again(&mut protocol, false, now)), [(0x32, b"other".to_vec())]);
    assert_eq!(protocol.connection(), Some(2));
    assert_eq!(protocol.unacknowledged_bytes(), held, "it still counts");
    assert!(messages(&again(&mut protocol, true, now))[0].1 == b"other");
    protocol.resume_writer(writer);
    let sent = messages(&output(&mut protocol, now));
    assert_eq!(sent, [(0x32, b"2".to_vec()), (0x32, b"3".to_vec())]);
    assert_eq!(protocol.tally(writer).outstanding, 2);
    for id in 1..=10 {
        answer(&mut protocol, id, Reason::Success, now);
    }
    assert_eq!(protocol.tally(writer).outstanding, 0);
    assert_eq!(protocol.unacknowledged_bytes(), 0);
}

#[test]
fn no_frame_is_sent_before_the_broker_has_answered() {
    let now = Instant::now();
    let mut protocol = lasting(now);
    let writer = protocol.open_batch();
    send(&mut protocol, writer, b"1");
    again(&mut protocol, false, now);
    protocol.publish(&Publish { qos: QoS::AtLeastOnce, ..Publish::new("t", b"other") }).unwrap();
    protocol.receive_eof();
    protocol.retry(now, 0).unwrap();
    protocol.resume_writer(writer);
    protocol.abandon_writer(writer, &mut Vec::new());
    assert!(protocol.output().is_empty());
}

#[test]
fn abandoned_frames_count_as_refused() {
    let now = Instant::now();
    let mut protocol = lasting(now);
    let writer = protocol.open_batch();
    send(&mut protocol, writer, b"1");
    again(&mut protocol, false, now);
    let mut told = Vec::new();
    protocol.abandon_writer(writer, &mut told);
    assert_eq!(told, [ProtocolEvent::Client(ClientEvent::Refused(writer))]);
    let tally = protocol.tally(writer);
    assert_eq!((tally.settled, tally.outstanding, tally.refused), (1, 0, 1));
    assert_eq!((protocol.unacknowledged_bytes(), protocol.waiting_bytes()), (0, 0));
}
