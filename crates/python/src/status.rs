//! What the engine shows of itself, as values for Python.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use slipring_core::Newest;
use slipring_engine::{Acknowledged, ClientStatus, NoticeCounts, StreamsStatus, TableStatus};

/// Counters since the start, of the broker or of one client.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct Totals {
    messages_in: u64,
    bytes_in: u64,
    messages_out: u64,
    bytes_out: u64,
    dropped: u64,
    expired: u64,
}

/// The broker as a whole, and the state of its journal (None where there is none).
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct Status {
    uptime_s: f64,
    totals: Py<Totals>,
    clients: usize,
    connections: u64,
    sessions: usize,
    subscriptions: usize,
    retained_messages: usize,
    retained_bytes: usize,
    waiting_messages: usize,
    waiting_bytes: usize,
    memory_bytes: usize,
    memory_budget_bytes: usize,
    reached: BTreeMap<&'static str, u64>,
    topics: usize,
    table: BTreeMap<&'static str, u64>,
    streams: BTreeMap<&'static str, u64>,
    acknowledged: BTreeMap<&'static str, u64>,
    notices: BTreeMap<&'static str, u64>,
    journal: Option<Py<JournalStatus>>,
}

/// The journal as the broker sees it.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct JournalStatus {
    first_offset: u64,
    next_offset: u64,
    synced_offset: u64,
    bytes: u64,
    segments: usize,
    no_space: Option<String>,
    failure: Option<String>,
    not_journaled: u64,
    bytes_max: Option<u64>,
    held_by: Option<String>,
}

/// A range of offsets that cannot be read.
#[pyclass(frozen, get_all, module = "slipring._native")]
#[derive(Clone)]
pub struct DamagedRange {
    first_offset: u64,
    end_offset: u64,
    why: String,
}

/// What a start found in the journal.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct Receipt {
    identity: String,
    epoch: u64,
    first_offset: u64,
    next_offset: u64,
    /// Offsets in between that no message has: the first, and one past the last.
    left_out: Vec<(u64, u64)>,
    /// The mode that the folder had, where others could read it.
    narrowed: Option<u32>,
    segments: usize,
    bytes_read: u64,
    cut_bytes: u64,
    cut_why: Option<String>,
    damage: Vec<DamagedRange>,
    flaws: Vec<String>,
    sessions: usize,
    retained: usize,
    queued: usize,
    seconds: f64,
}

/// One session whose client is away.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct AwaySession {
    client_id: String,
    user: Option<String>,
    since_ns: i64,
    expires_s: Option<f64>,
    queued_messages: usize,
    queued_bytes: usize,
    subscriptions: Vec<String>,
}

/// One connected client.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct ConnectedClient {
    client_id: String,
    address: String,
    protocol: String,
    connected_ns: i64,
    totals: Py<Totals>,
    listener: usize,
    user: Option<String>,
    queued_messages: usize,
    queued_bytes: usize,
    inflight: usize,
    subscriptions: Vec<String>,
}

/// A topic's newest message.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct Value {
    topic: String,
    payload: Vec<u8>,
    payload_bytes: usize,
    receive_ns: i64,
    count: u64,
}

/// What was published below one topic prefix since the start.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct PrefixTraffic {
    prefix: String,
    messages: u64,
    bytes: u64,
    deliveries: u64,
}

impl Status {
    pub(crate) fn new(py: Python<'_>, status: slipring_engine::Status) -> PyResult<Self> {
        let journal = status.journal.map(|journal| Py::new(py, JournalStatus::from(journal)));
        Ok(Self {
            uptime_s: status.uptime.as_secs_f64(),
            totals: Py::new(py, Totals::from(status.totals))?,
            clients: status.clients,
            connections: status.connections,
            sessions: status.sessions,
            subscriptions: status.subscriptions,
            retained_messages: status.retained_messages,
            retained_bytes: status.retained_bytes,
            waiting_messages: status.waiting_messages,
            waiting_bytes: status.waiting_bytes,
            memory_bytes: status.memory_bytes,
            memory_budget_bytes: status.memory_budget_bytes,
            reached: status.reached.iter().map(|(limit, times)| (limit.name(), *times)).collect(),
            topics: status.topics,
            table: table_figures(status.table),
            streams: stream_figures(status.streams),
            acknowledged: by_level(status.acknowledged),
            notices: by_outcome(status.notices),
            journal: journal.transpose()?,
        })
    }
}

fn table_figures(table: TableStatus) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("parameters", table.parameters as u64),
        ("stale", table.stale as u64),
        ("value_bytes", table.value_bytes as u64),
        ("selections", table.selections as u64),
        ("readers", table.readers as u64),
        ("readers_newest", table.readers_newest as u64),
        ("frames", table.frames),
        ("samples", table.samples),
        ("refused", table.refused),
    ])
}

fn stream_figures(status: StreamsStatus) -> BTreeMap<&'static str, u64> {
    let StreamsStatus { streams, readers, kept_bytes, chunks, bytes, delivered, lost, refused } =
        status;
    BTreeMap::from([
        ("streams", streams as u64),
        ("readers", readers as u64),
        ("kept_bytes", kept_bytes as u64),
        ("chunks", chunks),
        ("bytes", bytes),
        ("delivered", delivered),
        ("lost", lost),
        ("refused", refused),
    ])
}

