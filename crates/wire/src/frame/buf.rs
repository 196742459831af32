//! Builds a frame.

use std::ops::Range;

use super::check::take_values;
use super::deflate::Deflater;
use super::part::PartCopier;
use super::run::{Layout, Qualities, RunView};
use super::view::{DEFLATED, HEADER, HOPS, MAGIC, WITH_HOPS};
use super::write::{RunHead, RunWriter};
use super::{Header, Kind, PushError, RangeSet, Sample, samples, varint};

/// The largest number of runs that fits into a header.
const RUNS_MAX: u32 = (1 << 24) - 1;

/// Gathers encoded runs and makes a frame of them.
#[derive(Debug, Default)]
pub struct FrameBuf {
    body: Vec<u8>,
    runs: u32,
    samples: usize,
    part: PartCopier,
    deflater: Option<Box<Deflater>>,
}

impl FrameBuf {
    /// Without runs.
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

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.runs as usize
    }

    /// How many samples were pushed.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Removes all runs; keeps the memory.
    pub fn clear(&mut self) {
        self.body.clear();
        self.runs = 0;
        self.samples = 0;
    }

    /// Frees memory beyond so many bytes that is not in use.
    pub fn shrink_to(&mut self, bytes: usize) {
        self.body.shrink_to(bytes);
    }

    /// Copies a run unchanged.
    pub fn push_run(&mut self, run: &RunView<'_>) {
        self.body.extend_from_slice(run.bytes());
        self.pushed(run.samples());
    }

    /// Copies the samples of the chosen parameters of a run.
    pub fn push_part(&mut self, run: &RunView<'_>, chosen: &RangeSet) {
        if chosen.contains_all(run.ranges()) {
            self.push_run(run);
        } else if let Some(samples) = self.part.copy(run, chosen, &mut self.body) {
            self.pushed(samples);
        }
    }

    /// Adds one sample of each parameter of the ranges, all at the same time.
    ///
    /// Values are encoded as in [`RunView::values`]: little endian, bits for `Bool`.
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

    /// Adds a sample of each parameter of the ranges at each of the times, row by row.
    pub fn push_grid(
        &mut self,
        kind: Kind,
        ranges: &[Range<u32>],
        times: &[i64],
        quality: Qualities<'_>,
        values: &[u8],
    ) -> Result<(), PushError> {
        let samples = check_grid(kind, ranges, times, quality, values)?;
        let time_ns = times[0];
        let layout = if times.len() == 1 { Layout::One } else { Layout::Grid };
        let head = RunHead { kind, layout, time_ns, qualities: quality };
        let mut writer = RunWriter::begin(&mut self.body, &head, ranges.iter().cloned());
        if layout == Layout::Grid {
            varint::put(writer.out, times.len() as u64);
            writer.times(time_ns, times.iter().copied());
        }
        writer.qualities(quality, std::iter::once(0..samples));
        writer.out.extend_from_slice(values);
        writer.end()?;
        self.pushed(samples);
        Ok(())
    }

    /// Adds any samples of one kind, as few and small runs. Sorts them by index; those of one parameter keep
    /// their order.
    pub fn push_samples(
        &mut self,
        kind: Kind,
        samples: &mut [Sample<'_>],
    ) -> Result<(), PushError> {
        samples::check(kind, samples)?;
        let before = (self.body.len(), self.runs, self.samples);
        let pushed = samples::arrange(samples, &mut |arranged, layout| {
            samples::write(kind, arranged, layout, &mut self.body)?;
            self.runs += 1;
            self.samples += arranged.len();
            Ok(())
        });
        if pushed.is_err() {
            self.body.truncate(before.0);
            (self.runs, self.samples) = (before.1, before.2);
        }
        pushed
    }

    fn pushed(&mut self, samples: usize) {
        self.runs += 1;
        self.samples += samples;
    }

    /// Appends the frame to `out`, and is empty again. With `deflate` the body is compressed, if that makes
    /// it smaller.
    pub fn finish(&mut self, header: &Header, deflate: bool, out: &mut Vec<u8>) {
        assert!(self.runs <= RUNS_MAX, "{} runs are too many for a frame", self.runs);
        let start = out.len();
        out.reserve(HEADER + HOPS + if deflate { 0 } else { self.body.len() });
        write_header(header, self.runs, out);
        let is_deflated = deflate && self.deflater.get_or_insert_default().deflate(&self.body, out);
        if is_deflated {
            out[start + MAGIC.len()] |= DEFLATED;
        } else {
            out.extend_from_slice(&self.body);
        }
        self.clear();
    }
}

fn write_header(header: &Header, runs: u32, out: &mut Vec<u8>) {
    let flags = if header.hops.is_some() { WITH_HOPS } else { 0 };
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&(runs << 8 | u32::from(flags)).to_le_bytes());
    out.extend_from_slice(&header.table.to_le_bytes());
    out.extend_from_slice(&header.sequence.to_le_bytes());
    out.extend_from_slice(&header.sent_ns.to_le_bytes());
    if let Some(hops) = header.hops {
        for time_ns in [hops.published_ns, hops.received_ns, hops.skew_ns] {
            out.extend_from_slice(&time_ns.to_le_bytes());
        }
    }
}

/// Whether the arguments of [`FrameBuf::push_grid`] fit together. Returns how many samples they are.
pub fn check_grid(
    kind: Kind,
    ranges: &[Range<u32>],
    times: &[i64],
    quality: Qualities<'_>,
    values: &[u8],
) -> Result<usize, PushError> {
    let ascend = ranges.windows(2).all(|pair| pair[0].end <= pair[1].start);
    if !ascend || ranges.iter().any(Range::is_empty) {
        return Err(PushError::Ranges);
    }
    let parameters: usize = ranges.iter().map(ExactSizeIterator::len).sum();
    if parameters == 0 || times.is_empty() {
        return Err(PushError::Empty);
    }
    if !times.is_sorted() {
        return Err(PushError::Times);
    }
    let samples = parameters.checked_mul(times.len()).ok_or(PushError::TooLarge)?;
    match quality {
        Qualities::Each(bytes) if bytes.len() != samples => {
            return Err(PushError::Qualities { found: bytes.len(), samples });
        }
        _ => {}
    }
    match take_values(kind, times.len(), parameters, values) {
        Ok(taken) if taken.bytes.len() == values.len() => Ok(samples),
        _ => Err(PushError::Values { bytes: values.len(), samples, kind }),
    }
}
