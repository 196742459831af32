//! A subscriber that keeps to MQTT and notes what it is given: each QoS 2 message once by its identifier.

use std::collections::{BTreeMap, BTreeSet};

use slipring_engine::simulated::Simulated;
use slipring_wire::{Packet, PacketId, QoS};

use crate::line::{Line, Stay, subscribe};

const FILTER: &str = "simulated/#";

/// A subscriber, over all its connections.
pub struct Subscriber {
    name: String,
    line: Option<Line>,
    /// SUBACK has come: from then on nothing may be missed.
    pub subscribed: bool,
    /// The broker did not know a session that it had confirmed.
    pub forgotten: bool,
    /// QoS 2 identifiers that were not released.
    held: BTreeSet<PacketId>,
    /// How often each message was delivered: topic and number.
    pub received: BTreeMap<(String, u64), u32>,
    /// Answers it keeps back, to be slow.
    unanswered: Vec<PacketId>,
}

impl Subscriber {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            line: None,
            subscribed: false,
            forgotten: false,
            held: BTreeSet::new(),
            received: BTreeMap::new(),
            unanswered: Vec::new(),
        }
    }

    /// Loses the connection.
    pub fn cut(&mut self) {
        self.line = None;
        self.unanswered.clear();
    }

    /// Connects if need be, and takes what comes; with `slow` it leaves it unanswered for now.
    pub fn turn(&mut self, broker: &Simulated, slow: bool) {
        let mut line = match self.line.take() {
            Some(line) => line,
            None => Line::open(broker, &self.name, Stay::Kept),
        };
        if !slow {
            for id in self.unanswered.drain(..) {
                line.answer(Packet::PubAck, id);
            }
        }
        let open = line.exchange(broker);
        line.receive(|line, packet| self.take(line, &packet, slow));
        if open {
            self.line = Some(line);
        } else {
            self.cut();
        }
    }

    fn take(&mut self, line: &mut Line, packet: &Packet<'_>, slow: bool) {
        match packet {
            Packet::ConnAck(connack) if !connack.session_present => {
                self.forgotten |= self.subscribed;
                self.held.clear();
                subscribe(line, FILTER);
            }
            Packet::SubAck(_) => self.subscribed = true,
            Packet::Publish(publish) => {
                let number = <[u8; 8]>::try_from(publish.payload).map_or(0, u64::from_be_bytes);
                let Some(id) = publish.packet_id else { return };
                let new = publish.qos != QoS::ExactlyOnce || self.held.insert(id);
                if new {
                    let key = (publish.topic.to_owned(), number);
                    *self.received.entry(key).or_default() += 1;
                }
                match publish.qos {
                    QoS::ExactlyOnce => line.answer(Packet::PubRec, id),
                    _ if slow => self.unanswered.push(id),
                    _ => line.answer(Packet::PubAck, id),
                }
            }
            Packet::PubRel(ack) => {
                self.held.remove(&ack.packet_id);
                line.answer(Packet::PubComp, ack.packet_id);
            }
            _ => {}
        }
    }
}
