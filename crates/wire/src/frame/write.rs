//! Writes the parts of a run one after the other.

use std::ops::Range;

use super::check::RUN_HEAD;
use super::run::{Layout, Qualities};
use super::{Kind, PushError, Quality, varint};

/// A run that is being written at the end of the body.
pub(super) struct RunWriter<'b> {
    pub out: &'b mut Vec<u8>,
    start: usize,
}

/// The fields of a run's header, except for those that are counted while its ranges are written.
#[derive(Clone, Copy)]
pub(super) struct RunHead<'a> {
    pub kind: Kind,
    pub layout: Layout,
    pub time_ns: i64,
    pub qualities: Qualities<'a>,
}

impl<'b> RunWriter<'b> {
    /// Writes the header and the ranges. Ranges ascend, and those that touch are joined.
    pub fn begin(
        out: &'b mut Vec<u8>,
        head: &RunHead<'_>,
        ranges: impl Iterator<Item = Range<u32>>,
    ) -> Self {
        let start = out.len();
        out.extend_from_slice(&[head.kind.code(), head.layout as u8, form(head.qualities), 0]);
        out.extend_from_slice(&[0; 12]);
        out.extend_from_slice(&head.time_ns.to_le_bytes());
        debug_assert_eq!(out.len() - start, RUN_HEAD);
        let mut writer = Self { out, start };
        let (parameters, count) = writer.ranges(ranges);
        writer.patch(8, parameters);
        writer.patch(12, count);
        writer
    }

    fn patch(&mut self, at: usize, number: u32) {
        let at = self.start + at;
        self.out[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }

    /// Writes the ranges. Returns how many parameters and ranges there are.
    fn ranges(&mut self, ranges: impl Iterator<Item = Range<u32>>) -> (u32, u32) {
        let (mut parameters, mut count, mut end) = (0, 0, 0);
        let mut ranges = ranges.peekable();
        while let Some(mut range) = ranges.next() {
            while let Some(next) = ranges.next_if(|next| next.start == range.end) {
                range.end = next.end;
            }
            varint::put(self.out, u64::from(range.start - end));
            varint::put(self.out, u64::from(range.end - range.start - 1));
            parameters += range.end - range.start;
            count += 1;
            end = range.end;
        }
        (parameters, count)
    }

    /// Writes each time as its difference to the one before.
    pub fn times(&mut self, base_ns: i64, times: impl Iterator<Item = i64>) {
        let mut last_ns = base_ns;
        for time_ns in times {
            varint::put_signed(self.out, time_ns.wrapping_sub(last_ns));
            last_ns = time_ns;
        }
    }

    /// Writes the qualities of the samples in these ranges.
    pub fn qualities(
        &mut self,
        qualities: Qualities<'_>,
        spans: impl Iterator<Item = Range<usize>>,
    ) {
        match qualities {
            Qualities::All(Quality::GOOD) => {}
            Qualities::All(quality) => self.out.push(quality.0),
            Qualities::Each(bytes) => {
                spans.for_each(|span| self.out.extend_from_slice(&bytes[span]));
            }
        }
        self.pad();
    }

    /// Pads to a multiple of 8.
    fn pad(&mut self) {
        let length = (self.out.len() - self.start).next_multiple_of(8);
        self.out.resize(self.start + length, 0);
    }

    /// Writes the length. Removes a run that is too large.
    pub fn end(mut self) -> Result<(), PushError> {
        self.pad();
        if let Ok(length) = u32::try_from(self.out.len() - self.start) {
            self.patch(4, length);
            Ok(())
        } else {
            self.out.truncate(self.start);
            Err(PushError::TooLarge)
        }
    }
}

/// The code for how a run stores its qualities.
fn form(qualities: Qualities<'_>) -> u8 {
    match qualities {
        Qualities::All(Quality::GOOD) => 0,
        Qualities::All(_) => 1,
        Qualities::Each(_) => 2,
    }
}
