//! A message that the broker keeps: queued, in flight, retained or waiting. Immutable and shared.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use slipring_wire::{
    Properties, PropertiesBuf, PropertyId, Publish, QoS, Reason, Violation, check_topic,
};

use crate::memory::Counted;
use crate::shared_bytes::{Payload, SharedBytes};
use crate::{Durability, Offset, Priority, SessionKey};

/// Memory of a message beyond its bytes: the struct, its reference count, and what the allocator adds.
const MESSAGE_BYTES: usize = 192;

/// Milliseconds of a clock that never goes back.
pub type Millis = u64;

/// When a message expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// By the clock that never goes back.
    pub at_ms: Millis,
    /// Whether its packet tells the seconds that are left. That of a request that times out does not.
    pub is_told: bool,
}

impl Expiry {
    /// The time that a message has in its own properties; None if it does not expire.
    pub fn told(at_ms: Option<Millis>) -> Option<Self> {
        at_ms.map(|at_ms| Self { at_ms, is_told: true })
    }
}

/// A message's place in the journal, and the durability that it has there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalPlace {
    /// The message's offset.
    pub offset: Offset,
    /// The durability of its topic.
    pub durability: Durability,
}

/// A message as it was read back from the journal. Its bytes are not checked yet.
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
    /// Where it is in the journal.
    pub place: JournalPlace,
    /// The time since the broker received it.
    pub age_ms: Millis,
}

/// A message with its own bytes. Many queues share one copy through an `Arc`.
#[derive(Clone, Debug)]
pub struct Message {
    topic: Arc<str>,
    properties: PropertiesBuf,
    payload: Payload,
    /// As published.
    pub qos: QoS,
    /// As published.
    pub retain: bool,
    /// When it expires (MQTT-3.3.2-5); None is never.
    pub expires_ms: Option<Millis>,
    /// Whether its own properties say that it expires.
    tells_expiry: bool,
    /// Where it is in the journal; None if it is not there.
    pub place: Option<JournalPlace>,
    withdrawn: Withdrawn,
    /// The session that published it, to be told if it is dropped; [`SessionKey::BROKER`] if that is not known.
    pub publisher: SessionKey,
    _counted: Counted,
}

/// Whether a request is over, so that nobody gets its message any more.
#[derive(Debug, Default)]
struct Withdrawn(AtomicBool);

impl Clone for Withdrawn {
    fn clone(&self) -> Self {
        Self(AtomicBool::new(self.0.load(Ordering::Relaxed)))
    }
}

impl Message {
    /// Copies a message that arrived at `now_ms`; `topic` is its topic again, to be shared.
    pub fn new(publish: &Publish<'_>, topic: Arc<str>, now_ms: Millis) -> Self {
        Self::of(publish, publish.payload.into(), topic, now_ms)
    }

