//! A frame taken apart: numbers stay where they are in the payload.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use slipring_wire::frame::{Bounds, FrameView, Kind, Layout, Qualities, RunView};

use super::FrameError;

/// What a broker would not send either, and no bytes make us allocate.
const BOUNDS: Bounds = Bounds { samples_max: 1 << 24, raw_bytes_max: 64 << 20 };

/// The flag of a frame whose body is deflated, and where it stands.
const DEFLATED: (usize, u8) = (4, 1);

/// A frame: its header, and its runs.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct NativeFrame {
    table: u32,
    sequence: u32,
    sent_ns: i64,
    hops: Option<(i64, i64, i64)>,
    samples: usize,
    runs: Py<PyList>,
}

/// Samples of one kind. Arrays are the bytes of little endian numbers.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct NativeRun {
    kind: u8,
    layout: u8,
    parameters: usize,
    samples: usize,
    /// First index and end of each.
    ranges: Vec<(u32, u32)>,
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
        let indices = self.ranges.iter().flat_map(|(first, end)| *first..*end);
        array(py, self.parameters, indices.map(u32::to_le_bytes))
    }
}

/// Takes a frame apart. Raises `FrameError` where it is none.
#[pyfunction]
pub fn decode_frame(payload: &Bound<'_, PyBytes>) -> PyResult<NativeFrame> {
    let (py, mut raw) = (payload.py(), Vec::new());
    let deflated = payload.as_bytes().get(DEFLATED.0).is_some_and(|flags| flags & DEFLATED.1 != 0);
    let decode = |scratch| FrameView::decode(payload.as_bytes(), scratch, &BOUNDS);
    let refused = |error: slipring_wire::frame::FrameError| FrameError::new_err(error.to_string());
    if deflated {
        decode(&mut raw).map_err(refused)?;
    }
    let mut scratch = Vec::new();
    let view = decode(&mut scratch).map_err(refused)?;
    todo!("{py:?} {view:?}")
}
