//! The salvage of a journal for Python: calls back with its progress, returns a report. Decides
//! nothing.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::path::PathBuf;

use pyo3::prelude::*;
use slipring_journal::{self as journal, Salvaged};

use crate::check::{DamageReport, reporting};

/// Adds this file's class and its function to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SalvageReport>()?;
    module.add_function(wrap_pyfunction!(journal_salvage, module)?)
}

/// What was copied, and what could not be copied.
#[pyclass(frozen, get_all, module = "slipring._native")]
struct SalvageReport {
    is_whole: bool,
    messages: u64,
    batches: u64,
    bytes: u64,
    segments: usize,
    lost: u64,
    damage: Vec<Py<DamageReport>>,
    more_damage: u64,
    foreign: Vec<String>,
    has_state: bool,
    consumers: usize,
}

/// Copies the whole batches of a journal into a new folder. Calls `progress(read, all)` from time to time, with
/// numbers of bytes; an exception that it raises ends the salvage.
#[pyfunction]
#[pyo3(signature = (path, into, progress = None))]
fn journal_salvage(
    py: Python<'_>,
    path: PathBuf,
    into: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<SalvageReport> {
    let salvaged = reporting(py, progress, |tell| journal::salvage(&path, &into, tell))?;
    SalvageReport::new(py, &salvaged)
}

impl SalvageReport {
    fn new(py: Python<'_>, salvaged: &Salvaged) -> PyResult<Self> {
        let damage = salvaged.damage.iter().map(|one| Py::new(py, DamageReport::new(one)));
        Ok(Self {
            is_whole: salvaged.is_whole(),
            messages: salvaged.messages,
            batches: salvaged.batches,
            bytes: salvaged.bytes,
            segments: salvaged.segments,
            lost: salvaged.lost(),
            damage: damage.collect::<PyResult<_>>()?,
            more_damage: salvaged.more_damage,
            foreign: salvaged.foreign.iter().map(ToString::to_string).collect(),
            has_state: salvaged.has_state,
            consumers: salvaged.consumers,
        })
    }
}
