//! A publisher that keeps to MQTT: numbered messages at QoS 1 and 2, sent again until acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use slipring_core::WAIT_PROPERTY;
use slipring_engine::simulated::Simulated;
use slipring_wire::{Packet, PacketId, PropertiesBuf, PropertyId, Publish, QoS, Value};

use crate::ends::Ends;
use crate::line::{Line, Stay};

/// Messages it has unacknowledged at most.
const WINDOW: usize = 8;

/// How far a message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Sent,
    /// PUBREC has come, and PUBREL is sent.
    Released,
}

/// A publisher, over all its connections.
#[derive(Default)]
pub struct Publisher {
    name: String,
    /// Its messages wait for their first subscriber.
    waits: bool,
    line: Option<Line>,
    /// CONNACK has accepted it.
    is_welcome: bool,
    next: u64,
    next_id: u16,
    /// Unfinished, by packet identifier: the number, and how far it is.
    unfinished: BTreeMap<u16, (u64, Stage)>,
    /// Numbers the broker has promised to deliver.
    pub acknowledged: BTreeSet<u64>,
    /// Numbers the broker has refused.
    pub refused: BTreeSet<u64>,
    /// Its messages are requests: how they ended.
    pub ends: Option<Ends>,
}

/// The quality of a message: every third one is delivered once.
pub fn qos_of(number: u64) -> QoS {
    if number % 3 == 2 { QoS::ExactlyOnce } else { QoS::AtLeastOnce }
}

/// Whether a request may go to another service when one has gone.
pub fn has_retry(number: u64) -> bool {
    number % 2 == 1
}

/// The properties of a request: some wait for a service, all time out.
fn ask(number: u64, properties: &mut PropertiesBuf) {
    properties.push(PropertyId::ResponseTopic, Value::Text("answers"));
    properties.push(PropertyId::CorrelationData, Value::Binary(&number.to_be_bytes()));
    let timeout = (1 + number % 10).to_string();
    let waits = if number % 5 > 0 { "1" } else { "0" };
    let retry = if has_retry(number) { "3" } else { "0" };
    for (name, text) in
        [("slipring-timeout", &*timeout), (WAIT_PROPERTY, waits), ("slipring-retry", retry)]
    {
        properties.push(PropertyId::UserProperty, Value::Pair(name, text));
    }
}

impl Publisher {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), next_id: 1, ..Self::default() }
    }

    /// One whose messages wait for their first subscriber.
    pub fn waiting(name: &str) -> Self {
        Self { waits: true, ..Self::new(name) }
    }

    /// One whose messages are requests.
    pub fn asking(name: &str) -> Self {
        Self { ends: Some(Ends::default()), ..Self::new(name) }
    }

    /// The topic of its messages.
    pub fn topic(&self) -> String {
        let first = match self.ends {
            Some(_) => "ask",
            None if self.waits => "waiting",
            None => "simulated",
        };
        format!("{first}/{}", self.name)
    }

    /// Loses the connection.
    pub fn cut(&mut self) {
        self.line = None;
        self.is_welcome = false;
    }

    /// Whether everything it sent is settled.
    pub fn is_done(&self) -> bool {
        self.unfinished.is_empty()
    }

    /// Connects if it has no connection, sends up to so many further messages, and takes the answers.
    pub fn turn(&mut self, broker: &Simulated, further: usize) {
        let mut line = match self.line.take() {
            Some(line) => line,
            None => Line::open(broker, &self.name, Stay::Kept),
        };
        for _ in 0..further {
            if self.is_welcome && self.unfinished.len() < WINDOW {
                let id = self.free_id();
                let number = self.next;
                self.next += 1;
                self.unfinished.insert(id, (number, Stage::Sent));
                self.send(&mut line, id, number, false);
            }
        }
        self.line = line.turn(broker, |line, packet| self.take(line, &packet));
        if self.line.is_none() {
            self.cut();
        }
    }

    fn free_id(&mut self) -> u16 {
        loop {
            let id = self.next_id;
            self.next_id = self.next_id % 20 + 1; // few, so that they are used again soon
            if !self.unfinished.contains_key(&id) {
                return id;
            }
        }
    }

    fn send(&self, line: &mut Line, id: u16, number: u64, again: bool) {
        let (topic, payload) = (self.topic(), number.to_be_bytes());
        let mut properties = PropertiesBuf::new();
        if self.waits {
            properties.push(PropertyId::UserProperty, Value::Pair(WAIT_PROPERTY, "1"));
        }
        if self.ends.is_some() {
            ask(number, &mut properties);
        }
        let publish = Publish {
            properties: properties.borrow(),
            dup: again,
            qos: qos_of(number),
            packet_id: PacketId::new(id),
            ..Publish::new(&topic, &payload)
        };
        line.send(&Packet::Publish(publish));
    }

    fn take(&mut self, line: &mut Line, packet: &Packet<'_>) {
        match packet {
            Packet::ConnAck(connack) => {
                self.is_welcome = !connack.reason.is_error();
                self.resume(line, connack.session_present);
            }
            Packet::PubAck(ack) => self.settle(ack.packet_id.get(), ack.reason.is_error()),
            Packet::PubRec(ack) if ack.reason.is_error() => self.settle(ack.packet_id.get(), true),
            Packet::PubRec(ack) => {
                if let Some((number, stage)) = self.unfinished.get_mut(&ack.packet_id.get()) {
                    self.acknowledged.insert(*number);
                    *stage = Stage::Released;
                }
                line.answer(Packet::PubRel, ack.packet_id);
            }
            Packet::PubComp(ack) => drop(self.unfinished.remove(&ack.packet_id.get())),
            packet => {
                if let Some(ends) = &mut self.ends {
                    ends.take(line, packet);
                }
            }
        }
    }

    fn settle(&mut self, id: u16, refused: bool) {
        if let Some((number, _)) = self.unfinished.remove(&id) {
            let answered = if refused { &mut self.refused } else { &mut self.acknowledged };
            answered.insert(number);
        }
    }

    /// MQTT-4.4.0-1: what is unfinished is sent again with the same identifiers. Without its session
    /// the broker knows of none, and what it has not acknowledged is sent anew.
    fn resume(&mut self, line: &mut Line, session_present: bool) {
        if !session_present {
            self.unfinished.retain(|_, (_, stage)| *stage == Stage::Sent);
        }
        let mut unfinished: Vec<_> =
            self.unfinished.iter().map(|(id, sent)| (*id, *sent)).collect();
        unfinished.sort_by_key(|(_, (number, _))| *number);
        for (id, (number, stage)) in unfinished {
            match stage {
                Stage::Sent => self.send(line, id, number, session_present),
                Stage::Released => {
                    line.answer(Packet::PubRel, PacketId::new(id).expect("it is from 1 to 20"));
                }
            }
        }
    }
}
