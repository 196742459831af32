//! Values of the table that go stale: silent for too long, or without a publisher. Many go in portions.

use slipring_wire::frame::{self, Quality, RangeSet};

use super::answer::told;
use super::stale::STALE_AT_ONCE;
use super::whole::scene;
use super::{Arrival, Event, Silence, Table};
use crate::TableRules;

impl Table {
    /// A session's connection is over: what only it published is stale, many parameters in portions (see
    /// [`Self::check_silent`]). What is to be told, as JSON. What it declared stays its own if the session is
    /// kept.
    pub fn leave(&mut self, session: u64, is_kept: bool, at: Arrival) -> Vec<Vec<u8>> {
        self.groups.leave_all(session);
        self.orphaned.add(&self.registry.leave(session, is_kept));
        self.orphans_go_stale(at)
    }

    /// The next portion of what has no publisher any more goes stale.
    fn orphans_go_stale(&mut self, at: Arrival) -> Vec<Vec<u8>> {
        let portion: RangeSet = self.orphaned.indices().take(STALE_AT_ONCE).collect();
        self.orphaned.take_away(&portion);
        let publishers = self.registry.publishers();
        let is_orphan = |index: &u32| publishers.count(*index) == 0; // nobody came meanwhile
        let orphans = portion.indices().filter(is_orphan).collect();
        let stale = self.current.mark_stale(&orphans, Quality::PUBLISHER_GONE, at);
        self.went_stale(&stale, Quality::PUBLISHER_GONE, at)
    }

    /// Parameters that were silent for too long or have no publisher any more are stale, a portion of them at
    /// a time; others are fresh again. What is to be told.
    #[expect(clippy::cast_precision_loss, reason = "so many periods need not be exact")]
    pub fn check_silent(&mut self, rules: &TableRules, at: Arrival) -> Vec<Vec<u8>> {
        let rule = Silence { periods: rules.stale_periods as f32, least_ms: rules.stale_min_ms };
        let silent = self.current.check_silent(rule, at);
        let mut all = self.went_stale(&silent, Quality::SILENT, at);
        if !self.orphaned.is_empty() {
            all.append(&mut self.orphans_go_stale(at));
        }
        self.is_going_stale = silent.len() >= STALE_AT_ONCE || !self.orphaned.is_empty();
        let fresh = self.current.take_fresh();
        if !fresh.is_empty() {
            all.push(told(&self.registry, Event::Fresh, &fresh, None));
        }
        all
    }

    fn went_stale(&mut self, stale: &RangeSet, reason: u8, at: Arrival) -> Vec<Vec<u8>> {
        if stale.is_empty() {
            return Vec::new();
        }
        let Self { registry, current, groups, .. } = self;
        groups.offer_newest(stale, &scene(registry, current, at));
        let why = Quality::new(frame::Status::Stale, reason).why();
        vec![told(registry, Event::Stale, stale, why)]
    }
}
