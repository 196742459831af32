//! Messages that belong to no session: the retained ones in full, and places of those that wait.

use std::collections::BTreeMap;

use slipring_wire::{Properties, PropertyId, QoS};

use super::{BatchHead, Record, RetainedMessage};
use crate::{Owner, Priority};

/// A retained message, with bytes of its own: its place in the journal may be gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRetained {
    /// Its number in the journal.
    pub offset: u64,
    /// When it was received.
    pub receive_ns: i64,
    /// Whose quota it is counted for.
    pub owner: Option<Owner>,
    expires_ns: Option<i64>,
    qos: QoS,
    /// Properties, then payload.
    bytes: Box<[u8]>,
    properties_bytes: usize,
}

/// A message that waits for its first subscriber; it is in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWaiting {
    /// Which are delivered first.
    pub priority: Priority,
    /// When it is no longer worth delivering.
    pub expires_ns: Option<i64>,
    /// Whose quota it is counted for.
    pub owner: Option<Owner>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stock {
    retained: BTreeMap<Box<str>, KeptRetained>,
    waiting: BTreeMap<u64, KeptWaiting>,
    /// Offsets of this batch that ask to be retained, and are not.
    unretained: Vec<u64>,
}

impl KeptRetained {
    fn new(
        offset: u64,
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

    /// The message, on its topic.
    pub fn message<'a>(&'a self, topic: &'a str) -> RetainedMessage<'a> {
        let (properties, payload) = self.bytes.split_at(self.properties_bytes);
        RetainedMessage { topic, qos: self.qos, properties, payload }
    }
}

impl Stock {
    /// A batch begins.
    pub fn begin(&mut self) {
        self.unretained.clear();
    }

    pub fn retain(
        &mut self,
        offset: u64,
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

    pub fn expire(&mut self, now_ns: i64) {
        self.retained.retain(|_, kept| kept.expires_ns.is_none_or(|at| at > now_ns));
    }

    pub fn take(
        &mut self,
        batch: &BatchHead,
        record: &Record<'_>,
        owner: Option<&Owner>,
    ) -> Result<(), &'static str> {
        let held_by = || owner.cloned();
        match *record {
            Record::Unretained { index } => self.unretained.push(batch.offset(index)?),
            Record::RetainedAt { offset, receive_ns, message } => {
                self.retain(offset, receive_ns, message, owner);
            }
            Record::Waiting { index, priority, expires_ns } => {
                let offset = batch.offset(index)?;
                let kept = KeptWaiting { priority, expires_ns, owner: held_by() };
                self.waiting.insert(offset, kept);
            }
            Record::WaitingAt { offset, priority, expires_ns } => {
                let kept = KeptWaiting { priority, expires_ns, owner: held_by() };
                self.waiting.insert(offset, kept);
            }
            Record::Taken { offset } => drop(self.waiting.remove(&offset)),
            _ => unreachable!("a record of a session"),
        }
        Ok(())
    }

    pub fn retained(&self) -> impl Iterator<Item = (&str, &KeptRetained)> {
        self.retained.iter().map(|(topic, kept)| (&**topic, kept))
    }

    pub fn waiting(&self) -> impl Iterator<Item = (u64, &KeptWaiting)> {
        self.waiting.iter().map(|(offset, kept)| (*offset, kept))
    }

    pub fn needed(&self) -> Option<u64> {
        self.waiting.first_key_value().map(|(offset, _)| *offset)
    }
}
