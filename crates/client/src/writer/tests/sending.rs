//! Sending: one frame at a time, on the connection that is ready for it.

use slipring_wire::{
    Ack, ConnAck, Framed, Packet, PacketId, Properties, PropertiesBuf, PropertyId, Reason, Value,
    Version, frame,
};

use super::super::sending::Next;
use super::*;
use crate::inbox::Inbox;
use crate::machine::{Greeting, Machine, Outcome};
use crate::outbox::Outbox;

struct Desk {
    boxes: Arc<Boxes>,
    writer: Writer,
    sending: Sending,
    now: Instant,
}

fn connack(session_present: bool, bytes_max: u32) -> Vec<u8> {
    let mut terms = PropertiesBuf::new();
    terms.push(PropertyId::MaximumPacketSize, Value::Four(bytes_max));
    let (reason, properties, mut bytes) = (Reason::Success, terms.borrow(), Vec::new());
    Packet::ConnAck(ConnAck { session_present, reason, properties })
        .encode(Version::V5, &mut bytes);
    bytes
}

fn desk(beat: Duration, qos: QoS) -> Desk {
    let now = Instant::now();
    let greeting = Greeting {
        client_id: "me".to_owned(),
        credentials: crate::Credentials::default(),
        keep_alive_s: 0,
        timeout: 5000 * MS,
        packet_bytes_max: 1 << 16,
        session_expiry_s: 0,
        clean_start: true,
        reconnect: Duration::MAX,
    };
    let outbox = Outbox::new(Machine::new(greeting, now), 1 << 20);
    let boxes = Arc::new(Boxes { outbox, inbox: Inbox::new(1 << 20).unwrap() });
    let options = WriterOptions {
        topic: "gripen".to_owned(),
        table: 7,
        connection: 1,
        beat,
        qos,
        deflate: false,
        bytes_max: 1 << 20,
    };
    let hello = boxes.outbox.take(Vec::new(), now);
    boxes.outbox.written(hello.len());
    let deliver = |events: &mut Vec<_>| boxes.inbox.push(events);
    boxes.outbox.receive(&connack(false, 1 << 16), now, &mut Vec::new(), deliver);
    let (writer, sending) = Writer::new(boxes.clone(), options).unwrap();
    Desk { boxes, writer, sending, now }
}

impl Desk {
    fn row(&self, values: &[u8]) -> Result<(), WriteError> {
        let mut taken = Ok(());
        row(0, &[1], values, &mut |block| taken = self.writer.block(block));
        taken
    }

    /// Lets the task run until it waits; whether it is over.
    fn run(&mut self) -> bool {
        // Behind any beat.
        let now = self.now + Duration::from_secs(3600);
        for _ in 0..1000 {
            match self.sending.step(now) {
                Next::Again => {}
                Next::Wait(_) => return false,
                Next::Over => return true,
            }
        }
        panic!("it does not come to rest")
    }

    /// Takes what waits for the socket.
    fn take_out(&mut self) -> Vec<u8> {
        self.boxes.outbox.take(Vec::new(), self.now)
    }

    /// What goes to the socket.
    fn write_out(&mut self) -> Vec<u8> {
        let bytes = self.take_out();
        self.boxes.outbox.written(bytes.len());
        bytes
    }

    fn receive(&mut self, bytes: &[u8]) {
        let inbox = &self.boxes.inbox;
        self.boxes.outbox.receive(bytes, self.now, &mut Vec::new(), |events| inbox.push(events));
    }

    fn acknowledge(&mut self, id: u16, reason: Reason) {
        let (packet_id, properties) = (PacketId::new(id).unwrap(), Properties::NONE);
        let mut bytes = Vec::new();
        Packet::PubAck(Ack { packet_id, reason, properties }).encode(Version::V5, &mut bytes);
        self.receive(&bytes);
    }

    fn lose(&mut self) {
        self.boxes.outbox.change(Machine::receive_eof);
        self.boxes.outbox.retry(self.now, 0).unwrap();
    }

    fn connect(&mut self, session_present: bool) -> Vec<u8> {
        self.boxes.outbox.change(|machine| machine.handle_timeout(self.now));
        self.write_out();
        self.receive(&connack(session_present, 1 << 16));
        self.write_out()
    }

    fn notices(&self) -> Vec<Notice> {
        let mut notices = self.boxes.inbox.notices();
        notices.retain(|notice| !matches!(notice, Notice::Connected(_)));
        notices
    }
}

