//! What the engine shows of itself, copied out in one go.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use slipring_core::{Limit, Millis, memory};
use slipring_wire::Version;

use crate::broker::Broker;
use crate::client::{Client, Link};
use crate::traffic::{Prefix, Traffic};

/// The broker as a whole.
#[derive(Clone, Debug)]
pub struct Status {
    /// Since the start.
    pub uptime: Duration,
    /// Counted since the start.
    pub totals: Totals,
    /// Connected clients.
    pub clients: usize,
    /// Clients let in since the start.
    pub connections: u64,
    /// Sessions, connected or waiting for their client.
    pub sessions: usize,
    /// Subscriptions of all clients.
    pub subscriptions: usize,
    /// Retained messages.
    pub retained_messages: usize,
    /// Their bytes, about.
    pub retained_bytes: usize,
    /// Messages that wait for their first subscriber.
    pub waiting_messages: usize,
    /// Their bytes, about.
    pub waiting_bytes: usize,
    /// Bytes of memory that all that waits for others takes.
    pub memory_bytes: usize,
    /// What it may take; 0 is no bound.
    pub memory_budget_bytes: usize,
    /// Limits that were reached since the start, and how often.
    pub reached: Vec<(Limit, u64)>,
    /// Topics with a newest value.
    pub topics: usize,
    /// The current value table.
    pub table: TableStatus,
    /// The streams.
    pub streams: StreamsStatus,
    /// QoS 1 and 2 messages acknowledged since the start.
    pub acknowledged: Acknowledged,
    /// What nodes said to others since the start.
    pub notices: NoticeCounts,
    /// None when nothing is journaled.
    pub journal: Option<JournalStatus>,
}

/// Counters since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Messages received from publishers.
    pub messages_in: u64,
    /// Bytes received, all packets.
    pub bytes_in: u64,
    /// Messages sent to subscribers.
    pub messages_out: u64,
    /// Bytes sent, all packets.
    pub bytes_out: u64,
    /// Messages dropped because a subscriber was too slow.
    pub dropped: u64,
    /// Messages that expired before they could be delivered.
    pub expired: u64,
}

/// The current value table: what is in it, and what went through it since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableStatus {
    /// Parameters.
    pub parameters: usize,
    /// Those whose newest value is stale.
    pub stale: usize,
    /// Bytes of the newest values of text and bytes parameters.
    pub value_bytes: usize,
    /// Selections that are served; equal ones are one.
    pub selections: usize,
    /// Clients and shared subscriptions that read parameters by plain subscriptions.
    pub readers: usize,
    /// Those of them that get newest values only.
    pub readers_newest: usize,
    /// Frames taken.
    pub frames: u64,
    /// Samples taken.
    pub samples: u64,
    /// Frames and plain values refused.
    pub refused: u64,
}

/// The streams: what there is, and what went through them since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamsStatus {
    /// Streams.
    pub streams: usize,
    /// Subscriptions that read streams.
    pub readers: usize,
    /// Bytes in the buffers.
    pub kept_bytes: usize,
    /// Chunks taken.
    pub chunks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Chunks given to readers.
    pub delivered: u64,
    /// Chunks that readers missed.
    pub lost: u64,
    /// Chunks refused.
    pub refused: u64,
}

/// QoS 1 and 2 messages by how safe they were when they were acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// At once.
    pub memory: u64,
    /// Once they were written.
    pub process: u64,
    /// Once they were on the disk.
    pub disk: u64,
}

/// Notices since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoticeCounts {
    /// Sent, and not refused.
    pub accepted: u64,
    /// Deliveries to clients.
    pub delivered: u64,
    /// Too large, or too many at once.
    pub refused: u64,
}

/// What was published below one topic prefix since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixTraffic {
    /// The first levels of the topics.
    pub prefix: Box<str>,
    /// Messages published.
    pub messages: u64,
    /// Bytes of their payloads.
    pub bytes: u64,
    /// Deliveries to subscribers.
    pub deliveries: u64,
}

/// The journal's state.
#[derive(Clone, Debug)]
pub struct JournalStatus {
    /// As the journal tells.
    pub status: slipring_journal::Status,
    /// Messages lost to a failed journal.
    pub not_journaled: u64,
    /// Who keeps the oldest messages from being removed, if anybody does.
    pub held_by: Option<String>,
}

/// One connected client.
#[derive(Clone, Debug)]
pub struct ClientStatus {
    /// Its identifier.
    pub client_id: String,
    /// Where it connects from.
    pub address: String,
    /// What it speaks.
    pub version: Version,
    /// Since when, in nanoseconds since 1970.
    pub connected_ns: i64,
    /// Its counters.
    pub totals: Totals,
    /// Which of the listeners it came by.
    pub listener: usize,
    /// Who it says it is, or its certificate proves.
    pub user: Option<String>,
    /// QoS 1 and 2 messages that wait or are in flight.
    pub queued_messages: usize,
    /// Bytes waiting for it.
    pub queued_bytes: usize,
    /// QoS 1 and 2 messages sent and not settled.
    pub inflight: usize,
    /// Its filters, in order.
    pub subscriptions: Vec<String>,
}

