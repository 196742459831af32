//! Messages and events as the tuples that Python has for them, and back.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use slipring_protocol::{
    ClientEvent, ConnectionLoss, MessageProperties, PublishOutcome, PublishTally, ReceivedMessage,
    ReceivedProperties, SendError,
};
use slipring_wire::{PropertiesBuf, Publish, QoS, Reason};

/// The QoS with this number.
pub(crate) fn qos(number: u8) -> PyResult<QoS> {
    QoS::from_bits(number)
        .map_err(|_| PyValueError::new_err(format!("QoS is 0, 1 or 2, not {number}")))
}

/// What a message has beside topic, payload and retain: user properties, content type, response
/// topic, correlation data, expiry.
pub(crate) type PropertiesRow =
    (Vec<(String, String)>, Option<String>, Option<String>, Option<Vec<u8>>, Option<u32>);

/// The properties of a message, encoded.
pub(crate) fn encode(row: &PropertiesRow) -> Result<PropertiesBuf, SendError> {
    let (user, content_type, response_topic, correlation_data, expiry_s) = row;
    let properties = MessageProperties {
        content_type: content_type.as_deref(),
        response_topic: response_topic.as_deref(),
        correlation_data: correlation_data.as_deref(),
        expiry_s: *expiry_s,
    };
    properties.encode(user.iter().map(|(name, text)| (name.as_str(), text.as_str())))
}

/// Calls with the message of a row: a `Message`, or the first fields of one.
pub(crate) fn with_message<T>(
    row: &Bound<'_, PyAny>,
    qos: QoS,
    call: impl FnOnce(&Publish<'_>) -> Result<T, SendError>,
) -> PyResult<Result<T, SendError>> {
    let row = row.cast::<PyTuple>()?;
    let (topic, payload) = (row.get_item(0)?, row.get_item(1)?);
    let topic = topic.cast::<PyString>()?.to_str()?;
    let payload = payload.cast::<PyBytes>()?.as_bytes();
    let retain = row.len() > 2 && row.get_item(2)?.is_truthy()?;
    let properties = match properties_of(row)? {
        None => PropertiesBuf::new(),
        Some(given) => match encode(&given) {
            Ok(properties) => properties,
            Err(error) => return Ok(Err(error)),
        },
    };
    let properties = properties.borrow();
    Ok(call(&Publish { qos, retain, properties, ..Publish::new(topic, payload) }))
}

/// The properties of a row; most rows have none.
fn properties_of(row: &Bound<'_, PyTuple>) -> PyResult<Option<PropertiesRow>> {
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
pub(crate) fn cause(loss: &ConnectionLoss) -> String {
    format!("{loss}; {}", loss.advice())
}

/// An event as (kind, identity, detail).
pub(crate) fn event_row(py: Python<'_>, event: ClientEvent) -> PyResult<Bound<'_, PyTuple>> {
    match event {
        ClientEvent::Connected(granted) => {
            let terms = (granted.client_id, granted.session_present, granted.session_expiry_s);
            ("connected", 0, terms).into_pyobject(py)
        }
        ClientEvent::Away { loss, unsent_bytes, retry_in } => {
            ("away", 0, (loss.to_string(), unsent_bytes, retry_in.as_secs_f64())).into_pyobject(py)
        }
        ClientEvent::Authenticated => ("authenticated", 0, py.None()).into_pyobject(py),
        ClientEvent::Unclaimed => ("unclaimed", 0, py.None()).into_pyobject(py),
        ClientEvent::Subscribed { id, refused } => {
            let refused = refused.into_iter();
            let refused: Vec<_> = refused
                .map(|refusal| (refusal.filter, said(refusal.reason, refusal.text)))
                .collect();
            ("subscribed", id.0, refused).into_pyobject(py)
        }
        ClientEvent::Unsubscribed(id) => ("unsubscribed", id.0, py.None()).into_pyobject(py),
        ClientEvent::Pong { id, round_trip } => {
            ("pong", id.0, round_trip.as_secs_f64()).into_pyobject(py)
        }
        ClientEvent::Published { id, outcome } => {
            ("published", id.0, fault(outcome)).into_pyobject(py)
        }
        ClientEvent::Refused(id) => ("refused", id.0, py.None()).into_pyobject(py),
        ClientEvent::Flushed(id) => ("flushed", id.0, py.None()).into_pyobject(py),
        ClientEvent::Tallied(id) => ("tallied", id.0, py.None()).into_pyobject(py),
        ClientEvent::Readable(id) => ("readable", id.0, py.None()).into_pyobject(py),
        ClientEvent::Room => ("room", 0, py.None()).into_pyobject(py),
        ClientEvent::Closed => ("closed", 0, py.None()).into_pyobject(py),
        ClientEvent::Lost { loss, unsent_bytes } => {
            ("lost", 0, (cause(&loss), unsent_bytes)).into_pyobject(py)
        }
    }
}

/// Why the broker refused a message, as (code, text); `None` if it did not. Code 0 means that the broker
/// may or may not have the message.
pub(crate) fn fault(outcome: PublishOutcome) -> Option<(u8, String)> {
    match outcome {
        PublishOutcome::Acknowledged => None,
        PublishOutcome::Unknown => Some((0, UNKNOWN.to_owned())),
        PublishOutcome::Refused { reason, text } => {
            Some((reason.code(), format!("{}; {}", said(reason, text), advice(reason))))
        }
    }
}

/// A reason, and the broker's own words about it.
fn said(reason: Reason, text: Option<String>) -> String {
    let said = text.map_or_else(String::new, |text| format!(", it says {text:?}"));
    format!("{reason}{said}")
}

const UNKNOWN: &str = "the broker forgot the session before it answered, so nobody knows whether \
    it has the message; connect with a session expiry to be sure";

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
pub(crate) fn tally_row(py: Python<'_>, tally: PublishTally) -> PyResult<Bound<'_, PyTuple>> {
    let fault = tally
        .fault
        .and_then(|(position, outcome)| fault(outcome).map(|(code, text)| (position, code, text)));
    (tally.accepted, tally.outstanding, tally.settled, fault).into_pyobject(py)
}

/// A message that arrived, with the fields of `Message`.
pub(crate) fn message_row<'py>(
    py: Python<'py>,
    message: &ReceivedMessage,
) -> PyResult<Bound<'py, PyTuple>> {
    let topic = PyString::new(py, &message.topic);
    let payload = PyBytes::new(py, &message.payload);
    let user_properties = PyTuple::new(py, message.user_properties.iter().cloned())?;
    let (retain, qos) = (message.retain, message.qos as u8);
    let none = ReceivedProperties::default();
    let properties = message.properties.as_deref().unwrap_or(&none);
    let kind = properties.content_type.as_deref();
    let response = properties.response_topic.as_deref();
    let correlation = properties.correlation_data.as_deref().map(|data| PyBytes::new(py, data));
    let expiry_s = properties.expiry_s;
    (topic, payload, retain, user_properties, qos, kind, response, correlation, expiry_s)
        .into_pyobject(py)
}
