//! The newest value of every parameter, by index (G3).
//!
//! Newest is what arrived last. Never asks what a parameter is called, and never who may publish it.

use std::ops::Range;

use slipring_wire::frame::{
    FrameBuf, Header, Kind, Layout, Quality, RangeSet, RunView, Sample, Status, ValueView,
};

use super::columns::{Cell, Columns, RowPart, is_text};
use super::marks::Marks;
use super::rows::Rows;
use super::spill::Spill;
use super::stale::Watch;
use super::{Millis, Names};

/// The newest values.
#[derive(Debug, Default)]
pub struct Current {
    pub(super) columns: Columns,
    pub(super) received_ns: Vec<i64>,
    /// By the clock that never goes back; only differences below 24 days have a meaning.
    pub(super) arrived_ms: Vec<u32>,
    /// The time between two samples as declared, in milliseconds; 0 where none is.
    pub(super) periods_ms: Vec<f32>,
    change: u64,
    /// How many of the newest values are stale.
    pub(super) stale: usize,
    pub(super) fresh: Marks,
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
    /// The number of the change that brought it.
    pub change: u64,
}

/// When something arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// By the clock that never goes back.
    pub now_ms: Millis,
    /// By the broker's clock, nanoseconds since 1970.
    pub now_ns: i64,
}

impl Current {
    /// Takes over what the table says of these parameters: their kinds and how often they come. The
    /// value of one that is no more, or is of another kind now, is forgotten.
    pub fn define(&mut self, parameters: &RangeSet, names: &dyn Names) {
        if let Some(last) = parameters.as_slice().last() {
            self.grow(last.end as usize);
        }
        for index in parameters.indices() {
            let (at, kind) = (index as usize, names.kind(index));
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

    /// What texts cost that are newest no more and that groups still know as sent, about; each once.
    pub fn left_text_bytes(&self) -> usize {
        self.columns.texts.left_bytes()
    }

    /// By how much the texts of a run are longer than those that they replace. What gets shorter does
    /// not make up for it: there has to be room first.
    pub fn growth(&self, run: &RunView<'_>) -> usize {
        let mut growth = 0;
        if is_text(run.kind) {
            run.visit_newest(|sample| growth += self.growth_by(&sample));
        }
        growth
    }

    /// By how much a text is longer than the one that it replaces.
    pub fn growth_by(&self, sample: &Sample<'_>) -> usize {
        let new = Cell::of(sample).text.len();
        if new == 0 {
            0
        } else {
            new.saturating_sub(self.columns.text(sample.index as usize).len())
        }
    }

    /// The newest value of a parameter.
    pub fn get(&self, index: u32) -> Option<CurrentView<'_>> {
        let at = index as usize;
        if !self.columns.has(at) {
            return None;
        }
        Some(CurrentView {
            value: self.columns.value(at)?,
            time_ns: self.columns.times[at],
            receive_ns: self.received_ns[at],
            quality: Quality(self.columns.qualities[at]),
            change: self.columns.changes[at],
        })
    }

    /// The parameters among these that have a value.
    pub fn known(&self, parameters: &RangeSet) -> RangeSet {
        let mut known = RangeSet::new();
        for range in parameters {
            let span = range.start as usize..range.end as usize;
            self.columns.changed(span, 0, |span| known.insert(indices(span)));
        }
        known
    }

    /// Whether every parameter of a run has its kind; else the first that has not.
    pub fn check(&self, run: &RunView<'_>) -> Result<(), u32> {
        for range in run.ranges() {
            let kinds = self.columns.kinds.get(range.start as usize..range.end as usize);
            let others = |kinds: &[Option<Kind>]| kinds.iter().position(|k| *k != Some(run.kind));
            match kinds.map(others) {
                Some(None) => {}
                Some(Some(other)) => return Err(range.start + other as u32),
                None => return Err(range.start.max(self.columns.len() as u32)),
            }
        }
        Ok(())
    }

    /// Takes a run's newest samples over. The run has been checked.
    pub fn apply(&mut self, run: &RunView<'_>, arrival: Arrival) {
        debug_assert_eq!(self.check(run), Ok(()));
        self.change += 1;
        match run.layout {
            Layout::One | Layout::Grid if !is_text(run.kind) => {
                self.apply_row(run, arrival);
            }
            _ => run.visit_newest(|sample| self.put(&sample, arrival)),
        }
    }

    /// Takes one sample over; false where the parameter is of another kind.
    pub fn set(&mut self, sample: &Sample<'_>, arrival: Arrival) -> bool {
        let kind = self.columns.kinds.get(sample.index as usize).copied().flatten();
        if kind != Some(sample.value.kind()) {
            return false;
        }
        self.change += 1;
        self.put(sample, arrival);
        true
    }

    fn put(&mut self, sample: &Sample<'_>, arrival: Arrival) {
        let at = sample.index as usize;
        let was_stale = self.is_stale(at);
        self.columns.set(at, &Cell::of(sample), self.change);
        self.received_ns[at] = arrival.now_ns;
        self.arrived_ms[at] = arrival.now_ms as u32;
        self.count_stale(at..at + 1, was_stale.then_some(at));
    }

    /// The last row of a run, range by range.
    fn apply_row(&mut self, run: &RunView<'_>, arrival: Arrival) {
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
            let span = range.start as usize..range.end as usize;
            self.fill(span, &RowPart { first, ..row }, arrival);
            first += range.len();
        }
    }

