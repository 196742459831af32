//! For each parameter the values that change nothing, in columns: so most samples cost two comparisons, and those of
//! parameters without limits nothing.

use std::ops::Range;

use slipring_wire::frame::{Kind, RunView};

use super::watched::{EVERYTHING, QuietBand};

/// Parameters that are looked at together.
const BLOCK: usize = 64;

/// The bands by index.
#[derive(Debug, Default)]
pub(super) struct Bands {
    low: Vec<f64>,
    high: Vec<f64>,
    /// How many parameters of each block are watched.
    watched: Vec<u8>,
}

impl Bands {
    /// Adds a parameter, or removes one (`change` is -1), or neither.
    pub fn set(&mut self, at: usize, band: QuietBand, change: i8) {
        if at >= self.low.len() {
            let places = (at + 1).next_multiple_of(BLOCK);
            self.low.resize(places, EVERYTHING.0);
            self.high.resize(places, EVERYTHING.1);
            self.watched.resize(places / BLOCK, 0);
        }
        (self.low[at], self.high[at]) = band;
        let count = &mut self.watched[at / BLOCK];
        *count = count.saturating_add_signed(change);
    }

    /// Whether a value has to be looked at; one that is not a number has.
    #[inline]
    pub fn is_beyond(&self, at: usize, value: f64) -> bool {
        self.low.get(at).is_some_and(|low| !(value >= *low && value <= self.high[at]))
    }

    /// The parts of a range of indices with a parameter that is watched.
    pub fn parts(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let blocks = range.start / BLOCK..range.end.div_ceil(BLOCK).min(self.watched.len());
        blocks
            .filter(|block| self.watched[*block] > 0)
            .map(move |block| range.start.max(block * BLOCK)..range.end.min((block + 1) * BLOCK))
    }

    /// Whether a row has a value beyond, in a part whose first value is the `first` of the row.
    #[expect(clippy::cast_precision_loss, reason = "limits are such numbers, too")]
    pub fn has_beyond(&self, kind: Kind, values: &[u8], first: usize, part: &Range<usize>) -> bool {
        match kind {
            Kind::Bool => part
                .clone()
                .any(|at| self.is_beyond(at, number(kind, values, first + at - part.start))),
            Kind::U8 => self.any_beyond(values, first, part, |bytes: [u8; 1]| f64::from(bytes[0])),
            Kind::I8 => self.any_beyond(values, first, part, |b| i8::from_le_bytes(b).into()),
            Kind::U16 => self.any_beyond(values, first, part, |b| u16::from_le_bytes(b).into()),
            Kind::I16 => self.any_beyond(values, first, part, |b| i16::from_le_bytes(b).into()),
            Kind::U32 => self.any_beyond(values, first, part, |b| u32::from_le_bytes(b).into()),
            Kind::I32 => self.any_beyond(values, first, part, |b| i32::from_le_bytes(b).into()),
            Kind::U64 => self.any_beyond(values, first, part, |b| u64::from_le_bytes(b) as f64),
            Kind::I64 => self.any_beyond(values, first, part, |b| i64::from_le_bytes(b) as f64),
            Kind::F32 => self.any_beyond(values, first, part, |b| f32::from_le_bytes(b).into()),
            Kind::F64 => self.any_beyond(values, first, part, f64::from_le_bytes),
            Kind::Text | Kind::Bytes => false,
        }
    }

    /// No branch in the loop, so that the compiler compares several at once. What is not a number counts as beyond.
    #[expect(clippy::needless_bitwise_bool, reason = "`&&` is a branch")]
    fn any_beyond<const N: usize>(
        &self,
        values: &[u8],
        first: usize,
        part: &Range<usize>,
        read: impl Fn([u8; N]) -> f64,
    ) -> bool {
        let values = values[first * N..(first + part.len()) * N].chunks_exact(N);
        let bands = self.low[part.clone()].iter().zip(&self.high[part.clone()]);
        let mut is_beyond = false;
        for (bytes, (low, high)) in values.zip(bands) {
            let value = read(bytes.try_into().expect("chunks have this length"));
            is_beyond |= !((value >= *low) & (value <= *high));
        }
        is_beyond
    }
}

/// The values of a row of a run with rows: a number of bytes, or bits.
pub(super) fn row_values<'a>(run: &RunView<'a>, row: usize) -> &'a [u8] {
    let values = run.values();
    let bytes = values.len() / run.rows().unwrap_or(1).max(1);
    &values[bytes * row..bytes * (row + 1)]
}

/// One value of a row as a number; not a number for text and bytes.
#[expect(clippy::cast_precision_loss, reason = "limits are such numbers, too")]
pub(super) fn number(kind: Kind, values: &[u8], at: usize) -> f64 {
    fn bytes<const N: usize>(values: &[u8], at: usize) -> [u8; N] {
        values[at * N..(at + 1) * N].try_into().expect("a slice of this length")
    }
    match kind {
        Kind::Bool => f64::from(values[at / 8] >> (at % 8) & 1),
        Kind::U8 => values[at].into(),
        Kind::I8 => i8::from_le_bytes(bytes(values, at)).into(),
        Kind::U16 => u16::from_le_bytes(bytes(values, at)).into(),
        Kind::I16 => i16::from_le_bytes(bytes(values, at)).into(),
        Kind::U32 => u32::from_le_bytes(bytes(values, at)).into(),
        Kind::I32 => i32::from_le_bytes(bytes(values, at)).into(),
        Kind::U64 => u64::from_le_bytes(bytes(values, at)) as f64,
        Kind::I64 => i64::from_le_bytes(bytes(values, at)) as f64,
        Kind::F32 => f32::from_le_bytes(bytes(values, at)).into(),
        Kind::F64 => f64::from_le_bytes(bytes(values, at)),
        Kind::Text | Kind::Bytes => f64::NAN,
    }
}
