//! Files with secrets, for Python.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

pyo3::import_exception!(slipring.errors, SecretError);

/// Adds this file's functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_secret_file, module)?)?;
    module.add_function(wrap_pyfunction!(forbid_core_dumps, module)?)?;
    module.add_function(wrap_pyfunction!(read_secret_file, module)?)
}

/// Raises `SecretError` if others than its owner can read a file, with the command that mends it.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
fn check_secret_file(path: PathBuf) -> PyResult<()> {
    slipring_client::check_secret_file(&path).map_err(SecretError::new_err)
}

/// Lets the system write no core dump of this process, and no debugger of the same user attach to it.
#[pyfunction]
fn forbid_core_dumps() -> PyResult<()> {
    slipring_engine::forbid_core_dumps().map_err(|error| std::io::Error::from(error).into())
}

/// The first line of a file with a secret. Raises `SecretError` if others can read it.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
fn read_secret_file(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyBytes>> {
    let secret = slipring_client::read_secret_file(&path).map_err(SecretError::new_err)?;
    Ok(PyBytes::new(py, &secret))
}
