//! A service that gets requests and answers them, now or later, well or not.

use std::collections::{BTreeMap, BTreeSet};

use slipring_engine::simulated::Simulated;
use slipring_wire::{
    Packet, PacketId, PropertiesBuf, PropertyId, Publish, QoS, Subscribe, Subscription, Value,
};

use crate::line::{Line, Stay};

const FILTER: &str = "ask/#";

/// What a service does with the requests that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It answers all.
    Answer,
    /// It says of all that it cannot.
    Fail,
    /// It computes on.
    Compute,
}

/// A service, over all its connections.
#[derive(Default)]
pub struct Server {
    name: String,
    /// Whether its session outlives its connection.
    is_kept: bool,
    /// How many sessions it had, if they end with the connection.
    made: u32,
    line: Option<Line>,
    unreleased: BTreeSet<PacketId>,
    /// Requests that it has not answered: the topics of their answers.
    computing: Vec<String>,
    /// Answers that are not acknowledged, by packet identifier.
    unacknowledged: BTreeMap<u16, (String, Deed)>,
    next_id: u16,
    /// How often it got each request, by number.
    pub computed: BTreeMap<u64, u32>,
}

impl Server {
    pub fn new(name: &str, is_kept: bool) -> Self {
        Self { name: name.to_owned(), is_kept, ..Self::default() }
    }

    /// Loses the connection, and its session with it unless that is kept.
    pub fn cut(&mut self) {
        self.line = None;
        if !self.is_kept {
            self.end_session();
        }
    }

    fn end_session(&mut self) {
        self.unreleased.clear();
        self.computing.clear();
        self.unacknowledged.clear();
    }

    /// Connects if it has no connection, takes what is there, and does something with its requests.
    pub fn turn(&mut self, broker: &Simulated, deed: Deed) {
        let mut line = self.line.take().unwrap_or_else(|| self.come(broker));
        if deed != Deed::Compute {
            for topic in std::mem::take(&mut self.computing) {
                self.next_id = self.next_id % 200 + 1;
                send(&mut line, self.next_id, &topic, deed, false);
                self.unacknowledged.insert(self.next_id, (topic, deed));
            }
        }
        self.line = line.turn(broker, |line, packet| self.take(line, &packet));
        if self.line.is_none() {
            self.cut();
        }
    }

    fn come(&mut self, broker: &Simulated) -> Line {
        if self.is_kept {
            return Line::open(broker, &self.name, Stay::Kept);
        }
        self.made += 1;
        Line::open(broker, &format!("{}-{}", self.name, self.made), Stay::WithConnection)
    }

    fn take(&mut self, line: &mut Line, packet: &Packet<'_>) {
        match packet {
            Packet::ConnAck(connack) if connack.session_present => {
                for (id, (topic, deed)) in &self.unacknowledged {
                    send(line, *id, topic, *deed, true);
                }
            }
            Packet::ConnAck(_) => {
                self.end_session();
                serve(line);
            }
            Packet::PubAck(ack) => drop(self.unacknowledged.remove(&ack.packet_id.get())),
            Packet::Publish(publish) => {
                let Some(id) = publish.packet_id else { return };
                if self.unreleased.insert(id) {
                    let number = <[u8; 8]>::try_from(publish.payload).map_or(0, u64::from_be_bytes);
                    *self.computed.entry(number).or_default() += 1;
                    let topic = publish.properties.text(PropertyId::ResponseTopic);
                    self.computing.extend(topic.map(str::to_owned));
                }
                let is_once = publish.qos == QoS::ExactlyOnce;
                line.answer(if is_once { Packet::PubRec } else { Packet::PubAck }, id);
                if !is_once {
                    self.unreleased.remove(&id);
                }
            }
            Packet::PubRel(ack) => {
                self.unreleased.remove(&ack.packet_id);
                line.answer(Packet::PubComp, ack.packet_id);
            }
            _ => {}
        }
    }
}

fn serve(line: &mut Line) {
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::UserProperty, Value::Pair("slipring-serve", "3"));
    line.send(&Packet::Subscribe(Subscribe {
        packet_id: PacketId::new(1).expect("not 0"),
        properties: properties.borrow(),
        subscriptions: vec![Subscription { qos: QoS::ExactlyOnce, ..Subscription::new(FILTER) }],
    }));
}

fn send(line: &mut Line, id: u16, topic: &str, deed: Deed, dup: bool) {
    let mut properties = PropertiesBuf::new();
    if deed == Deed::Fail {
        properties.push(PropertyId::UserProperty, Value::Pair("slipring-status", "failed"));
    }
    let (qos, packet_id) = (QoS::AtLeastOnce, PacketId::new(id));
    let properties = properties.borrow();
    let answer = Publish { dup, qos, packet_id, properties, ..Publish::new(topic, b"done") };
    line.send(&Packet::Publish(answer));
}
