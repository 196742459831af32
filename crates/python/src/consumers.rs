//! The journal's consumers for Python: who reads, and how far each has read. Decides nothing.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipring_journal::consumers::{self, ConsumerError, ConsumerPosition};

use crate::journal::JournalError;

/// Adds this file's class and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Consumer>()?;
    module.add_function(wrap_pyfunction!(list_consumers, module)?)?;
    module.add_function(wrap_pyfunction!(commit_consumer, module)?)?;
    module.add_function(wrap_pyfunction!(forget_consumer, module)?)
}

/// A consumer of a journal. Either its position is known, or `flaw` says why not.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub(crate) struct Consumer {
    name: String,
    journal: Option<String>,
    offset: Option<u64>,
    epoch: Option<u64>,
    updated_ns: Option<i64>,
    note: String,
    flaw: Option<String>,
}

impl Consumer {
    pub fn list(py: Python<'_>, found: Vec<consumers::Consumer>) -> PyResult<Vec<Py<Self>>> {
        found.into_iter().map(|consumer| Py::new(py, Self::from(consumer))).collect()
    }
}

impl From<consumers::Consumer> for Consumer {
    fn from(consumer: consumers::Consumer) -> Self {
        let position = consumer.position.ok();
        Self {
            name: consumer.name,
            journal: position.map(|position| position.journal.to_string()),
            offset: position.map(|position| position.offset),
            epoch: position.and_then(|position| position.epoch),
            updated_ns: position.map(|position| position.updated_ns),
            note: consumer.note,
            flaw: consumer.position.err().map(|flaw| flaw.to_string()),
        }
    }
}

#[pyfunction]
fn list_consumers(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Py<Consumer>>> {
    let found = py.detach(|| consumers::list(&path)).map_err(ConsumerError::from);
    Consumer::list(py, found.map_err(raise)?)
}

/// Commits that a consumer has read everything before `offset` of a journal, in this epoch, and a note.
#[pyfunction]
#[pyo3(signature = (path, name, journal, offset, epoch = None, note = ""))]
fn commit_consumer(
    py: Python<'_>,
    path: PathBuf,
    name: &str,
    journal: &str,
    offset: u64,
    epoch: Option<u64>,
    note: &str,
) -> PyResult<()> {
    let journal = journal.parse().map_err(|_| {
        PyValueError::new_err(format!("{journal:?} is not the identity of a journal"))
    })?;
    let position = ConsumerPosition { journal, offset, epoch, updated_ns: now_ns() };
    py.detach(|| consumers::commit_with_note(&path, name, &position, note)).map_err(raise)
}

/// Forgets a consumer. Returns whether there was one.
#[pyfunction]
fn forget_consumer(py: Python<'_>, path: PathBuf, name: &str) -> PyResult<bool> {
    py.detach(|| consumers::forget(&path, name)).map_err(raise)
}

fn raise(error: ConsumerError) -> PyErr {
    match error {
        ConsumerError::Name(_) | ConsumerError::Note(_) => PyValueError::new_err(error.to_string()),
        _ => JournalError::new_err(error.to_string()),
    }
}

/// A clock before 1970 counts as 1970.
fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
