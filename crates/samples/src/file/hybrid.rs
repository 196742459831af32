//! Parquet's mix of repeated and bit-packed small numbers: definition levels, and places in a dictionary.

use super::thrift::varint;

/// How many bits numbers below `count` take; at least one.
pub(super) fn width_below(count: usize) -> u8 {
    (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1) as u8
}

/// Encodes numbers of so many bits. What repeats takes a step for each run.
pub(super) struct HybridEncoder {
    width: u8,
    out: Vec<u8>,
    /// Numbers to be packed; they are written in groups of eight.
    packed: Vec<u32>,
    /// The last number, and how often it came.
    run: (u32, usize),
}

impl HybridEncoder {
    pub fn new(width: u8) -> Self {
        Self { width, out: Vec::new(), packed: Vec::new(), run: (0, 0) }
    }

    /// The same number so many times.
    pub fn push(&mut self, value: u32, count: usize) {
        if self.run.0 == value {
            self.run.1 += count;
        } else {
            self.end_run();
            self.run = (value, count);
        }
    }

    /// All of it. A last group is filled up with zeros.
    pub fn finish(mut self) -> Vec<u8> {
        self.end_run();
        self.write_packed();
        self.out
    }

    fn end_run(&mut self) {
        let (value, count) = self.run;
        let missing = self.packed.len().next_multiple_of(8) - self.packed.len();
        if count < missing + 8 {
            self.packed.extend(std::iter::repeat_n(value, count));
            return;
        }
        self.packed.extend(std::iter::repeat_n(value, missing));
        self.write_packed();
        varint(&mut self.out, ((count - missing) as u64) << 1);
        self.out.extend_from_slice(&value.to_le_bytes()[..usize::from(self.width.div_ceil(8))]);
    }

    fn write_packed(&mut self) {
        if self.packed.is_empty() {
            return;
        }
        self.packed.resize(self.packed.len().next_multiple_of(8), 0);
        varint(&mut self.out, (self.packed.len() as u64 / 8) << 1 | 1);
        let (mut bits, mut held) = (0_u64, 0_u8);
        for value in self.packed.drain(..) {
            bits |= u64::from(value) << held;
            held += self.width;
            while held >= 8 {
                self.out.push(bits as u8);
                bits >>= 8;
                held -= 8;
            }
        }
    }
}

/// The beginning of numbers that are packed in whole bytes: these follow, filled up to `next_multiple_of(8)` numbers.
pub(super) fn packed_header(out: &mut Vec<u8>, count: usize) {
    varint(out, (count.div_ceil(8) as u64) << 1 | 1);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    }

    /// Decodes bit by bit.
    fn decode(mut bytes: &[u8], width: u8) -> Vec<u32> {
        let (mut found, width) = (Vec::new(), usize::from(width));
        while !bytes.is_empty() {
            let header = read_varint(&mut bytes);
            let count = (header >> 1) as usize;
            let taken = if header & 1 == 1 { count * width } else { width.div_ceil(8) };
            let (body, rest) = bytes.split_at(taken);
            bytes = rest;
            let bit = |at: usize| u32::from(body[at / 8] >> (at % 8) & 1);
            let value = |at: usize| (0..width).map(|one| bit(at * width + one) << one).sum::<u32>();
            if header & 1 == 1 {
                found.extend((0..count * 8).map(value));
            } else {
                found.extend(std::iter::repeat_n(value(0), count));
            }
        }
        found
    }

    proptest! {
        #[test]
        fn numbers_are_what_was_encoded(
            width in 1_u8..=20,
            runs in prop::collection::vec((any::<u32>(), prop_oneof![0_usize..4, 0_usize..40]), 0..40)
        ) {
            let (mut encoder, mut expected) = (HybridEncoder::new(width), Vec::new());
            for (value, count) in runs {
                let value = value & ((1 << width) - 1);
                encoder.push(value, count);
                expected.extend(std::iter::repeat_n(value, count));
            }
            let found = decode(&encoder.finish(), width);
            prop_assert!(found.len() >= expected.len() && found.len() < expected.len() + 8);
            prop_assert_eq!(&found[..expected.len()], &expected[..]);
        }
    }

    #[test]
    fn a_constant_takes_a_few_bytes() {
        let mut encoder = HybridEncoder::new(1);
        encoder.push(1, 1_000_000);
        assert_eq!(encoder.finish().len(), 4);
    }

    #[test]
    fn the_width_is_that_of_the_highest_number() {
        assert_eq!([0, 1, 2, 3, 256, 257].map(width_below), [1, 1, 1, 2, 8, 9]);
    }
}
