//! A message the broker keeps: in a queue, in flight, retained, or as a will. Immutable and shared.

use std::sync::Arc;

use slipring_wire::{
    Properties, PropertiesBuf, PropertyId, Publish, QoS, Reason, Violation, check_topic,
};

use crate::memory::Counted;
use crate::shared_bytes::{Payload, SharedBytes};
use crate::{Durability, Offset};

/// What a message takes beyond its bytes: itself, its count of owners, and what the allocator adds.
const MESSAGE_BYTES: usize = 192;

/// Milliseconds of a clock that never goes back.
pub type Millis = u64;

/// Where in the journal a message is, and how safe it is to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number in the journal.
    pub offset: Offset,
    /// The level of its topic.
    pub durability: Durability,
}

/// A message as it was read back from where it was stored; its bytes are to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// As published.
    pub topic: &'a str,
    /// As published, encoded.
    pub properties: &'a [u8],
    /// As published.
    pub payload: &'a [u8],
    /// As published.
    pub qos: QoS,
    /// As published.
    pub retain: bool,
    /// Where it was stored.
    pub place: Place,
    /// How long ago it was received.
    pub age_ms: Millis,
}

/// A message with its own bytes. Shared by `Arc`; many queues hold one copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    topic: Arc<str>,
    properties: PropertiesBuf,
    payload: Payload,
    /// As published.
    pub qos: QoS,
    /// As published.
    pub retain: bool,
    /// When it is no longer worth delivering (MQTT-3.3.2-5).
    pub expires_ms: Option<Millis>,
    /// Where it is in the journal; None is nowhere.
    pub place: Option<Place>,
    _counted: Counted,
}

impl Message {
    /// Copies a message that arrived at `now_ms`; `topic` is the topic's name.
    pub fn new(publish: &Publish<'_>, topic: Arc<str>, now_ms: Millis) -> Self {
        Self::of(publish, publish.payload.into(), topic, now_ms)
    }

    /// The same with a payload that others hold too.
    pub fn sharing(
        publish: &Publish<'_>,
        payload: SharedBytes,
        topic: Arc<str>,
        now_ms: Millis,
    ) -> Self {
        Self::of(publish, Payload::Shared(payload), topic, now_ms)
    }

    fn of(publish: &Publish<'_>, payload: Payload, topic: Arc<str>, now_ms: Millis) -> Self {
        debug_assert_eq!(publish.topic, &*topic);
        Self {
            _counted: counted(&payload, publish.properties, &topic),
            topic,
            properties: publish.properties.into(),
            payload,
            qos: publish.qos,
            retain: publish.retain,
            expires_ms: expiry(publish.properties, now_ms),
            place: None,
        }
    }

    /// The same message, known to be at this place in the journal.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// A message that was stored, after its bytes are checked. Its life goes on where it was.
    pub fn restored(stored: &Stored<'_>, now_ms: Millis) -> Result<Self, Violation> {
        if check_topic(stored.topic).is_err() {
            let what = "a stored message has no valid topic";
            return Err(Violation { reason: Reason::TopicNameInvalid, what });
        }
        let properties = Properties::of_publish(stored.properties)?;
        let payload = Payload::from(stored.payload);
        Ok(Self {
            _counted: counted(&payload, properties, stored.topic),
            topic: stored.topic.into(),
            properties: properties.into(),
            payload,
            qos: stored.qos,
            retain: stored.retain,
            expires_ms: expiry(properties, now_ms).map(|at| at.saturating_sub(stored.age_ms)),
            place: Some(stored.place),
        })
    }

    /// Where to.
    pub fn topic(&self) -> &Arc<str> {
        &self.topic
    }

    /// What.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The payload, if it is large enough to be shared.
    pub fn shared_payload(&self) -> Option<&SharedBytes> {
        match &self.payload {
            Payload::Copied(_) => None,
            Payload::Shared(payload) => Some(payload),
        }
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

/// What a message takes in the memory budget: its own bytes and itself. A shared payload counts itself.
fn counted(payload: &Payload, properties: Properties<'_>, topic: &str) -> Counted {
    let own = payload.own_bytes() + properties.encoded().len() + topic.len();
    Counted::new(own + MESSAGE_BYTES)
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

#[cfg(test)]
mod tests {
    use super::*;
    use slipring_wire::Value;

    fn stored<'a>(topic: &'a str, properties: &'a [u8]) -> Stored<'a> {
        let place = Place { offset: Offset::new(7), durability: Durability::Disk };
        let (payload, qos) = (&b"payload"[..], QoS::AtLeastOnce);
        Stored { topic, properties, payload, qos, retain: true, place, age_ms: 4_000 }
    }

    #[test]
    fn a_stored_message_lives_on_for_what_was_left_of_its_life() {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::MessageExpiryInterval, Value::Four(10));
        let stored = stored("a/b", properties.borrow().encoded());
        let message = Message::restored(&stored, 1_000).unwrap();
        assert_eq!(
            (message.left_s(1_000), message.place.unwrap().offset),
            (Some(6), Offset::new(7))
        );
        assert_eq!(message.publish().payload, b"payload");
        let late = Message::restored(&Stored { age_ms: 60_000, ..stored }, 1_000).unwrap();
        assert!(late.is_expired(1_000));
    }

    #[test]
    fn a_stored_message_that_makes_no_sense_is_refused() {
        assert!(Message::restored(&stored("a/#", &[]), 0).is_err());
        assert!(Message::restored(&stored("a", &[0xff]), 0).is_err());
        assert!(Message::restored(&stored("a", &[0x21, 0, 1]), 0).is_err(), "not in a PUBLISH");
    }
}
