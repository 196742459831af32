//! The protocol, pure: bytes in, events out; calls in, bytes out.
//!
//! Never reads a clock, never touches a socket: the driver brings the bytes and the time.

mod answers;
mod arrive;
mod event;
mod flight;
mod greeting;
mod held;
mod keep_alive;
mod manner;
mod properties;
mod publish;
mod receive;
mod retry;
pub(crate) mod routes;
mod send;
mod session;
mod stream;
mod subscribe;
mod tally;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use slipring_wire::{Disconnect, Packet, Properties, PropertyId, QoS, Reason, Version};

pub use event::{
    BatchId, Event, Extras, FlushId, Message, Notice, PingId, PublishId, Refusal, SubscriptionId,
};
pub use greeting::Greeting;
pub use held::Receipt;
pub use properties::MessageProperties;
pub use send::SendError;
pub use session::Session;
pub use tally::{Outcome, Tally};

use crate::Loss;
use answers::Answers;
use flight::Flight;
use held::Held;
use keep_alive::{Due, KeepAlive};
use retry::Retry;
use routes::Routes;
use tally::Tallies;

/// How long the last word to a broker that broke the rules may take.
const LAST_WORD: Duration = Duration::from_secs(1);

#[derive(Debug)]
enum Phase {
    Connecting {
        until: Instant,
    },
    Open,
    /// The owner wants to go; the broker still has messages to acknowledge.
    Draining {
        until: Instant,
        timeout: Duration,
    },
    /// The last word is written; nothing more is read.
    Closing {
        until: Instant,
        timeout: Duration,
        loss: Option<Loss>,
    },
    /// The connection is lost; another one is made then.
    Away {
        until: Instant,
        loss: Loss,
    },
    Closed(Option<Loss>),
}

/// A PINGREQ without its answer; those of the keep-alive in a row are counted, not listed.
#[derive(Debug)]
struct Ping {
    id: Option<PingId>,
    asked: Instant,
    times: u32,
}

/// One connection's protocol state.
#[derive(Debug)]
pub struct Machine {
    phase: Phase,
    greeting: Greeting,
    session: Session,
    retry: Retry,
    keep_alive: KeepAlive,
    answers: Answers,
    routes: Routes,
    flight: Flight,
    held: Held,
    /// The best quality that was ever subscribed to; nothing better may come.
    qos_asked: QoS,
    tallies: Tallies,
    pings: VecDeque<Ping>,
    newest_id: u64,
    newest_packet_id: u16,
    newest_identifier: u32,
    /// How many connections the broker accepted, the present one too.
    connections: u64,
    output: Vec<u8>,
    own_bytes: usize,
    once_bytes: usize,
}

impl Machine {
    /// Starts with CONNECT as the first output.
    pub fn new(greeting: Greeting, now: Instant) -> Self {
        let mut machine = Self {
            phase: Phase::Closed(None),
            session: Session::asked(&greeting),
            retry: Retry::new(greeting.reconnect),
            keep_alive: KeepAlive::new(0, now),
            answers: Answers::default(),
            routes: Routes::default(),
            flight: Flight::default(),
            held: Held::default(),
            qos_asked: QoS::AtMostOnce,
            tallies: Tallies::default(),
            pings: VecDeque::new(),
            newest_id: 0,
            newest_packet_id: 0,
            newest_identifier: 0,
            connections: 0,
            own_bytes: 0,
            once_bytes: 0,
            output: Vec::new(),
            greeting,
        };
        machine.begin(now);
        machine
    }

    /// Says hello, for the first time or again.
    fn begin(&mut self, now: Instant) {
        let clean_start = self.asks_clean_start();
        // The name that the broker gave is this client's from then on.
        let client_id = std::mem::take(&mut self.session.client_id);
        self.session = Session { client_id, ..Session::asked(&self.greeting) };
        self.greeting.write(&self.session.client_id, clean_start, &mut self.output);
        self.own_bytes = self.output.len();
        self.phase = Phase::Connecting { until: now + self.greeting.timeout };
    }

    /// A session is new once; after that it is this client's own.
    fn asks_clean_start(&self) -> bool {
        self.greeting.clean_start && !self.retry.is_again()
    }

    /// After a loss: begins to wait for another try, and says how long; or not, and it is over.
    pub fn retry(&mut self, now: Instant, random: u32) -> Option<Duration> {
        let Phase::Closed(Some(loss)) = &self.phase else { return None };
        let delay = self.retry.wait(loss, now, random)?;
        self.phase = Phase::Away { until: now + delay, loss: loss.clone() };
        self.output.clear();
        self.own_bytes = 0;
        self.once_bytes = 0;
        self.pings.clear();
        Some(delay)
    }

    /// The number of the present connection, the first is 1; none while there is none.
    pub fn connection(&self) -> Option<u64> {
        matches!(self.phase, Phase::Open | Phase::Draining { .. }).then_some(self.connections)
    }

