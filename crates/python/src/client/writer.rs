//! The writer for Python: samples in arrays, or one by one. Every call returns at once.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipring_client::WriteError;
use slipring_wire::QoS;

use super::{ConnectionLost, rows};
use crate::frames::FrameError;
use crate::frames::given::{GivenQuality, Row, kind_of, values_of};

/// The longest time that samples are gathered.
const BEAT_MS_MAX: u64 = 10_000;

/// How long samples are gathered.
pub(crate) fn beat(milliseconds: u64) -> PyResult<Duration> {
    if milliseconds > BEAT_MS_MAX {
        let text = format!("a beat has 1 to {BEAT_MS_MAX} ms, or 0 for at once");
        return Err(PyValueError::new_err(text));
    }
    Ok(Duration::from_millis(milliseconds))
}

/// The QoS of frames.
pub(crate) fn qos(number: u8) -> PyResult<QoS> {
    match rows::qos(number)? {
        QoS::ExactlyOnce => Err(PyValueError::new_err("frames are sent at QoS 0 or 1")),
        qos => Ok(qos),
    }
}

/// Gathers samples and sends them as frames.
#[pyclass(frozen, module = "slipring._native")]
pub(crate) struct Writer {
    writer: slipring_client::Writer,
    url: String,
}

#[pymethods]
impl Writer {
    /// The id that a `refused` event names.
    #[getter]
    fn identity(&self) -> u64 {
        self.writer.id().0
    }

    /// Bytes gathered and not handed to the connection.
    #[getter]
    fn unsent_bytes(&self) -> usize {
        self.writer.unsent_bytes()
    }

    /// Frames that were sent so far.
    #[getter]
    fn frames(&self) -> u64 {
        self.writer.frames()
    }

    /// How many frames the broker refused, with the code and the words of the last; None if it refused none.
    #[getter]
    fn refused(&self) -> Option<(u64, u8, String)> {
        let tally = self.writer.tally();
        let (code, text) = rows::fault(tally.fault?.1)?;
        Some((tally.refused, code, text))
    }

    /// Writes each parameter once, all at one time. Returns False if the writer is full.
    #[pyo3(signature = (kind, indices, time_ns, values, quality=GivenQuality::Good))]
    fn row(
        &self,
        kind: u8,
        indices: Bound<'_, PyAny>,
        time_ns: i64,
        values: Bound<'_, PyAny>,
        quality: GivenQuality<'_>,
    ) -> PyResult<bool> {
        let row = Row::at(kind, &indices, time_ns, &values, quality)?;
        self.taken(row.give(|block| self.writer.block(block), |all| self.writer.samples(all)))
    }

    /// Writes each parameter at each time, row by row. Returns False if the writer is full.
    #[pyo3(signature = (kind, indices, times, values, quality=GivenQuality::Good))]
    fn grid(
        &self,
        kind: u8,
        indices: Bound<'_, PyAny>,
        times: Bound<'_, PyAny>,
        values: Bound<'_, PyAny>,
        quality: GivenQuality<'_>,
    ) -> PyResult<bool> {
        let row = Row::grid(kind, &indices, &times, &values, quality)?;
        self.taken(row.give(|block| self.writer.block(block), |all| self.writer.samples(all)))
    }

    /// Writes single samples (index, kind, value, quality) of one time. Returns False if the writer is full.
    fn samples(
        &self,
        samples: Vec<(u32, u8, Bound<'_, PyAny>, u8)>,
        time_ns: i64,
    ) -> PyResult<bool> {
        let samples = samples.into_iter().map(|(index, kind, value, quality)| {
            kind_of(kind).map(|kind| (kind, index, time_ns, quality, value))
        });
        let values = values_of(samples.collect::<PyResult<Vec<_>>>()?)?;
        let all: Vec<_> = values.iter().map(|value| value.sample()).collect();
        self.taken(self.writer.samples(&all))
    }

    /// The broker's clock minus ours.
    fn set_skew(&self, skew_ns: Option<i64>) {
        self.writer.set_skew(skew_ns);
    }

    /// Continues on another connection, where the table is declared now. Returns how many samples of
    /// another table are lost.
    fn resume(&self, table: u32, connection: u64) -> usize {
        self.writer.resume(table, connection)
    }

    /// Sends the gathered samples. Returns the id of the event that reports it.
    fn flush(&self) -> u64 {
        self.writer.flush().0
    }

    /// Takes no more samples, and sends the gathered ones. Returns the id of the event that reports it.
    fn close(&self) -> u64 {
        self.writer.close().0
    }
}

impl Writer {
    pub fn new(writer: slipring_client::Writer, url: String) -> Self {
        Self { writer, url }
    }

    fn taken(&self, taken: Result<(), WriteError>) -> PyResult<bool> {
        match taken {
            Ok(()) => Ok(true),
            Err(WriteError::Full) => Ok(false),
            Err(WriteError::Closed) => Err(ConnectionLost::new_err(format!(
                "this writer of {} is closed; declare the parameters again",
                self.url
            ))),
            Err(WriteError::Samples(error)) => Err(FrameError::new_err(error.to_string())),
        }
    }
}
