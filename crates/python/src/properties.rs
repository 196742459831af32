//! The MQTT 5 properties of a stored message for Python: names and values, to bytes and back.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyList, PyTuple};
use slipring_wire::{Properties, PropertiesBuf, PropertyId, Value};

/// The properties that a stored message can have, in the standard's order. A topic alias and a
/// subscription identifier belong to a connection, and are never stored.
const NAMES: [(&str, PropertyId); 6] = [
    ("payload_format", PropertyId::PayloadFormatIndicator),
    ("message_expiry_s", PropertyId::MessageExpiryInterval),
    ("content_type", PropertyId::ContentType),
    ("response_topic", PropertyId::ResponseTopic),
    ("correlation_data", PropertyId::CorrelationData),
    ("user", PropertyId::UserProperty),
];

/// Adds this file's functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode_properties, module)?)?;
    module.add_function(wrap_pyfunction!(encode_properties, module)?)
}

/// Names and values in their order; a user property is a pair. Raises `ValueError`.
#[pyfunction]
fn decode_properties<'py>(py: Python<'py>, encoded: &[u8]) -> PyResult<Bound<'py, PyList>> {
    let properties = Properties::of_publish(encoded).map_err(|flaw| refused(flaw.what))?;
    let rows: PyResult<Vec<_>> = properties
        .iter()
        .map(|(id, value)| {
            let known = NAMES.iter().find(|(_, known)| *known == id);
            let (name, _) = known.ok_or_else(|| refused("a property that is never stored"))?;
            (*name, to_python(py, value)?).into_pyobject(py)
        })
        .collect();
    PyList::new(py, rows?)
}

/// The bytes of these names and values. Raises `ValueError`.
#[pyfunction]
fn encode_properties<'py>(
    py: Python<'py>,
    properties: Vec<(PyBackedStr, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut encoded = PropertiesBuf::new();
    for (name, value) in &properties {
        let known = NAMES.iter().find(|(known, _)| *known == &**name);
        let (_, id) = known.ok_or_else(|| refused(&format!("no property {name:?}")))?;
        push(&mut encoded, *id, value).map_err(|_| refused(&format!("{name} is {value}")))?;
    }
    let encoded = encoded.borrow().encoded();
    Properties::of_publish(encoded).map_err(|flaw| refused(flaw.what))?;
    Ok(PyBytes::new(py, encoded))
}

fn refused(what: &str) -> PyErr {
    PyValueError::new_err(what.to_owned())
}

fn to_python<'py>(py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Byte(number) => number.into_pyobject(py)?.into_any(),
        Value::Two(number) => number.into_pyobject(py)?.into_any(),
        Value::Four(number) | Value::Varint(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::Binary(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Pair(name, text) => PyTuple::new(py, [name, text])?.into_any(),
    })
}

fn push(encoded: &mut PropertiesBuf, id: PropertyId, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match id {
        PropertyId::PayloadFormatIndicator => encoded.push(id, Value::Byte(value.extract()?)),
        PropertyId::MessageExpiryInterval => encoded.push(id, Value::Four(value.extract()?)),
        PropertyId::CorrelationData => {
            let bytes: PyBackedBytes = value.extract()?;
            check_length(bytes.len())?;
            encoded.push(id, Value::Binary(&bytes))
        }
        PropertyId::UserProperty => {
            let (name, text): (PyBackedStr, PyBackedStr) = value.extract()?;
            encoded.push(id, Value::Pair(mqtt_string(&name)?, mqtt_string(&text)?))
        }
        _ => {
            let text: PyBackedStr = value.extract()?;
            encoded.push(id, Value::Text(mqtt_string(&text)?))
        }
    };
    Ok(())
}

fn mqtt_string(text: &str) -> PyResult<&str> {
    check_length(text.len())?;
    if text.contains('\0') { Err(refused("a null character")) } else { Ok(text) }
}

fn check_length(bytes: usize) -> PyResult<()> {
    u16::try_from(bytes).map(drop).map_err(|_| refused("over 65,535 bytes"))
}