    /// Bytes that wait to be sent.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Bytes of messages that wait for a place in the broker's window.
    pub fn waiting_bytes(&self) -> usize {
        self.flight.waiting_bytes()
    }

    /// How much of the newest output is our own hello or goodbye, which no caller waits for.
    pub fn own_bytes(&self) -> usize {
        self.own_bytes
    }

    /// How much of the output is messages at QoS 0, which are lost with the connection.
    pub fn once_bytes(&self) -> usize {
        self.once_bytes
    }

    /// Takes what waits to be sent and leaves an empty buffer in its place.
    pub fn take_output(&mut self, empty: Vec<u8>, now: Instant) -> Vec<u8> {
        debug_assert!(empty.is_empty());
        self.keep_alive.sent(now);
        self.once_bytes = 0;
        std::mem::replace(&mut self.output, empty)
    }

    /// When [`Self::handle_timeout`] must be called next.
    pub fn deadline(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Connecting { until }
            | Phase::Draining { until, .. }
            | Phase::Closing { until, .. }
            | Phase::Away { until, .. } => Some(*until),
            Phase::Open => self.keep_alive.deadline(),
            Phase::Closed(_) => None,
        }
    }

    /// Does what is due: a ping, or giving up.
    pub fn handle_timeout(&mut self, now: Instant) {
        match &self.phase {
            Phase::Connecting { until } if now >= *until => {
                self.end(Some(Loss::ConnectTimeout(self.greeting.timeout)));
            }
            Phase::Draining { until, timeout } if now >= *until => {
                self.end(Some(Loss::CloseTimeout(*timeout)));
            }
            Phase::Closing { until, timeout, loss } if now >= *until => {
                let loss = loss.clone().unwrap_or(Loss::CloseTimeout(*timeout));
                self.end(Some(loss));
            }
            Phase::Away { until, .. } if now >= *until => self.begin(now),
            Phase::Open => match self.keep_alive.due(now) {
                Due::Nothing => {}
                Due::Ping => self.write_ping(None, now),
                Due::Dead => self.end(Some(Loss::Silent(self.keep_alive.silence(now)))),
            },
            _ => {}
        }
    }

    /// Whether the driver reads from now on; a peer is not given up while nobody listens.
    pub fn set_reading(&mut self, reading: bool, now: Instant) {
        self.keep_alive.set_reading(reading, now);
    }

    /// Says goodbye after everything accepted before is sent and, at QoS 1 and 2, acknowledged;
    /// gives up after the time-out.
    pub fn disconnect(&mut self, timeout: Duration, now: Instant) {
        self.retry.stop();
        match &self.phase {
            Phase::Connecting { .. } => self.end(None),
            Phase::Away { loss, .. } => self.end(Some(loss.clone())),
            Phase::Open => {
                self.phase = Phase::Draining { until: now + timeout, timeout };
                self.leave_when_drained();
            }
            Phase::Draining { .. } | Phase::Closing { .. } | Phase::Closed(_) => {}
        }
    }

    fn leave_when_drained(&mut self) {
        if let Phase::Draining { until, timeout } = self.phase {
            if self.flight.is_empty() {
                self.say_goodbye(Reason::Success, None, until, timeout);
            }
        }
    }

    /// The connection is gone.
    pub fn end(&mut self, loss: Option<Loss>) {
        if !matches!(self.phase, Phase::Closed(_)) {
            self.phase = Phase::Closed(loss);
        }
    }

    /// The peer closed the stream.
    pub fn receive_eof(&mut self) {
        let loss = match &self.phase {
            Phase::Connecting { .. } => Loss::ClosedEarly,
            Phase::Closing { loss: Some(loss), .. } => loss.clone(),
            _ => Loss::Closed,
        };
        self.end(Some(loss));
    }

    /// Whether only acknowledgements are waited for, and messages that arrive are let go.
    pub fn is_draining(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. })
    }

    /// Whether the last word is written and only has to be sent.
    pub fn is_closing(&self) -> bool {
        matches!(self.phase, Phase::Closing { .. })
    }

    /// Whether there is no connection, and another one will be made.
    pub fn is_away(&self) -> bool {
        matches!(self.phase, Phase::Away { .. })
    }

    /// Whether nothing more will come or go.
    pub fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed(_))
    }

    /// Why the connection ended or is ending; none if as asked.
    pub fn loss(&self) -> Option<&Loss> {
        match &self.phase {
            Phase::Closing { loss, .. } | Phase::Closed(loss) => loss.as_ref(),
            Phase::Away { loss, .. } => Some(loss),
            _ => None,
        }
    }

    fn say_goodbye(
        &mut self,
        reason: Reason,
        loss: Option<Loss>,
        until: Instant,
        timeout: Duration,
    ) {
        let goodbye = Packet::Disconnect(Disconnect { reason, properties: Properties::NONE });
        let start = self.output.len();
        goodbye.encode(Version::V5, &mut self.output);
        self.own_bytes = self.output.len() - start;
        self.phase = Phase::Closing { until, timeout, loss };
    }
}
