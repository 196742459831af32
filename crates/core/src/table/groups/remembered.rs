//! The memory that all groups together use to remember what they sent last, and its limit.

use slipring_wire::frame::RangeSet;

use crate::table::Current;
use crate::table::columns::{self, is_text};

/// One range of remembered parameters with the position of its first value.
const RANGE_BYTES: usize = 16;
/// An entry in the hash map of texts, with the map's spare capacity. The texts themselves are counted elsewhere.
const TEXT_BYTES: usize = 40;

/// The sum over all groups that compare samples with what they sent last, without texts.
#[derive(Debug)]
pub(super) struct RememberedBytes {
    bytes: usize,
    pub bytes_max: usize,
    /// How often a choice of parameters did not fit within the limit.
    pub uncompared: u64,
}

impl RememberedBytes {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes: 0, bytes_max, uncompared: 0 }
    }

    pub fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.bytes_max.saturating_sub(self.bytes)
    }

    /// A group that used `before` bytes uses `now` bytes.
    pub fn recount(&mut self, before: usize, now: usize) {
        self.bytes = self.bytes - before + now;
    }
}

/// The bytes a group uses to remember the last values of these parameters.
pub(super) fn bytes_of(parameters: &RangeSet, current: &Current) -> usize {
    bytes_with(parameters, texts_in(parameters, current))
}

/// The same, for a known number of text parameters.
pub(super) fn bytes_with(parameters: &RangeSet, texts: usize) -> usize {
    columns::bytes_of(parameters.len()) + RANGE_BYTES * parameters.ranges() + TEXT_BYTES * texts
}

/// How many of these parameters have text or bytes values now.
pub(super) fn texts_in(parameters: &RangeSet, current: &Current) -> usize {
    let kinds = &current.columns.kinds;
    let in_range = |range: std::ops::Range<u32>| {
        let kinds = kinds.get(range.start as usize..).unwrap_or_default();
        kinds.iter().take(range.len()).flatten().filter(|kind| is_text(**kind)).count()
    };
    parameters.iter().map(in_range).sum()
}
