//! A message the broker keeps: in a queue, in flight, retained, or as a will. Immutable and shared.

use std::sync::Arc;

use slipring_wire::{Properties, PropertiesBuf, PropertyId, Publish, QoS};

/// Milliseconds of a clock that never goes back.
pub type Millis = u64;

/// A message with its own bytes. Shared by `Arc`; many queues hold one copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    topic: Arc<str>,
    properties: PropertiesBuf,
    payload: Box<[u8]>,
    /// As published.
    pub qos: QoS,
    /// As published.
    pub retain: bool,
    /// When it is no longer worth delivering (MQTT-3.3.2-5).
    pub expires_ms: Option<Millis>,
}

impl Message {
    /// Copies a message that arrived at `now_ms`; `topic` is the topic's name.
    pub fn new(publish: &Publish<'_>, topic: Arc<str>, now_ms: Millis) -> Self {
        debug_assert_eq!(publish.topic, &*topic);
        Self {
            topic,
            properties: publish.properties.into(),
            payload: publish.payload.into(),
            qos: publish.qos,
            retain: publish.retain,
            expires_ms: expiry(publish.properties, now_ms),
        }
    }

    /// Where to.
    pub fn topic(&self) -> &Arc<str> {
        &self.topic
    }

    /// What.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Bytes it holds on to, about.
    pub fn bytes(&self) -> usize {
        self.topic.len() + self.payload.len() + self.properties.borrow().encoded().len()
    }

    /// Whether it is too late to deliver it.
    pub fn is_expired(&self, now_ms: Millis) -> bool {
        self.expires_ms.is_some_and(|at| at <= now_ms)
    }

    /// Seconds of its life that are left, where it has an end (MQTT-3.3.2-6).
    pub fn left_s(&self, now_ms: Millis) -> Option<u32> {
        self.expires_ms.map(|at| seconds_left(at, now_ms))
    }

    /// The message as it was published.
    pub fn publish(&self) -> Publish<'_> {
        Publish {
            qos: self.qos,
            retain: self.retain,
            properties: self.properties.borrow(),
            ..Publish::new(&self.topic, &self.payload)
        }
    }
}

/// When a message with these properties expires.
pub fn expiry(properties: Properties<'_>, now_ms: Millis) -> Option<Millis> {
    if properties.is_empty() {
        return None;
    }
    let seconds = properties.number(PropertyId::MessageExpiryInterval)?;
    Some(now_ms + u64::from(seconds) * 1000)
}

/// Whole seconds until a time, rounded up.
pub(crate) fn seconds_left(at_ms: Millis, now_ms: Millis) -> u32 {
    at_ms.saturating_sub(now_ms).div_ceil(1000) as u32
}
