//! Encodes a whole frame from rows, grids and samples: for tests, and for imports.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use slipring_client::Block;
use slipring_wire::frame::{FrameBuf, Header, Hops, PushError, Sample};

use super::FrameError;
use super::given::{GivenQuality, Row, kind_of, values_of};

/// The bytes of a frame. Raises `FrameError` if samples do not fit together.
#[pyfunction]
#[pyo3(signature = (runs, *, table, sequence, sent_ns, hops=None, deflate=false))]
pub(crate) fn encode_frame<'py>(
    py: Python<'py>,
    runs: Vec<Bound<'py, PyTuple>>,
    table: u32,
    sequence: u32,
    sent_ns: i64,
    hops: Option<(i64, i64, i64)>,
    deflate: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut frame = FrameBuf::new();
    for run in &runs {
        push(&mut frame, run)?;
    }
    let hops = hops.map(|(published_ns, received_ns, skew_ns)| Hops {
        published_ns,
        received_ns,
        skew_ns,
    });
    let mut bytes = Vec::new();
    frame.finish(&Header { table, sequence, sent_ns, hops }, deflate, &mut bytes);
    Ok(PyBytes::new(py, &bytes))
}

fn push(frame: &mut FrameBuf, run: &Bound<'_, PyTuple>) -> PyResult<()> {
    let layout: String = run.get_item(0)?.extract()?;
    match layout.as_str() {
        "row" => {
            let (_, kind, indices, time_ns, values, quality): Parts<'_, i64> = run.extract()?;
            push_row(frame, &Row::at(kind, &indices, time_ns, &values, quality)?)
        }
        "grid" => {
            let (_, kind, indices, times, values, quality): Parts<'_, Bound<'_, PyAny>> =
                run.extract()?;
            push_row(frame, &Row::grid(kind, &indices, &times, &values, quality)?)
        }
        "samples" => push_samples(frame, run),
        other => {
            let text = format!("{other:?} is neither row nor grid nor samples");
            Err(FrameError::new_err(text))
        }
    }
}

/// (layout, kind, indices, time or times, values, quality)
type Parts<'py, T> = (String, u8, Bound<'py, PyAny>, T, Bound<'py, PyAny>, GivenQuality<'py>);

fn push_row(frame: &mut FrameBuf, row: &Row<'_>) -> PyResult<()> {
    // `give` calls one of the two closures; both borrow the frame.
    let frame = std::cell::RefCell::new(frame);
    let block = |block: &Block<'_>| {
        let Block { kind, ranges, times, qualities, values } = *block;
        frame.borrow_mut().push_grid(kind, ranges, times, qualities, values)
    };
    let samples = |samples: &mut [Sample<'_>]| {
        let kind = samples[0].value.kind();
        frame.borrow_mut().push_samples(kind, samples)
    };
    row.give(block, samples).map_err(refused)
}

/// (layout, kind, [(index, time, quality, value)])
fn push_samples(frame: &mut FrameBuf, run: &Bound<'_, PyTuple>) -> PyResult<()> {
    type Samples<'py> = Vec<(u32, i64, u8, Bound<'py, PyAny>)>;
    let (_, kind, samples): (String, u8, Samples<'_>) = run.extract()?;
    let kind = kind_of(kind)?;
    let given = samples.into_iter();
    let given =
        given.map(|(index, time_ns, quality, value)| (kind, index, time_ns, quality, value));
    let values = values_of(given.collect())?;
    let mut all: Vec<_> = values.iter().map(|value| value.sample()).collect();
    frame.push_samples(kind, &mut all).map_err(refused)
}

fn refused(error: PushError) -> PyErr {
    FrameError::new_err(error.to_string())
}
