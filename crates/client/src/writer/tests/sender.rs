//! The frame sender: one frame at a time, on the connection that is ready for it.

use slipring_protocol::{ClientProtocol, ConnectOptions, PublishOutcome};
use slipring_wire::{
    Ack, ConnAck, Packet, PacketId, PacketSplit, Properties, PropertiesBuf, PropertyId, Reason,
    Value, Version, split_packet,
};

use super::super::sender::SendStep;
use super::*;
use crate::inbox::Inbox;
use crate::outbox::Outbox;

struct WriterSetup {
    boxes: Arc<Mailboxes>,
    writer: Writer,
    sender: FrameSender,
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

fn setup(beat: Duration, qos: QoS) -> WriterSetup {
    let now = Instant::now();
    let reconnect = Duration::MAX;
    let connect = ConnectOptions { keep_alive_s: 0, reconnect, ..ConnectOptions::default() };
    let outbox = Outbox::new(ClientProtocol::new(connect, 1 << 16, now), 1 << 20);
    let boxes = Arc::new(Mailboxes { outbox, inbox: Inbox::new(1 << 20).unwrap() });
    let options = WriterOptions {
        topic: "gripen".to_owned(),
        table: 7,
        connection: 1,
        beat,
        qos,
        deflate: false,
        bytes_max: 1 << 20,
    };
    let connect = boxes.outbox.take(Vec::new(), now);
    boxes.outbox.written(connect.len());
    let deliver = |events: &mut Vec<_>| boxes.inbox.push(events);
    boxes.outbox.receive(&connack(false, 1 << 16), now, &mut Vec::new(), deliver);
    let (writer, sender) = Writer::new(boxes.clone(), options).unwrap();
    WriterSetup { boxes, writer, sender, now }
}

impl WriterSetup {
    fn row(&self, values: &[u8]) -> Result<(), WriteError> {
        let mut taken = Ok(());
        row(0, &[1], values, &mut |block| taken = self.writer.block(block));
        taken
    }

    /// Runs the sender until it waits; whether it has ended.
    fn run(&mut self) -> bool {
        // After any beat.
        let now = self.now + Duration::from_secs(3600);
        for _ in 0..1000 {
            match self.sender.step(now) {
                SendStep::Again => {}
                SendStep::Wait(_) => return false,
                SendStep::Over => return true,
            }
        }
        panic!("it never waits")
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
        self.boxes.outbox.change(ClientProtocol::receive_eof);
        self.boxes.outbox.retry(self.now, 0).unwrap();
    }

    fn connect(&mut self, session_present: bool) -> Vec<u8> {
        self.boxes.outbox.change(|protocol| protocol.handle_timeout(self.now));
        self.write_out();
        self.receive(&connack(session_present, 1 << 16));
        self.write_out()
    }

