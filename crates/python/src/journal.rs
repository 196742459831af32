//! The journal for Python: a reader whose columns reach Arrow without a copy, and a writer for
//! imports and tests. Decides nothing.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;
use slipring_engine::{JournalDefinitions, Sampled, sampled};
use slipring_journal::{
    Batch, BytesColumn, DefinitionsEdition, Journal, JournalFailure, JournalOptions,
    MessageColumns, MessageFlags, OpenError, ReadError,
};

use crate::buffer::{Buffer, Column};

pyo3::import_exception!(slipring.errors, JournalError);
pyo3::import_exception!(slipring.errors, JournalDamaged);
pyo3::import_exception!(slipring.errors, JournalGap);

/// Bytes of one answer of [`JournalReader::samples`].
const SAMPLES_BYTES_MAX: usize = 4 << 20;

/// Adds this file's classes to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<JournalReader>()?;
    module.add_class::<JournalWriter>()?;
    module.add_class::<JournalColumns>()?;
    module.add_class::<Buffer>()
}

/// Reads the journal in a directory, also while a broker writes it.
#[pyclass(frozen, module = "slipring._native")]
struct JournalReader {
    /// Python may call from several threads; the reader remembers its position between calls.
    reader: Mutex<slipring_journal::JournalReader>,
    /// The definitions, as far as they were read.
    definitions: Mutex<JournalDefinitions>,
    #[pyo3(get)]
    identity: String,
}

#[pymethods]
impl JournalReader {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let reader =
            py.detach(|| slipring_journal::JournalReader::open(&path)).map_err(read_error)?;
        let identity = reader.identity().to_string();
        Ok(Self { reader: Mutex::new(reader), definitions: Mutex::default(), identity })
    }

    #[getter]
    fn first_offset(&self) -> u64 {
        self.reader().first_offset()
    }

    fn end_offset(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.reader().end_offset()).map_err(read_error)
    }

    /// The epoch of the newest opening for writing, as of the last call of `end_offset`.
    #[getter]
    fn epoch(&self) -> u64 {
        self.reader().epoch()
    }

    /// The offsets that no message has, as pairs of the first and the end.
    fn left_out(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        let found = py.detach(|| self.reader().left_out()).map_err(read_error)?;
        Ok(found.into_iter().map(|range| (range.start, range.end)).collect())
    }

    /// One past the newest written message, synced or not, as of the last call of `end_offset`.
    #[getter]
    fn written_offset(&self) -> u64 {
        self.reader().written_offset()
    }

    /// Raises if a reader that stored this offset in this epoch cannot continue there.
    #[pyo3(signature = (offset, epoch = None))]
    fn check_position(&self, py: Python<'_>, offset: u64, epoch: Option<u64>) -> PyResult<()> {
        py.detach(|| self.reader().check_position(offset, epoch)).map_err(read_error)
    }

    /// The lowest offset that was received at this time or later.
    fn offset_at(&self, py: Python<'_>, receive_ns: i64) -> PyResult<u64> {
        py.detach(|| self.reader().offset_at(receive_ns)).map_err(read_error)
    }

    fn read(
        &self,
        py: Python<'_>,
        start: u64,
        end: u64,
        max_bytes: usize,
    ) -> PyResult<JournalColumns> {
        let columns = py.detach(|| self.reader().read(start..end, max_bytes));
        JournalColumns::new(py, columns.map_err(read_error)?)
    }

    /// Which messages were samples: the offset to continue at, then offset and parameter of each as
    /// bytes.
    fn samples<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        end: u64,
    ) -> PyResult<(u64, Bound<'py, PyBytes>)> {
        let found = py.detach(|| sampled(&mut self.reader(), start..end, SAMPLES_BYTES_MAX));
        let Sampled { end, pairs } = found.map_err(read_error)?;
        Ok((end, PyBytes::new(py, &pairs)))
    }

    /// Which definitions the journal has by now: table, revision and epoch.
    fn definitions_edition(&self, py: Python<'_>) -> PyResult<Edition> {
        self.with_definitions(py, |definitions| edition(definitions.edition()))
    }

    /// The versions of all definitions that the journal has by now, as JSON.
    fn definitions(&self, py: Python<'_>) -> PyResult<String> {
        self.with_definitions(py, JournalDefinitions::to_json)
    }
}

/// The table, the revision and the epoch of definitions.
pub(crate) type Edition = (u32, u64, u64);

pub(crate) fn edition(edition: DefinitionsEdition) -> Edition {
    let DefinitionsEdition { table, revision, epoch } = edition;
    (table, revision, epoch)
}

impl JournalReader {
    fn with_definitions<T: Send>(
        &self,
        py: Python<'_>,
        get: impl FnOnce(&JournalDefinitions) -> T + Send,
    ) -> PyResult<T> {
        let read = py.detach(|| {
            let mut definitions = self.definitions.lock().expect("reading never panics");
            definitions.follow(&mut self.reader())?;
            Ok(get(&definitions))
        });
        read.map_err(read_error)
    }

    fn reader(&self) -> MutexGuard<'_, slipring_journal::JournalReader> {
        self.reader.lock().expect("reading never panics")
    }
}

