//! Samples, frames and rollups of a journal's messages for Python, as Arrow's buffers. Decides nothing.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipring_samples::{
    Decoded, FileLayout, Flaw, FrameColumns, KnownParameters, OptionalBytes, OptionalColumn,
    RollupColumns, SampleColumns, SampleFile, SampleSelection, TextBounds, WantedColumns,
};

use crate::buffer::Buffer;
use crate::journal::JournalColumns;

/// Adds this file's class and function to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SampleDecoder>()?;
    module.add_function(wrap_pyfunction!(frame_columns, module)?)
}

/// The buffers of a column in Arrow's order: the bits of rows with a value, then the values. None for a column in which
/// no row has a value.
type ColumnBuffers = Option<Vec<Option<Buffer>>>;
/// How many rows there are, and the buffers of each column by its name.
type NamedColumns = (usize, BTreeMap<&'static str, ColumnBuffers>);

/// The first and the last text of a column, if there is one, and its rows without.
type FewBounds = (Option<String>, Option<String>, usize);

/// What is asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SelectionDict {
    /// A byte for each index: 1 if its parameter is asked for. None for all.
    parameters: Option<Vec<u8>>,
    /// The first source time, and the first one that is too late.
    source_ns: Option<(i64, i64)>,
}

/// Decodes messages to samples; keeps them until they are taken.
#[pyclass(frozen, module = "slipring._native")]
struct SampleDecoder {
    decoder: Mutex<slipring_samples::SampleDecoder>,
    wanted: Vec<String>,
}

#[pymethods]
impl SampleDecoder {
    #[new]
    fn new(
        py: Python<'_>,
        parameters: &str,
        selection: SelectionDict,
        wanted: Vec<String>,
        rows_max: usize,
    ) -> PyResult<Self> {
        let parameters = py.detach(|| known(parameters))?;
        let columns = wanted_columns(&wanted);
        let decoder =
            slipring_samples::SampleDecoder::new(parameters, selection.into(), columns, rows_max);
        Ok(Self { decoder: Mutex::new(decoder), wanted })
    }

    /// Replaces the parameters, and which samples are asked for.
    fn learn(&self, py: Python<'_>, parameters: &str, selection: SelectionDict) -> PyResult<()> {
        let parameters = py.detach(|| known(parameters))?;
        self.decoder().learn(parameters, selection.into());
        Ok(())
    }

    #[getter]
    fn rows(&self) -> usize {
        self.decoder().rows()
    }

    #[getter]
    fn is_full(&self) -> bool {
        self.decoder().is_full()
    }

    /// Whether `decode` must be told which of the messages are samples.
    fn has_plain(&self, py: Python<'_>, messages: &JournalColumns) -> bool {
        let messages = messages.messages();
        py.detach(|| self.decoder().has_plain(messages))
    }

    /// Decodes messages from a row on. Returns the row to go on at, and whether its parameters are unknown.
    fn decode(
        &self,
        py: Python<'_>,
        messages: &JournalColumns,
        sampled: &[u8],
        at: usize,
        set_aside: bool,
    ) -> (usize, bool) {
        let messages = messages.messages();
        let decoded = py.detach(|| self.decoder().decode(messages, sampled, at, set_aside));
        let Decoded { at, is_unknown } = decoded;
        (at, is_unknown)
    }

    /// The samples so far, sorted by parameter and time if asked.
    fn take(&self, py: Python<'_>, sort: bool) -> NamedColumns {
        let columns = py.detach(|| {
            let columns = self.decoder().take();
            if sort { columns.sorted() } else { columns }
        });
        self.sample_buffers(columns)
    }

    /// The samples so far as files of the lake, sorted by parameter and time: for each its day since 1970, its rows, the
    /// whole file, and the bounds of its kinds and units.
    fn take_files(
        &self,
        py: Python<'_>,
        journal: &str,
        group_rows: NonZeroUsize,
        page_rows: NonZeroUsize,
        level: i32,
    ) -> Vec<(i64, usize, Buffer, BTreeMap<&'static str, FewBounds>)> {
        let (group_rows, page_rows) = (group_rows.get(), page_rows.get());
        let layout = FileLayout { journal, group_rows, page_rows, level };
        let files = py.detach(|| self.decoder().take_files(&layout));
        let files = files.into_iter().map(|SampleFile { day, rows, bytes, kind, unit }| {
            let bounds = BTreeMap::from([("kind", few_bounds(kind)), ("unit", few_bounds(unit))]);
            (day, rows, Buffer::of(bytes), bounds)
        });
        files.collect()
    }

    /// The samples so far, summed up by parameter and window.
    fn take_rollup(&self, py: Python<'_>, window_ns: i64) -> PyResult<NamedColumns> {
        if window_ns <= 0 {
            return Err(PyValueError::new_err("a window is longer than nothing"));
        }
        let columns = py.detach(|| {
            let samples = self.decoder().take().sorted();
            slipring_samples::rollup(&samples, window_ns)
        });
        Ok(rollup_buffers(columns))
    }

    /// What could not be decoded so far: offsets and reasons.
    fn take_flaws(&self) -> Vec<(i64, String)> {
        pairs(self.decoder().take_flaws())
    }
}

