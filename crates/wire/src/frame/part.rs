//! Copies the samples of some parameters out of a run. Neighbouring bytes are copied together.

use std::ops::Range;

use super::bits::BitSink;
use super::run::{Layout, RunView};
use super::varint::{self, Varints};
use super::write::{RunHead, RunWriter};
use super::{Kind, RangeSet};

/// Lists that are reused from run to run, so that copying does not allocate.
#[derive(Debug, Default)]
pub(super) struct PartCopier {
    /// The chosen parameters, as ranges of indices.
    ranges: Vec<Range<u32>>,
    /// The same as positions among the run's parameters.
    parameters: Vec<Range<usize>>,
    /// The positions of their samples in a row; a ragged run counts as one row.
    spans: Vec<Range<usize>>,
    /// The positions of their content, for text and bytes.
    pieces: Vec<Range<usize>>,
}

impl PartCopier {
    /// Appends a run of the chosen parameters. Returns how many samples it has; `None` if no parameter was
    /// chosen.
    pub fn copy(
        &mut self,
        run: &RunView<'_>,
        chosen: &RangeSet,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        self.pick(run, chosen);
        if self.ranges.is_empty() {
            return None;
        }
        let head = RunHead {
            kind: run.kind,
            layout: run.layout,
            time_ns: run.time_ns,
            qualities: run.qualities,
        };
        let mut writer = RunWriter::begin(out, &head, self.ranges.iter().cloned());
        self.find_spans(run);
        self.write_times(run, &mut writer);
        writer.qualities(run.qualities, self.spans_of_rows(run));
        self.write_values(run, writer.out);
        writer.end().expect("a part of a run is under 4 GiB");
        Some(self.spans.iter().map(ExactSizeIterator::len).sum::<usize>() * run.times.rows.max(1))
    }

    /// Finds the chosen parameters of the run. Both lists are sorted, so each step continues where the last
    /// one ended.
    fn pick(&mut self, run: &RunView<'_>, chosen: &RangeSet) {
        self.ranges.clear();
        self.parameters.clear();
        let (mut position, mut left) = (0, chosen.as_slice());
        for range in run.ranges() {
            left = &left[left.partition_point(|known| known.end <= range.start)..];
            for known in left.iter().take_while(|known| known.start < range.end) {
                let both = known.start.max(range.start)..known.end.min(range.end);
                let first = position + (both.start - range.start) as usize;
                self.parameters.push(first..first + both.len());
                self.ranges.push(both);
            }
            position += range.len();
        }
    }

    fn find_spans(&mut self, run: &RunView<'_>) {
        self.spans.clear();
        if run.layout != Layout::Ragged {
            self.spans.extend_from_slice(&self.parameters);
            return;
        }
        let (mut counts, mut parameter, mut sample) = (run.counts(), 0, 0);
        for chosen in &self.parameters {
            let skipped = counts.by_ref().take(chosen.start - parameter);
            let start = sample + skipped.map(|count| count as usize).sum::<usize>();
            let taken = counts.by_ref().take(chosen.len());
            sample = start + taken.map(|count| count as usize).sum::<usize>();
            parameter = chosen.end;
            self.spans.push(start..sample);
        }
    }

    /// The spans of all rows.
    fn spans_of_rows(&self, run: &RunView<'_>) -> impl Iterator<Item = Range<usize>> + '_ {
        let (rows, row) = (run.times.rows.max(1), run.samples / run.times.rows.max(1));
        (0..rows).flat_map(move |at| {
            self.spans.iter().map(move |span| at * row + span.start..at * row + span.end)
        })
    }

    fn write_times(&self, run: &RunView<'_>, writer: &mut RunWriter<'_>) {
        match run.layout {
            Layout::One => {}
            Layout::Grid => {
                varint::put(writer.out, run.times.rows as u64);
                writer.out.extend_from_slice(run.times.deltas);
            }
            Layout::Ragged => {
                each_at(run.counts(), &self.parameters, |count| {
                    varint::put(writer.out, u64::from(count));
                });
                let mut last_ns = run.time_ns;
                each_at(run.times(), &self.spans, |time_ns| {
                    varint::put_signed(writer.out, time_ns.wrapping_sub(last_ns));
                    last_ns = time_ns;
                });
            }
        }
    }

    fn write_values(&mut self, run: &RunView<'_>, out: &mut Vec<u8>) {
        match run.kind {
            Kind::Bool => self.write_bits(run, out),
            Kind::Text | Kind::Bytes => self.write_items(run, out),
            _ => self.write_fixed(run, out),
        }
    }

    fn write_fixed(&self, run: &RunView<'_>, out: &mut Vec<u8>) {
        let width = run.kind.width().unwrap_or(1);
        for span in self.spans_of_rows(run) {
            out.extend_from_slice(&run.values()[span.start * width..span.end * width]);
        }
    }

    fn write_bits(&self, run: &RunView<'_>, out: &mut Vec<u8>) {
        let rows = run.times.rows.max(1);
        let mut sink = BitSink::new(out);
        for row in run.values().chunks_exact(run.values().len() / rows) {
            self.spans.iter().for_each(|span| sink.copy(row, span.clone()));
            sink.end_byte();
        }
    }

    /// Copies first all lengths, then all content.
    fn write_items(&mut self, run: &RunView<'_>, out: &mut Vec<u8>) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        let lengths = run.values.lengths;
        let (mut numbers, mut sample, mut at) = (Varints::new(lengths), 0, 0);
        for span in self.spans_of_rows(run) {
            at += numbers.by_ref().take(span.start - sample).sum::<u64>() as usize;
            let (first, start) = (lengths.len() - numbers.rest().len(), at);
            at += numbers.by_ref().take(span.len()).sum::<u64>() as usize;
            out.extend_from_slice(&lengths[first..lengths.len() - numbers.rest().len()]);
            pieces.push(start..at);
            sample = span.end;
        }
        for piece in &pieces {
            out.extend_from_slice(&run.values.data[piece.clone()]);
        }
        self.pieces = pieces;
    }
}

/// Calls `see` with the items at these positions.
fn each_at<I: Iterator>(mut all: I, spans: &[Range<usize>], mut see: impl FnMut(I::Item)) {
    let mut at = 0;
    for span in spans {
        all.by_ref().skip(span.start - at).take(span.len()).for_each(&mut see);
        at = span.end;
    }
}