/// The values of each frame.
fn frames(mut bytes: &[u8]) -> Vec<Vec<OwnedValue>> {
    let mut frames = Vec::new();
    while let Ok(Framed::Whole(whole)) = frame(bytes, usize::MAX) {
        let Packet::Publish(publish) = Packet::decode(&whole, Version::V5).unwrap() else {
            panic!("only frames are sent")
        };
        assert_eq!(publish.topic, "gripen");
        let kind = publish.properties.text(PropertyId::ContentType);
        assert_eq!(kind, Some("application/vnd.slipring.frame"));
        frames.push(seen(publish.payload).into_iter().map(|sample| sample.3).collect());
        bytes = &bytes[whole.length..];
    }
    frames
}

fn values(numbers: &[u8]) -> Vec<OwnedValue> {
    numbers.iter().map(|number| OwnedValue::U8(*number)).collect()
}

#[test]
fn frames_grow_while_the_one_before_is_not_written() {
    let mut desk = desk(20 * MS, QoS::AtMostOnce);
    desk.row(&[1]).unwrap();
    desk.run();
    desk.row(&[2]).unwrap();
    desk.run();
    let first = desk.take_out();
    desk.row(&[3]).unwrap();
    desk.run();
    desk.boxes.outbox.written(first.len() - 1);
    desk.run();
    assert_eq!(frames(&first), [values(&[1])]);
    assert!(desk.take_out().is_empty());
    desk.boxes.outbox.written(1);
    desk.run();
    assert_eq!(frames(&desk.take_out()), [values(&[2, 3])]);
    assert_eq!(desk.writer.frames(), 2);
}

#[test]
fn a_frame_says_when_it_is_sent_not_when_it_was_made() {
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut desk = desk(Duration::ZERO, QoS::AtMostOnce);
    desk.row(&[1]).unwrap();
    desk.run();
    let bytes = desk.write_out();
    let Ok(Framed::Whole(whole)) = frame(&bytes, usize::MAX) else { panic!("a packet") };
    let Packet::Publish(publish) = Packet::decode(&whole, Version::V5).unwrap() else {
        panic!("a message")
    };
    let mut scratch = Vec::new();
    let view = FrameView::decode(publish.payload, &mut scratch, &READ).unwrap();
    assert!(u128::try_from(view.header.sent_ns).unwrap() >= before.as_nanos());
}

#[test]
fn what_was_not_sent_outlives_the_connection_and_waits_to_be_let_on() {
    let mut desk = desk(20 * MS, QoS::AtMostOnce);
    desk.row(&[1]).unwrap();
    desk.run();
    desk.row(&[2]).unwrap();
    desk.lose();
    desk.row(&[3]).unwrap();
    assert!(!desk.run());
    assert!(desk.connect(false).is_empty());
    desk.row(&[4]).unwrap();
    assert!(!desk.run());
    assert!(desk.take_out().is_empty(), "the broker does not know of it yet");
    assert_eq!(desk.writer.resume(7, 1), 0, "an answer of the connection before");
    desk.run();
    assert!(desk.take_out().is_empty());
    assert_eq!(desk.writer.resume(7, 2), 0);
    desk.run();
    assert_eq!(frames(&desk.take_out()), [values(&[2, 3, 4])]);
}

#[test]
fn a_broker_with_another_table_does_not_get_what_was_meant_for_the_first() {
    let mut desk = desk(20 * MS, QoS::AtLeastOnce);
    desk.row(&[1]).unwrap();
    desk.run();
    desk.write_out();
    desk.lose();
    desk.row(&[2, 3]).unwrap();
    desk.connect(false);
    let flush = desk.writer.flush();
    assert_eq!(desk.writer.resume(8, 2), 2);
    desk.run();
    assert!(desk.take_out().is_empty());
    assert_eq!(desk.notices(), [Notice::Refused(desk.writer.id()), Notice::Flushed(flush)]);
    desk.row(&[4]).unwrap();
    desk.run();
    assert_eq!(frames(&desk.take_out()), [values(&[4])]);
}

#[test]
fn at_qos_1_an_unanswered_frame_is_sent_again_when_the_stream_goes_on() {
    let mut desk = desk(20 * MS, QoS::AtLeastOnce);
    desk.row(&[1]).unwrap();
    desk.run();
    desk.write_out();
    desk.lose();
    desk.row(&[2]).unwrap();
    assert!(desk.connect(false).is_empty());
    desk.writer.resume(7, 2);
    assert_eq!(frames(&desk.write_out()), [values(&[1])]);
    desk.run();
    assert_eq!(frames(&desk.write_out()), [values(&[2])]);
}

#[test]
fn at_qos_1_no_more_than_a_few_frames_are_unanswered() {
    let mut desk = desk(Duration::ZERO, QoS::AtLeastOnce);
    let mut sent = 0;
    for number in 0..40 {
        desk.row(&[number]).unwrap();
        desk.run();
        sent += frames(&desk.write_out()).len();
    }
    assert_eq!(sent, 16);
    desk.acknowledge(1, Reason::Success);
    desk.run();
    let rest: Vec<u8> = (16..40).collect();
    assert_eq!(frames(&desk.write_out()), [values(&rest)]);
}

