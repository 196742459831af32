//! Decodes a frame: numbers stay where they are in the payload.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use slipring_wire::frame::{FrameBounds, FrameView, Kind, Layout, Qualities, RunView};

use super::FrameError;

/// More than a broker sends. Bytes that claim more do not make us allocate it.
const BOUNDS: FrameBounds = FrameBounds { samples_max: 1 << 24, raw_bytes_max: 64 << 20 };

/// The flag of a frame whose body is deflated, and the position of the flags.
const DEFLATED: u8 = 1;
const FLAGS_AT: usize = 4;

/// A frame: its header, and its runs.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub(crate) struct NativeFrame {
    table: u32,
    sequence: u32,
    sent_ns: i64,
    hops: Option<(i64, i64, i64)>,
    samples: usize,
    runs: Py<PyList>,
}

/// Samples of one kind. Arrays are the bytes of little endian numbers.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub(crate) struct NativeRun {
    kind: u8,
    layout: u8,
    parameters: usize,
    samples: usize,
    /// First index and end of each.
    ranges: Vec<(u32, u32)>,
    /// The same as it is in the frame: equal for equal parameters.
    span: Py<PyBytes>,
    /// Of a ragged run: how many samples each parameter has, u32.
    counts: Option<Py<PyBytes>>,
    /// Of a run at one time.
    time_ns: i64,
    /// Else: of each row or each sample, i64.
    times: Option<Py<PyBytes>>,
    /// One for all, or a byte for each sample.
    qualities: Py<PyAny>,
    /// Where the numbers or bits are (bytes, offset, length), or a list of text or bytes.
    values: Py<PyAny>,
}

#[pymethods]
impl NativeRun {
    /// The indices of the parameters, u32.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.parameters * 4, |out| {
            let mut rest = out;
            for (first, end) in &self.ranges {
                let (these, others) = rest.split_at_mut((end - first) as usize * 4);
                for (bytes, index) in these.chunks_exact_mut(4).zip(*first..*end) {
                    bytes.copy_from_slice(&index.to_le_bytes());
                }
                rest = others;
            }
            Ok(())
        })
    }
}

/// Decodes a frame. Raises `FrameError` if the payload is not a frame.
#[pyfunction]
pub(crate) fn decode_frame(payload: &Bound<'_, PyBytes>) -> PyResult<NativeFrame> {
    let (py, bytes) = (payload.py(), payload.as_bytes());
    let mut scratch = Vec::new();
    let view = FrameView::decode(bytes, &mut scratch, &BOUNDS)
        .map_err(|error| FrameError::new_err(error.to_string()))?;
    let body_bytes: usize = view.runs().map(|run| run.bytes().len()).sum();
    let (body, mut at) = if bytes[FLAGS_AT] & DEFLATED == 0 {
        // The body is all that follows the header.
        (payload.clone(), bytes.len() - body_bytes)
    } else {
        (inflated(py, &view, body_bytes)?, 0)
    };
    let mut runs = Vec::new();
    for run in view.runs() {
        runs.push(native(&run, &body, at)?);
        at += run.bytes().len();
    }
    let header = view.header;
    Ok(NativeFrame {
        table: header.table,
        sequence: header.sequence,
        sent_ns: header.sent_ns,
        hops: header.hops.map(|hops| (hops.published_ns, hops.received_ns, hops.skew_ns)),
        samples: view.samples(),
        runs: PyList::new(py, runs)?.unbind(),
    })
}

/// The body, which is its runs one after the other.
fn inflated<'py>(
    py: Python<'py>,
    view: &FrameView<'_>,
    bytes: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes, |out| {
        let mut rest = out;
        for run in view.runs() {
            let (this, others) = std::mem::take(&mut rest).split_at_mut(run.bytes().len());
            this.copy_from_slice(run.bytes());
            rest = others;
        }
        Ok(())
    })
}

/// A run, which begins at this position of the body.
fn native(run: &RunView<'_>, body: &Bound<'_, PyBytes>, at: usize) -> PyResult<NativeRun> {
    let py = body.py();
    let times = match run.layout {
        Layout::One => None,
        Layout::Grid | Layout::Ragged => {
            let count = run.rows().unwrap_or(run.samples());
            Some(array(py, count, run.times().map(i64::to_le_bytes))?.unbind())
        }
    };
    let counts = match run.layout {
        Layout::Ragged => {
            Some(array(py, run.parameters, run.counts().map(u32::to_le_bytes))?.unbind())
        }
        Layout::One | Layout::Grid => None,
    };
    let qualities = match run.qualities() {
        Qualities::All(quality) => quality.0.into_pyobject(py)?.into_any().unbind(),
        Qualities::Each(bytes) => PyBytes::new(py, bytes).into_any().unbind(),
    };
    Ok(NativeRun {
        kind: run.kind.code(),
        layout: run.layout as u8,
        parameters: run.parameters,
        samples: run.samples(),
        ranges: run.ranges().map(|range| (range.start, range.end)).collect(),
        span: PyBytes::new(py, run.span()).unbind(),
        counts,
        time_ns: run.time_ns,
        times,
        qualities,
        values: values(run, body, at)?,
    })
}

fn values(run: &RunView<'_>, body: &Bound<'_, PyBytes>, at: usize) -> PyResult<Py<PyAny>> {
    let py = body.py();
    match run.kind {
        Kind::Text => {
            let items: Result<Vec<_>, _> = run.items().map(std::str::from_utf8).collect();
            let items = items.map_err(|error| FrameError::new_err(error.to_string()))?;
            Ok(PyList::new(py, items)?.into_any().unbind())
        }
        Kind::Bytes => {
            let items: Vec<_> = run.items().map(|item| PyBytes::new(py, item)).collect();
            Ok(PyList::new(py, items)?.into_any().unbind())
        }
        _ => {
            let inside = run.values().as_ptr() as usize - run.bytes().as_ptr() as usize;
            let slice = (body.clone(), at + inside, run.values().len());
            Ok(slice.into_pyobject(py)?.into_any().unbind())
        }
    }
}

/// This many numbers, one after the other.
fn array<const WIDTH: usize>(
    py: Python<'_>,
    count: usize,
    numbers: impl Iterator<Item = [u8; WIDTH]>,
) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, count * WIDTH, |out| {
        for (bytes, number) in out.chunks_exact_mut(WIDTH).zip(numbers) {
            bytes.copy_from_slice(&number);
        }
        Ok(())
    })
}
