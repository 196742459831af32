//! MQTT 5 properties: checked once, then read in place from the packet's bytes.

use crate::cursor::PacketCursor;
use crate::packet::PacketType;
use crate::sink::Sink;
use crate::{Reason, Version, Violation};

/// How a property's value is encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Flag,
    Two,
    TwoNotZero,
    Four,
    FourNotZero,
    Varint,
    Text,
    Binary,
    Pair,
}

/// The value of one property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// One byte, or a flag of 0 or 1.
    Byte(u8),
    /// Two bytes.
    Two(u16),
    /// Four bytes.
    Four(u32),
    /// A variable byte integer.
    Varint(u32),
    /// A string.
    Text(&'a str),
    /// Bytes.
    Binary(&'a [u8]),
    /// A name and a value.
    Pair(&'a str, &'a str),
}

macro_rules! properties {
    ($($name:ident = $id:literal, $shape:ident, $($kind:ident)|+;)*) => {
        /// The identifiers of MQTT 5, table 2-4.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names are the standard's own")]
        pub enum PropertyId { $($name = $id,)* }

        impl PropertyId {
            fn from_byte(byte: u8) -> Option<Self> {
                match byte { $($id => Some(Self::$name),)* _ => None }
            }

            fn shape(self) -> Shape {
                match self { $(Self::$name => Shape::$shape,)* }
            }

            fn allowed_in(self, kind: PacketType) -> bool {
                match self { $(Self::$name => matches!(kind, $(PacketType::$kind)|+),)* }
            }
        }
    };
}

properties! {
    PayloadFormatIndicator = 0x01, Flag, Publish | Will;
    MessageExpiryInterval = 0x02, Four, Publish | Will;
    ContentType = 0x03, Text, Publish | Will;
    ResponseTopic = 0x08, Text, Publish | Will;
    CorrelationData = 0x09, Binary, Publish | Will;
    SubscriptionIdentifier = 0x0b, Varint, Publish | Subscribe;
    SessionExpiryInterval = 0x11, Four, Connect | ConnAck | Disconnect;
    AssignedClientIdentifier = 0x12, Text, ConnAck;
    ServerKeepAlive = 0x13, Two, ConnAck;
    AuthenticationMethod = 0x15, Text, Connect | ConnAck | Auth;
    AuthenticationData = 0x16, Binary, Connect | ConnAck | Auth;
    RequestProblemInformation = 0x17, Flag, Connect;
    WillDelayInterval = 0x18, Four, Will;
    RequestResponseInformation = 0x19, Flag, Connect;
    ResponseInformation = 0x1a, Text, ConnAck;
    ServerReference = 0x1c, Text, ConnAck | Disconnect;
    ReasonString = 0x1f, Text, ConnAck | PubAck | PubRec | PubRel | PubComp | SubAck | UnsubAck
        | Disconnect | Auth;
    ReceiveMaximum = 0x21, TwoNotZero, Connect | ConnAck;
    TopicAliasMaximum = 0x22, Two, Connect | ConnAck;
    TopicAlias = 0x23, TwoNotZero, Publish;
    MaximumQoS = 0x24, Flag, ConnAck;
    RetainAvailable = 0x25, Flag, ConnAck;
    UserProperty = 0x26, Pair, Connect | ConnAck | Publish | Will | PubAck | PubRec | PubRel
        | PubComp | Subscribe | SubAck | Unsubscribe | UnsubAck | Disconnect | Auth;
    MaximumPacketSize = 0x27, FourNotZero, Connect | ConnAck;
    WildcardSubscriptionAvailable = 0x28, Flag, ConnAck;
    SubscriptionIdentifierAvailable = 0x29, Flag, ConnAck;
    SharedSubscriptionAvailable = 0x2a, Flag, ConnAck;
}

/// The properties of one packet: checked, and still encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Properties<'a> {
    encoded: &'a [u8],
}

impl<'a> Properties<'a> {
    /// No properties.
    pub const NONE: Properties<'static> = Properties { encoded: &[] };

    /// Checks the encoded properties of a PUBLISH, without the length in front.
    pub fn of_publish(encoded: &'a [u8]) -> Result<Self, Violation> {
        Self::checked(encoded, PacketType::Publish)
    }

