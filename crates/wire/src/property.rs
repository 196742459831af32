//! MQTT 5 properties: checked once, then read in place from the packet's bytes.

use crate::cursor::PacketCursor;
use crate::packet::PacketType;
use crate::property_kinds::PropertyKinds;
use crate::property_piece::pair_piece;
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

impl Shape {
    /// How many bytes the value at the beginning of these takes.
    fn bytes(self, encoded: &[u8]) -> Option<usize> {
        let text = |at: usize| -> Option<usize> {
            let length = encoded.get(at..at + 2)?;
            Some(2 + usize::from(u16::from_be_bytes([length[0], length[1]])))
        };
        Some(match self {
            Self::Flag => 1,
            Self::Two | Self::TwoNotZero => 2,
            Self::Four | Self::FourNotZero => 4,
            Self::Varint => 1 + encoded.iter().take_while(|byte| **byte & 0x80 != 0).count(),
            Self::Text | Self::Binary => text(0)?,
            Self::Pair => {
                let name = text(0)?;
                name + text(name)?
            }
        })
    }
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Properties<'a> {
    encoded: &'a [u8],
    /// Which ones there are, so that nobody searches for others.
    kinds: PropertyKinds,
}

impl PartialEq for Properties<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.encoded == other.encoded
    }
}

impl Eq for Properties<'_> {}

impl<'a> Properties<'a> {
    /// No properties.
    pub const NONE: Properties<'static> = Properties { encoded: &[], kinds: PropertyKinds::NONE };

    /// Properties that are known to be well-formed, and of these kinds.
    pub(crate) fn of_checked(encoded: &'a [u8], kinds: PropertyKinds) -> Self {
        Self { encoded, kinds }
    }

    pub(crate) fn kinds(self) -> PropertyKinds {
        self.kinds
    }

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

    /// Whether there is a property of this kind.
    #[inline]
    pub fn has(self, id: PropertyId) -> bool {
        self.kinds.has(id)
    }

    /// The first value of this property.
    #[inline]
    pub fn get(self, id: PropertyId) -> Option<Value<'a>> {
        if self.has(id) { self.find(id) } else { None }
    }

    fn find(self, id: PropertyId) -> Option<Value<'a>> {
        let (_, encoded) = self.pieces().find(|(found, _)| *found == id)?;
        one(&mut PacketCursor::new(encoded)).ok().map(|(_, value)| value)
    }

    /// The value of the first user property with this name.
    #[inline]
    pub fn pair(self, name: &str) -> Option<&'a str> {
        if !self.has(PropertyId::UserProperty) {
            return None;
        }
        let found = self.pieces().filter_map(|(id, piece)| pair_piece(id, piece));
        let (_, text) = found.into_iter().find(|(found, _)| *found == name.as_bytes())?;
        std::str::from_utf8(text).ok()
    }

    /// Each property as it is encoded, without looking into its text.
    pub fn pieces(self) -> impl Iterator<Item = (PropertyId, &'a [u8])> {
        let mut rest = self.encoded;
        std::iter::from_fn(move || {
            let id = PropertyId::from_byte(*rest.first()?)?;
            let (piece, after) = rest.split_at_checked(1 + id.shape().bytes(&rest[1..])?)?;
            rest = after;
            Some((id, piece))
        })
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

    /// The first value of a property that is binary data.
    pub fn binary(self, id: PropertyId) -> Option<&'a [u8]> {
        match self.get(id)? {
            Value::Binary(data) => Some(data),
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
        let mut kinds = PropertyKinds::default();
        while !rest.is_empty() {
            let (id, value) = one(&mut rest)?;
            check(id, value, kind, kinds)?;
            kinds.add(id as u8);
        }
        Ok(Self { encoded, kinds })
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
    earlier: PropertyKinds,
) -> Result<(), Violation> {
    if !id.allowed_in(kind) {
        return Err(Violation::malformed("a property that this packet must not carry")); // 2.2.2.2
    }
    let repeats = matches!(id, PropertyId::UserProperty)
        || (id == PropertyId::SubscriptionIdentifier && kind == PacketType::Publish);
    if earlier.has(id) && !repeats {
        return Err(Violation::protocol("a property given twice"));
    }
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

#[cfg(test)]
#[path = "property_tests.rs"]
mod tests;
