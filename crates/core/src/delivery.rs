//! A message as one subscriber gets it: what the broker adds to the publisher's properties.

use std::borrow::Cow;
use std::sync::Arc;

use slipring_wire::{Properties, PropertiesBuf, PropertyId, Publish, QoS, Value, Version};

use crate::ledger::DeliveryManner;
use crate::requests::RequestKey;
use crate::{Message, Offset, Priority};

/// The user property that tells a client how many of its messages were dropped before this one.
pub const DROPPED_PROPERTY: &str = "slipring-dropped";

/// The identifiers of the subscriptions that a message matched.
pub type Identifiers = Option<Arc<[u32]>>;

/// A message on its way to one subscriber.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The message.
    pub message: Arc<Message>,
    /// The QoS to deliver it with.
    pub qos: QoS,
    /// The retain flag to deliver it with.
    pub retain: bool,
    /// The identifiers of the subscriptions that matched.
    pub identifiers: Identifiers,
    /// Before which others it is sent.
    pub priority: Priority,
    /// It is a request or its end: it is not dropped to make room for another message.
    pub of_request: bool,
    /// It is a request, and its service gets it on a topic with its key.
    pub by_topic: bool,
}

impl Delivery {
    /// A message, delivered in this manner.
    pub fn new(message: Arc<Message>, manner: DeliveryManner) -> Self {
        let DeliveryManner { qos, retain, identifiers, priority, of_request, by_topic } = manner;
        Self { message, qos, retain, identifiers, priority, of_request, by_topic }
    }

    /// A message that is delivered with this QoS, and nothing else.
    pub fn plain(message: Arc<Message>, qos: QoS) -> Self {
        Self::new(message, DeliveryManner::plain(qos))
    }

    /// The topic that its subscriber gets it on.
    pub fn topic(&self) -> Cow<'_, str> {
        let topic = self.message.topic();
        let key = self.by_topic.then(|| RequestKey::of_request(self.message.publish().properties));
        match key.flatten() {
            Some(key) => Cow::Owned(key.request_topic(topic)),
            None => Cow::Borrowed(topic),
        }
    }

    /// How it is delivered.
    pub(crate) fn manner(&self) -> DeliveryManner {
        let Self { qos, retain, ref identifiers, priority, of_request, by_topic, .. } = *self;
        let identifiers = identifiers.clone();
        DeliveryManner { qos, retain, identifiers, priority, of_request, by_topic }
    }

    /// Whether it is a request that is over: its service does not get it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.of_request && self.message.is_withdrawn()
    }

    /// The offset of the message; None if it is only in memory.
    pub(crate) fn offset(&self) -> Option<Offset> {
        self.message.place.map(|place| place.offset)
    }
}

/// The topic alias of one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TopicAlias {
    /// None.
    #[default]
    None,
    /// The packet has the topic too, and sets the alias.
    New(u16),
    /// The packet has the alias instead of the topic.
    Known(u16),
}

/// What the broker adds to a message for one subscriber.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras<'a> {
    /// Seconds until the message expires.
    pub left_s: Option<u32>,
    /// The identifiers of all subscriptions that match (MQTT-3.3.4-3).
    pub identifiers: &'a [u32],
    /// Messages that were dropped before this one, and that the client does not know of.
    pub dropped: u64,
    pub(crate) alias: TopicAlias,
}

impl<'a> Extras<'a> {
    /// Only the identifiers of the subscriptions.
    pub fn identified(identifiers: &'a [u32]) -> Self {
        Self { identifiers, ..Self::default() }
    }
}

/// Appends the packet for one subscriber. MQTT 3.1.1 has no extras.
pub fn encode(publish: Publish<'_>, extras: &Extras<'_>, version: Version, out: &mut Vec<u8>) {
    encode_head(publish, publish.payload.len(), extras, version, out);
    out.extend_from_slice(publish.payload);
}

/// Appends the packet without its payload of `payload_bytes`. `publish.payload` is ignored.
pub fn encode_head(
    publish: Publish<'_>,
    payload_bytes: usize,
    extras: &Extras<'_>,
    version: Version,
    out: &mut Vec<u8>,
) {
    if version != Version::V5 || *extras == Extras::default() {
        return publish.encode_head(payload_bytes, version, out);
    }
    let properties = with_extras(publish.properties, extras);
    let topic = if matches!(extras.alias, TopicAlias::Known(_)) { "" } else { publish.topic };
    let publish = Publish { topic, properties: properties.borrow(), ..publish };
    publish.encode_head(payload_bytes, version, out);
}

/// Bytes of what is added, without identifiers: an alias, and a number of dropped messages.
const EXTRAS_BYTES: usize = 48;
/// Bytes of one identifier, at most.
const VARINT_BYTES_MAX: usize = 5;

/// The publisher's properties in their order (MQTT-3.3.2-18), then the broker's.
fn with_extras(published: Properties<'_>, extras: &Extras<'_>) -> PropertiesBuf {
    let more_bytes = EXTRAS_BYTES + VARINT_BYTES_MAX * extras.identifiers.len();
    let mut properties = PropertiesBuf::with_capacity(published.encoded().len() + more_bytes);
    for (id, piece) in published.pieces() {
        match (id, extras.left_s) {
            (PropertyId::MessageExpiryInterval, Some(left)) => {
                properties.push(id, Value::Four(left))
            }
            _ => properties.push_piece(piece),
        };
    }
    for identifier in extras.identifiers {
        properties.push(PropertyId::SubscriptionIdentifier, Value::Varint(*identifier));
    }
    if let TopicAlias::New(alias) | TopicAlias::Known(alias) = extras.alias {
        properties.push(PropertyId::TopicAlias, Value::Two(alias));
    }
    if extras.dropped > 0 {
        let count = extras.dropped.to_string();
        properties.push(PropertyId::UserProperty, Value::Pair(DROPPED_PROPERTY, &count));
    }
    properties
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(answer_topic: &str, by_topic: bool) -> Delivery {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::ResponseTopic, Value::Text(answer_topic));
        let publish = Publish { properties: properties.borrow(), ..Publish::new("a/b", b"x") };
        let message = Arc::new(Message::new(&publish, "a/b".into(), 0));
        Delivery { by_topic, ..Delivery::plain(message, QoS::AtLeastOnce) }
    }

    #[test]
    fn a_service_by_topic_gets_the_key_in_the_topic() {
        let key = RequestKey::new(0xfe);
        let found = delivery(&key.answer_topic(), true);
        assert_eq!(found.topic(), "$slipring/request/00000000000000fe/a/b");
        assert_eq!(Delivery::new(found.message.clone(), found.manner()).topic(), found.topic());
        assert_eq!(delivery(&key.answer_topic(), false).topic(), "a/b");
        assert_eq!(delivery("own/answers", true).topic(), "a/b", "it is no request");
    }
}