impl SampleDecoder {
    fn decoder(&self) -> MutexGuard<'_, slipring_samples::SampleDecoder> {
        self.decoder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sample_buffers(&self, columns: SampleColumns) -> NamedColumns {
        let rows = columns.len();
        let wants = |name: &str| self.wanted.iter().any(|wanted| wanted == name);
        let mut found = BTreeMap::new();
        if wants("source_time") {
            found.insert("source_time", plain(microseconds(&columns.source_ns)));
        }
        if wants("receive_time") {
            found.insert("receive_time", plain(microseconds(&columns.receive_ns)));
        }
        found.insert("index", plain(columns.index));
        found.insert("source_ns", plain(columns.source_ns));
        found.insert("receive_ns", plain(columns.receive_ns));
        found.insert("offset", plain(columns.offset));
        found.insert("quality", plain(columns.quality));
        found.insert("value", optional(columns.value));
        found.insert("integer", optional(columns.integer));
        found.insert("text", optional_bytes(columns.text));
        found.insert("bytes", optional_bytes(columns.bytes));
        (rows, found)
    }
}

/// The frames among messages: rows, columns, and what could not be decoded as offsets and reasons.
#[pyfunction]
fn frame_columns(
    py: Python<'_>,
    messages: &JournalColumns,
) -> (usize, BTreeMap<&'static str, ColumnBuffers>, Vec<(i64, String)>) {
    let messages = messages.messages();
    let (columns, flaws) = py.detach(|| slipring_samples::frame_columns(messages));
    let FrameColumns {
        message,
        table,
        sequence,
        sent_ns,
        published_ns,
        received_ns,
        skew_ns,
        runs,
        samples,
        parameters,
        bytes,
        raw_bytes,
    } = columns;
    let rows = message.len();
    let found = BTreeMap::from([
        ("message", plain(message)),
        ("table", plain(table)),
        ("sequence", plain(sequence)),
        ("sent_ns", plain(sent_ns)),
        ("published_ns", optional(published_ns)),
        ("received_ns", optional(received_ns)),
        ("skew_ns", optional(skew_ns)),
        ("runs", plain(runs)),
        ("samples", plain(samples)),
        ("parameters", plain(parameters)),
        ("bytes", plain(bytes)),
        ("raw_bytes", plain(raw_bytes)),
    ]);
    (rows, found, pairs(flaws))
}

fn rollup_buffers(columns: RollupColumns) -> NamedColumns {
    let rows = columns.len();
    let found = BTreeMap::from([
        ("window_start", plain(microseconds(&columns.window_ns))),
        ("index", plain(columns.index)),
        ("window_ns", plain(columns.window_ns)),
        ("count", plain(columns.count)),
        ("bad", plain(columns.bad)),
        ("min", optional(columns.min)),
        ("max", optional(columns.max)),
        ("sum", optional(columns.sum)),
        ("first", optional(columns.first)),
        ("first_ns", optional(columns.first_ns)),
        ("last", optional(columns.last)),
        ("last_ns", optional(columns.last_ns)),
        ("weighted", plain(columns.weighted)),
        ("weighted_ns", plain(columns.weighted_ns)),
        ("offset", plain(columns.offset)),
        ("receive_ns", plain(columns.receive_ns)),
    ]);
    (rows, found)
}

fn few_bounds(bounds: TextBounds) -> FewBounds {
    let (least, most) = bounds.texts.unzip();
    (least, most, bounds.nulls)
}

fn known(parameters: &str) -> PyResult<KnownParameters> {
    KnownParameters::from_json(parameters).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn wanted_columns(names: &[String]) -> WantedColumns {
    let wants = |name: &str| names.iter().any(|wanted| wanted == name);
    WantedColumns {
        receive: wants("receive_ns") || wants("receive_time"),
        offset: wants("offset"),
        quality: wants("quality"),
        value: wants("value"),
        integer: wants("integer"),
        text: wants("text"),
        bytes: wants("bytes"),
    }
}

/// What Spark's timestamps hold, rounded down.
fn microseconds(times_ns: &[i64]) -> Vec<i64> {
    times_ns.iter().map(|time| time.div_euclid(1_000)).collect()
}

fn plain<T: Copy + Send + Sync + 'static>(values: Vec<T>) -> ColumnBuffers {
    (!values.is_empty()).then(|| vec![None, Some(Buffer::of(values))])
}

fn optional<T: Copy + Default + Send + Sync + 'static>(column: OptionalColumn<T>) -> ColumnBuffers {
    let (valid, values) = column.into_parts()?;
    Some(vec![valid.map(Buffer::of), Some(Buffer::of(values))])
}

fn optional_bytes(column: OptionalBytes) -> ColumnBuffers {
    let (valid, ends, data) = column.into_parts()?;
    Some(vec![valid.map(Buffer::of), Some(Buffer::of(ends)), Some(Buffer::of(data))])
}

fn pairs(flaws: Vec<Flaw>) -> Vec<(i64, String)> {
    flaws.into_iter().map(|flaw| (flaw.offset, flaw.reason)).collect()
}

impl From<SelectionDict> for SampleSelection {
    fn from(dict: SelectionDict) -> Self {
        Self {
            parameters: dict
                .parameters
                .map(|asked| asked.into_iter().map(|byte| byte != 0).collect()),
            source_ns: dict.source_ns.map(|(start, end)| start..end),
        }
    }
}
