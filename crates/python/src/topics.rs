//! Topics and filters for Python: what is well-formed, and which filter matches which topic.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

pyo3::import_exception!(slipring.errors, InvalidTopic);

/// Adds this file's functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_topic, module)?)?;
    module.add_function(wrap_pyfunction!(check_filter, module)?)?;
    module.add_function(wrap_pyfunction!(match_topics, module)?)
}

/// Raises `InvalidTopic` if nothing can be published to this topic.
#[pyfunction]
fn check_topic(topic: &str) -> PyResult<()> {
    slipring_wire::check_topic(topic)
        .map_err(|error| InvalidTopic::new_err(format!("{topic:?} is not a topic: {error}")))
}

/// Raises `InvalidTopic` if nobody can subscribe to this filter.
#[pyfunction]
fn check_filter(filter: &str) -> PyResult<()> {
    slipring_wire::check_filter(filter).map_err(|error| {
        InvalidTopic::new_err(format!("'{filter}' is not a topic filter: {error}"))
    })
}

/// For each topic, whether one of the filters matches it.
#[pyfunction]
fn match_topics(filters: Vec<PyBackedStr>, topics: Vec<PyBackedStr>) -> Vec<bool> {
    let matched =
        |topic: &PyBackedStr| filters.iter().any(|filter| slipring_wire::matches(filter, topic));
    topics.iter().map(matched).collect()
}
