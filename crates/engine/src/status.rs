//! What the broker shows of itself, copied out in one go. Python gets the serialised form: a field here is
//! a field of the console's messages. `python/slipring/status/engine.py` says what each one means.
#![expect(missing_docs, reason = "`slipring.status` describes the fields")]

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde::Serialize;
use slipring_core::Millis;

use crate::audit::AuditStatus;
use crate::broker::Broker;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::requests::watching::RequestsStatus;
use crate::traffic::Traffic;

/// The broker as a whole.
#[derive(Clone, Debug, Serialize)]
pub struct BrokerStatus {
    pub uptime_s: f64,
    pub totals: Totals,
    pub clients_total: usize,
    pub sessions_total: usize,
    pub sessions_away: usize,
    pub subscriptions_total: usize,
    pub topics_total: usize,
    pub retained: Amount,
    pub waiting: Amount,
    pub memory: MemoryUse,
    pub table: TableStatus,
    pub streams: StreamsStatus,
    pub requests: RequestsStatus,
    pub acknowledged: Acknowledged,
    pub notices: NoticeCounts,
    pub reached: BTreeMap<&'static str, u64>,
    pub journal: Option<JournalStatus>,
    pub audit: Option<AuditStatus>,
}

/// What went through the broker since the start.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Totals {
    #[serde(flatten)]
    pub traffic: TrafficCounts,
    pub connections: u64,
}

/// What came from clients and went to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TrafficCounts {
    pub messages_in: u64,
    pub messages_out: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub dropped: u64,
    pub expired: u64,
}

/// Messages that are kept for subscribers to come.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Amount {
    pub messages: usize,
    pub bytes: usize,
}

/// Memory of all that waits for others.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MemoryUse {
    pub bytes: usize,
    pub budget: usize,
    pub parts: MemoryParts,
    pub victims: VictimCounts,
}

/// What this memory is made of.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct MemoryParts {
    pub outboxes: usize,
    pub queues: usize,
    pub waiting: usize,
    pub retained: usize,
    pub requests: usize,
    pub journal: usize,
    pub other: usize,
}

/// Messages that were dropped for memory since the start, by where they were.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct VictimCounts {
    pub outboxes: u64,
    pub queues: u64,
    pub waiting: u64,
    pub retained: u64,
    pub requests: u64,
}

/// The current value table: what is in it, and what went through it since the start.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TableStatus {
    pub parameters: usize,
    pub stale: usize,
    pub value_bytes: usize,
    pub selections: usize,
    pub readers: usize,
    pub readers_newest: usize,
    pub frames: u64,
    pub samples: u64,
    pub refused: u64,
}

/// The streams: what there is, and what went through them since the start.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StreamsStatus {
    pub streams: usize,
    pub readers: usize,
    pub kept_bytes: usize,
    pub chunks: u64,
    pub bytes: u64,
    pub delivered: u64,
    pub lost: u64,
    pub refused: u64,
}

/// QoS 1 and 2 messages since the start, by how safe they were when they were acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Acknowledged {
    pub memory: u64,
    pub process: u64,
    pub disk: u64,
}

/// Notices since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NoticeCounts {
    pub accepted: u64,
    pub delivered: u64,
    pub refused: u64,
}

/// What was published below one topic prefix since the start.
#[derive(Clone, Debug, Serialize)]
pub struct PrefixTraffic {
    pub prefix: Box<str>,
    pub messages: u64,
    pub bytes: u64,
    pub deliveries: u64,
}

/// The journal's state.
#[derive(Clone, Debug, Serialize)]
pub struct JournalStatus {
    pub first_offset: u64,
    pub next_offset: u64,
    pub synced_offset: u64,
    pub bytes: u64,
    pub bytes_max: Option<u64>,
    pub segments: usize,
    pub not_journaled: u64,
    pub held_by: Option<String>,
    pub no_space: Option<String>,
    pub failure: Option<String>,
}

/// One connected client.
#[derive(Clone, Debug, Serialize)]
pub struct ClientStatus {
    pub client_id: String,
    pub address: String,
    pub listener: String,
    pub user: Option<String>,
    pub protocol: String,
    pub connected_s: f64,
    #[serde(flatten)]
    pub traffic: TrafficCounts,
    pub samples_in: u64,
    pub queued_messages: usize,
    pub queued_bytes: usize,
    pub inflight: usize,
    pub slowed: bool,
    pub subscriptions: Vec<String>,
}

/// One session whose client is away.
#[derive(Clone, Debug, Serialize)]
pub struct AwayStatus {
    pub client_id: String,
    pub user: Option<String>,
    pub since_ms: f64,
    pub expires_s: Option<f64>,
    pub queued_messages: usize,
    pub queued_bytes: usize,
    pub subscriptions: Vec<String>,
}

impl From<&Traffic> for TrafficCounts {
    fn from(traffic: &Traffic) -> Self {
        Self {
            messages_in: traffic.messages_in.load(Relaxed),
            messages_out: traffic.messages_out.load(Relaxed),
            bytes_in: traffic.bytes_in.load(Relaxed),
            bytes_out: traffic.bytes_out.load(Relaxed),
            dropped: traffic.dropped.load(Relaxed),
            expired: traffic.expired.load(Relaxed),
        }
    }
}

