//! The Python module `slipring._native`: convert, call, translate errors; no logic.

mod access;
mod access_rule;
mod alarms;
mod audit;
mod buffer;
mod check;
mod client;
mod consumers;
mod engine;
mod event;
mod frames;
mod journal;
mod listener;
mod messages;
mod plan;
mod properties;
mod remote;
mod salvage;
mod samples;
mod secret_file;
mod status;
mod table;
mod tokens;
mod topics;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("LISTEN_PREFIXES", slipring_engine::LISTEN_PREFIXES.as_slice())?;
    client::register(module)?;
    module.add_class::<alarms::AlarmFeed>()?;
    module.add_class::<plan::Plan>()?;
    module.add_function(wrap_pyfunction!(access::access_rules_covering, module)?)?;
    module.add_class::<access_rule::NativeRule>()?;
    module.add_function(wrap_pyfunction!(plan::check_verifier, module)?)?;
    module.add_function(wrap_pyfunction!(plan::make_verifier, module)?)?;
    engine::register(module)?;
    check::register(module)?;
    consumers::register(module)?;
    frames::register(module)?;
    remote::register(module)?;
    journal::register(module)?;
    messages::register(module)?;
    properties::register(module)?;
    salvage::register(module)?;
    samples::register(module)?;
    secret_file::register(module)?;
    table::register(module)?;
    tokens::register(module)?;
    topics::register(module)
}
