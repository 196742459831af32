//! The Python module slipring._native: convert, call, translate errors; no logic.

mod client;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    client::register(module)
}
