//! A block of values of one kind: rows of the same parameters, as a caller hands them over. Pure.
//!
//! A block that is too large for one frame is divided, by rows and then by parameters.

use std::ops::Range;

use slipring_wire::frame::{FrameBuf, Kind, PushError, Qualities, check_grid};

/// A row of bits is divided at multiples of this, so that each part begins with a byte.
const BITS: usize = 8;

/// A value of every parameter at each of the times, row by row; all of a fixed width, or bits.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The kind of the values; neither text nor bytes.
    pub kind: Kind,
    /// The parameters, ascending.
    pub ranges: &'a [Range<u32>],
    /// The time of each row.
    pub times: &'a [i64],
    /// The qualities of all samples.
    pub qualities: Qualities<'a>,
    /// Little endian; truth values are bits, and each row begins with a byte.
    pub values: &'a [u8],
}

impl Block<'_> {
    pub(super) fn parameters(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }

    pub(super) fn samples(&self) -> usize {
        self.parameters().saturating_mul(self.times.len())
    }

    /// Bytes of the run that it becomes, at most.
    pub(super) fn bytes(&self) -> usize {
        let qualities = match self.qualities {
            Qualities::All(_) => 1,
            Qualities::Each(bytes) => bytes.len(),
        };
        64 + 10 * (self.ranges.len() + self.times.len()) + qualities + self.values.len()
    }

    pub(super) fn push_to(&self, frame: &mut FrameBuf) -> Result<(), PushError> {
        frame.push_grid(self.kind, self.ranges, self.times, self.qualities, self.values)
    }

    /// Refuses a block whose parts do not fit together; only a checked block can be divided.
    pub(super) fn check(&self) -> Result<(), PushError> {
        let Self { kind, ranges, times, qualities, values } = *self;
        let samples = check_grid(kind, ranges, times, qualities, values)?;
        if self.row_bytes().is_none() {
            return Err(PushError::Values { bytes: values.len(), samples, kind });
        }
        Ok(())
    }

    fn row_bytes(&self) -> Option<usize> {
        match self.kind {
            Kind::Bool => Some(self.parameters().div_ceil(BITS)),
            kind => kind.width().map(|width| width * self.parameters()),
        }
    }

    /// Calls `see` with its two halves, by rows or by parameters. Returns false if it is too small.
    pub(super) fn halves(&self, see: &mut dyn FnMut(Block<'_>)) -> bool {
        if self.times.len() > 1 {
            let rows = self.times.len() / 2;
            see(self.rows(0..rows));
            see(self.rows(rows..self.times.len()));
            return true;
        }
        let parameters = self.parameters();
        let middle = (parameters / 2).next_multiple_of(BITS);
        if middle == 0 || middle >= parameters {
            return false;
        }
        let (low, high) = divide(self.ranges, middle);
        see(self.part(&low, 0..middle));
        see(self.part(&high, middle..parameters));
        true
    }

    fn rows(&self, rows: Range<usize>) -> Self {
        let row_bytes = self.row_bytes().expect("checked before");
        let values = &self.values[rows.start * row_bytes..rows.end * row_bytes];
        let parameters = self.parameters();
        let qualities = self.qualities.part(rows.start * parameters..rows.end * parameters);
        Self { times: &self.times[rows], qualities, values, ..*self }
    }

    /// Some parameters of the only row.
    fn part<'b>(&'b self, ranges: &'b [Range<u32>], columns: Range<usize>) -> Block<'b> {
        let bytes = match self.kind.width() {
            Some(width) => columns.start * width..columns.end * width,
            None => columns.start / BITS..columns.end.div_ceil(BITS),
        };
        let (qualities, values) = (self.qualities.part(columns), &self.values[bytes]);
        Block { ranges, qualities, values, ..*self }
    }
}

/// The first so many indices of these ranges, and the others.
fn divide(ranges: &[Range<u32>], first: usize) -> (Vec<Range<u32>>, Vec<Range<u32>>) {
    let (mut low, mut high, mut left) = (Vec::new(), Vec::new(), first as u32);
    for range in ranges {
        let middle = range.start + left.min(range.end - range.start);
        left -= middle - range.start;
        low.extend(Some(range.start..middle).filter(|part| !part.is_empty()));
        high.extend(Some(middle..range.end).filter(|part| !part.is_empty()));
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use slipring_wire::frame::Quality;

    use super::*;

    /// Indices, times, values, and how many qualities.
    type Part = (Vec<u32>, Vec<i64>, Vec<u8>, usize);

    /// The parts a block is divided into.
    fn parts(block: Block<'_>, most: usize, seen: &mut Vec<Part>) {
        if block.samples() > most && block.halves(&mut |half| parts(half, most, seen)) {
            return;
        }
        block.check().unwrap();
        let indices = block.ranges.iter().cloned().flatten().collect();
        let Qualities::Each(qualities) = block.qualities else { panic!("each has its own") };
        seen.push((indices, block.times.to_vec(), block.values.to_vec(), qualities.len()));
    }

    #[test]
    fn a_block_is_divided_by_rows_and_then_by_parameters() {
        let values: Vec<u8> = (0..40).collect();
        let block = Block {
            kind: Kind::U8,
            ranges: &[3..8, 10..25],
            times: &[1, 2],
            qualities: Qualities::Each(&[0; 40]),
            values: &values,
        };
        let mut seen = Vec::new();
        parts(block, 16, &mut seen);
        let low: Vec<u32> = (3..8).chain(10..21).collect();
        let high: Vec<u32> = (21..25).collect();
        let expected = [
            (low.clone(), vec![1], values[..16].to_vec(), 16),
            (high.clone(), vec![1], values[16..20].to_vec(), 4),
            (low, vec![2], values[20..36].to_vec(), 16),
            (high, vec![2], values[36..].to_vec(), 4),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn bits_are_divided_where_a_byte_begins() {
        let block = Block {
            kind: Kind::Bool,
            ranges: std::slice::from_ref(&(0..20)),
            times: &[1],
            qualities: Qualities::Each(&[0; 20]),
            values: &[1, 2, 3],
        };
        let mut seen = Vec::new();
        parts(block, 8, &mut seen);
        let values: Vec<_> = seen.into_iter().map(|(_, _, values, _)| values).collect();
        assert_eq!(values, [vec![1], vec![2], vec![3]]);
    }

    #[test]
    fn a_block_whose_parts_do_not_belong_together_is_refused() {
        let all = Qualities::All(Quality::GOOD);
        let ranges = &[0..1, 5..6];
        let block =
            Block { kind: Kind::F64, ranges, times: &[1], qualities: all, values: &[0; 16] };
        assert_eq!(block.check(), Ok(()));
        assert!(Block { values: &[0; 8], ..block }.check().is_err());
        assert!(Block { times: &[], ..block }.check().is_err());
        let bits = Block { kind: Kind::Bool, times: &[1, 1], values: &[0b11, 0b100], ..block };
        assert!(bits.check().is_err(), "a bit of no parameter");
        assert!(Block { kind: Kind::Text, ..block }.check().is_err());
        assert!(Block { ranges: &[1..2, 0..1], ..block }.check().is_err());
        assert!(Block { times: &[2, 1], values: &[0; 32], ..block }.check().is_err());
        assert!(Block { qualities: Qualities::Each(&[0]), ..block }.check().is_err());
    }
}
