//! A client that ends its own session in every way MQTT has, and checks that the session stays ended.

use slipring_engine::simulated::Simulated;
use slipring_wire::{Disconnect, Packet, PropertiesBuf, PropertyId, Reason, Value};

use crate::line::{Line, Stay};

const NAME: &str = "leaver";

/// What the client knows of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing: its last request was not confirmed.
    Nothing,
    /// The broker keeps it.
    Kept,
    /// There is none, or it ends with the connection.
    Gone,
}

/// What it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// CONNACK, which confirms this.
    Connack(Known),
    /// The broker closes the connection after DISCONNECT.
    Closing,
}

/// What it does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Connects.
    Connect(Stay),
    /// Sends a DISCONNECT that ends its session.
    Goodbye,
    /// Loses the connection.
    Lose,
    /// Only receives.
    Listen,
}

/// The client, over all its connections.
pub struct Leaver {
    line: Option<Line>,
    known: Known,
    awaited: Option<Awaited>,
    /// Broken promises, in words.
    pub broken: Vec<String>,
    /// How often the end of a session was confirmed.
    pub ends: usize,
}

impl Leaver {
    pub fn new() -> Self {
        Self { line: None, known: Known::Gone, awaited: None, broken: Vec::new(), ends: 0 }
    }

    /// Loses the connection, and with it any confirmation.
    pub fn cut(&mut self) {
        self.line = None;
        let hoped = match self.awaited.take() {
            None => return,
            Some(Awaited::Connack(then)) => then,
            Some(Awaited::Closing) => Known::Gone,
        };
        if hoped != self.known {
            self.known = Known::Nothing;
        }
    }

    /// Takes a step, and receives. A closed connection confirms nothing if the broker's journal `has_failed`.
    pub fn turn(&mut self, broker: &Simulated, step: Step, has_failed: impl Fn() -> bool) {
        match (step, &mut self.line) {
            (Step::Connect(stay), None) => {
                self.line = Some(Line::open(broker, NAME, stay));
                let then = if stay == Stay::Kept { Known::Kept } else { Known::Gone };
                self.awaited = Some(Awaited::Connack(then));
            }
            (Step::Goodbye, Some(line)) if self.awaited.is_none() => {
                say_goodbye(line, self.known == Known::Kept);
                self.awaited = Some(Awaited::Closing);
            }
            (Step::Lose, Some(_)) => self.cut(),
            _ => {}
        }
        let Some(line) = self.line.take() else { return };
        self.line = line.turn(broker, |_, packet| self.take(&packet));
        if self.line.is_none() {
            if self.awaited == Some(Awaited::Closing) && !has_failed() {
                self.confirm(Known::Gone);
            }
            self.cut();
        }
    }

    fn take(&mut self, packet: &Packet<'_>) {
        let (Packet::ConnAck(connack), Some(Awaited::Connack(then))) = (packet, self.awaited)
        else {
            return;
        };
        if connack.reason.is_error() {
            return;
        }
        if connack.session_present && self.known == Known::Gone {
            self.broken.push("a session that had ended was there again".into());
        }
        self.confirm(then);
    }

    fn confirm(&mut self, known: Known) {
        self.ends += usize::from(known == Known::Gone && self.known != Known::Gone);
        (self.known, self.awaited) = (known, None);
    }
}

fn say_goodbye(line: &mut Line, ends: bool) {
    let mut properties = PropertiesBuf::new();
    if ends {
        properties.push(PropertyId::SessionExpiryInterval, Value::Four(0));
    }
    let goodbye = Disconnect { reason: Reason::Success, properties: properties.borrow() };
    line.send(&Packet::Disconnect(goodbye));
}
