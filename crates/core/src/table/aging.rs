//! Makes values stale that were silent for too long or have no publisher, many parameters in portions.

use slipring_wire::frame::{self, Quality, RangeSet};

use super::answer::event_message;
use super::stale::STALE_AT_ONCE;
use super::{ClockReading, Silence, Table};
use crate::desk::{ChangeEvent, ChangeMessages};
use crate::{ParameterIndex, TableRules};

impl Table {
    /// Makes the next portion of the parameters without a publisher stale.
    pub(super) fn orphans_go_stale(&mut self, at: ClockReading) -> ChangeMessages {
        let portion: RangeSet = self.orphaned.indices().take(STALE_AT_ONCE).collect();
        self.orphaned.take_away(&portion);
        let publishers = &self.registry.publishers;
        // Another publisher may have declared a parameter meanwhile.
        let is_orphan = |index: &u32| publishers.count(ParameterIndex::new(*index)) == 0;
        let orphans = portion.indices().filter(is_orphan).collect();
        let stale = self.current.mark_stale(&orphans, Quality::PUBLISHER_GONE, at);
        self.announce_stale(&stale, Quality::PUBLISHER_GONE, at)
    }

    /// Makes parameters stale that were silent for too long or have no publisher, one portion in each call. Returns
    /// the messages about these, and about those that are fresh again, as JSON.
    #[expect(clippy::cast_precision_loss, reason = "so many periods need not be exact")]
    pub fn check_silent(&mut self, rules: &TableRules, at: ClockReading) -> ChangeMessages {
        let rule = Silence { periods: rules.stale_periods as f32, least_ms: rules.stale_min_ms };
        let silent = self.current.check_silent(rule, at);
        let mut all = self.announce_stale(&silent, Quality::SILENT, at);
        if !self.orphaned.is_empty() {
            all.append(&mut self.orphans_go_stale(at));
        }
        self.is_going_stale = silent.len() >= STALE_AT_ONCE || !self.orphaned.is_empty();
        let fresh = self.current.take_fresh();
        if !fresh.is_empty() {
            all.push(event_message(&self.registry, ChangeEvent::Fresh, &fresh, None));
        }
        all
    }

    fn announce_stale(
        &mut self,
        parameters: &RangeSet,
        reason: u8,
        at: ClockReading,
    ) -> ChangeMessages {
        if parameters.is_empty() {
            return ChangeMessages::new();
        }
        let (groups, state) = self.groups_at(at);
        groups.offer_newest(parameters, &state);
        let why = Quality::new(frame::QualityStatus::Stale, reason).why();
        vec![event_message(&self.registry, ChangeEvent::Stale, parameters, why)]
    }
}
