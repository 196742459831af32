//! A frame in the making.

use std::ops::Range;

use super::{Header, Kind, PushError, Qualities, RangeSet, RunView, Sample};

/// Gathers encoded runs, and becomes a frame.
#[derive(Debug, Default)]
pub struct FrameBuf {
    body: Vec<u8>,
    samples: usize,
}

impl FrameBuf {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing was pushed.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// The bytes of all runs so far, without a header.
    pub fn bytes(&self) -> usize {
        self.body.len()
    }

    /// How many samples were pushed.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Forgets what was pushed.
    pub fn clear(&mut self) {
        self.body.clear();
        self.samples = 0;
    }

    /// Copies a run as it is.
    pub fn push_run(&mut self, _run: &RunView<'_>) {
        unimplemented!()
    }

    /// Copies the samples of those parameters that are chosen.
    pub fn push_part(&mut self, _run: &RunView<'_>, _chosen: &RangeSet) {
        unimplemented!()
    }

    /// Each parameter of the ranges once, all at the same time.
    ///
    /// Values lie as [`RunView::values`] has them: little endian, bits for `Bool`.
    pub fn push_row(
        &mut self,
        kind: Kind,
        ranges: &[Range<u32>],
        time_ns: i64,
        quality: Qualities<'_>,
        values: &[u8],
    ) -> Result<(), PushError> {
        self.push_grid(kind, ranges, &[time_ns], quality, values)
    }

    /// Each parameter of the ranges at each time, row by row.
    pub fn push_grid(
        &mut self,
        _kind: Kind,
        _ranges: &[Range<u32>],
        _times: &[i64],
        _quality: Qualities<'_>,
        _values: &[u8],
    ) -> Result<(), PushError> {
        unimplemented!()
    }

    /// Any samples of one kind. They are sorted by index, and those of one parameter keep their
    /// order; they become the smallest runs that hold them.
    pub fn push_samples(
        &mut self,
        _kind: Kind,
        _samples: &mut [Sample<'_>],
    ) -> Result<(), PushError> {
        unimplemented!()
    }

    /// Appends the frame to `out`, and is empty again. A body that deflate does not make smaller
    /// goes as it is.
    pub fn finish(&mut self, _header: &Header, _deflate: bool, _out: &mut Vec<u8>) {
        unimplemented!()
    }
}
