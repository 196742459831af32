//! Random lists of properties, by a table of our own: MQTT 5, table 2-4, read once more.

use proptest::prelude::*;
use slipring_wire::{PropertiesBuf, PropertyId as Id, Value};

/// The number that stands for a will, which has a list of its own.
pub const WILL: u8 = 0;

/// Acknowledgements and the other packets that carry a reason.
const REASONED: &[u8] = &[2, 4, 5, 6, 7, 9, 11, 14, 15];

/// Each property, the shape of its value, and the types of packet that may carry it.
pub const TABLE: &[(Id, Shape, &[u8])] = &[
    (Id::PayloadFormatIndicator, Shape::Flag, &[3, WILL]),
    (Id::MessageExpiryInterval, Shape::Four, &[3, WILL]),
    (Id::ContentType, Shape::Text, &[3, WILL]),
    (Id::ResponseTopic, Shape::Text, &[3, WILL]),
    (Id::CorrelationData, Shape::Binary, &[3, WILL]),
    (Id::SubscriptionIdentifier, Shape::Varint, &[3, 8]),
    (Id::SessionExpiryInterval, Shape::Four, &[1, 2, 14]),
    (Id::AssignedClientIdentifier, Shape::Text, &[2]),
    (Id::ServerKeepAlive, Shape::Two, &[2]),
    (Id::AuthenticationMethod, Shape::Text, &[1, 2, 15]),
    (Id::AuthenticationData, Shape::Binary, &[1, 2, 15]),
    (Id::RequestProblemInformation, Shape::Flag, &[1]),
    (Id::WillDelayInterval, Shape::Four, &[WILL]),
    (Id::RequestResponseInformation, Shape::Flag, &[1]),
    (Id::ResponseInformation, Shape::Text, &[2]),
    (Id::ServerReference, Shape::Text, &[2, 14]),
    (Id::ReasonString, Shape::Text, REASONED),
    (Id::ReceiveMaximum, Shape::Two, &[1, 2]),
    (Id::TopicAliasMaximum, Shape::Two, &[1, 2]),
    (Id::TopicAlias, Shape::Two, &[3]),
    (Id::MaximumQoS, Shape::Flag, &[2]),
    (Id::RetainAvailable, Shape::Flag, &[2]),
    (Id::UserProperty, Shape::Pair, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15, WILL]),
    (Id::MaximumPacketSize, Shape::Four, &[1, 2]),
    (Id::WildcardSubscriptionAvailable, Shape::Flag, &[2]),
    (Id::SubscriptionIdentifierAvailable, Shape::Flag, &[2]),
    (Id::SharedSubscriptionAvailable, Shape::Flag, &[2]),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Flag,
    Two,
    Four,
    Varint,
    Text,
    Binary,
    Pair,
}

/// What values are made from; no number is 0, because some properties must not be.
#[derive(Clone, Debug)]
pub struct Values {
    pub wanted: Vec<prop::sample::Index>,
    pub flag: bool,
    pub two: u16,
    pub four: u32,
    pub varint: u32,
    pub text: String,
    pub other: String,
    pub binary: Vec<u8>,
}

pub fn values() -> impl Strategy<Value = Values> {
    (
        prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        any::<bool>(),
        (1u16.., 1u32.., 1u32..=268_435_455),
        ("[^\0]{0,20}", "[^\0]{0,20}"),
        prop::collection::vec(any::<u8>(), 0..60),
    )
        .prop_map(|(wanted, flag, (two, four, varint), (text, other), binary)| Values {
            wanted,
            flag,
            two,
            four,
            varint,
            text,
            other,
            binary,
        })
}

impl Values {
    pub fn value(&self, shape: Shape) -> Value<'_> {
        match shape {
            Shape::Flag => Value::Byte(u8::from(self.flag)),
            Shape::Two => Value::Two(self.two),
            Shape::Four => Value::Four(self.four),
            Shape::Varint => Value::Varint(self.varint),
            Shape::Text => Value::Text(&self.text),
            Shape::Binary => Value::Binary(&self.binary),
            Shape::Pair => Value::Pair(&self.text, &self.other),
        }
    }

    /// Some of the properties that this packet may carry, in any order; those that may repeat do.
    pub fn list(&self, kind: u8) -> PropertiesBuf {
        let allowed: Vec<_> = TABLE.iter().filter(|(.., kinds)| kinds.contains(&kind)).collect();
        let (mut list, mut seen) = (PropertiesBuf::new(), Vec::new());
        for wanted in self.wanted.iter().filter(|_| !allowed.is_empty()) {
            let (id, shape, _) = wanted.get(&allowed);
            let repeats =
                *id == Id::UserProperty || (*id == Id::SubscriptionIdentifier && kind == 3);
            if repeats || !seen.contains(id) {
                list.push(*id, self.value(*shape));
                seen.push(*id);
            }
        }
        list
    }
}
