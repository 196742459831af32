//! The client's side of MQTT 5, pure: bytes in, events out; calls in, bytes out.
//!
//! [`ClientProtocol`] never reads a clock and never touches a socket. A driver brings the bytes that
//! arrived and the time, and sends the bytes that wait: `slipring-client` drives one for a program,
//! a broker can drive one for a link to another broker.

mod arrive;
mod backoff;
mod client_will;
mod connect;
mod credentials;
mod event;
mod granted;
mod inbound;
mod keep_alive;
mod loss;
mod outbound;
mod pending;
mod phase;
mod properties;
mod proving;
mod publish;
mod receive;
mod scram;
mod send;
mod subscribe;
mod subscription_kind;
mod subscriptions;
mod tally;
#[cfg(test)]
mod tests;
mod writers;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use slipring_wire::{Disconnect, Packet, Properties, QoS, Reason, Version};

pub use client_will::ClientWill;
pub use connect::ConnectOptions;
pub use credentials::{Credentials, NonceSeed, ProofMethod};
pub use event::{
    BatchId, ClientEvent, FlushId, PingId, ProtocolEvent, PublishId, ReceivedMessage,
    ReceivedProperties, RefusedFilter, SubscriptionId,
};
pub use granted::GrantedTerms;
pub use inbound::DeliveryTag;
pub use loss::ConnectionLoss;
pub use properties::MessageProperties;
pub use send::SendError;
pub use subscriptions::filter_matches;
pub use tally::{PublishOutcome, PublishTally};

use backoff::ReconnectBackoff;
use inbound::InboundWindow;
use keep_alive::{KeepAlive, KeepAliveAction};
use outbound::OutboundWindow;
use pending::PendingRequests;
use phase::Phase;
use proving::Proving;
use subscriptions::Subscriptions;
use tally::PublishTallies;

/// How long sending DISCONNECT to a broker that broke the rules may take.
const LAST_WORD: Duration = Duration::from_secs(1);

/// PINGREQs without an answer: one that the owner asked for, or several of the keep-alive in a row.
#[derive(Debug)]
struct Ping {
    id: Option<PingId>,
    asked: Instant,
    times: u32,
}

/// One client's protocol state, over all its connections to one broker.
#[derive(Debug)]
pub struct ClientProtocol {
    phase: Phase,
    options: ConnectOptions,
    /// The largest packet this client takes; said in CONNECT.
    packet_bytes_max: usize,
    granted: GrantedTerms,
    backoff: ReconnectBackoff,
    keep_alive: KeepAlive,
    pending: PendingRequests,
    subscriptions: Subscriptions,
    outbound: OutboundWindow,
    inbound: InboundWindow,
    /// The highest QoS that was ever subscribed to; the broker may send nothing above it.
    qos_asked: QoS,
    tallies: PublishTallies,
    pings: VecDeque<Ping>,
    proving: Proving,
    /// The newest id of a call. All kinds of calls share the numbers, so that no two have the same.
    newest_id: u64,
    newest_packet_id: u16,
    newest_identifier: u32,
    /// How many connections the broker accepted, the present one included.
    connections: u64,
    output: Vec<u8>,
    own_bytes: usize,
    qos0_bytes: usize,
}

impl ClientProtocol {
    /// Starts with CONNECT as the first output.
    pub fn new(options: ConnectOptions, packet_bytes_max: usize, now: Instant) -> Self {
        let mut protocol = Self {
            phase: Phase::Closed(None),
            packet_bytes_max,
            granted: GrantedTerms::asked(&options),
            backoff: ReconnectBackoff::new(options.reconnect, options.credentials.renewed),
            keep_alive: KeepAlive::new(0, now),
            pending: PendingRequests::default(),
            subscriptions: Subscriptions::default(),
            outbound: OutboundWindow::default(),
            inbound: InboundWindow::default(),
            qos_asked: QoS::AtMostOnce,
            tallies: PublishTallies::default(),
            pings: VecDeque::new(),
            proving: Proving::default(),
            newest_id: 0,
            newest_packet_id: 0,
            newest_identifier: 0,
            connections: 0,
            own_bytes: 0,
            qos0_bytes: 0,
            output: Vec::new(),
            options,
        };
        protocol.begin(now);
        protocol
    }

    /// Writes CONNECT, for the first connection or a later one.
    fn begin(&mut self, now: Instant) {
        // A client id that the broker assigned is this client's from then on.
        let client_id = std::mem::take(&mut self.granted.client_id);
        self.granted = GrantedTerms { client_id, ..GrantedTerms::asked(&self.options) };
        self.write_connect();
        self.own_bytes = self.output.len();
        self.phase = Phase::Connecting { until: now + self.options.timeout };
    }

