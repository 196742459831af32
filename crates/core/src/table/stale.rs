//! Values that nobody keeps fresh: no sample for several periods, or the publisher is gone.

use slipring_wire::frame::{Quality, RangeSet, Status};

use super::current::{Current, indices};
use super::{Arrival, Millis};

/// When a parameter with a nominal rate is silent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Silence {
    /// After so many periods without a sample.
    pub periods: f32,
    /// But never sooner than this.
    pub least_ms: u32,
}

impl Default for Silence {
    fn default() -> Self {
        Self { periods: 5.0, least_ms: 200 }
    }
}

/// Beyond this an age has no meaning any more, so nothing is watched for so long.
const AGE_MS_MAX: f32 = 2_147_483_648.0;

impl Current {
    /// Makes the values of these parameters stale for this reason, now. What had no value or was
    /// stale for the same reason stays as it is; the others are returned, to be offered.
    pub fn mark_stale(&mut self, parameters: &RangeSet, reason: u8, at: Arrival) -> RangeSet {
        let quality = Quality::new(Status::Stale, reason);
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

    fn set_stale(&mut self, marked: &RangeSet, quality: Quality, now: Arrival) {
        if marked.is_empty() {
            return;
        }
        let change = self.next_change();
        for at in marked.indices().map(|index| index as usize) {
            if !self.is_stale(at) {
                self.stale += 1;
            }
            self.columns.qualities[at] = quality.0;
            self.columns.times[at] = now.now_ns;
            self.columns.touch(at, change);
            self.fresh.remove(indices(at..at + 1));
        }
    }

    /// The parameters that have become silent; they are stale from now on.
    pub fn check_silent(&mut self, rule: Silence, now: Arrival) -> RangeSet {
        let mut silent = RangeSet::new();
        for at in 0..self.columns.len() {
            if self.is_silent(at, rule, now.now_ms) && !self.is_stale(at) && self.columns.has(at) {
                silent.insert(indices(at..at + 1));
            }
        }
        self.set_stale(&silent, Quality::new(Status::Stale, Quality::SILENT), now);
        silent
    }

    #[expect(clippy::cast_precision_loss, reason = "an age of days may be off by a millisecond")]
    fn is_silent(&self, at: usize, rule: Silence, now_ms: Millis) -> bool {
        let limit = (self.periods_ms[at] * rule.periods).max(rule.least_ms as f32);
        let age = (now_ms as u32).wrapping_sub(self.arrived_ms[at]) as f32;
        self.periods_ms[at] > 0.0 && age > limit && limit < AGE_MS_MAX
    }

    /// The parameters that were stale and have had a sample since this was last asked.
    pub fn take_fresh(&mut self) -> RangeSet {
        std::mem::take(&mut self.fresh)
    }

    /// How many of the newest values are stale.
    pub fn stale(&self) -> usize {
        self.stale
    }
}
