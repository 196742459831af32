//! The engine's status as Python's own values: through the serialised form, so that no field is named here.
//! A newest value has a class of its own, because JSON cannot carry its bytes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use slipring_core::NewestValue;

/// Dictionaries, lists, texts and numbers. Their types for Python are in `slipring.status`.
pub(crate) fn shown<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text =
        serde_json::to_string(value).map_err(|why| PyValueError::new_err(why.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// A topic's newest message.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub(crate) struct Value {
    topic: String,
    payload: Vec<u8>,
    payload_bytes: usize,
    receive_ns: i64,
    count: u64,
}

impl From<(Box<str>, NewestValue)> for Value {
    fn from((topic, newest): (Box<str>, NewestValue)) -> Self {
        Self {
            topic: topic.into(),
            payload: newest.payload,
            payload_bytes: newest.payload_bytes,
            receive_ns: newest.receive_ns,
            count: newest.count,
        }
    }
}
