//! The client's machine: any bytes from a broker, between any calls of its owner.

use std::time::{Duration, Instant};

use arbitrary::{Arbitrary, Unstructured};
use slipring_client::{
    BatchId, Credentials, Event, Greeting, Machine, Notice, Receipt, SubscriptionId,
};
use slipring_wire::{
    Ack, Framed, Packet, PacketId, Properties, PropertiesBuf, PropertyId, Publish, QoS, Reason,
    Value, Version, frame,
};

const CONNACK: &[u8] = &[0x20, 3, 0, 0, 0];
const CONNACK_PRESENT: &[u8] = &[0x20, 3, 1, 0, 0];
/// A broker that takes two messages at once.
const CONNACK_NARROW: &[u8] = &[0x20, 6, 1, 0, 3, 0x21, 0, 2];

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Step<'a> {
    Receive(&'a [u8]),
    Connack,
    ConnackPresent,
    ConnackNarrow,
    Message(&'a str, &'a [u8]),
    MessageKept(bool, u8, &'a str, &'a [u8]),
    Done(u8),
    Subscribe(bool, &'a str, &'a str),
    Unsubscribe(u8),
    Publish(&'a str, &'a [u8]),
    PublishKept(bool, &'a str, &'a [u8]),
    PublishMany(u8, bool),
    Answer(Answer, u8, u8),
    Ping,
    Wait(u16),
    Reading(bool),
    TakeOutput,
    Disconnect(u8),
    Eof,
    Again,
    Detach(u8),
    GiveUp(&'a str),
    Abandon(u8),
    Further(Further<'a>),
}

/// What goes beyond plain messages.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Further<'a> {
    Select(&'a str, &'a str),
    MessageNamed(u8, &'a str, &'a [u8]),
    Listen(&'a str),
    Stream(bool, &'a [u8]),
    ResumeStream,
    AbandonStream,
}

/// The acknowledgements a broker may send.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Answer {
    Taken,
    Received,
    Complete,
    Release,
}

struct Run {
    machine: Machine,
    now: Instant,
    input: Vec<u8>,
    output: Vec<u8>,
    events: Vec<Event>,
    connections: usize,
    stream: BatchId,
}

/// The bytes are the steps of a conversation.
pub fn client(data: &[u8]) {
    let mut source = Unstructured::new(data);
    let mut run = Run::new();
    while let Ok(step) = Step::arbitrary(&mut source) {
        run.take(step);
        if source.is_empty() {
            break;
        }
    }
    run.finish();
}

impl Run {
    fn new() -> Self {
        let now = Instant::now();
        let greeting = Greeting {
            client_id: "fuzz".to_owned(),
            credentials: Credentials::default(),
            keep_alive_s: 10,
            timeout: Duration::from_secs(5),
            packet_bytes_max: 4096,
            session_expiry_s: 60,
            clean_start: false,
            reconnect: Duration::from_secs(60),
        };
        let mut machine = Machine::new(greeting, now);
        let (input, output, events) = (Vec::new(), Vec::new(), Vec::new());
        let stream = machine.open_stream();
        Self { machine, now, input, output, events, connections: 1, stream }
    }

    fn take(&mut self, step: Step<'_>) {
        match step {
            Step::Receive(bytes) => self.receive(bytes),
            Step::Connack => self.receive(CONNACK),
            Step::ConnackPresent => self.receive(CONNACK_PRESENT),
            Step::ConnackNarrow => self.receive(CONNACK_NARROW),
            Step::Again => self.again(),
            Step::Detach(id) => self.machine.detach(SubscriptionId(id.into())),
            Step::GiveUp(filter) => drop(self.machine.give_up(&[filter])),
            Step::Abandon(position) => {
                let receipt = self.receipt(position.into());
                self.machine.abandon(receipt.as_slice());
            }
            Step::Message(topic, payload) => self.receive_message(&Publish::new(topic, payload)),
            Step::MessageKept(twice, id, topic, payload) => {
                let (qos, packet_id) = (above(twice), PacketId::new(u16::from(id) + 1));
                let publish = Publish { qos, packet_id, ..Publish::new(topic, payload) };
                self.receive_message(&publish);
            }
            Step::Subscribe(twice, one, other) => {
                drop(self.machine.subscribe(&[one, other], above(twice), &[]));
            }
            Step::Done(position) => self.done(position.into()),
            Step::Unsubscribe(id) => self.machine.unsubscribe(SubscriptionId(id.into())),
            Step::Publish(topic, payload) => {
                drop(self.machine.publish(&Publish::new(topic, payload)));
            }
            Step::PublishKept(twice, topic, payload) => {
                let publish = Publish { qos: above(twice), ..Publish::new(topic, payload) };
                drop(self.machine.publish(&publish));
            }
            Step::PublishMany(count, twice) => self.publish_many(count, above(twice)),
            Step::Answer(answer, id, code) => self.receive_answer(answer, id, code),
            Step::Ping => drop(self.machine.ping(self.now)),
            Step::Wait(ms) => {
                self.now += Duration::from_millis(ms.into());
                self.machine.handle_timeout(self.now);
            }
            Step::Reading(reading) => self.machine.set_reading(reading, self.now),
            Step::TakeOutput => {
                self.output.extend(self.machine.take_output(Vec::new(), self.now));
            }
            Step::Disconnect(s) => {
                self.machine.disconnect(Duration::from_secs(s.into()), self.now);
            }
            Step::Eof => self.machine.receive_eof(),
            Step::Further(step) => self.take_further(step),
        }
    }

    fn take_further(&mut self, step: Further<'_>) {
        match step {
            Further::Select(filter, text) => {
                drop(self.machine.subscribe(&[filter], QoS::AtMostOnce, &[("rate", text)]));
            }
            Further::MessageNamed(identifier, topic, payload) => {
                let mut properties = PropertiesBuf::new();
                let identifier = Value::Varint(u32::from(identifier) + 1);
                properties.push(PropertyId::SubscriptionIdentifier, identifier);
                let properties = properties.borrow();
                self.receive_message(&Publish { properties, ..Publish::new(topic, payload) });
            }
            Further::Listen(topic) => {
                self.machine.listen(&[topic]);
            }
            Further::Stream(once, payload) => {
                let qos = if once { QoS::AtMostOnce } else { QoS::AtLeastOnce };
                let publish = Publish { qos, ..Publish::new("stream", payload) };
                drop(self.machine.publish_on(self.stream, &publish));
            }
            Further::ResumeStream => self.machine.resume_stream(self.stream),
            Further::AbandonStream => {
                self.machine.abandon_stream(self.stream, &mut self.events);
                let tally = self.machine.tally(self.stream);
                assert!(tally.settled + tally.outstanding <= tally.accepted, "{tally:?}");
            }
        }
    }

    fn publish_many(&mut self, count: u8, qos: QoS) {
        let batch = self.machine.open_batch();
        let publish = Publish { qos, ..Publish::new("many", b"x") };
        for _ in 0..count {
            drop(self.machine.publish_in(batch, &publish));
        }
        let tally = self.machine.tally(batch);
        assert!(tally.settled + tally.outstanding == tally.accepted, "{tally:?}");
    }

    fn receive_answer(&mut self, answer: Answer, id: u8, code: u8) {
        let Some(packet_id) = PacketId::new(id.into()) else { return };
        let reason = Reason::from_code(code).unwrap_or(Reason::Success);
        let ack = Ack { packet_id, reason, properties: Properties::NONE };
        let packet = match answer {
            Answer::Taken => Packet::PubAck(ack),
            Answer::Received => Packet::PubRec(ack),
            Answer::Complete => Packet::PubComp(ack),
            Answer::Release => Packet::PubRel(ack),
        };
        let mut bytes = Vec::new();
        packet.encode(Version::V5, &mut bytes);
        self.receive(&bytes);
    }

    fn receive_message(&mut self, publish: &Publish<'_>) {
        let mut bytes = Vec::new();
        Packet::Publish(*publish).encode(Version::V5, &mut bytes);
        self.receive(&bytes);
    }

    /// Some reader is done with some message.
    fn done(&mut self, position: usize) {
        let receipt = self.receipt(position);
        self.machine.done(receipt.as_slice());
    }

    fn receipt(&self, position: usize) -> Option<Receipt> {
        match self.events.get(position)? {
            Event::Message { message, .. } => message.receipt,
            Event::Notice(_) => None,
        }
    }

    /// The connection breaks, and another one is made if that may help.
    fn again(&mut self) {
        self.machine.receive_eof();
        if self.machine.retry(self.now, 0).is_some() {
            self.input.clear();
            self.connections += 1;
            self.machine.handle_timeout(self.now);
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        loop {
            let used = self.machine.receive(&self.input, self.now, &mut self.events);
            self.input.drain(..used);
            if used == 0 {
                break;
            }
        }
    }

    /// All that was sent is packets a client may send, and nothing came before the broker's yes.
    fn finish(mut self) {
        self.output.extend_from_slice(self.machine.output());
        let mut rest = &self.output[..];
        while let Ok(Framed::Whole(whole)) = frame(rest, usize::MAX) {
            let sent = Packet::decode(&whole, Version::V5).expect("a client sends valid packets");
            assert!(is_of_a_client(&sent), "{sent:?}");
            rest = &rest[whole.length..];
        }
        assert!(rest.is_empty(), "half a packet was sent");
        let connected = |event: &Event| matches!(event, Event::Notice(Notice::Connected(_)));
        let times = self.events.iter().filter(|event| connected(event)).count();
        assert!(times <= self.connections, "connected {times} times");
        assert!(self.events.first().is_none_or(connected), "{:?}", self.events.first());
    }
}

fn above(twice: bool) -> QoS {
    if twice { QoS::ExactlyOnce } else { QoS::AtLeastOnce }
}

fn is_of_a_client(packet: &Packet<'_>) -> bool {
    !matches!(
        packet,
        Packet::ConnAck(_) | Packet::SubAck(_) | Packet::UnsubAck(_) | Packet::PingResp
    )
}
