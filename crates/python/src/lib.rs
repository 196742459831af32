//! The Python module slipring._native: convert, call, translate errors; no logic.

use pyo3::prelude::*;

mod buffer;
mod journal;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    journal::register(module)
}
