//! One message as one subscriber gets it: what the broker adds to the publisher's own properties.

use std::sync::Arc;

use slipring_wire::{Properties, PropertiesBuf, PropertyId, Publish, QoS, Value, Version};

use crate::Message;
use crate::ledger::DeliveryManner;

/// The user property that tells a client how many of its messages were dropped before this one.
pub const DROPPED_PROPERTY: &str = "slipring-dropped";

/// The identifiers of the subscriptions that a message matched.
pub type Identifiers = Option<Arc<[u32]>>;

/// A message on its way to one subscriber.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// What.
    pub message: Arc<Message>,
    /// The quality to deliver at.
    pub qos: QoS,
    /// The flag to deliver with.
    pub retain: bool,
    /// Which subscriptions matched.
    pub identifiers: Identifiers,
}

impl Delivery {
    /// A message, delivered in this manner.
    pub fn new(message: Arc<Message>, manner: DeliveryManner) -> Self {
        let DeliveryManner { qos, retain, identifiers } = manner;
        Self { message, qos, retain, identifiers }
    }
}

/// How a topic alias is used in one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TopicAlias {
    /// Not at all.
    #[default]
    None,
    /// The topic is there too; the alias is set from now on.
    New(u16),
    /// The alias stands for the topic.
    Known(u16),
}

/// What is added to a message for one subscriber.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras<'a> {
    /// Seconds that are left of the message's life.
    pub left_s: Option<u32>,
    /// The identifiers of all subscriptions that match (MQTT-3.3.4-3).
    pub identifiers: &'a [u32],
    /// Messages dropped before this one and not told yet.
    pub dropped: u64,
    pub(crate) alias: TopicAlias,
}

impl<'a> Extras<'a> {
    /// Only the identifiers of the subscriptions.
    pub fn identified(identifiers: &'a [u32]) -> Self {
        Self { identifiers, ..Self::default() }
    }
}

/// Appends the packet for one subscriber. MQTT 3.1.1 knows no extras.
pub fn encode(publish: Publish<'_>, extras: &Extras<'_>, version: Version, out: &mut Vec<u8>) {
    encode_head(publish, publish.payload.len(), extras, version, out);
    out.extend_from_slice(publish.payload);
}

/// Appends all that comes before a payload of so many bytes, whatever payload is there.
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

/// The publisher's properties in their order (MQTT-3.3.2-18), then ours.
fn with_extras(published: Properties<'_>, extras: &Extras<'_>) -> PropertiesBuf {
    let mut properties = PropertiesBuf::new();
    for (id, value) in published.iter() {
        let value = match (id, extras.left_s) {
            (PropertyId::MessageExpiryInterval, Some(left)) => Value::Four(left),
            _ => value,
        };
        properties.push(id, value);
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
