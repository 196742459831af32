//! The fields of a record: numbers in as few bytes as they need, strings with their length in front.

/// Appends fields.
pub(super) trait Fields {
    /// Seven bits a byte, the lowest first.
    fn put_number(&mut self, number: u64);
    /// Small numbers of either sign take few bytes.
    fn put_signed(&mut self, number: i64);
    fn put_bytes(&mut self, bytes: &[u8]);
    fn put_text(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }
}

impl Fields for Vec<u8> {
    fn put_number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.push(number as u8);
    }

    fn put_signed(&mut self, number: i64) {
        let folded = (number << 1) ^ (number >> 63);
        self.put_number(u64::from_ne_bytes(folded.to_ne_bytes()));
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_number(bytes.len() as u64);
        self.extend_from_slice(bytes);
    }
}

/// What is wrong with a field.
pub(super) type What = &'static str;

/// The unread rest of some records. Never reads past its end, never allocates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub fn left(&self) -> usize {
        self.rest.len()
    }

    pub fn byte(&mut self) -> Result<u8, What> {
        let (first, rest) = self.rest.split_first().ok_or("a record is cut short")?;
        self.rest = rest;
        Ok(*first)
    }

    pub fn number(&mut self) -> Result<u64, What> {
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

    pub fn small(&mut self) -> Result<u32, What> {
        u32::try_from(self.number()?).map_err(|_| "a number does not fit into 32 bits")
    }

    pub fn signed(&mut self) -> Result<i64, What> {
        let number = self.number()?;
        let folded = i64::from_ne_bytes((number >> 1).to_ne_bytes());
        Ok(if number & 1 == 0 { folded } else { !folded })
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], What> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let split = self.rest.split_at_checked(length);
        let (bytes, rest) = split.ok_or("a field reaches past the end of the records")?;
        self.rest = rest;
        Ok(bytes)
    }

    pub fn text(&mut self) -> Result<&'a str, What> {
        std::str::from_utf8(self.bytes()?).map_err(|_| "a string is not valid UTF-8")
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
            out.put_number(number);
            out.put_signed(signed);
            out.put_bytes(&bytes);
            let mut cursor = Cursor::new(&out);
            prop_assert_eq!(cursor.number(), Ok(number));
            prop_assert_eq!(cursor.signed(), Ok(signed));
            prop_assert_eq!(cursor.bytes(), Ok(&bytes[..]));
            prop_assert_eq!(cursor.left(), 0);
        }
    }

    #[test]
    fn a_number_that_is_too_large_or_does_not_end_is_refused() {
        for bytes in [&[0xff; 10][..], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]] {
            assert!(Cursor::new(bytes).number().is_err());
        }
        assert!(Cursor::new(&[0x80]).number().is_err());
        assert!(Cursor::new(&[0x80, 0x80, 0x80, 0x80, 0x10]).small().is_err());
    }
}
