//! Requests to the broker: messages to `$slipring/` topics. No other client gets them.

use std::sync::Arc;

use slipring_core::{AnswerTerms, Principal};
use slipring_wire::{Packet, PropertiesBuf, PropertyId, Publish, QoS, Reason, Value, Version};

use crate::broker::Broker;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::feed::Feed;
use crate::{budget, notices, ping, reading};

/// What the topics of requests begin with.
const TOPIC: &str = "$slipring/";

/// Steps of work for any request: making its answer, and telling others of the change.
const REQUEST_STEPS: usize = 100;

/// A request to the broker, and the client that sent it.
#[derive(Clone, Copy)]
pub(crate) struct ClientRequest<'a> {
    pub broker: &'a Arc<Broker>,
    pub client: &'a Arc<Client>,
    /// The connection that it came by.
    pub connection: &'a ConnectionHandle,
    /// The client, as the plan's rights see it.
    pub from: &'a Principal<'a>,
    pub message: &'a Publish<'a>,
}

/// Where the answer to one request goes.
pub(crate) struct Envelope {
    topic: String,
    correlation: Option<Vec<u8>>,
}

/// Answers a request. Returns the reason code of the acknowledgement, or None if the turn ended before the answer.
pub(crate) fn ask(
    asked: &ClientRequest<'_>,
    feed: &mut Feed,
    reply: &mut Vec<u8>,
) -> Option<Reason> {
    let Some(name) = asked.message.topic.strip_prefix(TOPIC) else {
        return Some(Reason::NotAuthorized); // MQTT-4.7.2-1: clients do not publish to `$` topics
    };
    if asked.message.qos == QoS::ExactlyOnce {
        return Some(Reason::NotAuthorized); // the broker keeps no identifiers of requests
    }
    feed.work.add(REQUEST_STEPS);
    Some(match name.split_once('/') {
        Some(("journal", name)) => reading::ask(asked, name, reply),
        Some(("to", role)) => notices::ask(asked, role, feed),
        Some((desk, name)) => match asked.broker.desk(desk) {
            Some(desk) => return desk.ask(asked, name, feed, reply),
            None => Reason::NotAuthorized,
        },
        None if name == "memory" => budget::ask(asked, feed, reply),
        None if name == "ping" => ping::ask(asked, feed.receive_ns, reply),
        _ => Reason::NotAuthorized,
    })
}

impl ClientRequest<'_> {
    /// The envelope of the answer and the bounds that it must keep; None if the client cannot be answered.
    pub fn envelope(&self) -> Option<(Envelope, AnswerTerms)> {
        // None if another connection has the session by now.
        let terms = self.client.outgoing().answer_terms(self.connection.key)?;
        Some((Envelope::of(self.message)?, terms))
    }
}

impl Envelope {
    /// None without a response topic.
    fn of(message: &Publish<'_>) -> Option<Self> {
        let topic = message.properties.text(PropertyId::ResponseTopic)?.to_owned();
        let correlation = match message.properties.get(PropertyId::CorrelationData) {
            Some(Value::Binary(data)) => Some(data.to_vec()),
            _ => None,
        };
        Some(Self { topic, correlation })
    }

    /// The packet with an answer; empty if it is larger than the client takes.
    pub fn packet(&self, body: &[u8], terms: AnswerTerms) -> Vec<u8> {
        let mut properties = PropertiesBuf::new();
        if let Some(data) = &self.correlation {
            properties.push(PropertyId::CorrelationData, Value::Binary(data));
        }
        let properties = properties.borrow();
        let mut packet = Vec::with_capacity(body.len() + self.bytes());
        let publish = Publish { properties, ..Publish::new(&self.topic, body) };
        Packet::Publish(publish).encode(Version::V5, &mut packet);
        if packet.len() > terms.packet_bytes {
            packet.clear(); // MQTT-3.1.2-24: it is not sent at all
        }
        packet
    }

    /// The most bytes that a packet has beside its body.
    pub fn bytes(&self) -> usize {
        let correlation = self.correlation.as_ref().map_or(0, |data| 3 + data.len());
        5 + 2 + self.topic.len() + 4 + correlation
    }
}
