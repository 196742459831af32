//! The newest value of every parameter, by index (G3).
//!
//! The newest value is the one that arrived last. This module knows neither names nor publishers.

use std::ops::Range;

use slipring_wire::frame::{
    FrameBuf, Header, Kind, Layout, Quality, QualityStatus, RangeSet, RunView, Sample, ValueView,
};

use super::bit_set::BitSet;
use super::columns::{Cell, Columns, RowPart, is_text};
use super::frame_filler::FrameFiller;
use super::rows::Rows;
use super::stale::Watch;
use super::{Millis, Names};
use crate::ParameterIndex;

/// The newest values.
#[derive(Debug, Default)]
pub struct Current {
    pub(super) columns: Columns,
    pub(super) received_ns: Vec<i64>,
    /// By the monotonic clock; only differences below 24 days have a meaning.
    pub(super) arrived_ms: Vec<u32>,
    /// The declared time between two samples in milliseconds; 0 if none is declared.
    pub(super) periods_ms: Vec<f32>,
    pub(super) change: u64,
    /// How many of the newest values are stale.
    pub(super) stale: usize,
    pub(super) fresh: BitSet,
    pub(super) watch: Watch,
}

/// One newest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurrentView<'a> {
    /// The value.
    pub value: ValueView<'a>,
    /// Source time, or when it went stale.
    pub time_ns: i64,
    /// When the broker received the value.
    pub receive_ns: i64,
    /// How far it can be trusted.
    pub quality: Quality,
}

/// A reading of both clocks at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockReading {
    /// By the monotonic clock.
    pub now_ms: Millis,
    /// By the broker's clock, nanoseconds since 1970.
    pub now_ns: i64,
}

impl Current {
    /// Takes over the kinds and rates of these parameters from the table. The value of a parameter that was
    /// removed, or has another kind now, is forgotten.
    pub fn define(&mut self, parameters: &RangeSet, names: &dyn Names) {
        if let Some(last) = parameters.as_slice().last() {
            self.grow(last.end as usize);
        }
        for index in parameters.indices().map(ParameterIndex::new) {
            let (at, kind) = (index.get() as usize, names.kind(index));
            if self.columns.kinds[at] != kind {
                self.forget(at);
                self.columns.kinds[at] = kind;
            }
            let rate_hz = names.rate_hz(index).filter(|hz| *hz > 0.0);
            self.watch.look_again(at);
            self.periods_ms[at] = rate_hz.map_or(0.0, |hz| (1000.0 / hz) as f32);
        }
    }

    fn grow(&mut self, places: usize) {
        self.columns.grow(places);
        let places = self.columns.len();
        self.received_ns.resize(places, 0);
        self.arrived_ms.resize(places, 0);
        self.periods_ms.resize(places, 0.0);
    }

    fn forget(&mut self, at: usize) {
        if self.is_stale(at) {
            self.stale -= 1;
        }
        self.columns.clear(at);
    }

    /// The number of the newest change of all.
    pub fn change(&self) -> u64 {
        self.change
    }

    /// Bytes of all text and bytes values.
    pub fn text_bytes(&self) -> usize {
        self.columns.texts.bytes()
    }

    /// About the bytes of texts that are no longer the newest and that groups still remember as sent.
    pub fn left_text_bytes(&self) -> usize {
        self.columns.texts.left_bytes()
    }

    /// By how many bytes the texts of a run are longer than those they replace. Texts that get shorter are not
    /// subtracted, because the longer ones may be written first.
    pub(super) fn growth(&self, run: &RunView<'_>) -> usize {
        let mut growth = 0;
        if is_text(run.kind) {
            run.visit_newest(|sample| growth += self.growth_by(&sample));
        }
        growth
    }

    /// By how much a text is longer than the one that it replaces.
    pub(super) fn growth_by(&self, sample: &Sample<'_>) -> usize {
        let new = Cell::of(sample).text.len();
        if new == 0 {
            0
        } else {
            new.saturating_sub(self.columns.text(sample.index as usize).len())
        }
    }

