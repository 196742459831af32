//! Samples in columns: one array for each part of a sample, so that many are read and written at once.
//!
//! A position (place) has a sample if its change is not 0. The columns know nothing of indices, names or clocks.

use std::ops::Range;

use slipring_wire::frame::{Kind, Qualities, Quality, Sample, ValueView};

use super::change_numbers::{BLOCK, ChangeNumbers};
use super::shared_texts::SharedTexts;

/// One sample for each position.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub kinds: Vec<Option<Kind>>,
    /// The bytes of the value, little endian, padded with 0; not used for text and bytes.
    pub bits: Vec<u64>,
    pub times: Vec<i64>,
    pub qualities: Vec<u8>,
    /// The number of the change that set the sample; 0 if there is none.
    pub changes: ChangeNumbers,
    pub texts: SharedTexts,
}

impl Columns {
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Grows to at least so many positions.
    pub fn grow(&mut self, places: usize) {
        if places > self.len() {
            self.kinds.resize(places, None);
            self.bits.resize(places, 0);
            self.times.resize(places, 0);
            self.qualities.resize(places, 0);
            self.changes.grow(places);
        }
    }

    #[inline]
    pub fn has(&self, at: usize) -> bool {
        self.changes.get(at).is_some_and(|change| *change > 0)
    }

    /// Removes a sample; the kind stays.
    pub fn clear(&mut self, at: usize) {
        self.changes.clear(at);
        self.texts.remove(at);
    }

    pub fn value(&self, at: usize) -> Option<ValueView<'_>> {
        let kind = self.kinds[at].filter(|_| self.has(at))?;
        Some(match kind {
            Kind::Text => ValueView::Text(std::str::from_utf8(self.text(at)).unwrap_or_default()),
            Kind::Bytes => ValueView::Bytes(self.text(at)),
            _ => value_of(kind, self.bits[at]),
        })
    }

    /// The bytes of a text; empty for other kinds.
    pub fn text(&self, at: usize) -> &[u8] {
        self.texts.get(at)
    }

    pub fn sample(&self, at: usize, index: u32) -> Option<Sample<'_>> {
        let value = self.value(at)?;
        let quality = Quality(self.qualities[at]);
        Some(Sample { index, time_ns: self.times[at], quality, value })
    }

    #[inline]
    pub fn cell(&self, at: usize) -> Option<Cell<'_>> {
        let kind = self.kinds[at].filter(|_| self.has(at))?;
        let text = if is_text(kind) { self.text(at) } else { &[] };
        let (quality, time_ns) = (self.qualities[at], self.times[at]);
        Some(Cell { kind, bits: self.bits[at], text, quality, time_ns })
    }

    #[inline]
    pub fn set(&mut self, at: usize, cell: &Cell<'_>, change: u64) {
        if is_text(cell.kind) {
            self.texts.put(at, cell.text);
        }
        self.set_rest(at, cell, change);
    }

    /// The same, but shares an equal text that `others` have at `there`.
    #[inline]
    pub fn set_shared(
        &mut self,
        at: usize,
        cell: &Cell<'_>,
        change: u64,
        others: &Self,
        there: usize,
    ) {
        if is_text(cell.kind) {
            self.texts.share(at, cell.text, &others.texts, there);
        }
        self.set_rest(at, cell, change);
    }

    #[inline]
    fn set_rest(&mut self, at: usize, cell: &Cell<'_>, change: u64) {
        self.kinds[at] = Some(cell.kind);
        self.times[at] = cell.time_ns;
        self.qualities[at] = cell.quality;
        self.bits[at] = cell.bits;
        self.changes.set(at, change);
    }

    /// Stores the values of a run's row at consecutive positions of the same kind; not for text and bytes.
    pub fn fill(&mut self, span: Range<usize>, row: &RowPart<'_>, change: u64) {
        let bits = &mut self.bits[span.clone()];
        match row.kind.width() {
            Some(1) => widen(bits, row.values, row.first, |bytes: [u8; 1]| bytes[0].into()),
            Some(2) => widen(bits, row.values, row.first, |b| u16::from_le_bytes(b).into()),
            Some(4) => widen(bits, row.values, row.first, |b| u32::from_le_bytes(b).into()),
            Some(_) => widen(bits, row.values, row.first, u64::from_le_bytes),
            None => unpack(bits, row.values, row.first),
        }
        self.times[span.clone()].fill(row.time_ns);
        match row.qualities {
            Qualities::All(quality) => self.qualities[span.clone()].fill(quality.0),
            Qualities::Each(each) => {
                let from = row.first + row.before;
                self.qualities[span.clone()].copy_from_slice(&each[from..from + span.len()]);
            }
        }
        self.changes.fill(span, change);
    }

    /// Calls `see` for the positions in a span that changed after `since`, in spans as long as possible.
    pub fn changed(&self, span: Range<usize>, since: u64, mut see: impl FnMut(Range<usize>)) {
        let end = span.end.min(self.len());
        let mut at = span.start;
        while at < end {
            at = self.changes.first_after(at..end, since);
            let same = self.changes[at..end].iter().position(|change| *change <= since);
            let until = same.map_or(end, |same| at + same);
            if at < until {
                see(at..until);
            }
            at = until;
        }
    }
}

