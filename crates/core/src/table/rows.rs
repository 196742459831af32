//! Writes newest samples as rows: samples of one kind and one time are copied together.

use std::ops::Range;

use slipring_wire::frame::{Kind, Qualities, Quality, Sample};

use super::columns::Columns;
use super::frame_filler::FrameFiller;

/// A row with fewer samples than this is written with the loose samples, if there are any.
const ROW_MIN: usize = 4;

/// Samples that were added and are not written yet. Each position is added once.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// One for each kind, by its code.
    open: [Row; 16],
    /// Samples that are in no row, by kind: position and index.
    loose: [Vec<(usize, u32)>; 16],
    values: Vec<u8>,
    qualities: Vec<u8>,
}

/// A row that is being collected.
#[derive(Debug, Default)]
struct Row {
    time_ns: i64,
    ranges: Vec<Range<u32>>,
    /// The position of each range's first parameter.
    places: Vec<usize>,
    count: usize,
}

impl Row {
    fn add(&mut self, place: usize, index: u32, count: usize) {
        self.count += count;
        let end = index + count as u32;
        match self.ranges.last_mut() {
            Some(last) if last.end == index => last.end = end,
            _ => {
                self.ranges.push(index..end);
                self.places.push(place);
            }
        }
    }

    /// Whether a parameter can be added; indices ascend.
    fn goes_on(&self, time_ns: i64, index: u32) -> bool {
        self.ranges.last().is_none_or(|last| self.time_ns == time_ns && last.end <= index)
    }

    fn spans(&self) -> impl Iterator<Item = (usize, Range<u32>)> + '_ {
        self.places.iter().copied().zip(self.ranges.iter().cloned())
    }

    fn clear(&mut self) {
        self.ranges.clear();
        self.places.clear();
        self.count = 0;
    }
}

impl Rows {
    /// Adds consecutive positions with consecutive parameters, which all have a sample.
    pub fn add(
        &mut self,
        columns: &Columns,
        span: Range<usize>,
        index: u32,
        to: &mut FrameFiller<'_>,
    ) {
        let mut start = span.start;
        while start < span.end {
            let end = alike(columns, start, span.end);
            let first = index + (start - span.start) as u32;
            match columns.kinds[start] {
                Some(kind @ (Kind::Text | Kind::Bytes)) => {
                    let places = (start..end).zip(first..);
                    self.loose[kind.code() as usize].extend(places);
                }
                Some(kind) => self.add_alike(columns, kind, start..end, first, to),
                None => debug_assert!(false, "a sample without a kind"),
            }
            start = end;
        }
    }

    /// Adds positions of one kind and one time.
    fn add_alike(
        &mut self,
        columns: &Columns,
        kind: Kind,
        span: Range<usize>,
        index: u32,
        to: &mut FrameFiller<'_>,
    ) {
        let (mut start, mut index) = (span.start, index);
        while start < span.end {
            let row = &mut self.open[kind.code() as usize];
            if !row.goes_on(columns.times[start], index) {
                self.close(columns, kind, to);
                continue;
            }
            let room = to.row_max(kind, row.ranges.len() + 1).saturating_sub(row.count);
            if room == 0 && row.count > 0 {
                self.write(columns, kind, to);
                continue;
            }
            let count = room.max(1).min(span.end - start);
            row.time_ns = columns.times[start];
            row.add(start, index, count);
            start += count;
            index += count as u32;
        }
    }

    /// Writes everything that was added.
    pub fn finish(&mut self, columns: &Columns, to: &mut FrameFiller<'_>) {
        for kind in Kind::ALL {
            let code = kind.code() as usize;
            if self.loose[code].is_empty() && self.open[code].count > 0 {
                self.write(columns, kind, to);
            } else {
                self.close(columns, kind, to);
            }
            self.write_loose(columns, kind, to);
        }
    }

    /// Ends a row: writes it, or adds its few samples to the loose ones.
    fn close(&mut self, columns: &Columns, kind: Kind, to: &mut FrameFiller<'_>) {
        let row = &mut self.open[kind.code() as usize];
        if row.count >= ROW_MIN {
            return self.write(columns, kind, to);
        }
        let loose = &mut self.loose[kind.code() as usize];
        for (place, range) in row.spans() {
            loose.extend((place..).zip(range));
        }
        row.clear();
    }

    fn write(&mut self, columns: &Columns, kind: Kind, to: &mut FrameFiller<'_>) {
        let row = &mut self.open[kind.code() as usize];
        self.values.clear();
        self.qualities.clear();
        let mut bit = 0;
        for (place, range) in row.spans() {
            let span = place..place + range.len();
            narrow(kind, &columns.bits[span.clone()], &mut bit, &mut self.values);
            self.qualities.extend_from_slice(&columns.qualities[span]);
        }
        let first = self.qualities[0];
        let same = self.qualities.iter().all(|quality| *quality == first);
        let qualities =
            if same { Qualities::All(Quality(first)) } else { Qualities::Each(&self.qualities) };
        to.row(kind, &row.ranges, row.time_ns, qualities, &self.values);
        row.clear();
    }

    fn write_loose(&mut self, columns: &Columns, kind: Kind, to: &mut FrameFiller<'_>) {
        let loose = &mut self.loose[kind.code() as usize];
        if loose.is_empty() {
            return;
        }
        let samples = loose.drain(..).filter_map(|(place, index)| columns.sample(place, index));
        to.samples(kind, &mut samples.collect::<Vec<Sample<'_>>>());
    }
}

/// The end of the samples from `start` on that have the same kind and time.
fn alike(columns: &Columns, start: usize, end: usize) -> usize {
    let (kind, time) = (columns.kinds[start], columns.times[start]);
    let mut others = columns.kinds[start..end].iter().zip(&columns.times[start..end]);
    let other = others.position(|(other, at)| *other != kind || *at != time);
    other.map_or(end, |other| start + other)
}

/// Appends values as a run stores them. Bits continue where the last ones ended.
fn narrow(kind: Kind, bits: &[u64], bit: &mut usize, out: &mut Vec<u8>) {
    match kind.width() {
        Some(1) => out.extend(bits.iter().map(|bits| *bits as u8)),
        Some(2) => cut::<2>(bits, out),
        Some(4) => cut::<4>(bits, out),
        Some(_) => cut::<8>(bits, out),
        None => pack(bits, bit, out),
    }
}

fn cut<const N: usize>(bits: &[u64], out: &mut Vec<u8>) {
    let from = out.len();
    out.resize(from + bits.len() * N, 0);
    for (bits, bytes) in bits.iter().zip(out[from..].chunks_exact_mut(N)) {
        bytes.copy_from_slice(&bits.to_le_bytes()[..N]);
    }
}

fn pack(bits: &[u64], bit: &mut usize, out: &mut Vec<u8>) {
    out.resize((*bit + bits.len()).div_ceil(8), 0);
    for value in bits {
        out[*bit / 8] |= (*value as u8 & 1) << (*bit % 8);
        *bit += 1;
    }
}
