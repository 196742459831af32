//! Values of any kind, and samples: values with parameter, time and quality.

use super::{Kind, Quality};

macro_rules! values {
    ($($(#[$doc:meta])* $kind:ident($type:ty);)*) => {
        /// A value, borrowed from a frame.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum ValueView<'a> {
            /// True or false.
            Bool(bool),
            $($(#[$doc])* $kind($type),)*
            /// UTF-8 text.
            Text(&'a str),
            /// Any bytes.
            Bytes(&'a [u8]),
        }

        /// A value that owns its bytes.
        #[derive(Clone, Debug, PartialEq)]
        pub enum OwnedValue {
            /// True or false.
            Bool(bool),
            $($(#[$doc])* $kind($type),)*
            /// UTF-8 text.
            Text(String),
            /// Any bytes.
            Bytes(Vec<u8>),
        }

        impl ValueView<'_> {
            /// Its kind.
            pub fn kind(&self) -> Kind {
                match self {
                    Self::Bool(_) => Kind::Bool,
                    $(Self::$kind(_) => Kind::$kind,)*
                    Self::Text(_) => Kind::Text,
                    Self::Bytes(_) => Kind::Bytes,
                }
            }

            /// The same value with its own bytes.
            pub fn to_owned(&self) -> OwnedValue {
                match *self {
                    Self::Bool(value) => OwnedValue::Bool(value),
                    $(Self::$kind(value) => OwnedValue::$kind(value),)*
                    Self::Text(value) => OwnedValue::Text(value.to_owned()),
                    Self::Bytes(value) => OwnedValue::Bytes(value.to_owned()),
                }
            }

            /// The nearest f64; 0 or 1 for false or true, `None` for text and bytes.
            #[expect(
                clippy::cast_lossless,
                clippy::cast_precision_loss,
                reason = "the nearest number is what is asked for"
            )]
            pub fn as_f64(&self) -> Option<f64> {
                match *self {
                    Self::Bool(value) => Some(f64::from(u8::from(value))),
                    $(Self::$kind(value) => Some(value as f64),)*
                    Self::Text(_) | Self::Bytes(_) => None,
                }
            }

            /// Appends a number, little endian. Appends nothing for other kinds.
            pub(super) fn put_number(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$kind(value) => out.extend_from_slice(&value.to_le_bytes()),)*
                    Self::Bool(_) | Self::Text(_) | Self::Bytes(_) => {}
                }
            }
        }

        impl OwnedValue {
            /// The same value, borrowed.
            pub fn view(&self) -> ValueView<'_> {
                match self {
                    Self::Bool(value) => ValueView::Bool(*value),
                    $(Self::$kind(value) => ValueView::$kind(*value),)*
                    Self::Text(value) => ValueView::Text(value),
                    Self::Bytes(value) => ValueView::Bytes(value),
                }
            }
        }
    };
}

values! {
    /// Unsigned, 8 bits.
    U8(u8);
    /// Unsigned, 16 bits.
    U16(u16);
    /// Unsigned, 32 bits.
    U32(u32);
    /// Unsigned, 64 bits.
    U64(u64);
    /// Signed, 8 bits.
    I8(i8);
    /// Signed, 16 bits.
    I16(i16);
    /// Signed, 32 bits.
    I32(i32);
    /// Signed, 64 bits.
    I64(i64);
    /// Floating point, 32 bits.
    F32(f32);
    /// Floating point, 64 bits.
    F64(f64);
}

/// One value of a parameter, with its time and its quality.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// The index of its parameter in the table.
    pub index: u32,
    /// Source time, nanoseconds since 1970, UTC.
    pub time_ns: i64,
    /// How far it can be trusted.
    pub quality: Quality,
    /// The value.
    pub value: ValueView<'a>,
}
