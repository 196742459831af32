//! One run of a frame: samples of one kind.

use std::ops::Range;

use super::varint::{Times, Varints};
use super::{Kind, Quality};

/// How a run arranges its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Layout {
    /// Each parameter once, all at the same time.
    One = 0,
    /// Every parameter at each of several times.
    Grid = 1,
    /// Each parameter with its own number of samples, at its own times.
    Ragged = 2,
}

impl Layout {
    /// The layout with this code on the wire.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Self::One, Self::Grid, Self::Ragged].get(usize::from(code)).copied()
    }
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
    /// The quality of the sample with this number in the run.
    #[inline]
    pub fn get(&self, sample: usize) -> Quality {
        match self {
            Self::All(quality) => *quality,
            Self::Each(bytes) => Quality(bytes[sample]),
        }
    }

    /// The qualities of some samples.
    #[must_use]
    pub fn part(self, samples: Range<usize>) -> Self {
        match self {
            Self::All(quality) => Self::All(quality),
            Self::Each(bytes) => Self::Each(&bytes[samples]),
        }
    }
}

/// One run of a decoded frame.
#[derive(Clone, Copy, Debug)]
pub struct RunView<'a> {
    /// The kind of its values.
    pub kind: Kind,
    /// How it arranges its samples.
    pub layout: Layout,
    /// The base of its other times; for the layout one, the time of all samples.
    pub time_ns: i64,
    /// How many parameters it has.
    pub parameters: usize,
    pub(super) bytes: &'a [u8],
    pub(super) ranges: &'a [u8],
    pub(super) times: RunTimes<'a>,
    pub(super) samples: usize,
    pub(super) qualities: Qualities<'a>,
    pub(super) values: RunValues<'a>,
}

/// The encoded times of a run, and the oldest and the newest of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunTimes<'a> {
    /// How many rows a grid has; 1 for the layout one, 0 for ragged.
    pub rows: usize,
    /// Ragged: how many samples each parameter has.
    pub counts: &'a [u8],
    /// Grid: the time of each row; ragged: of each sample.
    pub deltas: &'a [u8],
    pub oldest_ns: i64,
    pub newest_ns: i64,
}

/// The encoded values of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunValues<'a> {
    /// All bytes, without the padding.
    pub bytes: &'a [u8],
    /// Text and bytes: their lengths.
    pub lengths: &'a [u8],
    /// Text and bytes: their content.
    pub data: &'a [u8],
}

/// The ranges of a run's parameters, ascending.
#[derive(Clone, Debug)]
pub struct RunRanges<'a> {
    numbers: Varints<'a>,
    end: u32,
}

impl Iterator for RunRanges<'_> {
    type Item = Range<u32>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let start = self.end + self.numbers.next()? as u32;
        self.end = start + self.numbers.next()? as u32 + 1;
        Some(start..self.end)
    }
}

/// The items of a run of text or bytes.
#[derive(Clone, Debug)]
pub(super) struct Items<'a> {
    lengths: Varints<'a>,
    data: &'a [u8],
}

impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let (item, rest) = self.data.split_at(self.lengths.next()? as usize);
        self.data = rest;
        Some(item)
    }
}

impl<'a> RunValues<'a> {
    pub fn items(self) -> Items<'a> {
        Items { lengths: Varints::new(self.lengths), data: self.data }
    }
}

impl<'a> RunView<'a> {
    /// The encoded run.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The ranges of its parameters, ascending.
    pub fn ranges(&self) -> RunRanges<'a> {
        RunRanges { numbers: Varints::new(self.ranges), end: 0 }
    }

    /// The encoded ranges: equal bytes mean equal parameters.
    pub fn span(&self) -> &'a [u8] {
        self.ranges
    }

    /// The indices of its parameters, ascending.
    pub fn indices(&self) -> impl Iterator<Item = u32> + Clone + use<'a> {
        self.ranges().flatten()
    }

    /// How many samples it has.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// How many rows a grid has; one for the layout one, none for ragged.
    pub fn rows(&self) -> Option<usize> {
        (self.layout != Layout::Ragged).then_some(self.times.rows)
    }

    /// One: its time; grid: the time of each row; ragged: the time of each sample.
    pub fn times(&self) -> impl Iterator<Item = i64> + Clone + use<'a> {
        let only = (self.layout == Layout::One).then_some(self.time_ns);
        only.into_iter().chain(Times::new(self.time_ns, self.times.deltas))
    }

    /// Ragged: how many samples each parameter has. Otherwise nothing.
    pub fn counts(&self) -> impl Iterator<Item = u32> + Clone + use<'a> {
        Varints::new(self.times.counts).map(|count| count as u32)
    }

    /// Its encoded values: fixed widths, bits, or for text and bytes all lengths and then all content.
    pub fn values(&self) -> &'a [u8] {
        self.values.bytes
    }

    /// The values of a run of text or bytes, in the order of its samples. Otherwise nothing.
    pub fn items(&self) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        self.values.items()
    }

    /// The qualities of its samples.
    pub fn qualities(&self) -> Qualities<'a> {
        self.qualities
    }

    /// Its newest time.
    pub fn newest_ns(&self) -> i64 {
        self.times.newest_ns
    }

    /// Its oldest time.
    pub fn oldest_ns(&self) -> i64 {
        self.times.oldest_ns
    }
}
