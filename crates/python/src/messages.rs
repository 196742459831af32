//! Messages that Python hands over in columns, in Arrow's layout: to be journaled here, or published
//! by a client. Nothing happens in Python for a single message.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::ops::Range;
use std::str;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use slipring_journal::{Batch, MessageFlags};
use slipring_wire::{Properties, Publish, QoS};

use crate::journal::{JournalWriter, raise};

/// A batch of the journal is closed at this size.
const BATCH_BYTES_MAX: usize = 1 << 20;

/// Adds this file's class to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Messages>()
}

/// Byte strings one after the other, in Arrow's layout: ends (i32, one more than values), data.
struct Strings {
    ends: PyBackedBytes,
    data: PyBackedBytes,
}

impl Strings {
    fn checked(name: &str, count: usize, given: (PyBackedBytes, PyBackedBytes)) -> PyResult<Self> {
        let strings = Self { ends: given.0, data: given.1 };
        // Arrow pads its buffers; bytes after the last end are ignored.
        if strings.ends.len() < 4 * (count + 1) {
            return Err(wrong(name, "has too few values"));
        }
        let in_order = (0..count).all(|index| strings.end(index) <= strings.end(index + 1));
        if !in_order || strings.end(count) > strings.data.len() {
            return Err(wrong(name, "has ends that do not ascend, or exceed the data"));
        }
        Ok(strings)
    }

    /// The same for MQTT strings: UTF-8 of at most 65,535 bytes.
    fn text(name: &str, count: usize, given: (PyBackedBytes, PyBackedBytes)) -> PyResult<Self> {
        let strings = Self::checked(name, count, given)?;
        let fits = |index| {
            let value = strings.get(index);
            u16::try_from(value.len()).is_ok() && str::from_utf8(value).is_ok()
        };
        if !(0..count).all(fits) {
            return Err(wrong(name, "has a value that is not UTF-8, or over 65,535 bytes"));
        }
        Ok(strings)
    }

    /// A negative end becomes one that exceeds all data.
    fn end(&self, index: usize) -> usize {
        let bytes = &self.ends[4 * index..][..4];
        let end = i32::from_le_bytes(bytes.try_into().expect("four bytes"));
        usize::try_from(end).unwrap_or(usize::MAX)
    }

    fn get(&self, index: usize) -> &[u8] {
        &self.data[self.end(index)..self.end(index + 1)]
    }

    fn get_text(&self, index: usize) -> &str {
        str::from_utf8(self.get(index)).expect("checked when it was made")
    }
}

/// Messages in columns. A flag holds the QoS in bits 0 and 1, and retain in bit 2.
#[pyclass(frozen, module = "slipring._native")]
pub(crate) struct Messages {
    receive_ns: PyBackedBytes,
    flags: PyBackedBytes,
    publisher: Strings,
    topic: Strings,
    properties: Strings,
    payload: Strings,
    count: usize,
}

#[pymethods]
impl Messages {
    /// Raises `ValueError` if the columns do not fit together.
    #[new]
    #[pyo3(signature = (count, *, receive_ns, flags, publisher, topic, properties, payload))]
    fn new(
        count: usize,
        receive_ns: PyBackedBytes,
        flags: PyBackedBytes,
        publisher: (PyBackedBytes, PyBackedBytes),
        topic: (PyBackedBytes, PyBackedBytes),
        properties: (PyBackedBytes, PyBackedBytes),
        payload: (PyBackedBytes, PyBackedBytes),
    ) -> PyResult<Self> {
        if receive_ns.len() < 8 * count || flags.len() < count {
            return Err(wrong("receive_ns or flags", "has too few values"));
        }
        if !flags[..count].iter().all(|bits| *bits < 8 && *bits & 0b11 != 0b11) {
            return Err(wrong("flags", "has a value that is no flag"));
        }
        Ok(Self {
            receive_ns,
            flags,
            publisher: Strings::text("publisher", count, publisher)?,
            topic: Strings::text("topic", count, topic)?,
            properties: Strings::checked("properties", count, properties)?,
            payload: Strings::checked("payload", count, payload)?,
            count,
        })
    }

    fn __len__(&self) -> usize {
        self.count
    }

    /// Appends the messages of a range with their publishers and receive times. Waits while the
    /// journal is behind.
    fn append_to(
        &self,
        py: Python<'_>,
        writer: &JournalWriter,
        start: usize,
        end: usize,
    ) -> PyResult<()> {
        let range = self.range(start, end)?;
        py.detach(|| self.append_range(writer, range))
    }
}

impl Messages {
    /// These indices, if there are such messages.
    pub(crate) fn range(&self, start: usize, end: usize) -> PyResult<Range<usize>> {
        if start > end || end > self.count {
            return Err(PyIndexError::new_err(format!("no messages {start} to {end}")));
        }
        Ok(start..end)
    }

    /// One message as it is published.
    pub(crate) fn publish(&self, index: usize) -> PyResult<Publish<'_>> {
        let flags = self.flag(index);
        let qos = QoS::from_bits(flags.qos()).map_err(|flaw| wrong("flags", flaw.what))?;
        let properties = Properties::of_publish(self.properties.get(index))
            .map_err(|flaw| wrong("properties", flaw.what))?;
        let publish = Publish::new(self.topic.get_text(index), self.payload.get(index));
        Ok(Publish { qos, retain: flags.retain(), properties, ..publish })
    }

    fn append_range(&self, writer: &JournalWriter, range: Range<usize>) -> PyResult<()> {
        let (mut batch, end) = (Batch::new(), range.end);
        for index in range {
            let (topic, flags) = (self.topic.get_text(index), self.flag(index));
            if batch.is_empty() {
                batch.begin(self.publisher.get_text(index), self.receive_ns(index));
            }
            batch.push(flags, topic, self.properties.get(index), self.payload.get(index));
            if self.ends_batch(index, end) || batch.bytes() > BATCH_BYTES_MAX {
                writer.journal.append_waiting(&mut batch, false).map_err(|error| raise(&error))?;
            }
        }
        Ok(())
    }

    /// Whether the next message is another publisher's, or of another time.
    fn ends_batch(&self, index: usize, end: usize) -> bool {
        let next = index + 1;
        next == end
            || self.receive_ns(next) != self.receive_ns(index)
            || self.publisher.get(next) != self.publisher.get(index)
    }

    fn receive_ns(&self, index: usize) -> i64 {
        i64::from_le_bytes(self.receive_ns[8 * index..][..8].try_into().expect("eight bytes"))
    }

    fn flag(&self, index: usize) -> MessageFlags {
        let bits = self.flags[index];
        MessageFlags::new(bits & 0b11, bits & 0b100 != 0)
    }
}

fn wrong(column: &str, what: &str) -> PyErr {
    PyValueError::new_err(format!("column {column} {what}"))
}
