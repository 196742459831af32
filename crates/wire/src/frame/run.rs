//! One run of a frame: samples of one kind.

use std::ops::Range;

use super::{Kind, Quality, Sample};

/// How a run's samples lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Layout {
    /// Each parameter once, all at the same time.
    One = 0,
    /// Every parameter at each of several times.
    Grid = 1,
    /// Each parameter as often as it likes, at its own times.
    Ragged = 2,
}

/// The qualities of a run's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qualities<'a> {
    /// The same for all.
    All(Quality),
    /// A byte for each sample, in their order.
    Each(&'a [u8]),
}

impl Qualities<'_> {
    /// The quality of the sample at this place of the run.
    #[inline]
    pub fn get(&self, sample: usize) -> Quality {
        match self {
            Self::All(quality) => *quality,
            Self::Each(bytes) => Quality(bytes[sample]),
        }
    }
}

/// One run of a decoded frame.
#[derive(Clone, Copy, Debug)]
pub struct RunView<'a> {
    /// What its values are.
    pub kind: Kind,
    /// How its samples lie.
    pub layout: Layout,
    /// The time that its other times count from.
    pub time_ns: i64,
    /// How many parameters it has.
    pub parameters: usize,
    bytes: &'a [u8],
}

/// The ranges of a run's parameters, ascending.
#[derive(Clone, Debug)]
pub struct RunRanges<'a> {
    bytes: &'a [u8],
}

impl Iterator for RunRanges<'_> {
    type Item = Range<u32>;

    fn next(&mut self) -> Option<Self::Item> {
        unimplemented!("{:?}", self.bytes)
    }
}

impl<'a> RunView<'a> {
    /// The whole run as it is in the frame.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Which parameters it has, ascending.
    pub fn ranges(&self) -> RunRanges<'a> {
        unimplemented!()
    }

    /// The indices of its parameters, ascending.
    pub fn indices(&self) -> impl Iterator<Item = u32> + Clone + use<'a> {
        self.ranges().flatten()
    }

    /// How many samples it has.
    pub fn samples(&self) -> usize {
        unimplemented!()
    }

    /// How many times a grid has; one for the layout one, none for ragged.
    pub fn rows(&self) -> Option<usize> {
        unimplemented!()
    }

    /// One: its time; grid: the time of each row; ragged: the time of each sample.
    pub fn times(&self) -> impl Iterator<Item = i64> + Clone + use<'a> {
        std::iter::empty()
    }

    /// Ragged: how many samples each parameter has. Otherwise nothing.
    pub fn counts(&self) -> impl Iterator<Item = u32> + Clone + use<'a> {
        std::iter::empty()
    }

    /// Its values as they lie: fixed widths, bits, or for text and bytes the lengths and then all
    /// bytes.
    pub fn values(&self) -> &'a [u8] {
        unimplemented!()
    }

    /// The items of a run of text or bytes, in the order of its samples. Otherwise nothing.
    pub fn items(&self) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        std::iter::empty()
    }

    /// The qualities of its samples.
    pub fn qualities(&self) -> Qualities<'a> {
        unimplemented!()
    }

    /// Its newest time.
    pub fn newest_ns(&self) -> i64 {
        unimplemented!()
    }

    /// Its oldest time.
    pub fn oldest_ns(&self) -> i64 {
        unimplemented!()
    }

    /// Shows every sample, in their order: a grid row by row, otherwise parameter by parameter.
    pub fn visit(&self, _see: impl FnMut(Sample<'a>)) {
        unimplemented!()
    }

    /// Shows the last sample of each parameter.
    pub fn visit_newest(&self, _see: impl FnMut(Sample<'a>)) {
        unimplemented!()
    }
}
