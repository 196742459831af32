//! Properties that are being put together for a packet.

use crate::property_kinds::PropertyKinds;
use crate::sink::Sink;
use crate::{Properties, PropertyId, Value};

/// Bytes that a scratch buffer keeps allocated.
const RESTING_BYTES: usize = 1 << 10;

/// Builds properties for a packet.
#[derive(Clone, Debug, Default)]
pub struct PropertiesBuf {
    encoded: Vec<u8>,
    kinds: PropertyKinds,
}

impl PartialEq for PropertiesBuf {
    fn eq(&self, other: &Self) -> bool {
        self.encoded == other.encoded
    }
}

impl Eq for PropertiesBuf {}

impl PropertiesBuf {
    /// Without properties.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one property. The value must have the type that the identifier needs.
    pub fn push(&mut self, id: PropertyId, value: Value<'_>) -> &mut Self {
        self.encoded.push(id as u8);
        self.kinds.add(id as u8);
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

    /// Without properties yet, and with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { encoded: Vec::with_capacity(bytes), kinds: PropertyKinds::default() }
    }

    /// Adds a property that is encoded already, as [`Properties::pieces`] has it.
    pub fn push_piece(&mut self, piece: &[u8]) -> &mut Self {
        if let Some(id) = piece.first() {
            self.kinds.add(*id);
        }
        self.encoded.extend_from_slice(piece);
        self
    }

    /// Keeps no more memory than most packets need, for the next one.
    pub fn rest(&mut self) {
        self.clear();
        self.encoded.shrink_to(RESTING_BYTES);
    }

    /// Removes all properties; keeps the memory.
    pub fn clear(&mut self) {
        self.encoded.clear();
        self.kinds = PropertyKinds::default();
    }

    /// The properties for a packet.
    pub fn borrow(&self) -> Properties<'_> {
        Properties::of_checked(&self.encoded, self.kinds)
    }
}

impl From<Properties<'_>> for PropertiesBuf {
    fn from(properties: Properties<'_>) -> Self {
        Self { encoded: properties.encoded().into(), kinds: properties.kinds() }
    }
}