    /// The encoded properties, without the length in front.
    pub fn encoded(self) -> &'a [u8] {
        self.encoded
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.encoded.is_empty()
    }

    /// All properties in the order of the packet.
    pub fn iter(self) -> impl Iterator<Item = (PropertyId, Value<'a>)> {
        let mut cursor = PacketCursor::new(self.encoded);
        std::iter::from_fn(move || {
            (!cursor.is_empty()).then(|| one(&mut cursor).expect("checked when it was read"))
        })
    }

    /// The first value of this property.
    pub fn get(self, id: PropertyId) -> Option<Value<'a>> {
        self.iter().find(|(found, _)| *found == id).map(|(_, value)| value)
    }

    /// The first value of a property that is a number or a flag.
    pub fn number(self, id: PropertyId) -> Option<u32> {
        match self.get(id)? {
            Value::Byte(value) => Some(u32::from(value)),
            Value::Two(value) => Some(u32::from(value)),
            Value::Four(value) | Value::Varint(value) => Some(value),
            Value::Text(_) | Value::Binary(_) | Value::Pair(..) => None,
        }
    }

    /// The first value of a property that is a string.
    pub fn text(self, id: PropertyId) -> Option<&'a str> {
        match self.get(id)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Reads the properties of a packet of this type, and refuses those that the standard does not allow
    /// there. Only MQTT 5 has properties.
    #[inline]
    pub(crate) fn read(
        cursor: &mut PacketCursor<'a>,
        version: Version,
        kind: PacketType,
    ) -> Result<Self, Violation> {
        if version != Version::V5 {
            return Ok(Self::NONE);
        }
        let length = cursor.varint()?;
        Self::checked(cursor.take(length as usize)?, kind)
    }

    fn checked(encoded: &'a [u8], kind: PacketType) -> Result<Self, Violation> {
        let mut rest = PacketCursor::new(encoded);
        let mut seen = 0u64;
        while !rest.is_empty() {
            let (id, value) = one(&mut rest)?;
            check(id, value, kind, &mut seen)?;
        }
        Ok(Self { encoded })
    }

    pub(crate) fn write(self, out: &mut Vec<u8>) {
        out.put_varint(self.encoded.len() as u32);
        out.extend_from_slice(self.encoded);
    }
}

fn one<'a>(cursor: &mut PacketCursor<'a>) -> Result<(PropertyId, Value<'a>), Violation> {
    let id = u8::try_from(cursor.varint()?).ok().and_then(PropertyId::from_byte);
    let id = id.ok_or(Violation::malformed("unknown property"))?;
    let value = match id.shape() {
        Shape::Flag => Value::Byte(cursor.u8()?),
        Shape::Two | Shape::TwoNotZero => Value::Two(cursor.u16()?),
        Shape::Four | Shape::FourNotZero => Value::Four(cursor.u32()?),
        Shape::Varint => Value::Varint(cursor.varint()?),
        Shape::Text => Value::Text(cursor.text()?),
        Shape::Binary => Value::Binary(cursor.binary()?),
        Shape::Pair => Value::Pair(cursor.text()?, cursor.text()?),
    };
    Ok((id, value))
}

fn check(
    id: PropertyId,
    value: Value<'_>,
    kind: PacketType,
    seen: &mut u64,
) -> Result<(), Violation> {
    if !id.allowed_in(kind) {
        return Err(Violation::malformed("a property that this packet must not carry")); // 2.2.2.2
    }
    let mask = 1u64 << (id as u8);
    let repeats = matches!(id, PropertyId::UserProperty)
        || (id == PropertyId::SubscriptionIdentifier && kind == PacketType::Publish);
    if *seen & mask != 0 && !repeats {
        return Err(Violation::protocol("a property given twice"));
    }
    *seen |= mask;
    let bad = match (id.shape(), value) {
        (Shape::Flag, Value::Byte(flag)) => flag > 1,
        (Shape::TwoNotZero, Value::Two(0))
        | (Shape::FourNotZero, Value::Four(0))
        | (Shape::Varint, Value::Varint(0)) => true,
        _ => false,
    };
    if bad && id == PropertyId::TopicAlias {
        return Err(Violation { reason: Reason::TopicAliasInvalid, what: "topic alias 0" });
    }
    if bad {
        return Err(Violation::protocol("a property outside its range"));
    }
    Ok(())
}

/// Builds properties for a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertiesBuf {
    encoded: Vec<u8>,
}

impl PropertiesBuf {
    /// Without properties.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one property. The value must have the type that the identifier needs.
    pub fn push(&mut self, id: PropertyId, value: Value<'_>) -> &mut Self {
        self.encoded.push(id as u8);
        match value {
            Value::Byte(byte) => self.encoded.put_u8(byte),
            Value::Two(number) => self.encoded.put_u16(number),
            Value::Four(number) => self.encoded.put_u32(number),
            Value::Varint(number) => self.encoded.put_varint(number),
            Value::Text(text) => self.encoded.put_text(text),
            Value::Binary(bytes) => self.encoded.put_binary(bytes),
            Value::Pair(name, text) => {
                self.encoded.put_text(name);
                self.encoded.put_text(text);
            }
        }
        self
    }

    /// Removes all properties; keeps the memory.
    pub fn clear(&mut self) {
        self.encoded.clear();
    }

    /// The properties for a packet.
    pub fn borrow(&self) -> Properties<'_> {
        Properties { encoded: &self.encoded }
    }
}

impl From<Properties<'_>> for PropertiesBuf {
    fn from(properties: Properties<'_>) -> Self {
        Self { encoded: properties.encoded.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_properties_are_checked_like_those_of_a_packet() {
        let mut stored = PropertiesBuf::new();
        stored.push(PropertyId::ContentType, Value::Text("a/b"));
        let read = Properties::of_publish(stored.borrow().encoded());
        assert_eq!(read, Ok(stored.borrow()));
        assert!(Properties::of_publish(&[0x03, 0x00]).is_err(), "cut short");
        assert!(Properties::of_publish(&[0x21, 0x00, 0x01]).is_err(), "of another packet");
    }
}
