//! A subscriber that keeps to MQTT and notes what it receives.

use slipring_engine::simulated::Simulated;
use slipring_wire::{Packet, PacketId};

use crate::line::{Line, Stay, subscribe};
use crate::received::Received;

const FILTER: &str = "simulated/#";

/// A subscriber, over all its connections.
#[derive(Default)]
pub struct Subscriber {
    name: String,
    line: Option<Line>,
    /// SUBACK has come: from then on nothing may be missed.
    pub subscribed: bool,
    /// The broker did not know a session that it had confirmed.
    pub forgotten: bool,
    pub received: Received,
    /// Identifiers that a slow subscriber has not acknowledged yet.
    unanswered: Vec<PacketId>,
}

impl Subscriber {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Loses the connection.
    pub fn cut(&mut self) {
        self.line = None;
        self.unanswered.clear();
    }

    /// Connects if it has no connection, and takes what comes; with `slow` it acknowledges later.
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
        self.line = line.turn(broker, |line, packet| self.take(line, &packet, slow));
        if self.line.is_none() {
            self.cut();
        }
    }

    fn take(&mut self, line: &mut Line, packet: &Packet<'_>, slow: bool) {
        match packet {
            Packet::ConnAck(connack) if !connack.session_present => {
                self.forgotten |= self.subscribed;
                self.received.end_session();
                subscribe(line, FILTER);
            }
            Packet::SubAck(_) => self.subscribed = true,
            packet => match self.received.take(line, packet) {
                Some(id) if slow => self.unanswered.push(id),
                Some(id) => line.answer(Packet::PubAck, id),
                None => {}
            },
        }
    }
}