    /// Only the first connection asks for a new session; later ones continue it.
    fn asks_clean_start(&self) -> bool {
        self.options.clean_start && !self.backoff.was_connected()
    }

    /// After a loss: how long the driver waits before [`Self::handle_timeout`] writes another
    /// CONNECT. `None` if the client gives up and stays closed.
    pub fn retry(&mut self, now: Instant, random: u32) -> Option<Duration> {
        let Phase::Closed(Some(loss)) = &self.phase else { return None };
        let Some(delay) = self.backoff.wait(loss, now, random) else {
            self.backoff.stop();
            return None;
        };
        self.phase = Phase::Away { until: now + delay, loss: loss.clone() };
        self.output.clear();
        self.own_bytes = 0;
        self.qos0_bytes = 0;
        self.pings.clear();
        self.expect_token();
        Some(delay)
    }

    /// The number of the present connection, from 1; `None` while there is no connection.
    pub fn connection(&self) -> Option<u64> {
        matches!(self.phase, Phase::Open | Phase::Draining { .. }).then_some(self.connections)
    }

    /// Bytes that wait to be sent.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Bytes of messages that wait for room in the in-flight window.
    pub fn waiting_bytes(&self) -> usize {
        self.outbound.waiting_bytes()
    }

    /// How much of the output is CONNECT or DISCONNECT, which no caller accepted or waits for.
    pub fn own_bytes(&self) -> usize {
        self.own_bytes
    }

    /// How much of the output is messages at QoS 0, which a lost connection takes with it.
    pub fn qos0_bytes(&self) -> usize {
        self.qos0_bytes
    }

    /// Takes the output and leaves `empty` in its place.
    pub fn take_output(&mut self, empty: Vec<u8>, now: Instant) -> Vec<u8> {
        debug_assert!(empty.is_empty());
        self.keep_alive.sent(now);
        self.qos0_bytes = 0;
        std::mem::replace(&mut self.output, empty)
    }

    /// When [`Self::handle_timeout`] must be called next.
    pub fn deadline(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Connecting { until }
            | Phase::Draining { until, .. }
            | Phase::Closing { until, .. } => Some(*until),
            Phase::Away { until, .. } => self.next_connection(*until),
            Phase::Open => self.keep_alive.deadline(),
            Phase::Closed(_) => None,
        }
    }

    /// Does what is due: sends a ping, connects again, or gives up.
    pub fn handle_timeout(&mut self, now: Instant) {
        match &self.phase {
            Phase::Connecting { until } if now >= *until => {
                self.end(Some(ConnectionLoss::ConnectTimeout(self.options.timeout)));
            }
            Phase::Draining { until, timeout } if now >= *until => {
                self.end(Some(ConnectionLoss::CloseTimeout(*timeout)));
            }
            Phase::Closing { until, timeout, loss } if now >= *until => {
                let loss = loss.clone().unwrap_or(ConnectionLoss::CloseTimeout(*timeout));
                self.end(Some(loss));
            }
            Phase::Away { until, .. } if now >= *until && !self.proving.lacks_token() => {
                self.begin(now);
            }
            Phase::Open => match self.keep_alive.due(now) {
                KeepAliveAction::Nothing => {}
                KeepAliveAction::Ping => self.write_ping(None, now),
                KeepAliveAction::Dead => {
                    self.end(Some(ConnectionLoss::Silent(self.keep_alive.silence(now))));
                }
            },
            _ => {}
        }
    }

    /// Notes whether the driver reads the socket. While it does not, the broker's silence means
    /// nothing.
    pub fn set_reading(&mut self, reading: bool, now: Instant) {
        self.keep_alive.set_reading(reading, now);
    }

    /// Sends DISCONNECT once everything accepted before is sent and, at QoS 1 and 2, acknowledged;
    /// gives up after the time-out.
    pub fn disconnect(&mut self, timeout: Duration, now: Instant) {
        self.backoff.stop();
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
            if self.outbound.is_empty() {
                self.say_goodbye(Reason::Success, None, until, timeout);
            }
        }
    }

    /// Ends the connection. `loss` says why; `None` if the owner asked for it.
    pub fn end(&mut self, loss: Option<ConnectionLoss>) {
        if !matches!(self.phase, Phase::Closed(_)) {
            self.phase = Phase::Closed(loss);
        }
    }

    /// The broker closed the connection.
    pub fn receive_eof(&mut self) {
        let loss = match &self.phase {
            Phase::Connecting { .. } => ConnectionLoss::ClosedEarly,
            Phase::Closing { loss: Some(loss), .. } => loss.clone(),
            _ => ConnectionLoss::Closed,
        };
        self.end(Some(loss));
    }

    /// Puts DISCONNECT into the output.
    fn say_goodbye(
        &mut self,
        reason: Reason,
        loss: Option<ConnectionLoss>,
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
