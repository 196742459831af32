//! The client for Python. Every call returns at once and never releases the interpreter lock.

pub(crate) mod options;
mod rows;
mod writer;

use std::os::fd::{AsFd, AsRawFd, RawFd};

use pyo3::import_exception;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use slipring_client::{Address, ClientOptions, WriterOptions};
use slipring_protocol::{BatchId, SendError, SubscriptionId};
use slipring_wire::{PropertiesBuf, Publish};
use zeroize::Zeroizing;

use crate::messages::Messages;
use rows::{PropertiesRow, cause, event_row, message_row, with_message};

import_exception!(slipring.errors, ConnectError);
import_exception!(slipring.errors, ConnectionLost);
import_exception!(slipring.errors, InvalidTopic);
import_exception!(slipring.errors, Refused);

/// Adds the classes of this folder to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<writer::Writer>()?;
    module.add_class::<Client>()
}

/// Bytes gathered by a writer and not sent, at most.
const WRITER_BYTES: usize = 16 << 20;

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
        let options = ClientOptions::try_from(options)?;
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

    /// The descriptor that is readable when there are events.
    fn fileno(&self) -> RawFd {
        self.client.as_fd().as_raw_fd()
    }

    /// What happened since the last call: (kind, identity, detail) in order.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows: PyResult<Vec<_>> =
            self.client.events().into_iter().map(|event| event_row(py, event)).collect();
        PyList::new(py, rows?)
    }

    /// Accepts a message. Returns the id of its acknowledgement, 0 at QoS 0, or None if the outbox is
    /// full or the connection is away.
    fn publish(
        &self,
        topic: &str,
        payload: &[u8],
        qos: u8,
        retain: bool,
        properties: Option<PropertiesRow>,
    ) -> PyResult<Option<u64>> {
        let properties = match properties {
            None => PropertiesBuf::new(),
            Some(given) => rows::encode(&given).map_err(|error| self.translate(&error))?,
        };
        let (qos, properties) = (rows::qos(qos)?, properties.borrow());
        let publish = Publish { qos, retain, properties, ..Publish::new(topic, payload) };
        let sent = self.sent(self.client.publish(&publish))?;
        Ok(sent.map(|id| id.map_or(0, |id| id.0)))
    }

    /// Accepts a message that means nothing in another session, such as a request. Returns the id by which
    /// a fault is told, 0 at QoS 0, or None if the outbox is full or the connection is away.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
    fn publish_in_session(
        &self,
        topic: &str,
        payload: &[u8],
        qos: u8,
        properties: PropertiesRow,
    ) -> PyResult<Option<u64>> {
        let properties = rows::encode(&properties).map_err(|error| self.translate(&error))?;
        let (qos, properties) = (rows::qos(qos)?, properties.borrow());
        let publish = Publish { qos, properties, ..Publish::new(topic, payload) };
        let sent = self.sent(self.client.publish_in_session(&publish))?;
        Ok(sent.map(|id| id.map_or(0, |id| id.0)))
    }

    /// Begins a batch of messages whose acknowledgements are counted together.
    fn open_batch(&self) -> u64 {
        self.client.open_batch().0
    }

    /// Accepts the rows of a batch from a position on. Returns how many, before the outbox was full.
    fn publish_many(
        &self,
        batch: u64,
        rows: &Bound<'_, PyList>,
        start: usize,
        qos: u8,
    ) -> PyResult<usize> {
        let (batch, qos) = (BatchId(batch), rows::qos(qos)?);
        let mut accepted = 0;
        for row in rows.iter().skip(start) {
            let sent = with_message(&row, qos, |publish| self.client.publish_in(batch, publish))?;
            if self.sent(sent)?.is_none() {
                break;
            }
            accepted += 1;
        }
        Ok(accepted)
    }

    /// Accepts the messages of a range for a batch, each at its own QoS. Returns how many, before the
    /// outbox was full or one could not be sent. Raises if the first cannot be sent.
    fn publish_messages(
        &self,
        batch: u64,
        messages: &Messages,
        start: usize,
        end: usize,
    ) -> PyResult<usize> {
        for index in messages.range(start, end)? {
            let sent = messages
                .publish(index)
                .map(|publish| self.client.publish_in(BatchId(batch), &publish));
            match sent {
                Ok(Ok(())) => {}
                Ok(Err(SendError::Full)) => return Ok(index - start),
                _ if index > start => return Ok(index - start),
                Ok(Err(error)) => return Err(self.translate(&error)),
                Err(error) => return Err(error),
            }
        }
        Ok(end - start)
    }

    /// How far a batch has come: (accepted, outstanding, settled, fault).
    fn tally<'py>(&self, py: Python<'py>, batch: u64) -> PyResult<Bound<'py, PyTuple>> {
        rows::tally_row(py, self.client.tally(BatchId(batch)))
    }

    /// Forgets a batch.
    fn close_batch(&self, batch: u64) {
        self.client.close_batch(BatchId(batch));
    }

    /// Subscribes. Returns the id of the answer, or None if the outbox is full.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
    #[pyo3(signature = (filters, qos, properties=vec![]))]
    fn subscribe(
        &self,
        filters: Vec<String>,
        qos: u8,
        properties: Vec<(String, String)>,
    ) -> PyResult<Option<u64>> {
        let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
        let pairs = properties.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let (qos, pairs) = (rows::qos(qos)?, pairs.collect::<Vec<_>>());
        Ok(self.sent(self.client.subscribe(&filters, qos, &pairs))?.map(|id| id.0))
    }

    /// Listens for answers on these topics, up to this QoS. Returns the id to take them by.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
    fn listen(&self, topics: Vec<String>, qos: u8) -> PyResult<u64> {
        let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
        Ok(self.client.listen(&topics, rows::qos(qos)?).0)
    }

    /// The number of the present connection, 0 while there is none.
    #[getter]
    fn connection(&self) -> u64 {
        self.client.connection().unwrap_or(0)
    }

    /// Starts a writer of frames.
    #[expect(clippy::too_many_arguments, reason = "every option has its name at the call")]
    #[pyo3(signature = (topic, table, connection, *, beat_ms=20, qos=0, deflate=false, bytes_max=WRITER_BYTES))]
    fn writer(
        &self,
        topic: String,
        table: u32,
        connection: u64,
        beat_ms: u64,
        qos: u8,
        deflate: bool,
        bytes_max: usize,
    ) -> PyResult<writer::Writer> {
        let (beat, qos) = (writer::beat(beat_ms)?, writer::qos(qos)?);
        let options = WriterOptions { topic, table, connection, beat, qos, deflate, bytes_max };
        let started = self.client.writer(options).map_err(|error| self.translate(&error))?;
        Ok(writer::Writer::new(started, self.url.clone()))
    }

    /// Ends a subscription.
    fn unsubscribe(&self, identity: u64) {
        self.client.unsubscribe(SubscriptionId(identity));
    }

    /// Ends a subscription at the broker; `unsubscribed` is told when its last message has come.
    fn retire(&self, identity: u64) {
        self.client.retire(SubscriptionId(identity));
    }

    /// Stops reading a subscription, which stays with the session at the broker.
    fn detach(&self, identity: u64) {
        self.client.detach(SubscriptionId(identity));
    }

    /// Unsubscribes from filters that the session has at the broker. Returns None if the outbox is full.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
    fn give_up(&self, filters: Vec<String>) -> PyResult<Option<bool>> {
        let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
        Ok(self.sent(self.client.give_up(&filters))?.map(|()| true))
    }

    /// How many messages no subscription asks for, and the topic of the first.
    fn unclaimed(&self) -> (usize, Option<String>) {
        let (count, topic) = self.client.unclaimed();
        (count, topic.map(|topic| topic.to_string()))
    }

    /// The oldest messages of a subscription, with the fields of `Message`.
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

    /// The oldest messages of a selection, as (payload, time of arrival in ns or 0 if it is unknown).
    fn take_frames<'py>(
        &self,
        py: Python<'py>,
        identity: u64,
        count_max: usize,
        bytes_max: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let messages = self.client.take(SubscriptionId(identity), count_max, bytes_max);
        let rows = messages.iter().map(|message| {
            let properties = message.properties.as_ref();
            let arrived_ns = properties.map_or(0, |properties| properties.arrived_ns);
            (PyBytes::new(py, &message.payload), arrived_ns)
        });
        PyList::new(py, rows.collect::<Vec<_>>())
    }

    /// The reader is done with so many messages, the oldest it took.
    fn done(&self, identity: u64, count: usize) {
        self.client.done(SubscriptionId(identity), count);
    }

    /// Takes another token: the open connection proves it at once, and further connections begin with it.
    /// Returns False for one that cannot be sent, or that the broker has just refused.
    fn renew(&self, token: Vec<u8>) -> bool {
        self.client.renew(Zeroizing::new(token))
    }

    /// Sends a ping. Returns the id of the answer, or None if the outbox is full.
    fn ping(&self) -> PyResult<Option<u64>> {
        Ok(self.sent(self.client.ping())?.map(|id| id.0))
    }

    /// Begins an orderly close.
    fn close(&self) {
        self.client.close();
    }

    /// Bytes received and not taken.
    #[getter]
    fn unread_bytes(&self) -> usize {
        self.client.unread_bytes()
    }

    /// Bytes accepted and not sent.
    #[getter]
    fn unsent_bytes(&self) -> usize {
        self.client.unsent_bytes()
    }
}

impl Client {
    fn sent<T>(&self, result: Result<T, SendError>) -> PyResult<Option<T>> {
        match result {
            Ok(sent) => Ok(Some(sent)),
            Err(SendError::Full | SendError::Away) => Ok(None),
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
