//! Values of any kind, and samples: a value with its parameter, time and quality.

use super::{Kind, Quality};

/// A value as it lies in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueView<'a> {
    /// True or false.
    Bool(bool),
    /// Unsigned, 8 bits.
    U8(u8),
    /// Unsigned, 16 bits.
    U16(u16),
    /// Unsigned, 32 bits.
    U32(u32),
    /// Unsigned, 64 bits.
    U64(u64),
    /// Signed, 8 bits.
    I8(i8),
    /// Signed, 16 bits.
    I16(i16),
    /// Signed, 32 bits.
    I32(i32),
    /// Signed, 64 bits.
    I64(i64),
    /// Floating point, 32 bits.
    F32(f32),
    /// Floating point, 64 bits.
    F64(f64),
    /// UTF-8 text.
    Text(&'a str),
    /// Any bytes.
    Bytes(&'a [u8]),
}

impl ValueView<'_> {
    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bool(_) => Kind::Bool,
            Self::U8(_) => Kind::U8,
            Self::U16(_) => Kind::U16,
            Self::U32(_) => Kind::U32,
            Self::U64(_) => Kind::U64,
            Self::I8(_) => Kind::I8,
            Self::I16(_) => Kind::I16,
            Self::I32(_) => Kind::I32,
            Self::I64(_) => Kind::I64,
            Self::F32(_) => Kind::F32,
            Self::F64(_) => Kind::F64,
            Self::Text(_) => Kind::Text,
            Self::Bytes(_) => Kind::Bytes,
        }
    }

    /// The same value, on its own.
    pub fn to_owned(&self) -> OwnedValue {
        match *self {
            Self::Bool(value) => OwnedValue::Bool(value),
            Self::U8(value) => OwnedValue::U8(value),
            Self::U16(value) => OwnedValue::U16(value),
            Self::U32(value) => OwnedValue::U32(value),
            Self::U64(value) => OwnedValue::U64(value),
            Self::I8(value) => OwnedValue::I8(value),
            Self::I16(value) => OwnedValue::I16(value),
            Self::I32(value) => OwnedValue::I32(value),
            Self::I64(value) => OwnedValue::I64(value),
            Self::F32(value) => OwnedValue::F32(value),
            Self::F64(value) => OwnedValue::F64(value),
            Self::Text(value) => OwnedValue::Text(value.to_owned()),
            Self::Bytes(value) => OwnedValue::Bytes(value.to_owned()),
        }
    }

    /// It as a number, the nearest there is; none for text and bytes, 0 or 1 for true or false.
    #[expect(clippy::cast_precision_loss, reason = "the nearest number is what is asked for")]
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::Bool(value) => Some(f64::from(u8::from(value))),
            Self::U8(value) => Some(f64::from(value)),
            Self::U16(value) => Some(f64::from(value)),
            Self::U32(value) => Some(f64::from(value)),
            Self::U64(value) => Some(value as f64),
            Self::I8(value) => Some(f64::from(value)),
            Self::I16(value) => Some(f64::from(value)),
            Self::I32(value) => Some(f64::from(value)),
            Self::I64(value) => Some(value as f64),
            Self::F32(value) => Some(f64::from(value)),
            Self::F64(value) => Some(value),
            Self::Text(_) | Self::Bytes(_) => None,
        }
    }
}

/// A value on its own.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedValue {
    /// True or false.
    Bool(bool),
    /// Unsigned, 8 bits.
    U8(u8),
    /// Unsigned, 16 bits.
    U16(u16),
    /// Unsigned, 32 bits.
    U32(u32),
    /// Unsigned, 64 bits.
    U64(u64),
    /// Signed, 8 bits.
    I8(i8),
    /// Signed, 16 bits.
    I16(i16),
    /// Signed, 32 bits.
    I32(i32),
    /// Signed, 64 bits.
    I64(i64),
    /// Floating point, 32 bits.
    F32(f32),
    /// Floating point, 64 bits.
    F64(f64),
    /// UTF-8 text.
    Text(String),
    /// Any bytes.
    Bytes(Vec<u8>),
}

impl OwnedValue {
    /// The same value, borrowed.
    pub fn view(&self) -> ValueView<'_> {
        match self {
            Self::Bool(value) => ValueView::Bool(*value),
            Self::U8(value) => ValueView::U8(*value),
            Self::U16(value) => ValueView::U16(*value),
            Self::U32(value) => ValueView::U32(*value),
            Self::U64(value) => ValueView::U64(*value),
            Self::I8(value) => ValueView::I8(*value),
            Self::I16(value) => ValueView::I16(*value),
            Self::I32(value) => ValueView::I32(*value),
            Self::I64(value) => ValueView::I64(*value),
            Self::F32(value) => ValueView::F32(*value),
            Self::F64(value) => ValueView::F64(*value),
            Self::Text(value) => ValueView::Text(value),
            Self::Bytes(value) => ValueView::Bytes(value),
        }
    }
}

/// One value of a parameter, with when it was measured and how far it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// Which parameter of the table.
    pub index: u32,
    /// Source time, nanoseconds since 1970, UTC.
    pub time_ns: i64,
    /// How far it can be trusted.
    pub quality: Quality,
    /// The value.
    pub value: ValueView<'a>,
}
