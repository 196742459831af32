//! Messages and notices as the tuples that Python has for them, and back.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use slipring_client::{Loss, Message, MessageProperties, Notice, Outcome, SendError, Tally};
use slipring_wire::{PropertiesBuf, Publish, QoS, Reason};

/// The quality with this number.
pub fn quality(number: u8) -> PyResult<QoS> {
    QoS::from_bits(number)
        .map_err(|_| PyValueError::new_err(format!("QoS is 0, 1 or 2, not {number}")))
}

/// What a message has beside topic, payload and retain: user properties, content type, response
/// topic, correlation data, expiry.
pub type Extras =
    (Vec<(String, String)>, Option<String>, Option<String>, Option<Vec<u8>>, Option<u32>);

/// The properties of a message, encoded.
pub fn encode(extras: &Extras) -> Result<PropertiesBuf, SendError> {
    let (user, content_type, response_topic, correlation_data, expiry_s) = extras;
    let properties = MessageProperties {
        content_type: content_type.as_deref(),
        response_topic: response_topic.as_deref(),
        correlation_data: correlation_data.as_deref(),
        expiry_s: *expiry_s,
    };
    properties.encode(user.iter().map(|(name, text)| (name.as_str(), text.as_str())))
}

/// Calls with the message of a row: a `Message`, or the first fields of one.
pub fn with_message<T>(
    row: &Bound<'_, PyAny>,
    qos: QoS,
    call: impl FnOnce(&Publish<'_>) -> Result<T, SendError>,
) -> PyResult<Result<T, SendError>> {
    let row = row.cast::<PyTuple>()?;
    let (topic, payload) = (row.get_item(0)?, row.get_item(1)?);
    let topic = topic.cast::<PyString>()?.to_str()?;
    let payload = payload.cast::<PyBytes>()?.as_bytes();
    let retain = row.len() > 2 && row.get_item(2)?.is_truthy()?;
    let properties = match extras_of(row)? {
        None => PropertiesBuf::new(),
        Some(extras) => match encode(&extras) {
            Ok(properties) => properties,
            Err(error) => return Ok(Err(error)),
        },
    };
    let properties = properties.borrow();
    Ok(call(&Publish { qos, retain, properties, ..Publish::new(topic, payload) }))
}

/// The properties of a row; none for most.
fn extras_of(row: &Bound<'_, PyTuple>) -> PyResult<Option<Extras>> {
    let mut plain = true;
    for position in [3, 5, 6, 7, 8].into_iter().take_while(|position| *position < row.len()) {
        let field = row.get_item(position)?;
        plain &= field.is_none() || (position == 3 && !field.is_truthy()?);
    }
    if plain {
        return Ok(None);
    }
    let pairs = row.get_item(3)?.extract()?;
    Ok(Some((pairs, optional(row, 5)?, optional(row, 6)?, optional(row, 7)?, optional(row, 8)?)))
}

fn optional<'py, T>(row: &Bound<'py, PyTuple>, position: usize) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    if position < row.len() {
        return row.get_item(position)?.extract().map_err(Into::into);
    }
    Ok(None)
}

/// A loss and what to do about it.
pub fn cause(loss: &Loss) -> String {
    format!("{loss}; {}", loss.advice())
}

/// A notice as (kind, identity, detail).
pub fn notice_row(py: Python<'_>, notice: Notice) -> PyResult<Bound<'_, PyTuple>> {
    match notice {
        Notice::Connected(session) => {
            let terms = (session.client_id, session.present, session.expiry_s);
            ("connected", 0, terms).into_pyobject(py)
        }
        Notice::Away { loss, unsent_bytes, retry_in } => {
            ("away", 0, (loss.to_string(), unsent_bytes, retry_in.as_secs_f64())).into_pyobject(py)
        }
        Notice::Unclaimed => ("unclaimed", 0, py.None()).into_pyobject(py),
        Notice::Subscribed { id, refused } => {
            let refused = refused.into_iter();
            let refused: Vec<_> = refused
                .map(|refusal| (refusal.filter, said(refusal.reason, refusal.text)))
                .collect();
            ("subscribed", id.0, refused).into_pyobject(py)
        }
        Notice::Pong { id, round_trip } => {
            ("pong", id.0, round_trip.as_secs_f64()).into_pyobject(py)
        }
        Notice::Published { id, outcome } => ("published", id.0, fault(outcome)).into_pyobject(py),
        Notice::Refused(id) => ("refused", id.0, py.None()).into_pyobject(py),
        Notice::Flushed(id) => ("flushed", id.0, py.None()).into_pyobject(py),
        Notice::Tallied(id) => ("tallied", id.0, py.None()).into_pyobject(py),
        Notice::Readable(id) => ("readable", id.0, py.None()).into_pyobject(py),
        Notice::Room => ("room", 0, py.None()).into_pyobject(py),
        Notice::Closed => ("closed", 0, py.None()).into_pyobject(py),
        Notice::Lost { loss, unsent_bytes } => {
            ("lost", 0, (cause(&loss), unsent_bytes)).into_pyobject(py)
        }
    }
}

/// Why the broker does not have a message, as (code, text); none if it has. Code 0: nobody knows.
pub fn fault(outcome: Outcome) -> Option<(u8, String)> {
    match outcome {
        Outcome::Acknowledged => None,
        Outcome::Unknown => Some((0, UNKNOWN.to_owned())),
        Outcome::Refused { reason, text } => {
            Some((reason.code(), format!("{}; {}", said(reason, text), advice(reason))))
        }
    }
}

/// A reason, and the broker's own words about it.
fn said(reason: Reason, text: Option<String>) -> String {
    let said = text.map_or_else(String::new, |text| format!(", it says {text:?}"));
    format!("{reason}{said}")
}

const UNKNOWN: &str = "the broker forgot the session before it answered, so that nobody knows \
    whether it has the message; connect with a session expiry to be sure";

fn advice(reason: Reason) -> &'static str {
    match reason {
        Reason::QuotaExceeded => "the broker has no room for it now, publish it again later",
        Reason::NotAuthorized => "ask whoever runs the broker for the right to publish to it",
        Reason::TopicNameInvalid => "publish to another topic",
        Reason::PayloadFormatInvalid => "check the payload",
        _ => "the broker's log says more",
    }
}

/// A batch as (accepted, outstanding, settled, fault), the fault as (position, code, text).
pub fn tally_row(py: Python<'_>, tally: Tally) -> PyResult<Bound<'_, PyTuple>> {
    let fault = tally
        .fault
        .and_then(|(position, outcome)| fault(outcome).map(|(code, text)| (position, code, text)));
    (tally.accepted, tally.outstanding, tally.settled, fault).into_pyobject(py)
}

/// A message that arrived, with the fields of `Message`.
pub fn message_row<'py>(py: Python<'py>, message: &Message) -> PyResult<Bound<'py, PyTuple>> {
    let topic = PyString::new(py, &message.topic);
    let payload = PyBytes::new(py, &message.payload);
    let properties = PyTuple::new(py, message.properties.iter().cloned())?;
    let (retain, qos) = (message.retain, message.qos as u8);
    let none = slipring_client::Extras::default();
    let extras = message.extras.as_deref().unwrap_or(&none);
    let kind = extras.content_type.as_deref();
    let response = extras.response_topic.as_deref();
    let correlation = extras.correlation_data.as_deref().map(|data| PyBytes::new(py, data));
    let expiry_s = extras.expiry_s;
    (topic, payload, retain, properties, qos, kind, response, correlation, expiry_s)
        .into_pyobject(py)
}
