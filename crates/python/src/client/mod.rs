//! The client for Python. Every call returns at once and never gives up the interpreter.

mod options;

use std::os::fd::RawFd;

use pyo3::import_exception;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use slipring_client::{
    Address, Loss, Message, Notice, Options, SendError, SubscriptionId, user_properties,
};
use slipring_wire::{PropertiesBuf, Publish};

import_exception!(slipring.errors, ConnectError);
import_exception!(slipring.errors, ConnectionLost);
import_exception!(slipring.errors, InvalidTopic);
import_exception!(slipring.errors, Refused);

/// Adds what this file has to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Client>()
}

/// A connection to one broker, driven by a background thread.
#[pyclass(frozen, module = "slipring._native")]
struct Client {
    client: slipring_client::Client,
    url: String,
}

#[pymethods]
impl Client {
    #[new]
    fn new(url: &str, options: options::OptionsDict) -> PyResult<Self> {
        let address: Address =
            url.parse().map_err(|error| ConnectError::new_err(format!("{error}")))?;
        let options = Options::try_from(options)?;
        let url = address.to_string();
        let client = slipring_client::Client::connect(address, options);
        let client = client.map_err(|error| ConnectError::new_err(error.to_string()))?;
        Ok(Self { client, url })
    }

    /// The address, with its port.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// The descriptor that is readable when there are notices.
    fn fileno(&self) -> RawFd {
        self.client.fd()
    }

    /// What happened since the last call: (kind, identity, detail) in order.
    fn notices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows: PyResult<Vec<_>> =
            self.client.notices().into_iter().map(|notice| notice_row(py, notice)).collect();
        PyList::new(py, rows?)
    }

    /// Accepts a message; False when the outbox is full.
    fn publish(
        &self,
        topic: &str,
        payload: &[u8],
        retain: bool,
        properties: Option<Vec<(String, String)>>,
    ) -> PyResult<bool> {
        let properties = self.properties(properties)?;
        let properties = properties.borrow();
        let publish = Publish { retain, properties, ..Publish::new(topic, payload) };
        Ok(self.sent(self.client.publish(&publish))?.is_some())
    }

    /// Subscribes; the id of the answer, or None when the outbox is full.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
    fn subscribe(&self, filters: Vec<String>) -> PyResult<Option<u64>> {
        let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
        Ok(self.sent(self.client.subscribe(&filters))?.map(|id| id.0))
    }

    /// Gives a subscription up.
    fn unsubscribe(&self, identity: u64) {
        self.client.unsubscribe(SubscriptionId(identity));
    }

    /// The oldest messages of a subscription: (topic, payload, retain, properties).
    fn take<'py>(
        &self,
        py: Python<'py>,
        identity: u64,
        count_max: usize,
        bytes_max: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let messages = self.client.take(SubscriptionId(identity), count_max, bytes_max);
        let rows: PyResult<Vec<_>> = messages.iter().map(|one| message_row(py, one)).collect();
        PyList::new(py, rows?)
    }

    /// Asks for a sign of life; the id of the answer, or None when the outbox is full.
    fn ping(&self) -> PyResult<Option<u64>> {
        Ok(self.sent(self.client.ping())?.map(|id| id.0))
    }

    /// Starts an orderly end.
    fn close(&self) {
        self.client.close();
    }

    /// Received and not taken yet.
    #[getter]
    fn unread_bytes(&self) -> usize {
        self.client.unread_bytes()
    }

    /// Accepted and not sent yet.
    #[getter]
    fn unsent_bytes(&self) -> usize {
        self.client.unsent_bytes()
    }
}

impl Client {
    fn properties(&self, pairs: Option<Vec<(String, String)>>) -> PyResult<PropertiesBuf> {
        let pairs = pairs.unwrap_or_default();
        let pairs = pairs.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        user_properties(pairs).map_err(|error| self.translate(&error))
    }

    fn sent<T>(&self, result: Result<T, SendError>) -> PyResult<Option<T>> {
        match result {
            Ok(sent) => Ok(Some(sent)),
            Err(SendError::Full) => Ok(None),
            Err(error) => Err(self.translate(&error)),
        }
    }

    fn translate(&self, error: &SendError) -> PyErr {
        match error {
            SendError::NotConnected(Some(loss)) => ConnectionLost::new_err(format!(
                "lost the connection to {}: {}",
                self.url,
                cause(loss)
            )),
            SendError::NotConnected(None) => ConnectionLost::new_err(format!(
                "the connection to {} is closed; open another one with slipring.connect()",
                self.url
            )),
            SendError::Topic(..) | SendError::Filter(..) | SendError::NoFilter => {
                InvalidTopic::new_err(error.to_string())
            }
            _ => Refused::new_err(error.to_string()),
        }
    }
}

fn cause(loss: &Loss) -> String {
    format!("{loss}; {}", loss.advice())
}

fn notice_row(py: Python<'_>, notice: Notice) -> PyResult<Bound<'_, PyTuple>> {
    match notice {
        Notice::Connected(session) => ("connected", 0, session.client_id).into_pyobject(py),
        Notice::Subscribed { id, refused } => {
            let refused = refused.into_iter();
            let refused: Vec<_> =
                refused.map(|refusal| (refusal.filter, refusal.reason.to_string())).collect();
            ("subscribed", id.0, refused).into_pyobject(py)
        }
        Notice::Pong { id, round_trip } => {
            ("pong", id.0, round_trip.as_secs_f64()).into_pyobject(py)
        }
        Notice::Readable(id) => ("readable", id.0, py.None()).into_pyobject(py),
        Notice::Room => ("room", 0, py.None()).into_pyobject(py),
        Notice::Closed => ("closed", 0, py.None()).into_pyobject(py),
        Notice::Lost { loss, unsent_bytes } => {
            ("lost", 0, (cause(&loss), unsent_bytes)).into_pyobject(py)
        }
    }
}

fn message_row<'py>(py: Python<'py>, message: &Message) -> PyResult<Bound<'py, PyTuple>> {
    let topic = PyString::new(py, &message.topic);
    let payload = PyBytes::new(py, &message.payload);
    let properties = PyTuple::new(py, message.properties.iter().cloned())?;
    (topic, payload, message.retain, properties).into_pyobject(py)
}