/// The parts of a sample, as they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell<'a> {
    pub kind: Kind,
    /// 0 for text and bytes.
    pub bits: u64,
    /// Empty for other kinds than text and bytes.
    pub text: &'a [u8],
    pub quality: u8,
    pub time_ns: i64,
}

impl<'a> Cell<'a> {
    pub fn of(sample: &Sample<'a>) -> Self {
        let text = match sample.value {
            ValueView::Text(text) => text.as_bytes(),
            ValueView::Bytes(bytes) => bytes,
            _ => &[],
        };
        let (kind, bits) = (sample.value.kind(), bits_of(&sample.value));
        Self { kind, bits, text, quality: sample.quality.0, time_ns: sample.time_ns }
    }

    /// Whether nothing but the time differs.
    pub fn is_like(&self, other: &Self) -> bool {
        Self { time_ns: other.time_ns, ..*self } == *other
    }
}

/// The bytes of so many positions, without their texts.
pub(super) fn bytes_of(places: usize) -> usize {
    let place = size_of::<(u64, i64, u64)>() + size_of::<Option<Kind>>() + size_of::<u8>();
    place * places + size_of::<u64>() * places.div_ceil(BLOCK)
}

pub(super) fn is_text(kind: Kind) -> bool {
    matches!(kind, Kind::Text | Kind::Bytes)
}

/// A part of a run's row.
#[derive(Clone, Copy)]
pub(super) struct RowPart<'a> {
    pub kind: Kind,
    pub time_ns: i64,
    /// The values of the whole row, and which of them is the first of the part.
    pub values: &'a [u8],
    pub first: usize,
    /// The qualities of the whole run, and how many lie before the row.
    pub qualities: Qualities<'a>,
    pub before: usize,
}

fn widen<const N: usize>(
    bits: &mut [u64],
    values: &[u8],
    first: usize,
    read: impl Fn([u8; N]) -> u64,
) {
    let values = &values[first * N..(first + bits.len()) * N];
    for (bits, bytes) in bits.iter_mut().zip(values.chunks_exact(N)) {
        *bits = read(bytes.try_into().expect("chunks have this length"));
    }
}

fn unpack(bits: &mut [u64], values: &[u8], first: usize) {
    for (bit, bits) in (first..).zip(bits) {
        *bits = u64::from(values[bit / 8] >> (bit % 8) & 1);
    }
}

/// The value's own bytes in the low end of 64 bits; 0 for text and bytes.
#[expect(clippy::cast_sign_loss, reason = "the same bits")]
fn bits_of(value: &ValueView<'_>) -> u64 {
    match *value {
        ValueView::Bool(value) => value.into(),
        ValueView::U8(value) => value.into(),
        ValueView::U16(value) => value.into(),
        ValueView::U32(value) => value.into(),
        ValueView::U64(value) => value,
        ValueView::I8(value) => u64::from(value as u8),
        ValueView::I16(value) => u64::from(value as u16),
        ValueView::I32(value) => u64::from(value as u32),
        ValueView::I64(value) => value as u64,
        ValueView::F32(value) => value.to_bits().into(),
        ValueView::F64(value) => value.to_bits(),
        ValueView::Text(_) | ValueView::Bytes(_) => 0,
    }
}

/// The value with these bits; empty for text and bytes.
#[expect(clippy::cast_possible_wrap, reason = "the same bits")]
pub(super) fn value_of(kind: Kind, bits: u64) -> ValueView<'static> {
    match kind {
        Kind::Bool => ValueView::Bool(bits != 0),
        Kind::U8 => ValueView::U8(bits as u8),
        Kind::U16 => ValueView::U16(bits as u16),
        Kind::U32 => ValueView::U32(bits as u32),
        Kind::U64 => ValueView::U64(bits),
        Kind::I8 => ValueView::I8(bits as i8),
        Kind::I16 => ValueView::I16(bits as i16),
        Kind::I32 => ValueView::I32(bits as i32),
        Kind::I64 => ValueView::I64(bits as i64),
        Kind::F32 => ValueView::F32(f32::from_bits(bits as u32)),
        Kind::F64 => ValueView::F64(f64::from_bits(bits)),
        Kind::Text => ValueView::Text(""),
        Kind::Bytes => ValueView::Bytes(&[]),
    }
}
