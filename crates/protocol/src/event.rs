//! The events that the protocol gives to its driver, and the driver to the client's owner. Values only.

use std::sync::Arc;
use std::time::Duration;

use slipring_wire::{PropertyId, Publish, QoS, Reason, Value};

use super::{DeliveryTag, GrantedTerms, PublishOutcome};
use crate::ConnectionLoss;

/// One call of subscribe, with all its filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubscriptionId(pub u64);

/// One call of ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PingId(pub u64);

/// One message published at QoS 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublishId(pub u64);

/// One call of flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlushId(pub u64);

/// Messages whose acknowledgements are counted together: a batch, or all frames of one writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(pub u64);

/// A message that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Shared by the messages of one topic.
    pub topic: Arc<str>,
    /// The bytes the publisher sent.
    pub payload: Box<[u8]>,
    /// Whether the broker had kept it from before the subscription.
    pub retain: bool,
    /// The QoS it came at.
    pub qos: QoS,
    /// User properties, in the publisher's order; a name may come twice.
    pub user_properties: Box<[(String, String)]>,
    /// Other properties, if it has any.
    pub properties: Option<Box<ReceivedProperties>>,
    /// At QoS 1 and 2: each reader gives it back when it is done with the message.
    pub tag: Option<DeliveryTag>,
}

/// Properties that few messages have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceivedProperties {
    /// What the payload is.
    pub content_type: Option<String>,
    /// The topic on which the publisher expects a response.
    pub response_topic: Option<String>,
    /// Which request a response belongs to.
    pub correlation_data: Option<Vec<u8>>,
    /// Seconds that were left before it expires when the broker sent it.
    pub expiry_s: Option<u32>,
    /// When the driver received it, by this computer's clock: nanoseconds since 1970.
    pub arrived_ns: i64,
}

impl ReceivedMessage {
    pub(super) fn new(topic: Arc<str>, publish: &Publish<'_>, tag: Option<DeliveryTag>) -> Self {
        let (mut pairs, mut properties) = (Vec::new(), None);
        for (id, value) in publish.properties.iter() {
            match value {
                Value::Pair(name, text) => pairs.push((name.to_owned(), text.to_owned())),
                value => ReceivedProperties::note(&mut properties, id, value),
            }
        }
        Self {
            topic,
            payload: publish.payload.into(),
            retain: publish.retain,
            qos: publish.qos,
            user_properties: pairs.into(),
            properties,
            tag,
        }
    }

    /// Memory this message holds, near enough for a bound.
    pub fn bytes(&self) -> usize {
        let pairs = self.user_properties.iter().map(|(name, text)| name.len() + text.len() + 48);
        let others = self.properties.as_deref().map_or(0, ReceivedProperties::bytes);
        size_of::<Self>() + self.payload.len() + pairs.sum::<usize>() + others
    }
}

impl ReceivedProperties {
    fn note(properties: &mut Option<Box<Self>>, id: PropertyId, value: Value<'_>) {
        let noted = properties.get_or_insert_default();
        match (id, value) {
            (PropertyId::ContentType, Value::Text(text)) => noted.content_type = Some(text.into()),
            (PropertyId::ResponseTopic, Value::Text(text)) => {
                noted.response_topic = Some(text.into());
            }
            (PropertyId::CorrelationData, Value::Binary(data)) => {
                noted.correlation_data = Some(data.into());
            }
            (PropertyId::MessageExpiryInterval, Value::Four(seconds)) => {
                noted.expiry_s = Some(seconds);
            }
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        let texts = [&self.content_type, &self.response_topic];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        size_of::<Self>() + texts + self.correlation_data.as_ref().map_or(0, Vec::len)
    }
}

/// A filter that the broker did not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedFilter {
    /// The filter.
    pub filter: String,
    /// Why not.
    pub reason: Reason,
    /// The broker's own words, if any.
    pub text: Option<String>,
}

/// What the protocol made of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolEvent {
    /// A message, and the subscriptions it matches.
    Message {
        /// The subscriptions that want it; empty after an unsubscribe.
        subscriptions: Arc<[SubscriptionId]>,
        /// The message.
        message: ReceivedMessage,
    },
    /// Anything else.
    Client(ClientEvent),
}

/// What happened to a client, except for messages. The driver adds the events that the protocol cannot
/// see: a box has room, a flush is written, the connection is away or gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// The broker accepted the connection, the first one or a later one.
    Connected(GrantedTerms),
    /// The connection broke, or could not be made again; another try follows.
    Away {
        /// Why.
        loss: ConnectionLoss,
        /// Accepted bytes at QoS 0 that were not sent and never will be.
        unsent_bytes: usize,
        /// The time until the next try.
        retry_in: Duration,
    },
    /// The broker accepted a new token on the open connection.
    Authenticated,
    /// The answer to subscribe.
    Subscribed {
        /// Which call.
        id: SubscriptionId,
        /// The filters that the broker did not accept.
        refused: Vec<RefusedFilter>,
    },
    /// Nothing more comes for a subscription that was retired.
    Unsubscribed(SubscriptionId),
    /// The answer to ping.
    Pong {
        /// Which call.
        id: PingId,
        /// From the call to the answer.
        round_trip: Duration,
    },
    /// The outcome of a message at QoS 1 or 2.
    Published {
        /// Which call.
        id: PublishId,
        /// The outcome.
        outcome: PublishOutcome,
    },
    /// Every message of a batch is acknowledged or refused, or one of them was refused.
    Tallied(BatchId),
    /// The broker refused a frame of a writer; its tally says how many so far.
    Refused(BatchId),
    /// All that a writer had when it was asked to flush is sent and, at QoS 1, acknowledged.
    Flushed(FlushId),
    /// The session has messages that no subscription here asks for. The client keeps them.
    Unclaimed,
    /// A subscription has messages again, after its reader had found it empty.
    Readable(SubscriptionId),
    /// The outbox takes messages again.
    Room,
    /// The connection ended as asked; the last event.
    Closed,
    /// The connection never began or broke; the last event.
    Lost {
        /// Why.
        loss: ConnectionLoss,
        /// Accepted bytes that were not sent.
        unsent_bytes: usize,
    },
}