    /// The newest value of a parameter.
    pub fn get(&self, index: ParameterIndex) -> Option<CurrentView<'_>> {
        let at = index.get() as usize;
        if !self.columns.has(at) {
            return None;
        }
        Some(CurrentView {
            value: self.columns.value(at)?,
            time_ns: self.columns.times[at],
            receive_ns: self.received_ns[at],
            quality: Quality(self.columns.qualities[at]),
        })
    }

    /// The parameters among these that have a value.
    pub fn known(&self, parameters: &RangeSet) -> RangeSet {
        let mut known = RangeSet::new();
        for range in parameters {
            self.columns.changed(span(&range), 0, |span| known.insert(indices(span)));
        }
        known
    }

    /// Checks that every parameter of a run has the run's kind; the error is the first that has not.
    pub fn check(&self, run: &RunView<'_>) -> Result<(), ParameterIndex> {
        for range in run.ranges() {
            let kinds = self.columns.kinds.get(span(&range));
            let others = |kinds: &[Option<Kind>]| kinds.iter().position(|k| *k != Some(run.kind));
            let first = match kinds.map(others) {
                Some(None) => continue,
                Some(Some(other)) => range.start + other as u32,
                None => range.start.max(self.columns.len() as u32),
            };
            return Err(ParameterIndex::new(first));
        }
        Ok(())
    }

    /// Stores the newest samples of a run that [`Self::check`] accepted.
    pub fn apply(&mut self, run: &RunView<'_>, arrival: ClockReading) {
        debug_assert_eq!(self.check(run), Ok(()));
        self.change += 1;
        match run.layout {
            Layout::One | Layout::Grid if !is_text(run.kind) => {
                self.apply_row(run, arrival);
            }
            _ => run.visit_newest(|sample| self.put(&sample, arrival)),
        }
    }

    /// Stores one sample; false if the parameter has another kind.
    pub fn set(&mut self, sample: &Sample<'_>, arrival: ClockReading) -> bool {
        let kind = self.columns.kinds.get(sample.index as usize).copied().flatten();
        if kind != Some(sample.value.kind()) {
            return false;
        }
        self.change += 1;
        self.put(sample, arrival);
        true
    }

    fn put(&mut self, sample: &Sample<'_>, arrival: ClockReading) {
        let at = sample.index as usize;
        let was_stale = self.is_stale(at);
        self.columns.set(at, &Cell::of(sample), self.change);
        self.received_ns[at] = arrival.now_ns;
        self.arrived_ms[at] = arrival.now_ms as u32;
        self.count_stale(at..at + 1, was_stale.then_some(at));
    }

    /// Stores the last row of a run, range by range.
    fn apply_row(&mut self, run: &RunView<'_>, arrival: ClockReading) {
        let rows = run.rows().unwrap_or(1);
        let values = run.values();
        let row = RowPart {
            kind: run.kind,
            time_ns: run.times().last().unwrap_or(run.time_ns),
            values: &values[values.len() / rows * (rows - 1)..],
            first: 0,
            qualities: run.qualities(),
            before: run.parameters * (rows - 1),
        };
        let mut first = 0;
        for range in run.ranges() {
            self.fill(span(&range), &RowPart { first, ..row }, arrival);
            first += range.len();
        }
    }

    fn fill(&mut self, span: Range<usize>, row: &RowPart<'_>, arrival: ClockReading) {
        let was_stale: Vec<usize> = match self.stale {
            0 => Vec::new(),
            _ => span.clone().filter(|at| self.is_stale(*at)).collect(),
        };
        self.columns.fill(span.clone(), row, self.change);
        self.received_ns[span.clone()].fill(arrival.now_ns);
        self.arrived_ms[span.clone()].fill(arrival.now_ms as u32);
        self.count_stale(span, was_stale);
    }

    pub(super) fn is_stale(&self, at: usize) -> bool {
        Quality(self.columns.qualities[at]).status() == QualityStatus::Stale && self.columns.has(at)
    }

    /// Counts stale values after samples were stored; those that were stale and are not any more become fresh.
    fn count_stale(&mut self, span: Range<usize>, was: impl IntoIterator<Item = usize>) {
        let stale = Quality::new(QualityStatus::Stale, 0).0;
        let qualities = &self.columns.qualities[span];
        self.stale += qualities.iter().filter(|quality| **quality >= stale).count();
        for at in was {
            self.stale -= 1;
            if !self.is_stale(at) {
                self.fresh.set(at);
            }
        }
    }

    /// Writes all newest values as frames of about `frame_bytes`, for a snapshot.
    pub fn snapshot(&self, header: &Header, frame_bytes: usize, mut each: impl FnMut(&[u8])) {
        let (mut buf, mut frame) = (FrameBuf::new(), Vec::new());
        let mut pass_on = |buf: &mut FrameBuf| {
            frame.clear();
            buf.finish(header, false, &mut frame);
            each(&frame);
        };
        let mut filler = FrameFiller::new(&mut buf, frame_bytes, &mut pass_on);
        let mut rows = Rows::default();
        let all = 0..self.columns.len();
        self.columns.changed(all, 0, |span| {
            rows.add(&self.columns, span.clone(), span.start as u32, &mut filler);
        });
        rows.finish(&self.columns, &mut filler);
        filler.pass_on();
    }

    /// Restores a run of a snapshot. Its values are stale until a client publishes them. Parameters that have
    /// another kind now are skipped, and so are texts beyond the limit.
    pub fn restore(&mut self, run: &RunView<'_>, arrival: ClockReading, text_bytes_max: usize) {
        let quality = Quality::new(QualityStatus::Stale, Quality::RESTORED);
        run.visit_newest(|sample| {
            if self.text_bytes() + self.growth_by(&sample) <= text_bytes_max {
                self.set(&Sample { quality, ..sample }, arrival);
            }
        });
    }
}

/// A range of indices as positions, in columns where both are the same.
pub(super) fn span(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// A span of positions as indices, in columns where both are the same.
pub(super) fn indices(span: Range<usize>) -> Range<u32> {
    span.start as u32..span.end as u32
}
