//! The check of a journal for Python: calls back with its progress, returns a report. Decides nothing.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;

use pyo3::prelude::*;
use slipring_journal::{self as journal, CheckReport, Damage, HeaderState, SnapshotState};

use crate::consumers::Consumer;
use crate::journal::raise;

/// Adds this file's classes and its function to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<JournalReport>()?;
    module.add_class::<SegmentReport>()?;
    module.add_class::<DamageReport>()?;
    module.add_function(wrap_pyfunction!(journal_check, module)?)
}

/// What a check found in a journal.
#[pyclass(frozen, get_all, module = "slipring._native")]
struct JournalReport {
    is_whole: bool,
    identity: Option<String>,
    first_offset: u64,
    end_offset: u64,
    messages: u64,
    batches: u64,
    record_bytes: u64,
    bytes: u64,
    segments: Vec<Py<SegmentReport>>,
    damage: Vec<Py<DamageReport>>,
    more_damage: u64,
    tail: Option<Py<DamageReport>>,
    tail_bytes: u64,
    /// The segment and the offset of the snapshot, and the bytes of its state.
    snapshot: Option<(String, u64, u64)>,
    snapshot_flaw: Option<String>,
    consumers: Vec<Py<Consumer>>,
}

/// One segment: its file, its messages, how its header and its index are.
#[pyclass(frozen, get_all, module = "slipring._native")]
struct SegmentReport {
    name: String,
    bytes: u64,
    messages: u64,
    oldest_ns: Option<i64>,
    newest_ns: Option<i64>,
    epoch: Option<u64>,
    flaw: Option<String>,
    index: String,
}

/// A part that cannot be read: the offsets from the first up to the end.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub(crate) struct DamageReport {
    segment: String,
    position: u64,
    first_offset: u64,
    end_offset: u64,
    why: String,
}

/// Reads every byte of a journal. Calls `progress(read, all)` from time to time, with numbers of bytes; an
/// exception that it raises ends the check.
#[pyfunction]
#[pyo3(signature = (path, progress = None))]
fn journal_check(
    py: Python<'_>,
    path: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<JournalReport> {
    let report = reporting(py, progress, |tell| journal::check(&path, tell))?;
    JournalReport::new(py, report)
}

/// Does long work without the interpreter, and calls `progress(read, all)` from time to time. An exception
/// that it raises ends the work; so does Ctrl-C.
pub(crate) fn reporting<T: Send, E: Error + Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(u64, u64) -> ControlFlow<()>) -> Result<Option<T>, E> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let mut tell = |read: u64, all: u64| {
        let told = Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |call| call.call1(py, (read, all)).map(drop))
        });
        raised = told.err();
        if raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let done = py.detach(|| work(&mut tell));
    if let Some(error) = raised {
        return Err(error);
    }
    Ok(done.map_err(|error| raise(&error))?.expect("only an error of progress ends it early"))
}

impl JournalReport {
    fn new(py: Python<'_>, report: CheckReport) -> PyResult<Self> {
        let segments = report.segments.iter().map(|one| Py::new(py, SegmentReport::new(one)));
        let damage = report.damage.iter().map(|one| Py::new(py, DamageReport::new(one)));
        let tail = report.tail.as_ref().map(DamageReport::new);
        let (snapshot, snapshot_flaw) = match &report.snapshot {
            SnapshotState::Absent => (None, None),
            SnapshotState::Whole { at, bytes } => {
                (Some((at.segment.to_string(), at.offset, *bytes)), None)
            }
            SnapshotState::Damaged(flaw) => (None, Some(flaw.clone())),
        };
        Ok(Self {
            is_whole: report.is_whole(),
            identity: report.identity.map(|identity| identity.to_string()),
            first_offset: report.first_offset,
            end_offset: report.end_offset,
            messages: report.messages,
            batches: report.batches,
            record_bytes: report.record_bytes,
            bytes: report.bytes,
            segments: segments.collect::<PyResult<_>>()?,
            damage: damage.collect::<PyResult<_>>()?,
            more_damage: report.more_damage,
            tail: tail.map(|tail| Py::new(py, tail)).transpose()?,
            tail_bytes: report.tail_bytes,
            snapshot,
            snapshot_flaw,
            consumers: Consumer::list(py, report.consumers)?,
        })
    }
}

impl SegmentReport {
    fn new(segment: &journal::SegmentReport) -> Self {
        let (epoch, flaw) = match segment.header {
            HeaderState::Whole(epoch) => (Some(epoch), None),
            head => (None, Some(head.to_string())),
        };
        Self {
            name: segment.id.to_string(),
            bytes: segment.bytes,
            messages: segment.messages,
            oldest_ns: segment.times_ns.map(|(oldest, _)| oldest),
            newest_ns: segment.times_ns.map(|(_, newest)| newest),
            epoch,
            flaw,
            index: segment.index.to_string(),
        }
    }
}

impl DamageReport {
    pub fn new(damage: &Damage) -> Self {
        Self {
            segment: damage.segment.to_string(),
            position: damage.position,
            first_offset: damage.offsets.start,
            end_offset: damage.offsets.end,
            why: damage.flaw.to_string(),
        }
    }
}