    /// The same with a payload that is shared instead of copied.
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
        let expires_ms = expiry(publish.properties, now_ms);
        let own_bytes = payload.own_bytes() + publish.properties.encoded().len() + topic.len();
        Self {
            _counted: Counted::new(own_bytes + MESSAGE_BYTES), // a shared payload counts itself
            topic,
            properties: publish.properties.into(),
            payload,
            qos: publish.qos,
            retain: publish.retain,
            expires_ms,
            tells_expiry: expires_ms.is_some(),
            place: None,
            withdrawn: Withdrawn::default(),
            publisher: SessionKey::BROKER,
        }
    }

    /// The same message, published by this session.
    #[must_use]
    pub fn by(mut self, publisher: SessionKey) -> Self {
        self.publisher = publisher;
        self
    }

    /// The same message with its place in the journal.
    #[must_use]
    pub fn at(mut self, place: JournalPlace) -> Self {
        self.place = Some(place);
        self
    }

    /// Makes a message of a stored one, and checks its bytes. It expires when it would have without the restart.
    pub fn restored(stored: &Stored<'_>, now_ms: Millis) -> Result<Self, Violation> {
        Self::restored_on(stored.topic.into(), stored, now_ms)
    }

    /// The same; `topic` is its topic again, to be shared.
    pub fn restored_on(
        topic: Arc<str>,
        stored: &Stored<'_>,
        now_ms: Millis,
    ) -> Result<Self, Violation> {
        if check_topic(stored.topic).is_err() {
            let what = "a stored message has no valid topic";
            return Err(Violation { reason: Reason::TopicNameInvalid, what });
        }
        let properties = Properties::of_publish(stored.properties)?;
        let Stored { payload, qos, retain, place, age_ms, .. } = *stored;
        let publish = Publish { qos, retain, properties, ..Publish::new(stored.topic, payload) };
        let mut message = Self::new(&publish, topic, now_ms).at(place);
        message.expires_ms = message.expires_ms.map(|at| at.saturating_sub(age_ms));
        Ok(message)
    }

    /// The topic that it was published to.
    pub fn topic(&self) -> &Arc<str> {
        &self.topic
    }

    /// The payload.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The payload, if it is shared because of its size.
    pub fn shared_payload(&self) -> Option<&SharedBytes> {
        match &self.payload {
            Payload::Copied(_) => None,
            Payload::Shared(payload) => Some(payload),
        }
    }

    /// Bytes of topic, properties and payload.
    pub fn bytes(&self) -> usize {
        self.topic.len() + self.payload.len() + self.properties.borrow().encoded().len()
    }

    /// Nobody gets it any more: the request that it was is over.
    pub fn withdraw(&self) {
        self.withdrawn.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was withdrawn.
    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn.0.load(Ordering::Relaxed)
    }

    /// The priority that its own property names, else that of its topic.
    pub fn priority(&self, of_topic: Priority) -> Priority {
        Priority::of(self.properties.borrow()).unwrap_or(of_topic)
    }

    /// Whether it has expired.
    pub fn is_expired(&self, now_ms: Millis) -> bool {
        self.expires_ms.is_some_and(|at| at <= now_ms)
    }

    /// When it expires, and whether its packet tells that.
    pub fn expiry(&self) -> Option<Expiry> {
        self.expires_ms.map(|at_ms| Expiry { at_ms, is_told: self.tells_expiry })
    }

    /// The seconds until it expires, as its packet tells them; None if it does not (MQTT-3.3.2-6).
    pub fn left_s(&self, now_ms: Millis) -> Option<u32> {
        self.expires_ms.filter(|_| self.tells_expiry).map(|at| seconds_left(at, now_ms))
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

#[cfg(test)]
mod tests {
    use super::*;
    use slipring_wire::Value;

    fn stored<'a>(topic: &'a str, properties: &'a [u8]) -> Stored<'a> {
        let place = JournalPlace { offset: Offset::new(7), durability: Durability::Disk };
        let (payload, qos) = (&b"payload"[..], QoS::AtLeastOnce);
        Stored { topic, properties, payload, qos, retain: true, place, age_ms: 4_000 }
    }

    #[test]
    fn a_stored_message_expires_when_it_would_have_without_the_restart() {
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
    fn a_message_that_names_no_priority_has_that_of_its_topic() {
        let mut properties = PropertiesBuf::new();
        let message = |properties: &PropertiesBuf| {
            let stored = stored("a/b", properties.borrow().encoded());
            Message::restored(&stored, 0).unwrap()
        };
        assert_eq!(message(&properties).priority(Priority::High), Priority::High);
        let pair = Value::Pair(crate::PRIORITY_PROPERTY, Priority::Low.name());
        properties.push(PropertyId::UserProperty, pair);
        assert_eq!(message(&properties).priority(Priority::High), Priority::Low);
    }

    #[test]
    fn a_stored_message_that_makes_no_sense_is_refused() {
        assert!(Message::restored(&stored("a/#", &[]), 0).is_err());
        assert!(Message::restored(&stored("a", &[0xff]), 0).is_err());
        assert!(Message::restored(&stored("a", &[0x21, 0, 1]), 0).is_err(), "not in a PUBLISH");
    }
}
