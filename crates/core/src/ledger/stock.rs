//! Messages that belong to no session: retained ones in full, and the offsets of those that wait for a
//! subscriber.

use std::collections::BTreeMap;

use slipring_wire::{Properties, PropertyId, QoS};

use super::{BatchHead, RetainedMessage, StockRecord};
use crate::{Offset, Owner, Priority};

/// A retained message. It has its own copy of the bytes, because its segment may be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRetained {
    /// Its offset in the journal.
    pub offset: Offset,
    /// When it was received.
    pub receive_ns: i64,
    /// Whose quota it counts for; None if the records do not say.
    pub owner: Option<Owner>,
    pub(super) expires_ns: Option<i64>,
    qos: QoS,
    /// Properties, then payload.
    bytes: Box<[u8]>,
    properties_bytes: usize,
}

/// A message that waits for its first subscriber; its bytes are in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWaiting {
    /// Those of higher priority are delivered first.
    pub priority: Priority,
    /// When it expires.
    pub expires_ns: Option<i64>,
    /// Whose quota it counts for; None if the records do not say.
    pub owner: Option<Owner>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stock {
    pub retained: BTreeMap<Box<str>, KeptRetained>,
    pub waiting: BTreeMap<Offset, KeptWaiting>,
    /// Offsets of messages of this batch that had the retain flag, and were refused.
    unretained: Vec<Offset>,
}

impl KeptRetained {
    fn new(
        offset: Offset,
        receive_ns: i64,
        message: &RetainedMessage<'_>,
        owner: Option<&Owner>,
    ) -> Self {
        let properties = Properties::of_publish(message.properties).unwrap_or_default();
        let expiry_s = properties.number(PropertyId::MessageExpiryInterval);
        Self {
            offset,
            receive_ns,
            owner: owner.cloned(),
            expires_ns: expiry_s
                .map(|seconds| receive_ns.saturating_add(i64::from(seconds) * 1_000_000_000)),
            qos: message.qos,
            bytes: [message.properties, message.payload].concat().into(),
            properties_bytes: message.properties.len(),
        }
    }

    /// The message with its topic.
    pub fn message<'a>(&'a self, topic: &'a str) -> RetainedMessage<'a> {
        let (properties, payload) = self.bytes.split_at(self.properties_bytes);
        RetainedMessage { topic, qos: self.qos, properties, payload }
    }
}

impl Stock {
    /// Begins a batch.
    pub(super) fn begin(&mut self) {
        self.unretained.clear();
    }

    pub(super) fn retain(
        &mut self,
        offset: Offset,
        receive_ns: i64,
        message: RetainedMessage<'_>,
        owner: Option<&Owner>,
    ) {
        if self.unretained.contains(&offset) {
            return;
        }
        if message.payload.is_empty() {
            self.retained.remove(message.topic); // MQTT-3.3.1-6
        } else {
            let kept = KeptRetained::new(offset, receive_ns, &message, owner);
            self.retained.insert(message.topic.into(), kept);
        }
    }

    pub(super) fn take(
        &mut self,
        batch: &BatchHead,
        record: &StockRecord<'_>,
        owner: Option<&Owner>,
    ) -> Result<(), &'static str> {
        let mut wait = |offset, priority, expires_ns| {
            let kept = KeptWaiting { priority, expires_ns, owner: owner.cloned() };
            self.waiting.insert(offset, kept);
        };
        match *record {
            StockRecord::Unretained { index } => self.unretained.push(batch.offset(index)?),
            StockRecord::RetainedAt { offset, receive_ns, message } => {
                self.retain(offset, receive_ns, message, owner);
            }
            StockRecord::Waiting { index, priority, expires_ns } => {
                wait(batch.offset(index)?, priority, expires_ns);
            }
            StockRecord::WaitingAt { offset, priority, expires_ns } => {
                wait(offset, priority, expires_ns);
            }
            StockRecord::Taken { offset } => drop(self.waiting.remove(&offset)),
            StockRecord::RetainedDropped { offset, topic } => {
                if self.retained.get(topic).is_some_and(|kept| kept.offset == offset) {
                    self.retained.remove(topic);
                }
            }
        }
        Ok(())
    }
}
