//! Events of the broker for Python.

use pyo3::prelude::*;

/// Something that happened in the broker.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub(crate) struct Event {
    at_ns: i64,
    kind: &'static str,
    client: String,
    topic: String,
    request: String,
    detail: String,
}

impl From<slipring_engine::Event> for Event {
    fn from(event: slipring_engine::Event) -> Self {
        Self {
            at_ns: event.at_ns,
            kind: event.kind.name(),
            client: event.client,
            topic: event.topic,
            request: event.request,
            detail: event.detail,
        }
    }
}
