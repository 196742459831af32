//! The client's protocol: any bytes from a broker, between any calls of its owner.

use std::time::{Duration, Instant};

use arbitrary::{Arbitrary, Unstructured};
use slipring_protocol::{
    BatchId, ClientEvent, ClientProtocol, ConnectOptions, DeliveryTag, ProtocolEvent,
    SubscriptionId,
};
use slipring_wire::{
    Ack, Packet, PacketId, PacketSplit, Properties, PropertiesBuf, PropertyId, Publish, QoS,
    Reason, Value, Version, split_packet,
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
    Frame(bool, &'a [u8]),
    ResumeWriter,
    AbandonWriter,
}

/// The acknowledgements a broker may send.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Answer {
    Taken,
    Received,
    Complete,
    Release,
}

struct FuzzedClient {
    protocol: ClientProtocol,
    now: Instant,
    input: Vec<u8>,
    output: Vec<u8>,
    events: Vec<ProtocolEvent>,
    connections: usize,
    writer: BatchId,
}

/// The bytes are the steps of a conversation.
pub fn client(data: &[u8]) {
    let mut source = Unstructured::new(data);
    let mut run = FuzzedClient::new();
    while let Ok(step) = Step::arbitrary(&mut source) {
        run.take(step);
        if source.is_empty() {
            break;
        }
    }
    run.finish();
}

impl FuzzedClient {
    fn new() -> Self {
        let now = Instant::now();
        let options = ConnectOptions {
            client_id: "fuzz".to_owned(),
            keep_alive_s: 10,
            timeout: Duration::from_secs(5),
            session_expiry_s: 60,
            clean_start: false,
            reconnect: Duration::from_secs(60),
            ..ConnectOptions::default()
        };
        let mut protocol = ClientProtocol::new(options, 4096, now);
        let (input, output, events) = (Vec::new(), Vec::new(), Vec::new());
        let writer = protocol.open_batch();
        Self { protocol, now, input, output, events, connections: 1, writer }
    }

    fn take(&mut self, step: Step<'_>) {
        match step {
            Step::Receive(bytes) => self.receive(bytes),
            Step::Connack => self.receive(CONNACK),
            Step::ConnackPresent => self.receive(CONNACK_PRESENT),
            Step::ConnackNarrow => self.receive(CONNACK_NARROW),
            Step::Again => self.again(),
            Step::Detach(id) => self.protocol.detach(SubscriptionId(id.into())),
            Step::GiveUp(filter) => drop(self.protocol.give_up(&[filter])),
            Step::Abandon(position) => {
                let tag = self.tag(position.into());
                self.protocol.abandon(tag.as_slice());
            }
            Step::Message(topic, payload) => self.receive_message(&Publish::new(topic, payload)),
            Step::MessageKept(twice, id, topic, payload) => {
                let (qos, packet_id) = (above(twice), PacketId::new(u16::from(id) + 1));
                let publish = Publish { qos, packet_id, ..Publish::new(topic, payload) };
                self.receive_message(&publish);
            }
            Step::Subscribe(twice, one, other) => {
                drop(self.protocol.subscribe(&[one, other], above(twice), &[]));
            }
            Step::Done(position) => self.done(position.into()),
            Step::Unsubscribe(id) => self.protocol.unsubscribe(SubscriptionId(id.into())),
            Step::Publish(topic, payload) => {
                drop(self.protocol.publish(&Publish::new(topic, payload)));
            }
            Step::PublishKept(twice, topic, payload) => {
                let publish = Publish { qos: above(twice), ..Publish::new(topic, payload) };
                drop(self.protocol.publish(&publish));
            }
            Step::PublishMany(count, twice) => self.publish_many(count, above(twice)),
            Step::Answer(answer, id, code) => self.receive_answer(answer, id, code),
            Step::Ping => drop(self.protocol.ping(self.now)),
            Step::Wait(ms) => {
                self.now += Duration::from_millis(ms.into());
                self.protocol.handle_timeout(self.now);
            }
            Step::Reading(reading) => self.protocol.set_reading(reading, self.now),
            Step::TakeOutput => {
                self.output.extend(self.protocol.take_output(Vec::new(), self.now));
            }
            Step::Disconnect(s) => {
                self.protocol.disconnect(Duration::from_secs(s.into()), self.now);
            }
            Step::Eof => self.protocol.receive_eof(),
            Step::Further(step) => self.take_further(step),
        }
    }

    fn take_further(&mut self, step: Further<'_>) {
        match step {
            Further::Select(filter, text) => {
                drop(self.protocol.subscribe(&[filter], QoS::AtMostOnce, &[("rate", text)]));
            }
            Further::MessageNamed(identifier, topic, payload) => {
                let mut properties = PropertiesBuf::new();
                let identifier = Value::Varint(u32::from(identifier) + 1);
                properties.push(PropertyId::SubscriptionIdentifier, identifier);
                let properties = properties.borrow();
                self.receive_message(&Publish { properties, ..Publish::new(topic, payload) });
            }
            Further::Listen(topic) => {
                self.protocol.listen(&[topic], QoS::AtMostOnce);
            }
            Further::Frame(once, payload) => {
                let qos = if once { QoS::AtMostOnce } else { QoS::AtLeastOnce };
                let publish = Publish { qos, ..Publish::new("frames", payload) };
                drop(self.protocol.publish_frame(self.writer, &publish));
            }
            Further::ResumeWriter => self.protocol.resume_writer(self.writer),
            Further::AbandonWriter => {
                self.protocol.abandon_writer(self.writer, &mut self.events);
                let tally = self.protocol.tally(self.writer);
                assert!(tally.settled + tally.outstanding <= tally.accepted, "{tally:?}");
            }
        }
    }

    fn publish_many(&mut self, count: u8, qos: QoS) {
        let batch = self.protocol.open_batch();
        let publish = Publish { qos, ..Publish::new("many", b"x") };
        for _ in 0..count {
            drop(self.protocol.publish_in(batch, &publish));
        }
        let tally = self.protocol.tally(batch);
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

    /// A reader is done with a message.
    fn done(&mut self, position: usize) {
        let tag = self.tag(position);
        self.protocol.done(tag.as_slice());
    }

    fn tag(&self, position: usize) -> Option<DeliveryTag> {
        match self.events.get(position)? {
            ProtocolEvent::Message { message, .. } => message.tag,
            ProtocolEvent::Client(_) => None,
        }
    }

    /// The connection breaks, and another one is made if that may help.
    fn again(&mut self) {
        self.protocol.receive_eof();
        if self.protocol.retry(self.now, 0).is_some() {
            self.input.clear();
            self.connections += 1;
            self.protocol.handle_timeout(self.now);
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        loop {
            let used = self.protocol.receive(&self.input, self.now, &mut self.events);
            self.input.drain(..used);
            if used == 0 {
                break;
            }
        }
    }

    /// Only packets that a client may send were sent, and no event came before `Connected`.
    fn finish(mut self) {
        self.output.extend_from_slice(self.protocol.output());
        let mut rest = &self.output[..];
        while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
            let sent = Packet::decode(&whole, Version::V5).expect("a client sends valid packets");
            assert!(is_of_a_client(&sent), "{sent:?}");
            rest = &rest[whole.length..];
        }
        assert!(rest.is_empty(), "half a packet was sent");
        let connected = |event: &ProtocolEvent| {
            matches!(event, ProtocolEvent::Client(ClientEvent::Connected(_)))
        };
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
