//! Finds values that are stale: no sample for several periods, or the publisher is gone.

use std::ops::Range;

use slipring_wire::frame::{Quality, QualityStatus, RangeSet};

use super::change_numbers::BLOCK;
use super::current::{Current, indices};
use super::{ClockReading, Millis};

/// How long a parameter with a declared rate may be without a sample before it is silent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Silence {
    /// So many periods without a sample.
    pub periods: f32,
    /// At least this long, however short its period is.
    pub least_ms: u32,
}

/// Ages are kept in 32 bits of milliseconds. A parameter with a longer limit is never silent.
const AGE_MS_MAX: f32 = 2_147_483_648.0;

/// About the most parameters that become stale in one check: more would block the table for long.
pub(super) const STALE_AT_ONCE: usize = 8_192;

/// For each block of parameters the earliest time when one of them can be silent, so that a check looks at few
/// blocks. Samples only make that time later, so they do not update it.
#[derive(Debug, Default)]
pub(super) struct Watch {
    rule: Option<Silence>,
    blocks: Vec<Watched>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    soonest_ms: Millis,
    /// The shortest time after which one of them is silent; None if it is not known.
    limit_ms: Option<f32>,
    /// At this change none of them could become silent; a newer change can alter that.
    idle: Option<u64>,
}

impl Watched {
    #[expect(clippy::cast_sign_loss, reason = "the time left is not negative")]
    fn until(now_ms: Millis, left_ms: f32, limit_ms: f32) -> Self {
        let soonest_ms = now_ms.saturating_add(left_ms as Millis);
        Self { soonest_ms, limit_ms: Some(limit_ms), idle: None }
    }
}

impl Watch {
    /// Watches so many blocks by this rule.
    fn follow(&mut self, rule: Silence, blocks: usize) {
        if self.rule != Some(rule) {
            *self = Self { rule: Some(rule), blocks: Vec::new() };
        }
        self.blocks.resize(blocks, Watched::default());
    }

    /// Forgets what is known of a parameter's block, because its declared rate may have changed.
    pub fn look_again(&mut self, at: usize) {
        if let Some(watched) = self.blocks.get_mut(at / BLOCK) {
            *watched = Watched::default();
        }
    }
}

impl Current {
    /// Makes the values of these parameters stale for this reason. Returns those that changed; parameters without
    /// a value, or stale for the same reason already, stay as they are.
    pub fn mark_stale(&mut self, parameters: &RangeSet, reason: u8, at: ClockReading) -> RangeSet {
        let quality = Quality::new(QualityStatus::Stale, reason);
        let mut marked = RangeSet::new();
        let known = self.known(parameters);
        for index in known.indices() {
            if self.columns.qualities[index as usize] != quality.0 {
                marked.insert(index..index + 1);
            }
        }
        self.set_stale(&marked, quality, at);
        marked
    }

    fn set_stale(&mut self, marked: &RangeSet, quality: Quality, now: ClockReading) {
        if marked.is_empty() {
            return;
        }
        self.change += 1;
        for at in marked.indices().map(|index| index as usize) {
            if !self.is_stale(at) {
                self.stale += 1;
            }
            self.columns.qualities[at] = quality.0;
            self.columns.times[at] = now.now_ns;
            self.columns.changes.set(at, self.change);
            self.fresh.clear(at);
        }
    }

    /// Makes parameters stale that have become silent; returns them.
    pub fn check_silent(&mut self, rule: Silence, now: ClockReading) -> RangeSet {
        let mut silent = RangeSet::new();
        self.watch.follow(rule, self.columns.changes.blocks().len());
        for block in 0..self.watch.blocks.len() {
            if silent.len() >= STALE_AT_ONCE {
                break; // the next check finds the others
            }
            let Watched { soonest_ms, idle, .. } = self.watch.blocks[block];
            let has_changed =
                idle.is_none_or(|change| self.columns.changes.blocks()[block] > change);
            if has_changed && soonest_ms <= now.now_ms {
                self.watch.blocks[block] = self.look(block, rule, now.now_ms, &mut silent);
            }
        }
        self.set_stale(&silent, Quality::new(QualityStatus::Stale, Quality::SILENT), now);
        silent
    }

    fn look(&self, block: usize, rule: Silence, now_ms: Millis, silent: &mut RangeSet) -> Watched {
        let span = block * BLOCK..((block + 1) * BLOCK).min(self.columns.len());
        let limits = span.clone().map(|at| self.limit_ms(at, rule));
        let known = self.watch.blocks[block].limit_ms;
        let limit_ms = known.unwrap_or_else(|| limits.fold(f32::INFINITY, f32::min));
        let ages = self.arrived_ms[span.clone()].iter().map(|at| (now_ms as u32).wrapping_sub(*at));
        let left_ms = limit_ms - millis(ages.max().unwrap_or(0));
        if left_ms >= 0.0 {
            return Watched::until(now_ms, left_ms, limit_ms);
        }
        self.look_at_each(span, rule, now_ms, limit_ms, silent)
    }

    /// Checks each parameter of a block in which some are old. One that is stale or has no value cannot become silent
    /// before its next sample.
    fn look_at_each(
        &self,
        span: Range<usize>,
        rule: Silence,
        now_ms: Millis,
        limit_ms: f32,
        silent: &mut RangeSet,
    ) -> Watched {
        let (mut left_ms, mut is_idle) = (limit_ms, true);
        for at in span.filter(|at| self.columns.has(*at) && !self.is_stale(*at)) {
            let age = millis((now_ms as u32).wrapping_sub(self.arrived_ms[at]));
            let left = self.limit_ms(at, rule) - age;
            if left < 0.0 {
                silent.insert(indices(at..at + 1));
            } else {
                is_idle &= left.is_infinite();
                left_ms = left_ms.min(left);
            }
        }
        let watched = Watched::until(now_ms, left_ms, limit_ms);
        if is_idle {
            return Watched { soonest_ms: 0, idle: Some(self.change()), ..watched };
        }
        watched
    }

    /// The age at which a parameter is silent; infinite if it has no rate.
    fn limit_ms(&self, at: usize, rule: Silence) -> f32 {
        let limit = (self.periods_ms[at] * rule.periods).max(millis(rule.least_ms));
        let is_watched = self.periods_ms[at] > 0.0 && limit < AGE_MS_MAX;
        if is_watched { limit } else { f32::INFINITY }
    }

    /// The parameters that were stale and have had a sample since the last call.
    pub fn take_fresh(&mut self) -> RangeSet {
        self.fresh.take()
    }

    /// How many of the newest values are stale.
    pub fn stale(&self) -> usize {
        self.stale
    }
}

#[expect(clippy::cast_precision_loss, reason = "an age of days may be off by a little")]
fn millis(ms: u32) -> f32 {
    ms as f32
}
