//! The table of a journal in a folder, for who reads its frames without a broker. Decides nothing.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use slipring_core::ledger::{BatchHead, Ledger};
use slipring_core::table::Entry;
use slipring_journal::{ReadError, Reader, StateBatch};

use crate::journal::read_error;

/// The table's identity, and its parameters: index, name, definition as JSON.
type Listed = (u32, Vec<(u32, String, String)>);

/// Adds this file's functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(journal_table, module)?)
}

/// Every parameter that was ever declared, by index; None where none was. The broker may be running.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]
fn journal_table(py: Python<'_>, path: PathBuf) -> PyResult<Option<Listed>> {
    py.detach(|| listed(&path)).map_err(read_error)
}

fn listed(path: &Path) -> Result<Option<Listed>, ReadError> {
    let ledger = ledger(&mut Reader::open(path)?)?;
    Ok(ledger.table().map(|entries| {
        let both = entries.removed().chain(entries.iter_from(0));
        let mut parameters: Vec<_> = both.map(|(index, entry)| parameter(index, entry)).collect();
        parameters.sort_unstable_by_key(|(index, ..)| *index);
        (entries.id(), parameters)
    }))
}

fn parameter(index: u32, entry: &Entry) -> (u32, String, String) {
    (index, entry.name.to_string(), entry.definition.to_json())
}

/// What the journal's records lead to. Those that make no sense are passed over, as the broker does.
fn ledger(reader: &mut Reader) -> Result<Ledger, ReadError> {
    let snapshot = reader.snapshot().ok().flatten();
    let restored =
        snapshot.and_then(|(at, bytes)| Some((Ledger::restore(&bytes).ok()?, Some(at))));
    let (mut ledger, from) = restored.unwrap_or_default();
    reader.follow(from, &mut |batch| {
        let StateBatch { base_offset, count: messages, receive_ns, records, .. } = batch;
        let _ = ledger.apply(BatchHead { base_offset, messages, receive_ns }, records);
    })?;
    Ok(ledger)
}
