//! The engine for Python: start, plan, events, status, stop.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use slipring_engine::{
    Answer, AuditSettings, Descriptors, EventKind, FetchedEvents, RequestQuery, SessionQuery,
    Settings,
};

use crate::access::{self, Asker};
use crate::audit;
use crate::event::Event;
use crate::journal::raise;
use crate::listener::Listener;
use crate::plan::Plan;
use crate::status::{Value, shown};
use crate::tokens::{self, AllowedDict, TokenRules};

pyo3::import_exception!(slipring.errors, ListenError);
pyo3::import_exception!(slipring.errors, StartError);

/// A running broker.
#[pyclass(frozen, module = "slipring._native")]
pub(crate) struct Engine(pub(crate) slipring_engine::Engine);

#[pymethods]
impl Engine {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each has its name in Python")]
    #[pyo3(signature = (
        plan, *, listeners, journal, segment_bytes, threads, console_connections, audit=None
    ))]
    fn new(
        py: Python<'_>,
        plan: &Plan,
        listeners: Vec<PyRef<'_, Listener>>,
        journal: Option<PathBuf>,
        segment_bytes: u64,
        threads: usize,
        console_connections: usize,
        audit: Option<(PathBuf, u64)>,
    ) -> PyResult<Self> {
        let listeners = listeners.into_iter().map(|listener| listener.0.clone()).collect();
        let audit = audit.map(|(folder, segment_bytes)| AuditSettings { folder, segment_bytes });
        let settings =
            Settings { listeners, journal, segment_bytes, audit, threads, console_connections };
        py.detach(|| slipring_engine::Engine::start(&settings, plan.plan.clone()))
            .map(Self)
            .map_err(|error| match error {
                slipring_engine::StartError::Listen { .. } => {
                    ListenError::new_err(error.to_string())
                }
                _ => StartError::new_err(error.to_string()),
            })
    }

    /// The address of the first listener: HOST:PORT or unix:PATH.
    #[getter]
    fn address(&self) -> String {
        self.0.addresses()[0].to_string()
    }

    /// The addresses of the listeners, in their order.
    #[getter]
    fn addresses(&self) -> Vec<String> {
        self.0.addresses().iter().map(ToString::to_string).collect()
    }

    /// What the start found in the journal; None if there is no journal.
    #[getter]
    fn receipt<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &self.0.receipt())
    }

    /// Replaces the whole plan.
    fn apply(&self, py: Python<'_>, plan: &Plan) {
        let (next, keeps_tokens) = (plan.plan.clone(), plan.keeps_tokens);
        py.detach(|| {
            if keeps_tokens { self.0.apply_keeping_tokens(next) } else { self.0.apply(next) }
        });
    }

    /// Replaces which tokens are accepted; connections by others end.
    fn apply_tokens(&self, py: Python<'_>, rules: &TokenRules) {
        py.detach(|| self.0.apply_tokens(Arc::clone(&rules.0)));
    }

    /// The questions about clients since the last call, as long as fewer than `logins_max` logins were taken and not
    /// answered; waits for one at most so many seconds.
    fn take_questions<'py>(
        &self,
        py: Python<'py>,
        wait_s: f64,
        logins_max: usize,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let wait = Duration::try_from_secs_f64(wait_s).unwrap_or_default();
        let asked = py.detach(|| self.0.take_questions(wait, logins_max));
        asked.into_iter().map(|asked| tokens::question(py, asked)).collect()
    }

    /// The keys were read; the token is checked again.
    fn answer_keys(&self, number: u64) {
        self.0.answer(number, Answer::KeysRead);
    }

    /// Whether a client is let in, and as whom; None if nobody could say.
    fn answer_login(&self, number: u64, allowed: Option<bool>, who: Option<AllowedDict>) {
        let answer = match (allowed, who) {
            (Some(true), Some(who)) => who.into(),
            (None, _) => Answer::Unanswered,
            _ => Answer::Denied,
        };
        self.0.answer(number, answer);
    }

    /// Reads the TLS files of a listener again; returns how many open connections were ended because their
    /// certificate is not trusted any more. Raises `StartError` if a file cannot be used; then nothing has changed.
    fn read_tls_again(&self, py: Python<'_>, listener: &str) -> PyResult<usize> {
        let read = py.detach(|| self.0.read_tls_again(listener));
        read.map_err(|error| StartError::new_err(format!("listener '{listener}': {error}")))
    }

    /// How often the plan was replaced: what was derived from an earlier plan is out of date.
    #[getter]
    fn plans_applied(&self) -> u64 {
        self.0.plans_applied()
    }

    /// Whether rights are asked for at all.
    #[getter]
    fn is_access_enforced(&self) -> bool {
        self.0.plan().access.is_enforced()
    }

    /// Whether somebody may do this, for each of some topics. `asker` is user, roles, claims and client identifier.
    #[expect(clippy::needless_pass_by_value, reason = "made from Python's values")]
    fn permits(
        &self,
        py: Python<'_>,
        asker: Asker,
        right: &str,
        topics: Vec<String>,
    ) -> PyResult<Vec<bool>> {
        py.detach(|| access::permits(&self.0.plan(), asker, right, &topics))
    }

    /// How much of a filter somebody may use: "whole", "part" or "nothing".
    fn filter_access(
        &self,
        asker: Asker,
        right: &str,
        topic_filter: &str,
    ) -> PyResult<&'static str> {
        access::filter_access(&self.0.plan(), asker, right, topic_filter)
    }

    /// Whether this is the user's password: "right", "wrong" or "busy". Waits for its turn in the line of passwords.
    fn check_password(&self, py: Python<'_>, user: &str, password: &[u8], peer: &str) -> &str {
        py.detach(|| self.0.check_password(user, password, peer)).name()
    }

    /// Bytes that change when the user's password changes; None if there is no such user.
    fn user_mark<'py>(&self, py: Python<'py>, user: &str) -> Option<Bound<'py, PyBytes>> {
        self.0.user_mark(user).map(|mark| PyBytes::new(py, &mark))
    }

    /// Sets the kinds of events for each message or request that are made, and how many of each are
    /// kept between two calls of `take_events`. All other kinds are always made.
    fn want_events(&self, kinds: Vec<String>, each_max: u32) -> PyResult<()> {
        let kinds: Option<Vec<_>> = kinds.into_iter().map(|name| EventKind::of(&name)).collect();
        let kinds = kinds.ok_or_else(|| PyValueError::new_err("a kind of events is not known"))?;
        self.0.want_events(kinds, each_max);
        Ok(())
    }

    /// The events since the last call; how many were lost because nobody fetched them; and how many
    /// more there were, by kind.
    fn take_events(&self) -> (Vec<Event>, u64, BTreeMap<&'static str, u64>) {
        let FetchedEvents { events, lost, more } = self.0.take_events();
        let more = more.into_iter().map(|(kind, count)| (kind.name(), count)).collect();
        (events.into_iter().map(Event::from).collect(), lost, more)
    }

    /// Adds a record to the audit: its kind, and the fields that are known. False if there was no room for it.
    #[pyo3(signature = (kind, **fields))]
    fn audit(&self, kind: &str, fields: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
        Ok(self.0.audit(audit::record(kind, fields)?))
    }

    /// Sets whether `take_audit` gives records.
    fn want_audit(&self, is_wanted: bool) {
        self.0.want_audit(is_wanted);
    }

    /// Records of the audit that were written since the last call, as JSON; the newest 2,000.
    fn take_audit(&self, py: Python<'_>) -> Vec<Py<PyBytes>> {
        let records = self.0.take_audit().into_iter();
        records.map(|json| PyBytes::new(py, &json).unbind()).collect()
    }

    /// Why the engine cannot continue, so that the process must end; None while it works.
    #[getter]
    fn failure(&self) -> Option<&str> {
        self.0.failure()
    }

    /// For how many seconds the engine has not answered its pulse; 0 while it answers. Never waits.
    fn silence_s(&self) -> f64 {
        self.0.silence().as_secs_f64()
    }

    /// How many descriptors the process may have, and how many of them are for MQTT clients.
    #[getter]
    #[expect(clippy::unused_self, reason = "a getter of Python has `self`")]
    fn descriptors(&self) -> (usize, usize) {
        let Descriptors { most, for_clients } = Descriptors::now();
        (most, for_clients)
    }

    /// Figures of the broker as a whole, and the state of its journal.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &py.detach(|| self.0.status()))
    }

    /// Up to `most` connected clients, longest connected first.
    fn clients<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &py.detach(|| self.0.clients(most)))
    }

    /// Up to `most` sessions whose client is away, those with the most waiting messages first.
    fn away<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &py.detach(|| self.0.away(most)))
    }

    /// Up to `most` sessions, connected or away, those that cost most first; and how many there are.
    #[pyo3(signature = (most, *, connected=None, owner=None))]
    fn sessions<'py>(
        &self,
        py: Python<'py>,
        most: usize,
        connected: Option<bool>,
        owner: Option<String>,
    ) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let query = SessionQuery { is_connected: connected, owner, most };
        let found = py.detach(|| self.0.sessions(&query));
        Ok((shown(py, &found.sessions)?, found.total))
    }

    /// Who holds most of each limit that is divided among users and addresses.
    fn owners<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &py.detach(|| self.0.owners(most)))
    }

    /// Up to `most` requests: open ones, those that time out next first, then the last ones that ended. Only those in
    /// a state, on the topics of a filter, or of a client; or the one with a key.
    #[pyo3(signature = (most, *, state=None, topic=None, client=None, key=None))]
    fn requests<'py>(
        &self,
        py: Python<'py>,
        most: usize,
        state: Option<String>,
        topic: Option<String>,
        client: Option<String>,
        key: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let query = RequestQuery { state, topic, client, key, most };
        shown(py, &py.detach(|| self.0.requests(&query)))
    }

    /// The `most` topics with the most open requests.
    fn request_topics<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &py.detach(|| self.0.request_topics(most)))
    }

    /// What came on a topic, and up to `most` of its subscriptions.
    fn topic<'py>(&self, py: Python<'py>, name: &str, most: usize) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &py.detach(|| self.0.topic(name, most)))
    }

    /// The publishers of parameters with what they declared: so many ranges of indices at most.
    fn publishers<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &py.detach(|| self.0.publishers(most)))
    }

    /// The `most` topics on which most messages wait for their first subscriber.
    fn waiting<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &py.detach(|| self.0.waiting(most)))
    }

    /// Up to `most` services of requests, the busiest first.
    fn services<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &py.detach(|| self.0.services(most)))
    }

    /// Ends the connection of a client; false if it is not connected.
    fn disconnect(&self, py: Python<'_>, client_id: &str) -> bool {
        py.detach(|| self.0.disconnect(client_id))
    }

    /// Ends a session for good, and the connection of its client; false if there is none.
    fn end_session(&self, py: Python<'_>, client_id: &str) -> PyResult<bool> {
        py.detach(|| self.0.end_session(client_id)).map_err(|error| raise(&error))
    }

    /// Sets the memory budget, until the next plan; raises `ValueError` if the text is no size. Returns the memory in use.
    fn set_memory<'py>(&self, py: Python<'py>, size: &str) -> PyResult<Bound<'py, PyAny>> {
        let set = py.detach(|| self.0.set_memory(size));
        shown(py, &set.map_err(PyValueError::new_err)?)
    }

    /// Traffic by topic prefix since the start, the busiest first.
    fn prefixes<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &py.detach(|| self.0.prefixes(most)))
    }

    /// Up to `most` values that changed after the change with this number, and the number to ask with next.
    fn values(&self, py: Python<'_>, after: u64, most: usize) -> (Vec<Value>, u64) {
        let changed = py.detach(|| self.0.values(after, most));
        (changed.values.into_iter().map(Value::from).collect(), changed.through)
    }

    /// Answers `find`, `list` or `values` about the table, as JSON.
    fn ask_table<'py>(&self, py: Python<'py>, name: &str, body: &[u8]) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.ask("table", name, body)))
    }

    /// Answers `list` about the streams, as JSON.
    fn ask_streams<'py>(&self, py: Python<'py>, name: &str, body: &[u8]) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.ask("streams", name, body)))
    }

    /// Reads the packets that have arrived, disconnects every client, and writes the journal to disk.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.stop()).map_err(|error| raise(&error))
    }
}

/// Adds the engine's classes to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Listener>()?;
    module.add_class::<Event>()?;
    module.add_class::<Engine>()?;
    module.add_class::<Value>()
}
