//! The table and the definitions of a journal for Python, without its broker. Decides nothing.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::path::PathBuf;

use pyo3::prelude::*;
use slipring_engine::{JournalDefinitions, JournalTable, journal_table as read};

use crate::journal::raise;

/// Adds this file's function to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(journal_definitions, module)?)?;
    module.add_function(wrap_pyfunction!(journal_table, module)?)
}

/// The parameters as JSON, the streams as names and JSON, and the parts that could not be read.
type Described = (Option<String>, Vec<(String, String)>, Vec<String>);

/// What a journal describes: its parameters as JSON, or None if it has no table; its streams, each by name
/// and as JSON; and the parts that could not be read.
#[pyfunction]
fn journal_table(py: Python<'_>, path: PathBuf) -> PyResult<Described> {
    let read = py.detach(|| {
        let JournalTable { entries, streams, flaws } = read(&path)?;
        Ok((entries.map(|entries| entries.to_json()), streams, flaws))
    });
    read.map_err(|error: slipring_journal::ReadError| raise(&error))
}

/// The versions of all definitions in a journal, as JSON.
#[pyfunction]
fn journal_definitions(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let read = py.detach(|| JournalDefinitions::of(&path).map(|definitions| definitions.to_json()));
    read.map_err(|error| raise(&error))
}
