//! What the machine tells its driver, and the driver its owner. Values only.

use std::sync::Arc;
use std::time::Duration;

use slipring_wire::{Publish, Reason};

use super::{Outcome, Session};
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
    /// User properties, in the publisher's order; a name may come twice.
    pub properties: Box<[(String, String)]>,
}

impl Message {
    pub(super) fn new(topic: Arc<str>, publish: &Publish<'_>) -> Self {
        let pairs = publish.properties.iter().filter_map(|(_, value)| match value {
            slipring_wire::Value::Pair(name, text) => Some((name.to_owned(), text.to_owned())),
            _ => None,
        });
        Self {
            topic,
            payload: publish.payload.into(),
            retain: publish.retain,
            properties: pairs.collect(),
        }
    }

    /// Memory this message holds, near enough for a bound.
    pub fn bytes(&self) -> usize {
        let pairs = self.properties.iter().map(|(name, text)| name.len() + text.len() + 48);
        size_of::<Self>() + self.payload.len() + pairs.sum::<usize>()
    }
}

/// A filter that the broker did not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The filter.
    pub filter: String,
    /// Why not.
    pub reason: Reason,
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
    /// The broker let this client in.
    Connected(Session),
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