    fn events(&self) -> Vec<ClientEvent> {
        let mut events = self.boxes.inbox.events();
        events.retain(|event| !matches!(event, ClientEvent::Connected(_)));
        events
    }
}

/// The values of each frame.
fn frames(mut bytes: &[u8]) -> Vec<Vec<OwnedValue>> {
    let mut frames = Vec::new();
    while let Ok(PacketSplit::Whole(whole)) = split_packet(bytes, usize::MAX) {
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
    let mut setup = setup(20 * MS, QoS::AtMostOnce);
    setup.row(&[1]).unwrap();
    setup.run();
    setup.row(&[2]).unwrap();
    setup.run();
    let first = setup.take_out();
    setup.row(&[3]).unwrap();
    setup.run();
    setup.boxes.outbox.written(first.len() - 1);
    setup.run();
    assert_eq!(frames(&first), [values(&[1])]);
    assert!(setup.take_out().is_empty());
    setup.boxes.outbox.written(1);
    setup.run();
    assert_eq!(frames(&setup.take_out()), [values(&[2, 3])]);
    assert_eq!(setup.writer.frames(), 2);
}

#[test]
fn a_frame_says_when_it_is_sent_not_when_it_was_made() {
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut setup = setup(Duration::ZERO, QoS::AtMostOnce);
    setup.row(&[1]).unwrap();
    setup.run();
    let bytes = setup.write_out();
    let Ok(PacketSplit::Whole(whole)) = split_packet(&bytes, usize::MAX) else {
        panic!("a packet")
    };
    let Packet::Publish(publish) = Packet::decode(&whole, Version::V5).unwrap() else {
        panic!("a message")
    };
    let mut scratch = Vec::new();
    let view = FrameView::decode(publish.payload, &mut scratch, &READ).unwrap();
    assert!(u128::try_from(view.header.sent_ns).unwrap() >= before.as_nanos());
}

#[test]
fn unsent_samples_outlive_the_connection_and_wait_until_the_writer_resumes() {
    let mut setup = setup(20 * MS, QoS::AtMostOnce);
    setup.row(&[1]).unwrap();
    setup.run();
    setup.row(&[2]).unwrap();
    setup.lose();
    setup.row(&[3]).unwrap();
    assert!(!setup.run());
    assert!(setup.connect(false).is_empty());
    setup.row(&[4]).unwrap();
    assert!(!setup.run());
    assert!(setup.take_out().is_empty(), "the broker does not know of it yet");
    assert_eq!(setup.writer.resume(7, 1), 0, "an answer of the connection before");
    setup.run();
    assert!(setup.take_out().is_empty());
    assert_eq!(setup.writer.resume(7, 2), 0);
    setup.run();
    assert_eq!(frames(&setup.take_out()), [values(&[2, 3, 4])]);
}

#[test]
fn a_broker_with_another_table_does_not_get_samples_of_the_first() {
    let mut setup = setup(20 * MS, QoS::AtLeastOnce);
    setup.row(&[1]).unwrap();
    setup.run();
    setup.write_out();
    setup.lose();
    setup.row(&[2, 3]).unwrap();
    setup.connect(false);
    let flush = setup.writer.flush();
    assert_eq!(setup.writer.resume(8, 2), 2);
    setup.run();
    assert!(setup.take_out().is_empty());
    assert_eq!(
        setup.events(),
        [ClientEvent::Refused(setup.writer.id()), ClientEvent::Flushed(flush)]
    );
    setup.row(&[4]).unwrap();
    setup.run();
    assert_eq!(frames(&setup.take_out()), [values(&[4])]);
}

#[test]
fn at_qos_1_an_unanswered_frame_is_sent_again_when_the_writer_resumes() {
    let mut setup = setup(20 * MS, QoS::AtLeastOnce);
    setup.row(&[1]).unwrap();
    setup.run();
    setup.write_out();
    setup.lose();
    setup.row(&[2]).unwrap();
    assert!(setup.connect(false).is_empty());
    setup.writer.resume(7, 2);
    assert_eq!(frames(&setup.write_out()), [values(&[1])]);
    setup.run();
    assert_eq!(frames(&setup.write_out()), [values(&[2])]);
}

#[test]
fn at_qos_1_no_more_than_a_few_frames_are_unanswered() {
    let mut setup = setup(Duration::ZERO, QoS::AtLeastOnce);
    let mut sent = 0;
    for number in 0..40 {
        setup.row(&[number]).unwrap();
        setup.run();
        sent += frames(&setup.write_out()).len();
    }
    assert_eq!(sent, 16);
    setup.acknowledge(1, Reason::Success);
    setup.run();
    let rest: Vec<u8> = (16..40).collect();
    assert_eq!(frames(&setup.write_out()), [values(&rest)]);
}

#[test]
fn a_refusal_is_reported_with_its_reason() {
    let mut setup = setup(Duration::ZERO, QoS::AtLeastOnce);
    setup.row(&[1]).unwrap();
    setup.run();
    setup.acknowledge(1, Reason::NotAuthorized);
    assert_eq!(setup.events(), [ClientEvent::Refused(setup.writer.id())]);
    let tally = setup.writer.tally();
    let outcome = PublishOutcome::Refused { reason: Reason::NotAuthorized, text: None };
    assert_eq!((tally.refused, tally.fault), (1, Some((0, outcome))));
}

#[test]
fn a_value_larger_than_the_broker_takes_is_refused_and_later_ones_are_sent() {
    let mut setup = setup(Duration::ZERO, QoS::AtMostOnce);
    let long = "x".repeat(1 << 17);
    setup.writer.samples(&[sample(0, 1, ValueView::Text(&long))]).unwrap();
    setup.run();
    assert!(setup.take_out().is_empty());
    let tally = setup.writer.tally();
    let refused = matches!(
        tally.fault,
        Some((0, PublishOutcome::Refused { reason: Reason::PacketTooLarge, .. }))
    );
    assert!(refused, "{tally:?}");
    setup.row(&[1]).unwrap();
    setup.run();
    assert_eq!(frames(&setup.take_out()), [values(&[1])]);
}

#[test]
fn a_flush_is_done_when_its_frames_are_written_even_if_more_samples_follow() {
    let mut setup = setup(10_000 * MS, QoS::AtMostOnce);
    setup.row(&[1]).unwrap();
    let flush = setup.writer.flush();
    let early = setup.now;
    assert!(
        matches!(setup.sender.step(early + MS), SendStep::Again),
        "without waiting for the beat"
    );
    let first = setup.take_out();
    setup.row(&[2]).unwrap();
    setup.run();
    assert!(setup.events().is_empty(), "not written");
    setup.boxes.outbox.written(first.len());
    setup.run();
    assert_eq!(setup.events(), [ClientEvent::Flushed(flush)]);
}

#[test]
fn at_qos_1_a_flush_waits_for_the_answers() {
    let mut setup = setup(Duration::ZERO, QoS::AtLeastOnce);
    setup.row(&[1]).unwrap();
    let flush = setup.writer.flush();
    setup.run();
    setup.write_out();
    setup.run();
    assert!(setup.events().is_empty());
    setup.acknowledge(1, Reason::Success);
    setup.run();
    assert_eq!(setup.events(), [ClientEvent::Flushed(flush)]);
}

#[test]
fn closing_sends_the_rest_and_takes_nothing_more() {
    let mut setup = setup(10_000 * MS, QoS::AtMostOnce);
    setup.row(&[1]).unwrap();
    let closed = setup.writer.close();
    assert_eq!(setup.row(&[2]), Err(WriteError::Closed));
    assert!(!setup.run());
    assert_eq!(frames(&setup.write_out()), [values(&[1])]);
    assert!(setup.run(), "the task ends");
    assert_eq!(setup.events(), [ClientEvent::Flushed(closed)]);
}

#[tokio::test]
async fn every_close_and_flush_gets_its_event_even_after_the_end() {
    let mut setup = setup(20 * MS, QoS::AtMostOnce);
    let first = setup.writer.close();
    assert!(setup.run());
    let sender =
        std::mem::replace(&mut setup.sender, FrameSender::new(setup.writer.shared.clone()));
    sender.run().await;
    let told = [first, setup.writer.close(), setup.writer.flush()].map(ClientEvent::Flushed);
    assert_eq!(setup.events(), told);
}

#[test]
fn a_writer_ends_when_the_owner_disconnects() {
    let mut setup = setup(20 * MS, QoS::AtMostOnce);
    setup.row(&[1]).unwrap();
    setup.boxes.outbox.change(|protocol| protocol.disconnect(1000 * MS, setup.now));
    assert!(setup.run());
}

#[test]
fn a_full_writer_reports_when_there_is_room() {
    let mut setup = setup(Duration::ZERO, QoS::AtMostOnce);
    let mut rows = 0;
    while setup.row(&[1; 4096]).is_ok() {
        rows += 1;
    }
    assert!(rows > 200, "{rows}");
    for _ in 0..100 {
        setup.run();
        setup.write_out();
    }
    assert_eq!(setup.writer.unsent_bytes(), 0);
    assert_eq!((setup.events(), setup.writer.tally().refused), (vec![ClientEvent::Room], 0));
    setup.row(&[1]).unwrap();
}
