//! Who publishes which parameters: those that a session declared since it connected.

use std::collections::HashMap;
use std::ops::Range;

use slipring_wire::frame::RangeSet;

/// Ranges of indices that all publishers together may have.
const RANGES_MAX: usize = 1 << 20;

/// The publishers by session.
#[derive(Debug, Default)]
pub struct Publishers {
    sessions: HashMap<u64, RangeSet>,
    /// Publishers of each index.
    counts: Vec<u32>,
    /// Ranges of all sessions.
    ranges: usize,
}

impl Publishers {
    /// What a session publishes.
    pub fn of(&self, session: u64) -> Option<&RangeSet> {
        self.sessions.get(&session)
    }

    /// Whether a session publishes all of these; the first index that it does not.
    pub fn may_publish(
        &self,
        session: u64,
        ranges: impl Iterator<Item = Range<u32>>,
    ) -> Result<(), u32> {
        let declared = self.sessions.get(&session);
        for range in ranges {
            if !declared.is_some_and(|declared| declared.contains_range(&range)) {
                let absent = |index: &u32| !declared.is_some_and(|known| known.contains(*index));
                return Err(range.into_iter().find(absent).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// How many sessions publish a parameter.
    pub fn count(&self, index: u32) -> usize {
        self.counts.get(index as usize).copied().unwrap_or_default() as usize
    }

    /// How many others publish a parameter.
    pub fn others(&self, session: u64, index: u32) -> usize {
        let own = self.of(session).is_some_and(|declared| declared.contains(index));
        self.count(index) - usize::from(own)
    }

    /// Whether there is room for a session that publishes these, too.
    pub(super) fn has_room(&self, session: u64, more: &RangeSet) -> bool {
        let had = self.of(session).map_or(0, RangeSet::ranges);
        // The exact number is at most the sum, and the sum is quick.
        self.ranges + more.ranges() <= RANGES_MAX
            || self.ranges - had + self.joined(session, more).ranges() <= RANGES_MAX
    }

    pub(super) fn enter(&mut self, session: u64, more: &RangeSet) {
        let joined = self.joined(session, more);
        let had = self.sessions.remove(&session).unwrap_or_default();
        for index in more.difference(&had).indices() {
            *self.at(index) += 1;
        }
        self.ranges = self.ranges - had.ranges() + joined.ranges();
        if !joined.is_empty() {
            self.sessions.insert(session, joined);
        }
    }

    /// A session is gone; the parameters that nobody publishes any more.
    pub(super) fn leave(&mut self, session: u64) -> RangeSet {
        let Some(had) = self.sessions.remove(&session) else { return RangeSet::new() };
        self.ranges -= had.ranges();
        had.indices()
            .filter(|index| {
                let count = self.at(*index);
                *count -= 1;
                *count == 0
            })
            .collect()
    }

    /// A parameter is gone: nobody publishes it.
    pub(super) fn forget(&mut self, index: u32) {
        if self.count(index) == 0 {
            return;
        }
        for declared in self.sessions.values_mut() {
            self.ranges -= declared.ranges();
            declared.remove(index..index + 1);
            self.ranges += declared.ranges();
        }
        *self.at(index) = 0;
    }

    /// What a session would publish with these. Sorted first, so that every range is appended.
    fn joined(&self, session: u64, more: &RangeSet) -> RangeSet {
        let had = self.of(session).into_iter().flatten();
        let mut ranges: Vec<_> = had.chain(more).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.into_iter().collect()
    }

    fn at(&mut self, index: u32) -> &mut u32 {
        let index = index as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        &mut self.counts[index]
    }
}
