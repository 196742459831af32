//! What one client's batch does with requests: asks them, ends them, serves others.

use std::collections::HashSet;
use std::sync::Arc;

use slipring_core::ledger::RequestManner;
use slipring_core::requests::{NewRequest, RequestKey};
use slipring_core::{Durability, Message, Millis};
use slipring_wire::PropertiesBuf;

use crate::client::Client;
use crate::clock::Clock;

/// A longer answer topic is not kept for the next request.
const SHARED_TOPIC_BYTES_MAX: usize = 256;

/// What one batch does with requests.
#[derive(Default)]
pub(crate) struct RequestWork {
    /// The client that publishes the batch; None for wills and the broker's own messages.
    pub client: Option<Arc<Client>>,
    pub asked: Vec<PendingRequest>,
    /// Requests whose end is in the batch, and whether the journal knows of them.
    pub ended: Vec<(RequestKey, bool)>,
    /// Ends of the broker's own that the journal refused.
    pub undone: HashSet<RequestKey>,
    /// Filters of new subscriptions, and of a client that is back.
    pub subscribed: Vec<Box<str>>,
    /// When the batch had its first request.
    now_ms: Millis,
    /// The answer topic of the last request: the next one's is mostly the same.
    answer_topic: Option<Arc<str>>,
    /// A scratch buffer for the properties that a service or an asker gets.
    pub properties: PropertiesBuf,
}

impl RequestWork {
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.ended.is_empty() && self.subscribed.is_empty()
    }

    /// The time of the batch: the clock is read for its first request only.
    pub fn now_ms(&mut self, clock: &Clock) -> Millis {
        if self.asked.is_empty() {
            self.now_ms = clock.now_ms();
        }
        self.now_ms
    }

    /// The answer topic, shared with the last request if it is the same.
    pub fn share_answer_topic(&mut self, topic: &str) -> Arc<str> {
        match &self.answer_topic {
            Some(last) if **last == *topic => Arc::clone(last),
            _ if topic.len() > SHARED_TOPIC_BYTES_MAX => topic.into(),
            _ => Arc::clone(self.answer_topic.insert(topic.into())),
        }
    }

    /// Cancels requests of this batch. Returns whether there are any with this correlation data.
    pub fn cancel_pending(&mut self, correlation: &[u8]) -> bool {
        let mut found = false;
        for pending in &mut self.asked {
            if pending.request.correlation.as_deref() == Some(correlation) {
                pending.is_cancelled = true;
                found = true;
            }
        }
        found
    }
}

/// A request of this batch.
pub(crate) struct PendingRequest {
    pub request: Draft,
    pub message: Message,
    /// Its index in the batch and its durability, if it is journaled.
    pub place: Option<(u32, Durability)>,
    /// Its asker has given it up in the same batch.
    pub is_cancelled: bool,
}

/// A request without its message.
pub(crate) struct Draft {
    pub key: RequestKey,
    pub asker: Arc<Client>,
    pub answer_topic: Arc<str>,
    pub correlation: Option<Arc<[u8]>>,
    pub timeout_ms: Millis,
    pub manner: RequestManner,
    pub is_recorded: bool,
}

impl Draft {
    pub fn with(self, message: Message) -> NewRequest<Client> {
        let Self { key, asker, answer_topic, correlation, timeout_ms, manner, is_recorded } = self;
        let RequestManner { priority, waits, balance, retries } = manner;
        NewRequest {
            key,
            owner: asker.owner.clone(),
            asker,
            message: Arc::new(message),
            answer_topic,
            correlation,
            timeout_ms,
            waits,
            priority,
            retries,
            balance,
            is_recorded,
        }
    }
}