/// By the names of the levels.
fn by_level(acknowledged: Acknowledged) -> BTreeMap<&'static str, u64> {
    let Acknowledged { memory, process, disk } = acknowledged;
    BTreeMap::from([("memory", memory), ("process", process), ("disk", disk)])
}

fn by_outcome(notices: NoticeCounts) -> BTreeMap<&'static str, u64> {
    let NoticeCounts { accepted, delivered, refused } = notices;
    BTreeMap::from([("accepted", accepted), ("delivered", delivered), ("refused", refused)])
}

impl From<slipring_engine::JournalStatus> for JournalStatus {
    fn from(journal: slipring_engine::JournalStatus) -> Self {
        let status = journal.status;
        Self {
            first_offset: status.first_offset,
            next_offset: status.next_offset,
            synced_offset: status.synced,
            bytes: status.bytes,
            segments: status.segments,
            no_space: status.no_space,
            failure: status.failure.map(|failure| failure.to_string()),
            not_journaled: journal.not_journaled,
            bytes_max: status.bytes_max,
            held_by: journal.held_by,
        }
    }
}

impl Receipt {
    pub(crate) fn new(engine: &slipring_engine::Engine) -> Option<Self> {
        let (journal, recovered) = (engine.receipt()?, engine.recovered()?);
        let followed = &recovered.damage;
        let damage = journal.damage.iter().filter(|damage| !followed.contains(damage));
        let damage = damage.chain(followed);
        Some(Self {
            identity: journal.identity.to_string(),
            epoch: journal.epoch,
            first_offset: journal.first_offset,
            next_offset: journal.next_offset,
            left_out: journal.left_out.iter().map(|range| (range.start, range.end)).collect(),
            narrowed: journal.narrowed,
            segments: journal.segments,
            bytes_read: journal.bytes_read,
            cut_bytes: journal.cut.as_ref().map_or(0, |cut| cut.bytes),
            cut_why: journal.cut.as_ref().map(ToString::to_string),
            damage: damage.map(DamagedRange::from).collect(),
            flaws: recovered.flaws.clone(),
            sessions: recovered.sessions,
            retained: recovered.retained,
            queued: recovered.queued,
            seconds: recovered.took.as_secs_f64(),
        })
    }
}

impl From<&slipring_journal::Damage> for DamagedRange {
    fn from(damage: &slipring_journal::Damage) -> Self {
        Self {
            first_offset: damage.offsets.start,
            end_offset: damage.offsets.end,
            why: format!(
                "segment {}.seg at byte {}: {}",
                damage.segment, damage.position, damage.flaw
            ),
        }
    }
}

impl From<slipring_engine::AwayStatus> for AwaySession {
    fn from(away: slipring_engine::AwayStatus) -> Self {
        Self {
            client_id: away.client_id,
            user: away.user,
            since_ns: away.since_ns,
            expires_s: away.expires_in.map(|left| left.as_secs_f64()),
            queued_messages: away.queued_messages,
            queued_bytes: away.queued_bytes,
            subscriptions: away.subscriptions,
        }
    }
}

impl From<slipring_engine::Totals> for Totals {
    fn from(totals: slipring_engine::Totals) -> Self {
        Self {
            messages_in: totals.messages_in,
            bytes_in: totals.bytes_in,
            messages_out: totals.messages_out,
            bytes_out: totals.bytes_out,
            dropped: totals.dropped,
            expired: totals.expired,
        }
    }
}

impl From<slipring_engine::PrefixTraffic> for PrefixTraffic {
    fn from(traffic: slipring_engine::PrefixTraffic) -> Self {
        Self {
            prefix: traffic.prefix.into(),
            messages: traffic.messages,
            bytes: traffic.bytes,
            deliveries: traffic.deliveries,
        }
    }
}

impl ConnectedClient {
    pub(crate) fn new(py: Python<'_>, client: ClientStatus) -> PyResult<Self> {
        Ok(Self {
            client_id: client.client_id,
            address: client.address,
            protocol: client.version.to_string(),
            connected_ns: client.connected_ns,
            totals: Py::new(py, Totals::from(client.totals))?,
            listener: client.listener,
            user: client.user,
            queued_messages: client.queued_messages,
            queued_bytes: client.queued_bytes,
            inflight: client.inflight,
            subscriptions: client.subscriptions,
        })
    }
}

impl From<(Box<str>, Newest)> for Value {
    fn from((topic, newest): (Box<str>, Newest)) -> Self {
        Self {
            topic: topic.into(),
            payload: newest.payload,
            payload_bytes: newest.payload_bytes,
            receive_ns: newest.receive_ns,
            count: newest.count,
        }
    }
}

/// Adds this file's classes to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Totals>()?;
    module.add_class::<Status>()?;
    module.add_class::<JournalStatus>()?;
    module.add_class::<DamagedRange>()?;
    module.add_class::<Receipt>()?;
    module.add_class::<ConnectedClient>()?;
    module.add_class::<AwaySession>()?;
    module.add_class::<Value>()?;
    module.add_class::<PrefixTraffic>()
}
