//! What all groups remember together to tell what changed, and its bound.

use slipring_wire::frame::RangeSet;

use crate::table::Current;
use crate::table::columns::{self, is_text};

/// A range of what is remembered, and its place.
const RANGE_BYTES: usize = 16;
/// An entry of a hash map of texts, with what such a map leaves empty. The texts are counted elsewhere.
const TEXT_BYTES: usize = 40;

/// The bytes of groups that compare, without their texts.
#[derive(Debug)]
pub(super) struct Remembered {
    bytes: usize,
    pub bytes_max: usize,
    /// How often parameters found no room.
    pub uncompared: u64,
}

impl Remembered {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes: 0, bytes_max, uncompared: 0 }
    }

    pub fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.bytes_max.saturating_sub(self.bytes)
    }

    /// One group takes another number of bytes.
    pub fn recount(&mut self, before: usize, now: usize) {
        self.bytes = self.bytes - before + now;
    }
}

/// What a group takes that remembers what it sent of these.
pub(super) fn bytes_of(parameters: &RangeSet, current: &Current) -> usize {
    bytes_with(parameters, texts_in(parameters, current))
}

/// The same, where it is known how many of them are texts.
pub(super) fn bytes_with(parameters: &RangeSet, texts: usize) -> usize {
    columns::bytes_of(parameters.len()) + RANGE_BYTES * parameters.ranges() + TEXT_BYTES * texts
}

/// How many of these are texts now.
pub(super) fn texts_in(parameters: &RangeSet, current: &Current) -> usize {
    let kinds = &current.columns.kinds;
    let in_range = |range: std::ops::Range<u32>| {
        let kinds = kinds.get(range.start as usize..).unwrap_or_default();
        kinds.iter().take(range.len()).flatten().filter(|kind| is_text(**kind)).count()
    };
    parameters.iter().map(in_range).sum()
}
