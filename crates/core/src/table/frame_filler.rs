//! Fills frames with samples, and passes each frame on before it exceeds its limit of bytes.

use std::ops::Range;

use slipring_wire::frame::{
    FrameBuf, Kind, Layout, Qualities, RangeSet, RunView, Sample, ValueView,
};

use super::columns::is_text;

/// The bytes of a run besides its samples: its head and two paddings.
const RUN_BYTES: usize = 40;
/// The most bytes of a range in a run, for tables of less than two million parameters.
const RANGE_BYTES: usize = 6;
/// The bytes of a sample with its own time besides its value.
const SAMPLE_BYTES: usize = 20;

/// A frame that is being filled, and the function that takes full frames.
pub(super) struct FrameFiller<'a> {
    buf: &'a mut FrameBuf,
    body_max: usize,
    full: &'a mut dyn FnMut(&mut FrameBuf),
}

impl<'a> FrameFiller<'a> {
    pub fn new(
        buf: &'a mut FrameBuf,
        body_max: usize,
        full: &'a mut dyn FnMut(&mut FrameBuf),
    ) -> Self {
        Self { buf, body_max, full }
    }

    /// Passes the frame on, unless it is empty.
    pub fn pass_on(&mut self) {
        if !self.buf.is_empty() {
            (self.full)(self.buf);
        }
    }

    /// Passes the frame on if so many more bytes would exceed the limit.
    fn make_room(&mut self, bytes: usize) {
        if self.buf.bytes() + bytes > self.body_max {
            self.pass_on();
        }
    }

    /// The most parameters in a run with one time.
    pub fn row_max(&self, kind: Kind, ranges: usize) -> usize {
        let left = self.body_max.saturating_sub(RUN_BYTES + ranges * RANGE_BYTES);
        left / (kind.width().unwrap_or(1) + 1)
    }

    /// Adds one sample for each parameter of the ranges, all of one time.
    pub fn row(
        &mut self,
        kind: Kind,
        ranges: &[Range<u32>],
        time_ns: i64,
        qualities: Qualities<'_>,
        values: &[u8],
    ) {
        let each = if let Qualities::Each(each) = qualities { each.len() } else { 0 };
        self.make_room(RUN_BYTES + ranges.len() * RANGE_BYTES + each + values.len());
        let pushed = self.buf.push_row(kind, ranges, time_ns, qualities, values);
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Adds samples of one kind. Samples of the same parameter stay in their order.
    pub fn samples(&mut self, kind: Kind, samples: &mut [Sample<'_>]) {
        let mut rest = samples;
        while !rest.is_empty() {
            let (count, bytes) = self.portion(rest);
            let (now, later) = rest.split_at_mut(count);
            self.make_room(bytes);
            let pushed = self.buf.push_samples(kind, now);
            debug_assert!(pushed.is_ok(), "{pushed:?}");
            rest = later;
        }
    }

    /// How many of these samples fit in one frame, and the most bytes they need.
    fn portion(&self, samples: &[Sample<'_>]) -> (usize, usize) {
        let (mut count, mut bytes) = (0, RUN_BYTES);
        for sample in samples {
            let more = SAMPLE_BYTES + value_bytes(&sample.value);
            if count > 0 && bytes + more > self.body_max {
                break;
            }
            count += 1;
            bytes += more;
        }
        (count, bytes)
    }

    /// Adds the chosen samples of a run.
    pub fn part(&mut self, run: &RunView<'_>, chosen: &RangeSet) {
        let mut bytes = run.bytes().len();
        if !chosen.contains_all(run.ranges()) {
            bytes += RANGE_BYTES * chosen.ranges().min(run.parameters);
        }
        if bytes <= self.body_max {
            self.make_room(bytes);
            self.buf.push_part(run, chosen);
        } else if run.layout == Layout::One && !is_text(run.kind) {
            self.row_in_parts(run, chosen);
        } else {
            let mut samples = Vec::new();
            run.visit(|sample| samples.extend(chosen.contains(sample.index).then_some(sample)));
            self.samples(run.kind, &mut samples);
        }
    }

    /// Adds a row that is too large for one frame in parts.
    fn row_in_parts(&mut self, run: &RunView<'_>, chosen: &RangeSet) {
        let in_run: RangeSet = run.ranges().collect();
        let (mut part, mut count) = (RangeSet::new(), 0);
        for range in &in_run.intersect(chosen) {
            let mut start = range.start;
            while start < range.end {
                let room = self.row_max(run.kind, part.ranges() + 1).saturating_sub(count);
                if room == 0 && count > 0 {
                    self.push_part(run, &part, count);
                    part.clear();
                    count = 0;
                    continue;
                }
                let end = range.end.min(start.saturating_add(room.max(1) as u32));
                part.insert(start..end);
                count += (end - start) as usize;
                start = end;
            }
        }
        if count > 0 {
            self.push_part(run, &part, count);
        }
    }

    fn push_part(&mut self, run: &RunView<'_>, part: &RangeSet, count: usize) {
        let values = count * (run.kind.width().unwrap_or(1) + 1);
        self.make_room(RUN_BYTES + part.ranges() * RANGE_BYTES + values);
        self.buf.push_part(run, part);
    }
}

fn value_bytes(value: &ValueView<'_>) -> usize {
    match value {
        ValueView::Text(text) => text.len(),
        ValueView::Bytes(bytes) => bytes.len(),
        _ => 8,
    }
}