    fn fill(&mut self, span: Range<usize>, row: &RowPart<'_>, arrival: Arrival) {
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
        Quality(self.columns.qualities[at]).status() == Status::Stale && self.columns.has(at)
    }

    /// Counts what is stale after samples came; what was and is no more is fresh.
    fn count_stale(&mut self, span: Range<usize>, was: impl IntoIterator<Item = usize>) {
        let stale = Quality::new(Status::Stale, 0).0;
        let qualities = &self.columns.qualities[span];
        self.stale += qualities.iter().filter(|quality| **quality >= stale).count();
        for at in was {
            self.stale -= 1;
            if !self.is_stale(at) {
                self.fresh.set(at);
            }
        }
    }

    /// The next change; whoever asks sets values with it.
    pub(super) fn next_change(&mut self) -> u64 {
        self.change += 1;
        self.change
    }

    /// Every newest value in frames, for a snapshot; about so many bytes each.
    pub fn snapshot(&self, header: &Header, frame_bytes: usize, mut each: impl FnMut(&[u8])) {
        let (mut buf, mut frame) = (FrameBuf::new(), Vec::new());
        let mut pass_on = |buf: &mut FrameBuf| {
            frame.clear();
            buf.finish(header, false, &mut frame);
            each(&frame);
        };
        let mut spill = Spill::new(&mut buf, frame_bytes, &mut pass_on);
        let mut rows = Rows::default();
        let all = 0..self.columns.len();
        self.columns.changed(all, 0, |span| {
            rows.add(&self.columns, span.clone(), span.start as u32, &mut spill);
        });
        rows.finish(&self.columns, &mut spill);
        spill.pass_on();
    }

    /// Takes a run of a snapshot over: stale, until somebody publishes it. Parameters that are of
    /// another kind now are passed over, and so are texts for which there is no room.
    pub fn restore(&mut self, run: &RunView<'_>, arrival: Arrival, text_bytes_max: usize) {
        let quality = Quality::new(Status::Stale, Quality::RESTORED);
        run.visit_newest(|sample| {
            if self.text_bytes() + self.growth_by(&sample) <= text_bytes_max {
                self.set(&Sample { quality, ..sample }, arrival);
            }
        });
    }
}

/// A span of places as indices, where they are the same.
pub(super) fn indices(span: Range<usize>) -> Range<u32> {
    span.start as u32..span.end as u32
}
