//! The engine's face in Python: start, plan, events, what is shown, stop.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use slipring_core::Newest;
use slipring_engine::{ClientStatus, Settings};

use crate::listener::Listener;
use crate::plan::Plan;

pyo3::import_exception!(slipring.errors, ListenError);
pyo3::import_exception!(slipring.errors, StartError);
pyo3::import_exception!(slipring.errors, JournalError);

/// One thing that happened.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct Event {
    at_ns: i64,
    kind: &'static str,
    client: String,
    detail: String,
}

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
    reached: BTreeMap<&'static str, u64>,
    topics: usize,
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
    failure: Option<String>,
    not_journaled: u64,
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

/// A running broker.
#[pyclass(frozen, module = "slipring._native")]
pub struct Engine(slipring_engine::Engine);

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (plan, *, listeners, journal, segment_bytes, threads))]
    fn new(
        py: Python<'_>,
        plan: &Plan,
        listeners: Vec<PyRef<'_, Listener>>,
        journal: Option<PathBuf>,
        segment_bytes: u64,
        threads: usize,
    ) -> PyResult<Self> {
        let listeners = listeners.into_iter().map(|listener| listener.0.clone()).collect();
        let settings = Settings { listeners, journal, segment_bytes, threads };
        py.detach(|| slipring_engine::Engine::start(&settings, plan.0.clone())).map(Self).map_err(
            |error| match error {
                slipring_engine::StartError::Listen { .. } => {
                    ListenError::new_err(error.to_string())
                }
                _ => StartError::new_err(error.to_string()),
            },
        )
    }

    /// Where the first listener is: HOST:PORT or unix:PATH.
    #[getter]
    fn address(&self) -> String {
        self.0.addresses()[0].to_string()
    }

    /// Where the listeners are, in their order.
    #[getter]
    fn addresses(&self) -> Vec<String> {
        self.0.addresses().iter().map(ToString::to_string).collect()
    }

    /// What the journal found when it was opened, in one line.
    #[getter]
    fn receipt(&self) -> Option<String> {
        self.0.receipt().map(ToString::to_string)
    }

    /// Swaps the plan, whole.
    fn apply(&self, plan: &Plan) {
        self.0.apply(plan.0.clone());
    }

    /// The events since the last call, and how many were lost because nobody fetched them.
    fn take_events(&self) -> (Vec<Event>, u64) {
        let (events, lost) = self.0.take_events();
        (events.into_iter().map(Event::from).collect(), lost)
    }

    /// Totals and the state of the journal.
    fn status(&self, py: Python<'_>) -> PyResult<Status> {
        let status = py.detach(|| self.0.status());
        let journal = status.journal.map(|journal| Py::new(py, JournalStatus::from(journal)));
        Ok(Status {
            uptime_s: status.uptime.as_secs_f64(),
            totals: Py::new(py, Totals::from(status.totals))?,
            clients: status.clients,
            connections: status.connections,
            sessions: status.sessions,
            subscriptions: status.subscriptions,
            retained_messages: status.retained_messages,
            retained_bytes: status.retained_bytes,
            reached: status.reached.iter().map(|(limit, times)| (limit.name(), *times)).collect(),
            topics: status.topics,
            journal: journal.transpose()?,
        })
    }

    /// Up to `most` connected clients, longest connected first.
    fn clients(&self, py: Python<'_>, most: usize) -> PyResult<Vec<ConnectedClient>> {
        let clients = py.detach(|| self.0.clients(most));
        clients.into_iter().map(|client| ConnectedClient::new(py, client)).collect()
    }

    /// Traffic by topic prefix since the start, the busiest first.
    fn prefixes(&self, py: Python<'_>, most: usize) -> Vec<PrefixTraffic> {
        py.detach(|| self.0.prefixes(most)).into_iter().map(PrefixTraffic::from).collect()
    }

    /// Up to `most` values that changed after a change, and what to ask with next.
    fn values(&self, py: Python<'_>, after: u64, most: usize) -> (Vec<Value>, u64) {
        let changed = py.detach(|| self.0.values(after, most));
        (changed.values.into_iter().map(Value::from).collect(), changed.through)
    }

    /// Reads what has arrived, says goodbye to every client, brings the journal to disk.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.stop()).map_err(|error| JournalError::new_err(error.to_string()))
    }
}

impl From<slipring_engine::Event> for Event {
    fn from(event: slipring_engine::Event) -> Self {
        Self {
            at_ns: event.at_ns,
            kind: event.kind.name(),
            client: event.client,
            detail: event.detail,
        }
    }
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
            failure: status.failure.map(|failure| failure.to_string()),
            not_journaled: journal.not_journaled,
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
    fn new(py: Python<'_>, client: ClientStatus) -> PyResult<Self> {
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

/// Adds the engine's classes to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Listener>()?;
    module.add_class::<Event>()?;
    module.add_class::<Totals>()?;
    module.add_class::<Status>()?;
    module.add_class::<JournalStatus>()?;
    module.add_class::<ConnectedClient>()?;
    module.add_class::<Value>()?;
    module.add_class::<PrefixTraffic>()?;
    module.add_class::<Engine>()
}
