//! Iterates over the samples of a run. The kind is matched once for each run or row, so that the loops over
//! samples do not branch on it.

use super::bits::Bits;
use super::run::{Layout, Qualities, RunTimes, RunValues, RunView};
use super::varint::{Times, Varints};
use super::{Kind, Sample, ValueView};

/// Runs `$walk` with an iterator over the values of a run or row.
macro_rules! with_values {
    ($run:expr, |$values:ident| $walk:expr) => {
        match $run.kind {
            Kind::Bool => {
                let $values = Bits::new($run.values.bytes, $run.samples).map(ValueView::Bool);
                $walk
            }
            Kind::U8 => with_values!(fixed u8, U8, 1, $run, $values, $walk),
            Kind::U16 => with_values!(fixed u16, U16, 2, $run, $values, $walk),
            Kind::U32 => with_values!(fixed u32, U32, 4, $run, $values, $walk),
            Kind::U64 => with_values!(fixed u64, U64, 8, $run, $values, $walk),
            Kind::I8 => with_values!(fixed i8, I8, 1, $run, $values, $walk),
            Kind::I16 => with_values!(fixed i16, I16, 2, $run, $values, $walk),
            Kind::I32 => with_values!(fixed i32, I32, 4, $run, $values, $walk),
            Kind::I64 => with_values!(fixed i64, I64, 8, $run, $values, $walk),
            Kind::F32 => with_values!(fixed f32, F32, 4, $run, $values, $walk),
            Kind::F64 => with_values!(fixed f64, F64, 8, $run, $values, $walk),
            Kind::Text => {
                let $values = $run.values.items().map(|item| ValueView::Text(checked(item)));
                $walk
            }
            Kind::Bytes => {
                let $values = $run.values.items().map(ValueView::Bytes);
                $walk
            }
        }
    };
    (fixed $number:ty, $kind:ident, $width:literal, $run:expr, $values:ident, $walk:expr) => {{
        let chunks = $run.values.bytes.chunks_exact($width);
        let $values = chunks.map(|chunk| {
            ValueView::$kind(<$number>::from_le_bytes(chunk.try_into().unwrap_or_default()))
        });
        $walk
    }};
}

fn checked(item: &[u8]) -> &str {
    std::str::from_utf8(item).expect("text was checked when the frame was decoded")
}

impl<'a> RunView<'a> {
    /// Calls `see` with every sample in order: a grid row by row, other layouts parameter by parameter.
    pub fn visit(&self, mut see: impl FnMut(Sample<'a>)) {
        match self.layout {
            Layout::One => with_values!(self, |values| self.walk_row(values, &mut see)),
            Layout::Grid => {
                for row in self.each_row() {
                    with_values!(row, |values| row.walk_row(values, &mut see));
                }
            }
            Layout::Ragged => {
                with_values!(self, |values| self.walk_ragged(values, |sample, _| see(sample)));
            }
        }
    }

    /// Calls `see` with the last sample of each parameter.
    pub fn visit_newest(&self, mut see: impl FnMut(Sample<'a>)) {
        match self.layout {
            Layout::One => with_values!(self, |values| self.walk_row(values, &mut see)),
            Layout::Grid => {
                let row = self.last_row();
                with_values!(row, |values| row.walk_row(values, &mut see));
            }
            Layout::Ragged => with_values!(self, |values| {
                self.walk_ragged(values, |sample, last| {
                    if last {
                        see(sample);
                    }
                });
            }),
        }
    }

    #[inline]
    fn walk_row(
        &self,
        mut values: impl Iterator<Item = ValueView<'a>>,
        see: &mut impl FnMut(Sample<'a>),
    ) {
        let (time_ns, mut position) = (self.time_ns, 0);
        for range in self.ranges() {
            for (index, value) in range.zip(values.by_ref()) {
                see(Sample { index, time_ns, quality: self.qualities.get(position), value });
                position += 1;
            }
        }
    }

    #[inline]
    fn walk_ragged(
        &self,
        values: impl Iterator<Item = ValueView<'a>>,
        mut see: impl FnMut(Sample<'a>, bool),
    ) {
        let mut values = values.zip(Times::new(self.time_ns, self.times.deltas)).enumerate();
        for (index, count) in self.indices().zip(self.counts()) {
            for left in (0..count).rev() {
                let Some((position, (value, time_ns))) = values.next() else { return };
                let quality = self.qualities.get(position);
                see(Sample { index, time_ns, quality, value }, left == 0);
            }
        }
    }

    /// The rows of a grid, each as a run of the layout one.
    fn each_row(&self) -> impl Iterator<Item = Self> + use<'a> {
        let run = *self;
        let mut left = run.values;
        run.times().enumerate().map(move |(row, time_ns)| {
            let values = run.split_row(&mut left);
            run.row(row, time_ns, values)
        })
    }

    fn last_row(&self) -> Self {
        let last = self.times.rows - 1;
        self.row(last, self.times.newest_ns, self.values_from_row(last))
    }

    fn row(&self, row: usize, time_ns: i64, values: RunValues<'a>) -> Self {
        let samples = row * self.parameters..(row + 1) * self.parameters;
        let times =
            RunTimes { rows: 1, counts: &[], deltas: &[], oldest_ns: time_ns, newest_ns: time_ns };
        let qualities: Qualities<'a> = self.qualities.part(samples);
        let layout = Layout::One;
        Self { layout, time_ns, times, samples: self.parameters, qualities, values, ..*self }
    }

    /// Bytes of one row of a grid, if it has fixed widths or bits.
    fn row_bytes(&self) -> usize {
        self.kind.width().map_or(self.parameters.div_ceil(8), |width| width * self.parameters)
    }

    fn values_from_row(&self, row: usize) -> RunValues<'a> {
        let mut left = self.values;
        if matches!(self.kind, Kind::Text | Kind::Bytes) {
            for _ in 0..row {
                self.split_row(&mut left);
            }
        } else {
            left.bytes = &left.bytes[row * self.row_bytes()..];
        }
        left
    }

    /// Takes the first row from the values that are left.
    fn split_row(&self, left: &mut RunValues<'a>) -> RunValues<'a> {
        if !matches!(self.kind, Kind::Text | Kind::Bytes) {
            let (row, rest) = left.bytes.split_at(self.row_bytes());
            left.bytes = rest;
            return RunValues { bytes: row, ..*left };
        }
        let mut numbers = Varints::new(left.lengths);
        let bytes: u64 = numbers.by_ref().take(self.parameters).sum();
        let (lengths, lengths_rest) =
            left.lengths.split_at(left.lengths.len() - numbers.rest().len());
        let (data, data_rest) = left.data.split_at(bytes as usize);
        (left.lengths, left.data) = (lengths_rest, data_rest);
        RunValues { bytes: &[], lengths, data }
    }
}