#[test]
fn a_refusal_is_told_with_its_reason() {
    let mut desk = desk(Duration::ZERO, QoS::AtLeastOnce);
    desk.row(&[1]).unwrap();
    desk.run();
    desk.acknowledge(1, Reason::NotAuthorized);
    assert_eq!(desk.notices(), [Notice::Refused(desk.writer.id())]);
    let tally = desk.writer.tally();
    let outcome = Outcome::Refused { reason: Reason::NotAuthorized, text: None };
    assert_eq!((tally.refused, tally.fault), (1, Some((0, outcome))));
}

#[test]
fn a_value_larger_than_the_broker_takes_is_refused_and_the_rest_goes_on() {
    let mut desk = desk(Duration::ZERO, QoS::AtMostOnce);
    let long = "x".repeat(1 << 17);
    desk.writer.samples(&[sample(0, 1, ValueView::Text(&long))]).unwrap();
    desk.run();
    assert!(desk.take_out().is_empty());
    let tally = desk.writer.tally();
    let refused =
        matches!(tally.fault, Some((0, Outcome::Refused { reason: Reason::PacketTooLarge, .. })));
    assert!(refused, "{tally:?}");
    desk.row(&[1]).unwrap();
    desk.run();
    assert_eq!(frames(&desk.take_out()), [values(&[1])]);
}

#[test]
fn a_flush_is_done_when_its_frames_are_written_whatever_comes_later() {
    let mut desk = desk(10_000 * MS, QoS::AtMostOnce);
    desk.row(&[1]).unwrap();
    let flush = desk.writer.flush();
    let early = desk.now;
    assert!(matches!(desk.sending.step(early + MS), Next::Again), "without waiting for the beat");
    let first = desk.take_out();
    desk.row(&[2]).unwrap();
    desk.run();
    assert!(desk.notices().is_empty(), "not written");
    desk.boxes.outbox.written(first.len());
    desk.run();
    assert_eq!(desk.notices(), [Notice::Flushed(flush)]);
}

#[test]
fn at_qos_1_a_flush_waits_for_the_answers() {
    let mut desk = desk(Duration::ZERO, QoS::AtLeastOnce);
    desk.row(&[1]).unwrap();
    let flush = desk.writer.flush();
    desk.run();
    desk.write_out();
    desk.run();
    assert!(desk.notices().is_empty());
    desk.acknowledge(1, Reason::Success);
    desk.run();
    assert_eq!(desk.notices(), [Notice::Flushed(flush)]);
}

#[test]
fn closing_sends_the_rest_and_takes_nothing_more() {
    let mut desk = desk(10_000 * MS, QoS::AtMostOnce);
    desk.row(&[1]).unwrap();
    let closed = desk.writer.close();
    assert_eq!(desk.row(&[2]), Err(WriteError::Closed));
    assert!(!desk.run());
    assert_eq!(frames(&desk.write_out()), [values(&[1])]);
    assert!(desk.run(), "the task ends");
    assert_eq!(desk.notices(), [Notice::Flushed(closed)]);
}

#[tokio::test]
async fn closing_and_flushing_are_told_however_often_and_late() {
    let mut desk = desk(20 * MS, QoS::AtMostOnce);
    let first = desk.writer.close();
    assert!(desk.run());
    let sending = std::mem::replace(&mut desk.sending, Sending::new(desk.writer.shared.clone()));
    sending.run().await;
    let told = [first, desk.writer.close(), desk.writer.flush()].map(Notice::Flushed);
    assert_eq!(desk.notices(), told);
}

#[test]
fn when_the_owner_leaves_the_connection_the_writer_is_over() {
    let mut desk = desk(20 * MS, QoS::AtMostOnce);
    desk.row(&[1]).unwrap();
    desk.boxes.outbox.disconnect(1000 * MS, desk.now);
    assert!(desk.run());
}

#[test]
fn a_full_writer_tells_when_there_is_room() {
    let mut desk = desk(Duration::ZERO, QoS::AtMostOnce);
    let mut rows = 0;
    while desk.row(&[1; 4096]).is_ok() {
        rows += 1;
    }
    assert!(rows > 200, "{rows}");
    for _ in 0..100 {
        desk.run();
        desk.write_out();
    }
    assert_eq!(desk.writer.unsent_bytes(), 0);
    assert_eq!((desk.notices(), desk.writer.tally().refused), (vec![Notice::Room], 0));
    desk.row(&[1]).unwrap();
}
