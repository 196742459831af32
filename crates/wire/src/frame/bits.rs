//! Booleans as bits, eight in a byte, the lowest first.

/// Iterates over the bits of bytes that were checked.
#[derive(Clone, Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    positions: std::ops::Range<usize>,
}

impl<'a> Bits<'a> {
    pub fn new(bytes: &'a [u8], count: usize) -> Self {
        Self { bytes, positions: 0..count }
    }
}

impl Iterator for Bits<'_> {
    type Item = bool;

    #[inline]
    fn next(&mut self) -> Option<bool> {
        let position = self.positions.next()?;
        Some(self.bytes[position / 8] >> (position % 8) & 1 == 1)
    }
}

/// Appends bits to bytes.
pub(super) struct BitSink<'a> {
    out: &'a mut Vec<u8>,
    pending: u16,
    filled: u32,
}

impl<'a> BitSink<'a> {
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, pending: 0, filled: 0 }
    }

    pub fn push(&mut self, bit: bool) {
        self.push_few(u8::from(bit), 1);
    }

    /// Appends the lowest bits of a byte; the others must be zero.
    fn push_few(&mut self, bits: u8, count: u32) {
        self.pending |= u16::from(bits) << self.filled;
        self.filled += count;
        if self.filled >= 8 {
            self.out.push(self.pending as u8);
            self.pending >>= 8;
            self.filled -= 8;
        }
    }

    /// Appends a range of bits of other bytes.
    pub fn copy(&mut self, from: &[u8], positions: std::ops::Range<usize>) {
        let mut position = positions.start;
        while position < positions.end {
            let count = (positions.end - position).min(8) as u32;
            self.push_few(few(from, position) & (0xff >> (8 - count)), count);
            position += count as usize;
        }
    }

    /// The next bit goes into a new byte.
    pub fn end_byte(&mut self) {
        if self.filled > 0 {
            self.out.push(self.pending as u8);
        }
        (self.pending, self.filled) = (0, 0);
    }
}

/// The eight bits from this bit on; past the last byte they are zero.
fn few(bytes: &[u8], position: usize) -> u8 {
    let low = bytes.get(position / 8).copied().unwrap_or(0);
    let high = bytes.get(position / 8 + 1).copied().unwrap_or(0);
    (u16::from_le_bytes([low, high]) >> (position % 8)) as u8
}

/// Whether the bits after the first `count` are zero.
pub(super) fn spare_are_zero(bytes: &[u8], count: usize) -> bool {
    count % 8 == 0 || bytes.last().is_none_or(|last| last >> (count % 8) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_bits_are_the_bits_from_any_place_to_any_place() {
        let from = [0b1011_0010, 0b0111_0101, 0b1100_1010];
        let all: Vec<bool> = Bits::new(&from, 24).collect();
        for start in 0..24 {
            for end in start..=24 {
                let mut out = Vec::new();
                let mut sink = BitSink::new(&mut out);
                sink.push(true);
                sink.copy(&from, start..end);
                sink.end_byte();
                let copied: Vec<bool> = Bits::new(&out, end - start + 1).skip(1).collect();
                assert_eq!(copied, all[start..end]);
                assert!(spare_are_zero(&out, end - start + 1));
            }
        }
    }
}
