//! A frame as it was received.

use super::{Bounds, FrameError, Header, RunView};

/// A decoded frame: everything in it has been checked.
#[derive(Clone, Debug)]
pub struct FrameView<'a> {
    /// What stands before the runs.
    pub header: Header,
    runs: Vec<RunView<'a>>,
    samples: usize,
}

impl<'a> FrameView<'a> {
    /// Checks all of a frame. A deflated body is inflated into `scratch`.
    pub fn decode(
        _bytes: &'a [u8],
        _scratch: &'a mut Vec<u8>,
        _bounds: &Bounds,
    ) -> Result<Self, FrameError> {
        unimplemented!()
    }

    /// Its runs, in their order.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = RunView<'a>> + '_ {
        self.runs.iter().copied()
    }

    /// How many samples it has.
    pub fn samples(&self) -> usize {
        self.samples
    }
}
