//! The fields of a record: numbers take as few bytes as they need; text and bytes follow their length.

use std::borrow::Cow;

use slipring_wire::frame::RangeSet;

use crate::requests::RequestKey;
use crate::{Offset, ParameterIndex, SessionKey, StreamIndex};

/// Appends a number: seven bits a byte, the lowest first.
pub(super) fn put_number(out: &mut Vec<u8>, number: impl Into<u64>) {
    let mut number = number.into();
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// What is wrong with a field.
pub(super) type What = &'static str;

/// The unread rest of some records. Never reads past its end, never allocates.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordCursor<'a> {
    rest: &'a [u8],
}

impl<'a> RecordCursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn byte(&mut self) -> Result<u8, What> {
        let (first, rest) = self.rest.split_first().ok_or("a record is cut short")?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn number(&mut self) -> Result<u64, What> {
        let mut number = 0u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err("a number does not fit into 64 bits");
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number does not end")
    }

    pub(super) fn small(&mut self) -> Result<u32, What> {
        small(self.number()?)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], What> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let split = self.rest.split_at_checked(length);
        let (bytes, rest) = split.ok_or("a field reaches past the end of the records")?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, What> {
        std::str::from_utf8(self.bytes()?).map_err(|_| "a string is not valid UTF-8")
    }
}

/// A field behind the head of a record.
pub(super) trait RecordField<'a>: Sized {
    /// The flag of a record in which this field is optional and present.
    const SOME: u8 = 0x20;

    /// Its flags in the record's first byte. No two fields of one record use the same flag.
    fn flags(&self) -> u8 {
        0
    }

    fn put(&self, out: &mut Vec<u8>);

    /// Reads the field of a record with these flags.
    fn read(flags: u8, cursor: &mut RecordCursor<'a>) -> Result<Self, What>;
}

/// A field that is a number; the head of a record has one, too.
pub(super) trait NumberField: Sized {
    fn from_number(number: u64) -> Result<Self, What>;
}

macro_rules! number_fields {
    ($($type:ty = $from_number:expr,)*) => {
        $(
            impl NumberField for $type {
                fn from_number(number: u64) -> Result<Self, What> {
                    $from_number(number)
                }
            }

            impl RecordField<'_> for $type {
                fn put(&self, out: &mut Vec<u8>) {
                    put_number(out, *self);
                }

                fn read(_: u8, cursor: &mut RecordCursor<'_>) -> Result<Self, What> {
                    Self::from_number(cursor.number()?)
                }
            }
        )*
    };
}

number_fields! {
    u64 = Ok,
    u32 = small,
    SessionKey = |number| Ok(Self::new(number)),
    Offset = |number| Ok(Self::new(number)),
    RequestKey = |number| Ok(Self::new(number)),
    ParameterIndex = |number| small(number).map(Self::new),
    StreamIndex = |number| small(number).map(Self::new),
}

fn small(number: u64) -> Result<u32, What> {
    u32::try_from(number).map_err(|_| "a number does not fit into 32 bits")
}

/// Small numbers of either sign take few bytes.
impl RecordField<'_> for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        let folded = (self << 1) ^ (self >> 63);
        put_number(out, u64::from_ne_bytes(folded.to_ne_bytes()));
    }

    fn read(_: u8, cursor: &mut RecordCursor<'_>) -> Result<Self, What> {
        let number = cursor.number()?;
        let folded = Self::from_ne_bytes((number >> 1).to_ne_bytes());
        Ok(if number & 1 == 0 { folded } else { !folded })
    }
}

impl<'a> RecordField<'a> for &'a [u8] {
    fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.len() as u64);
        out.extend_from_slice(self);
    }

    fn read(_: u8, cursor: &mut RecordCursor<'a>) -> Result<Self, What> {
        cursor.bytes()
    }
}

impl<'a> RecordField<'a> for &'a str {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_bytes().put(out);
    }

    fn read(_: u8, cursor: &mut RecordCursor<'a>) -> Result<Self, What> {
        cursor.text()
    }
}

/// The number of ranges, then for each its distance from the end of the previous one, and its length minus 1.
impl<'a> RecordField<'a> for Cow<'a, RangeSet> {
    fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.ranges() as u64);
        let mut end = 0;
        for range in self.iter() {
            put_number(out, range.start - end);
            put_number(out, range.end - range.start - 1);
            end = range.end;
        }
    }

    fn read(_: u8, cursor: &mut RecordCursor<'a>) -> Result<Self, What> {
        let (count, mut end) = (cursor.number()?, 0u32);
        let mut list = RangeSet::new();
        for number in 0..count {
            let (gap, more) = (cursor.small()?, cursor.small()?);
            if gap == 0 && number > 0 {
                return Err("two ranges of a list touch");
            }
            let start = end.checked_add(gap);
            let after = start.and_then(|start| start.checked_add(more)?.checked_add(1));
            let (Some(start), Some(after)) = (start, after) else {
                return Err("an index of a list does not fit into 32 bits");
            };
            list.insert(start..after);
            end = after;
        }
        Ok(Cow::Owned(list))
    }
}

/// A field that may be absent, which a flag says.
impl<'a, Field: RecordField<'a>> RecordField<'a> for Option<Field> {
    fn flags(&self) -> u8 {
        if self.is_some() { Field::SOME } else { 0 }
    }

    fn put(&self, out: &mut Vec<u8>) {
        if let Some(field) = self {
            field.put(out);
        }
    }

    fn read(flags: u8, cursor: &mut RecordCursor<'a>) -> Result<Self, What> {
        (flags & Field::SOME != 0).then(|| Field::read(flags, cursor)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_field_is_read_back_as_it_was_written(
            number: u64, signed: i64, bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut out = Vec::new();
            number.put(&mut out);
            signed.put(&mut out);
            bytes.as_slice().put(&mut out);
            let mut cursor = RecordCursor::new(&out);
            prop_assert_eq!(cursor.number(), Ok(number));
            prop_assert_eq!(i64::read(0, &mut cursor), Ok(signed));
            prop_assert_eq!(cursor.bytes(), Ok(&bytes[..]));
            prop_assert_eq!(cursor.left(), 0);
        }
    }

    #[test]
    fn a_number_that_is_too_large_or_does_not_end_is_refused() {
        for bytes in [&[0xff; 10][..], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]] {
            assert!(RecordCursor::new(bytes).number().is_err());
        }
        assert!(RecordCursor::new(&[0x80]).number().is_err());
        assert!(RecordCursor::new(&[0x80, 0x80, 0x80, 0x80, 0x10]).small().is_err());
    }
}