impl Broker {
    pub fn status(&self) -> BrokerStatus {
        let (clients, sessions) = {
            let registry = self.sessions.registry();
            (registry.connections.total(), registry.sessions.len())
        };
        let retained = {
            let retained = self.topics.retained();
            Amount { messages: retained.len(), bytes: retained.bytes() }
        };
        let waiting = {
            let waiting = self.topics.waiting();
            Amount { messages: waiting.len(), bytes: waiting.bytes() }
        };
        let connections = self.sessions.let_in.load(Relaxed);
        // Looked at before the rest: within the expression below their locks would be held until its end.
        let subscriptions_total = self.topics.routes().len();
        let topics_total = self.topics.values().len();
        BrokerStatus {
            uptime_s: self.clock.uptime().as_secs_f64(),
            totals: Totals { traffic: TrafficCounts::from(&self.monitor.traffic), connections },
            clients_total: clients,
            sessions_total: sessions,
            sessions_away: sessions.saturating_sub(clients),
            subscriptions_total,
            topics_total,
            retained,
            waiting,
            memory: self.memory_use(),
            table: self.table.status(),
            streams: self.streams.status(),
            requests: self.requests_status(),
            acknowledged: self.journal.gates.acknowledged.totals(),
            notices: self.monitor.notices.counts(),
            reached: self.monitor.reached.all(),
            journal: self.journal.status(),
            audit: self.monitor.audit.status(),
        }
    }

    /// `listeners` has their names.
    pub fn clients(&self, listeners: &[String], most: usize) -> Vec<ClientStatus> {
        let clients = self.sessions.clients();
        let mut shown: Vec<_> =
            clients.iter().filter_map(|client| Some((client.connection()?, client))).collect();
        shown.sort_unstable_by_key(|(connection, _)| connection.key);
        shown.truncate(most);
        let now = (self.clock.now_ns(), self.clock.now_ms());
        shown
            .iter()
            .filter_map(|(connection, client)| client_status(connection, client, listeners, now))
            .collect()
    }

    /// Sessions whose client is away, those with the most waiting messages first.
    pub fn away(&self, most: usize) -> Vec<AwayStatus> {
        let clients = self.sessions.clients();
        let away = clients.iter().filter(|client| client.connection().is_none());
        let mut shown: Vec<_> =
            away.map(|client| (client.outgoing().waiting().0, client)).collect();
        shown.sort_unstable_by_key(|(queued, client)| (Reverse(*queued), client.key));
        shown.truncate(most);
        let now_ms = self.clock.now_ms();
        shown.iter().filter_map(|(_, client)| away_status(client, now_ms)).collect()
    }
}

fn client_status(
    connection: &ConnectionHandle,
    client: &Client,
    listeners: &[String],
    (wall_ns, now_ms): (i64, Millis),
) -> Option<ClientStatus> {
    let version = *connection.version.get()?;
    let subscriptions = client.state().session.filters().map(Into::into).collect();
    let outgoing = client.outgoing();
    let (queued_messages, queued_bytes) = outgoing.waiting();
    let connected_ns = wall_ns.saturating_sub(connection.connected_ns);
    Some(ClientStatus {
        client_id: client.name.to_string(),
        address: connection.origin.address.clone(),
        listener: listeners.get(connection.origin.listener).cloned().unwrap_or_default(),
        user: client.user.as_deref().map(Into::into),
        protocol: version.to_string(),
        connected_s: Duration::from_nanos(connected_ns.try_into().unwrap_or(0)).as_secs_f64(),
        traffic: TrafficCounts::from(&client.traffic),
        samples_in: client.traffic.samples_in.load(Relaxed),
        queued_messages,
        queued_bytes,
        inflight: outgoing.inflight(),
        slowed: connection.is_slowed(now_ms),
        subscriptions,
    })
}

fn away_status(client: &Client, now_ms: Millis) -> Option<AwayStatus> {
    let state = client.state();
    if state.connection.is_some() || state.ended {
        return None;
    }
    let (queued_messages, queued_bytes) = client.outgoing().waiting();
    Some(AwayStatus {
        client_id: client.name.to_string(),
        user: client.user.as_deref().map(Into::into),
        since_ms: since_ms(state.left_ns),
        expires_s: state.expires_ms.map(|at_ms| seconds_left(at_ms, now_ms)),
        queued_messages,
        queued_bytes,
        subscriptions: state.session.filters().map(Into::into).collect(),
    })
}

/// Milliseconds since 1970, as the console has its times.
#[expect(clippy::cast_precision_loss, reason = "exact to a microsecond")]
pub(crate) fn since_ms(at_ns: i64) -> f64 {
    at_ns as f64 / 1e6
}

pub(crate) fn seconds_left(at_ms: Millis, now_ms: Millis) -> f64 {
    Duration::from_millis(at_ms.saturating_sub(now_ms)).as_secs_f64()
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
