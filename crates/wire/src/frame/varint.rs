//! Numbers of variable length: seven bits in a byte, the lowest first, bit 7 set in all but the last byte.
//! Only the shortest form is valid. Signed numbers are folded: 0, -1, 1, -2 become 0, 1, 2, 3.

/// Appends a number.
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed number.
#[expect(clippy::cast_sign_loss, reason = "the bits are folded")]
pub(super) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// The signed number that was folded into this one.
#[expect(clippy::cast_possible_wrap, reason = "the bits are folded")]
#[inline]
pub(super) fn unfold(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads a number from unchecked bytes. Returns it and its length in bytes.
#[inline]
pub(super) fn read(bytes: &[u8]) -> Result<(u64, usize), Unreadable> {
    match bytes {
        [only @ 0..0x80, ..] => Ok((u64::from(*only), 1)),
        _ => read_long(bytes),
    }
}

fn read_long(bytes: &[u8]) -> Result<(u64, usize), Unreadable> {
    let mut value = 0;
    for (position, &byte) in bytes.iter().enumerate().take(10) {
        if position == 9 && byte > 1 {
            return Err(Unreadable::Wrong);
        }
        value |= u64::from(byte & 0x7f) << (7 * position);
        if byte < 0x80 {
            let shortest = byte > 0 || position == 0;
            return if shortest { Ok((value, position + 1)) } else { Err(Unreadable::Wrong) };
        }
    }
    Err(if bytes.len() < 10 { Unreadable::Cut } else { Unreadable::Wrong })
}

/// Why a number cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// The bytes end inside it.
    Cut,
    /// It is too large, or not in the shortest form.
    Wrong,
}

/// Iterates over the numbers in bytes that were checked.
#[derive(Clone, Debug)]
pub(super) struct Varints<'a> {
    rest: &'a [u8],
}

impl<'a> Varints<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl Iterator for Varints<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        let mut value = u64::from(first & 0x7f);
        let (mut byte, mut shift) = (first, 7);
        while byte >= 0x80 {
            let (&next, rest) = self.rest.split_first()?;
            self.rest = rest;
            byte = next;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        Some(value)
    }
}

/// Iterates over times that are stored as differences. Differences wrap, so that any two times have one.
#[derive(Clone, Debug)]
pub(super) struct Times<'a> {
    deltas: Varints<'a>,
    time_ns: i64,
}

impl<'a> Times<'a> {
    pub fn new(base_ns: i64, deltas: &'a [u8]) -> Self {
        Self { deltas: Varints::new(deltas), time_ns: base_ns }
    }
}

impl Iterator for Times<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        self.time_ns = self.time_ns.wrapping_add(unfold(self.deltas.next()?));
        Some(self.time_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, value);
        out
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for value in [0, 1, 127, 128, 300, 1 << 14, u64::from(u32::MAX), 1 << 63, u64::MAX] {
            let bytes = written(value);
            assert_eq!(read(&bytes), Ok((value, bytes.len())));
            assert_eq!(Varints::new(&bytes).collect::<Vec<_>>(), [value]);
        }
    }

    #[test]
    fn signed_numbers_are_read_as_they_were_written() {
        for value in [0, -1, 1, -64, 64, i64::MIN, i64::MAX] {
            let mut out = Vec::new();
            put_signed(&mut out, value);
            assert_eq!(Varints::new(&out).map(unfold).collect::<Vec<_>>(), [value]);
        }
    }

    #[test]
    fn a_cut_number_is_cut_and_a_long_one_is_wrong() {
        assert_eq!(read(&[]), Err(Unreadable::Cut));
        assert_eq!(read(&[0x80; 9]), Err(Unreadable::Cut));
        assert_eq!(read(&[0x80; 10]), Err(Unreadable::Wrong));
        assert_eq!(read(&[0x80, 0]), Err(Unreadable::Wrong));
        let past_64_bits = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert_eq!(read(&past_64_bits), Err(Unreadable::Wrong));
    }
}