fn read_error(error: ReadError) -> PyErr {
    match error {
        ReadError::Gap { .. } | ReadError::Beyond { .. } | ReadError::OtherHistory { .. } => {
            JournalGap::new_err(error.to_string())
        }
        ReadError::Damaged(ref damage) => {
            JournalDamaged::new_err((error.to_string(), damage.offsets.start, damage.offsets.end))
        }
        _ => JournalError::new_err(error.to_string()),
    }
}

/// The ends and the data of a column of byte strings.
type BufferPair = (Py<Buffer>, Py<Buffer>);

/// Messages as columns; each attribute is a buffer in Arrow's layout, or two (ends, data).
#[pyclass(frozen, module = "slipring._native")]
pub(crate) struct JournalColumns {
    messages: Arc<MessageColumns>,
    #[pyo3(get)]
    end: u64,
    #[pyo3(get)]
    withheld: u64,
    #[pyo3(get)]
    offset: Py<Buffer>,
    #[pyo3(get)]
    receive_ns: Py<Buffer>,
    #[pyo3(get)]
    receive_us: Py<Buffer>,
    #[pyo3(get)]
    qos: Py<Buffer>,
    #[pyo3(get)]
    retain: Py<Buffer>,
    #[pyo3(get)]
    publisher: BufferPair,
    #[pyo3(get)]
    topic: BufferPair,
    #[pyo3(get)]
    properties: BufferPair,
    #[pyo3(get)]
    payload: BufferPair,
}

impl JournalColumns {
    pub fn new(py: Python<'_>, columns: MessageColumns) -> PyResult<Self> {
        let columns = Arc::new(columns);
        let buffer = |column| Py::new(py, Buffer::new(Arc::clone(&columns), column));
        let pair = |column: fn(&MessageColumns) -> &BytesColumn| -> PyResult<BufferPair> {
            Ok((buffer(Column::Ends(column))?, buffer(Column::Data(column))?))
        };
        Ok(Self {
            messages: Arc::clone(&columns),
            end: columns.end,
            withheld: columns.withheld,
            offset: buffer(Column::Numbers(|columns| &columns.offset))?,
            receive_ns: buffer(Column::Numbers(|columns| &columns.receive_ns))?,
            receive_us: buffer(Column::Numbers(|columns| &columns.receive_us))?,
            qos: buffer(Column::Octets(|columns| &columns.qos))?,
            retain: buffer(Column::Octets(|columns| &columns.retain))?,
            publisher: pair(|columns| &columns.publisher)?,
            topic: pair(|columns| &columns.topic)?,
            properties: pair(|columns| &columns.properties)?,
            payload: pair(|columns| &columns.payload)?,
        })
    }

    /// The same messages for Rust.
    pub fn messages(&self) -> &MessageColumns {
        &self.messages
    }
}

#[pymethods]
impl JournalColumns {
    /// How many messages: each has an octet for its QoS.
    fn __len__(&self) -> usize {
        self.qos.get().__len__()
    }
}

/// Writes a journal without a broker; the directory must not belong to a running one.
#[pyclass(frozen, module = "slipring._native")]
pub(crate) struct JournalWriter {
    pub(crate) journal: Journal,
}

#[pymethods]
impl JournalWriter {
    #[new]
    #[pyo3(signature = (path, segment_bytes = None))]
    fn new(py: Python<'_>, path: PathBuf, segment_bytes: Option<u64>) -> PyResult<Self> {
        let mut options = JournalOptions::default();
        options.segment_bytes = segment_bytes.unwrap_or(options.segment_bytes);
        let opened = py.detach(|| Journal::open(&path, options, |_| ()));
        let (journal, _) = opened.map_err(|error: OpenError| raise(&error))?;
        Ok(Self { journal })
    }

    /// Appends one batch at QoS 0; returns the offset of its first message.
    #[pyo3(signature = (publisher, receive_ns, messages, retain = false))]
    fn append(
        &self,
        py: Python<'_>,
        publisher: &str,
        receive_ns: i64,
        messages: Vec<(PyBackedStr, PyBackedBytes)>,
        retain: bool,
    ) -> PyResult<u64> {
        let mut batch = Batch::new();
        batch.begin(mqtt_string(publisher)?, receive_ns);
        for (topic, payload) in &messages {
            batch.push(MessageFlags::new(0, retain), mqtt_string(topic)?, &[], payload);
        }
        let appended = py.detach(|| self.journal.append_waiting(&mut batch, false));
        Ok(appended.map_err(|error| raise(&error))?.offsets.start)
    }

    /// Returns when everything appended is synced, so that readers see it.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.journal.sync()).map_err(|error: JournalFailure| raise(&error))
    }

    /// The offset the next message gets.
    #[getter]
    fn next_offset(&self) -> u64 {
        self.journal.status().next_offset
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.journal.close()).map_err(|error: JournalFailure| raise(&error))
    }
}

pub(crate) fn raise(error: &impl std::error::Error) -> PyErr {
    JournalError::new_err(error.to_string())
}

fn mqtt_string(text: &str) -> PyResult<&str> {
    if u16::try_from(text.len()).is_ok() {
        return Ok(text);
    }
    Err(PyValueError::new_err(format!("{} bytes are too long; MQTT allows 65,535", text.len())))
}
