//! The plan's face in Python: dictionaries with the keys of the configuration become limits.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use slipring_core::{
    Authentication, DurabilityRule, JournalRule, Limits, Overflow, Retention, TableRules, Users,
    Verifier,
};

pyo3::import_exception!(slipring.errors, PlanError);

/// The bounds as a dictionary, with the keys of the configuration.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct LimitsDict {
    connections: usize,
    sessions: usize,
    packet_bytes: usize,
    connect_bytes: usize,
    connect_ms: u64,
    keep_alive_s: u16,
    session_expiry_s: u32,
    client_id_bytes: usize,
    topic_levels: usize,
    topic_bytes: usize,
    user_properties: usize,
    topic_aliases: u16,
    subscriptions: usize,
    receive_max: u16,
    inflight: usize,
    queue_messages: usize,
    queue_bytes: usize,
    outbox_bytes: usize,
    qos0_full: String,
    qos12_full: String,
    retained_messages: usize,
    retained_bytes: usize,
    waiting_messages: usize,
    waiting_bytes: usize,
    journal_requests: usize,
    values: usize,
    parameters: usize,
    parameter_bytes: usize,
    streams: usize,
}

impl TryFrom<LimitsDict> for Limits {
    type Error = PyErr;

    fn try_from(limits: LimitsDict) -> PyResult<Self> {
        Ok(Self {
            connections: limits.connections,
            sessions: limits.sessions,
            packet_bytes: limits.packet_bytes,
            connect_bytes: limits.connect_bytes,
            connect_ms: limits.connect_ms,
            keep_alive_s: limits.keep_alive_s,
            session_expiry_s: limits.session_expiry_s,
            client_id_bytes: limits.client_id_bytes,
            topic_levels: limits.topic_levels,
            topic_bytes: limits.topic_bytes,
            user_properties: limits.user_properties,
            topic_aliases: limits.topic_aliases,
            subscriptions: limits.subscriptions,
            receive_max: limits.receive_max,
            inflight: limits.inflight,
            queue_messages: limits.queue_messages,
            queue_bytes: limits.queue_bytes,
            outbox_bytes: limits.outbox_bytes,
            qos0_full: overflow(&limits.qos0_full)?,
            qos12_full: overflow(&limits.qos12_full)?,
            retained_messages: limits.retained_messages,
            retained_bytes: limits.retained_bytes,
            waiting_messages: limits.waiting_messages,
            waiting_bytes: limits.waiting_bytes,
            journal_requests: limits.journal_requests,
            values: limits.values,
            parameters: limits.parameters,
            parameter_bytes: limits.parameter_bytes,
            streams: limits.streams,
        })
    }
}

fn overflow(name: &str) -> PyResult<Overflow> {
    match name {
        "drop_oldest" => Ok(Overflow::DropOldest),
        "drop_newest" => Ok(Overflow::DropNewest),
        "disconnect" => Ok(Overflow::Disconnect),
        _ => Err(PlanError::new_err(format!("'{name}' is not a policy for a full queue"))),
    }
}

/// What is kept, how safely and for how long, with the keys of the configuration; 0 is no bound.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct JournalDict {
    topics: Vec<String>,
    durability: String,
    /// Levels by filter, in their order; `durability` is the level of the rest.
    rules: Vec<(String, String)>,
    retain_age_s: u64,
    retain_bytes: u64,
    bytes_max: u64,
    keep_unread: bool,
}

impl JournalDict {
    fn durability(&self) -> PyResult<DurabilityRule> {
        let level = |name: &str| name.parse().map_err(refused);
        let rules = self.rules.iter().map(|(filter, name)| Ok((filter.clone(), level(name)?)));
        let rules = rules.collect::<PyResult<_>>()?;
        DurabilityRule::new(rules, level(&self.durability)?).map_err(refused)
    }

    fn retention(&self) -> Retention {
        Retention {
            age_s: bound(self.retain_age_s),
            bytes: bound(self.retain_bytes),
            keep_unread: self.keep_unread,
        }
    }
}

/// The rules of the table, with the keys of the configuration.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct TableDict {
    beat_ms: u16,
    stale_periods: u32,
    stale_min_ms: u32,
    future_s: u32,
}

impl From<TableDict> for TableRules {
    fn from(rules: TableDict) -> Self {
        Self {
            beat_ms: rules.beat_ms,
            stale_periods: rules.stale_periods,
            stale_min_ms: rules.stale_min_ms,
            future_s: rules.future_s,
        }
    }
}

fn bound(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

/// Everything the control plane decides, immutable.
#[pyclass(frozen, module = "slipring._native")]
pub struct Plan(pub(crate) slipring_core::Plan);

#[pymethods]
impl Plan {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each has its name in Python")]
    #[pyo3(signature = (
        limits, *, listeners, journal, table, sys_interval_s, server_reference, users, anonymous
    ))]
    fn new(
        limits: LimitsDict,
        listeners: Vec<LimitsDict>,
        journal: JournalDict,
        table: TableDict,
        sys_interval_s: u32,
        server_reference: Option<String>,
        users: BTreeMap<String, (String, bool)>,
        anonymous: bool,
    ) -> PyResult<Self> {
        let users = make_users(users)?;
        Ok(Self(slipring_core::Plan {
            limits: limits.try_into()?,
            listeners: listeners.into_iter().map(Limits::try_from).collect::<PyResult<_>>()?,
            server_reference,
            sys_interval_s,
            table: table.into(),
            durability: journal.durability()?,
            retention: journal.retention(),
            journal_bytes_max: bound(journal.bytes_max),
            journal: JournalRule::new(journal.topics).map_err(refused)?,
            authentication: Authentication { users, anonymous },
        }))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Each has a verifier, and may read the journal or not.
fn make_users(users: BTreeMap<String, (String, bool)>) -> PyResult<Users> {
    let readers = users.iter().filter(|(_, (_, journal))| *journal).map(|(name, _)| name.clone());
    let readers: Vec<String> = readers.collect();
    let verifiers = users.into_iter().map(|(name, (text, _))| Ok((name, verifier(&text)?)));
    let users = Users::new(verifiers.collect::<PyResult<Vec<_>>>()?).map_err(refused)?;
    Ok(users.with_readers(readers))
}

/// The verifier of a password, as it stands in a config file.
#[pyfunction]
pub fn make_verifier(password: &[u8], salt: &[u8], iterations: u32) -> PyResult<String> {
    let verifier = Verifier::new(password, salt, iterations).map_err(refused)?;
    Ok(verifier.written())
}

/// Whether this is a verifier; the error says why not.
#[pyfunction]
pub fn check_verifier(text: &str) -> PyResult<()> {
    verifier(text).map(drop)
}

fn verifier(text: &str) -> PyResult<Verifier> {
    Verifier::parse(text).map_err(refused)
}

fn refused(error: impl std::fmt::Display) -> PyErr {
    PlanError::new_err(error.to_string())
}
