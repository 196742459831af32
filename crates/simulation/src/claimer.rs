//! Clients that claim messages which wait for a subscriber. Their sessions end with their connections; among all of
//! them each QoS 2 message arrives once.

use slipring_engine::simulated::Simulated;
use slipring_wire::Packet;

use crate::line::{Line, Stay, subscribe};
use crate::received::Received;

/// Matches the messages that wait.
const FILTER: &str = "waiting/#";

/// One client after another.
#[derive(Default)]
pub struct Claimer {
    line: Option<Line>,
    /// How many clients there were.
    made: u32,
    pub received: Received,
}

impl Claimer {
    /// Loses the connection, and its session with it.
    pub fn cut(&mut self) {
        self.line = None;
        self.received.end_session();
    }

    /// Connects and subscribes if it has no connection, and takes what is there.
    pub fn turn(&mut self, broker: &Simulated) {
        let line = self.line.take().unwrap_or_else(|| self.come(broker));
        self.line = line.turn(broker, |line, packet| {
            if let Some(id) = self.received.take(line, &packet) {
                line.answer(Packet::PubAck, id);
            }
        });
        if self.line.is_none() {
            self.cut();
        }
    }

    fn come(&mut self, broker: &Simulated) -> Line {
        self.made += 1;
        let name = format!("claimer-{}", self.made);
        let mut line = Line::open(broker, &name, Stay::WithConnection);
        subscribe(&mut line, FILTER);
        line
    }
}
