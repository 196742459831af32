//! Bits in Arrow's order, the lowest of a byte first: which rows have a value.

/// A list of bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BitList {
    bytes: Vec<u8>,
    length: usize,
}

impl BitList {
    /// So many bits of one value.
    pub fn filled(bit: bool, count: usize) -> Self {
        let mut bits = Self::default();
        bits.extend(bit, count);
        bits
    }

    /// Appends so many bits of one value.
    pub fn extend(&mut self, bit: bool, count: usize) {
        let end = self.length + count;
        if bit {
            let whole = self.length.next_multiple_of(8).min(end);
            self.bytes.resize(end.div_ceil(8), 0);
            (self.length..whole).for_each(|at| self.set(at));
            self.bytes[whole / 8..end / 8].fill(0xff);
            (whole.max(end / 8 * 8)..end).for_each(|at| self.set(at));
        } else {
            self.bytes.resize(end.div_ceil(8), 0);
        }
        self.length = end;
    }

    /// The bits at these positions.
    pub fn take(&self, positions: &[u32]) -> Self {
        let mut bytes = vec![0; positions.len().div_ceil(8)];
        for (at, position) in positions.iter().enumerate() {
            bytes[at / 8] |= u8::from(self.get(*position as usize)) << (at % 8);
        }
        Self { bytes, length: positions.len() }
    }

    pub fn get(&self, at: usize) -> bool {
        self.bytes[at / 8] >> (at % 8) & 1 == 1
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn set(&mut self, at: usize) {
        self.bytes[at / 8] |= 1 << (at % 8);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_what_was_appended(parts in prop::collection::vec((any::<bool>(), 0_usize..40), 0..20)) {
            let (mut bits, mut expected) = (BitList::default(), Vec::new());
            for (bit, count) in parts {
                bits.extend(bit, count);
                expected.extend(std::iter::repeat_n(bit, count));
            }
            let found: Vec<bool> = (0..bits.length).map(|at| bits.get(at)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn bits_are_taken_by_position() {
        let mut bits = BitList::filled(true, 9);
        bits.extend(false, 1);
        assert_eq!(bits.take(&[9, 8, 9, 0]).into_bytes(), [0b1010]);
    }
}
