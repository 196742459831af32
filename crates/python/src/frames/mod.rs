//! Frames for Python: whole arrays in and out, no step for each number.

mod decode;
mod encode;
pub(crate) mod given;

use pyo3::prelude::*;

pyo3::import_exception!(slipring.errors, FrameError);

/// Adds the classes and functions of this folder to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<decode::NativeFrame>()?;
    module.add_class::<decode::NativeRun>()?;
    module.add_function(wrap_pyfunction!(decode::decode_frame, module)?)?;
    module.add_function(wrap_pyfunction!(encode::encode_frame, module)?)
}
