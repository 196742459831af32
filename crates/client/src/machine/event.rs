//! What the machine tells its driver, and the driver its owner. Values only.

use std::sync::Arc;
use std::time::Duration;

use slipring_wire::{PropertyId, Publish, QoS, Reason, Value};

use super::{Outcome, Receipt, Session};
use crate::Loss;

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

/// Messages whose acknowledgements are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(pub u64);

/// A message that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Shared by the messages of one topic.
    pub topic: Arc<str>,
    /// The bytes the publisher sent.
    pub payload: Box<[u8]>,
    /// Whether the broker had kept it from before the subscription.
    pub retain: bool,
    /// The quality it came at.
    pub qos: QoS,
    /// User properties, in the publisher's order; a name may come twice.
    pub properties: Box<[(String, String)]>,
    /// Further properties, if it has any.
    pub extras: Option<Box<Extras>>,
    /// At QoS 1 and 2: to be given back by each reader that is done with it.
    pub receipt: Option<Receipt>,
}

/// What few messages carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// What the payload is.
    pub content_type: Option<String>,
    /// Where an answer is expected.
    pub response_topic: Option<String>,
    /// Which question it belongs to.
    pub correlation_data: Option<Vec<u8>>,
    /// Seconds that were left of its time when the broker sent it.
    pub expiry_s: Option<u32>,
    /// When it came here, by this machine's clock: nanoseconds since 1970.
    pub arrived_ns: i64,
}

impl Message {
    pub(super) fn new(topic: Arc<str>, publish: &Publish<'_>, receipt: Option<Receipt>) -> Self {
        let (mut pairs, mut extras) = (Vec::new(), None);
        for (id, value) in publish.properties.iter() {
            match value {
                Value::Pair(name, text) => pairs.push((name.to_owned(), text.to_owned())),
                value => Extras::note(&mut extras, id, value),
            }
        }
        Self {
            topic,
            payload: publish.payload.into(),
            retain: publish.retain,
            qos: publish.qos,
            properties: pairs.into(),
            extras,
            receipt,
        }
    }

    /// Memory this message holds, near enough for a bound.
    pub fn bytes(&self) -> usize {
        let pairs = self.properties.iter().map(|(name, text)| name.len() + text.len() + 48);
        let extras = self.extras.as_deref().map_or(0, Extras::bytes);
        size_of::<Self>() + self.payload.len() + pairs.sum::<usize>() + extras
    }
}

impl Extras {
    fn note(extras: &mut Option<Box<Self>>, id: PropertyId, value: Value<'_>) {
        let mut noted = extras.take().unwrap_or_default();
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
        *extras = Some(noted);
    }

    fn bytes(&self) -> usize {
        let texts = [&self.content_type, &self.response_topic];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        size_of::<Self>() + texts + self.correlation_data.as_ref().map_or(0, Vec::len)
    }
}

/// A filter that the broker did not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The filter.
    pub filter: String,
    /// Why not.
    pub reason: Reason,
    /// The broker's own words, if any.
    pub text: Option<String>,
}

/// Something that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message, and the subscriptions it matches.
    Message {
        /// Who wants it; empty after an unsubscribe.
        subscriptions: Arc<[SubscriptionId]>,
        /// The message.
        message: Message,
    },
    /// Anything else.
    Notice(Notice),
}

/// Anything that is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The broker let this client in, for the first time or again.
    Connected(Session),
    /// The connection broke, or could not be made again; another try follows.
    Away {
        /// Why.
        loss: Loss,
        /// Accepted bytes at QoS 0 that were not sent and never will be.
        unsent_bytes: usize,
        /// When the next try is.
        retry_in: Duration,
    },
    /// The answer to subscribe.
    Subscribed {
        /// Which call.
        id: SubscriptionId,
        /// The filters not accepted.
        refused: Vec<Refusal>,
    },
    /// The answer to ping.
    Pong {
        /// Which call.
        id: PingId,
        /// From the call to the answer.
        round_trip: Duration,
    },
    /// What became of a message at QoS 1 or 2.
    Published {
        /// Which call.
        id: PublishId,
        /// What.
        outcome: Outcome,
    },
    /// Every message of a batch has its answer, or one of them was not taken.
    Tallied(BatchId),
    /// A message of a stream was not taken; its tally tells how many so far.
    Refused(BatchId),
    /// All that a writer had when it was asked to flush is sent and, at QoS 1, answered.
    Flushed(FlushId),
    /// Messages of the session came that no subscription here asks for; they are kept.
    Unclaimed,
    /// Messages wait for a subscription that was found empty before.
    Readable(SubscriptionId),
    /// The outbox takes messages again.
    Room,
    /// The connection ended as asked; the last notice.
    Closed,
    /// The connection never began or broke; the last notice.
    Lost {
        /// Why.
        loss: Loss,
        /// Accepted bytes that were not sent.
        unsent_bytes: usize,
    },
}