/// One session whose client is away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwayStatus {
    /// The client's identifier.
    pub client_id: String,
    /// Whose it is.
    pub user: Option<String>,
    /// When the client left, in nanoseconds since 1970.
    pub since_ns: i64,
    /// Until the session ends; None is for ever.
    pub expires_in: Option<Duration>,
    /// QoS 1 and 2 messages that wait for the client.
    pub queued_messages: usize,
    /// Their bytes.
    pub queued_bytes: usize,
    /// Its filters, in order.
    pub subscriptions: Vec<String>,
}

impl From<&Traffic> for Totals {
    fn from(traffic: &Traffic) -> Self {
        Self {
            messages_in: traffic.messages_in.load(Relaxed),
            bytes_in: traffic.bytes_in.load(Relaxed),
            messages_out: traffic.messages_out.load(Relaxed),
            bytes_out: traffic.bytes_out.load(Relaxed),
            dropped: traffic.dropped.load(Relaxed),
            expired: traffic.expired.load(Relaxed),
        }
    }
}

impl Broker {
    pub fn status(&self) -> Status {
        let (clients, sessions) = {
            let registry = self.registry();
            (registry.connections.total(), registry.sessions.len())
        };
        let (retained_messages, retained_bytes) = {
            let retained = self.retained();
            (retained.len(), retained.bytes())
        };
        let (waiting_messages, waiting_bytes) = {
            let waiting = self.waiting();
            (waiting.len(), waiting.bytes())
        };
        Status {
            uptime: self.started.elapsed(),
            totals: Totals::from(&self.traffic),
            clients,
            connections: self.let_in.load(Relaxed),
            sessions,
            subscriptions: self.subscriptions(),
            retained_messages,
            retained_bytes,
            waiting_messages,
            waiting_bytes,
            memory_bytes: memory::used(),
            memory_budget_bytes: memory::budget(),
            reached: self.reached.all(),
            topics: self.topics(),
            table: self.table.status(),
            streams: self.streams.status(),
            acknowledged: self.gates.acknowledged.totals(),
            notices: self.notices.counts(),
            journal: self.journal.as_ref().map(|journal| JournalStatus {
                status: journal.status(),
                not_journaled: self.not_journaled.load(Relaxed),
                held_by: self.journal_held_by(),
            }),
        }
    }

    pub fn clients(&self, most: usize) -> Vec<ClientStatus> {
        let clients: Vec<Arc<Client>> = self.registry().sessions.values().cloned().collect();
        let mut shown: Vec<_> =
            clients.iter().filter_map(|client| Some((client.link()?, client))).collect();
        shown.sort_unstable_by_key(|(link, _)| link.key);
        shown.truncate(most);
        shown.iter().filter_map(|(link, client)| client_status(link, client)).collect()
    }

    /// Sessions whose client is away, those with the most waiting messages first.
    pub fn away(&self, most: usize) -> Vec<AwayStatus> {
        let clients: Vec<Arc<Client>> = self.registry().sessions.values().cloned().collect();
        let away = clients.iter().filter(|client| client.link().is_none());
        let mut shown: Vec<_> =
            away.map(|client| (client.outgoing().waiting().0, client)).collect();
        shown.sort_unstable_by_key(|(queued, client)| (Reverse(*queued), client.key));
        shown.truncate(most);
        let now_ms = self.now_ms();
        shown.iter().filter_map(|(_, client)| away_status(client, now_ms)).collect()
    }

    pub fn prefix_traffic(&self, most: usize) -> Vec<PrefixTraffic> {
        let mut shown: Vec<_> = self.prefixes.all().into_iter().map(PrefixTraffic::from).collect();
        shown.sort_unstable_by_key(|prefix| Reverse(prefix.messages));
        shown.truncate(most);
        shown
    }
}

impl From<(Box<str>, Arc<Prefix>)> for PrefixTraffic {
    fn from((name, prefix): (Box<str>, Arc<Prefix>)) -> Self {
        Self {
            prefix: name,
            messages: prefix.messages.load(Relaxed),
            bytes: prefix.bytes.load(Relaxed),
            deliveries: prefix.deliveries.load(Relaxed),
        }
    }
}

fn client_status(link: &Link, client: &Client) -> Option<ClientStatus> {
    let version = *link.version.get()?;
    let subscriptions = client.state().session.filters().map(Into::into).collect();
    let outgoing = client.outgoing();
    let (queued_messages, queued_bytes) = outgoing.waiting();
    Some(ClientStatus {
        client_id: client.name.to_string(),
        address: link.origin.address.clone(),
        listener: link.origin.listener,
        user: client.user.as_deref().map(Into::into),
        version,
        connected_ns: link.connected_ns,
        totals: Totals::from(&client.traffic),
        queued_messages,
        queued_bytes,
        inflight: outgoing.inflight(),
        subscriptions,
    })
}

fn away_status(client: &Client, now_ms: Millis) -> Option<AwayStatus> {
    let state = client.state();
    if state.link.is_some() || state.ended {
        return None;
    }
    let left_ms = state.expires_ms.map(|at_ms| at_ms.saturating_sub(now_ms));
    let (queued_messages, queued_bytes) = client.outgoing().waiting();
    Some(AwayStatus {
        client_id: client.name.to_string(),
        user: client.user.as_deref().map(Into::into),
        since_ns: state.left_ns,
        expires_in: left_ms.map(Duration::from_millis),
        queued_messages,
        queued_bytes,
        subscriptions: state.session.filters().map(Into::into).collect(),
    })
}
