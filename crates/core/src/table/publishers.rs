//! Who publishes which parameters: what a session declared is its own while the session lives.
//!
//! A session whose client is away publishes nothing, and may again as soon as the client is back.

use std::collections::HashMap;
use std::ops::Range;

use slipring_wire::frame::RangeSet;

use super::problem::shown;

/// Ranges of indices that all publishers together may have.
const RANGES_MAX: usize = 1 << 20;
/// Those of sessions whose clients are away; one that would make more has to declare again.
const AWAY_RANGES_MAX: usize = RANGES_MAX / 2;

/// The publishers by session.
#[derive(Debug, Default)]
pub struct Publishers {
    sessions: HashMap<u64, Publisher>,
    /// Publishers of each index whose clients are here.
    counts: Vec<u32>,
    /// Ranges of all sessions.
    ranges: usize,
    /// Ranges of those that are away.
    away_ranges: usize,
}

#[derive(Debug)]
struct Publisher {
    /// Its client identifier, for people.
    client: Box<str>,
    declared: RangeSet,
    is_away: bool,
}

impl Publishers {
    /// What a session has declared.
    pub fn of(&self, session: u64) -> Option<&RangeSet> {
        self.sessions.get(&session).map(|publisher| &publisher.declared)
    }

    /// Whether a session has declared all of these; the first index that it has not.
    pub fn may_publish(
        &self,
        session: u64,
        ranges: impl Iterator<Item = Range<u32>>,
    ) -> Result<(), u32> {
        let declared = self.of(session);
        for range in ranges {
            if !declared.is_some_and(|declared| declared.contains_range(&range)) {
                let absent = |index: &u32| !declared.is_some_and(|known| known.contains(*index));
                return Err(range.into_iter().find(absent).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// How many clients that are here publish a parameter.
    pub fn count(&self, index: u32) -> usize {
        self.counts.get(index as usize).copied().unwrap_or_default() as usize
    }

    /// How many others that are here publish a parameter.
    pub fn others(&self, session: u64, index: u32) -> usize {
        let own = self.sessions.get(&session);
        let own = own.is_some_and(|own| own.publishes(index));
        self.count(index) - usize::from(own)
    }

    /// Which others publish a parameter, for people; of several, the first by name.
    pub(super) fn told(&self, session: u64, index: u32) -> String {
        let others = self.sessions.iter().filter(|(other, _)| **other != session);
        let others = others.filter(|(_, publisher)| publisher.publishes(index));
        let first = others.map(|(_, publisher)| &*publisher.client).min().unwrap_or_default();
        let who = match self.others(session, index) {
            0 | 1 => "publishes".to_owned(),
            others => format!("and {} more publish", others - 1),
        };
        let until = "it can go when nobody else publishes it, or with \"force\": true";
        format!("the client {} {who} it now; {until}", shown(first))
    }

    /// Whether there is room for a session that publishes these, too.
    pub(super) fn has_room(&self, session: u64, more: &RangeSet) -> bool {
        let had = self.of(session).map_or(0, RangeSet::ranges);
        // The exact number is at most the sum, and the sum is quick.
        self.ranges + more.ranges() <= RANGES_MAX
            || self.ranges - had + self.joined(session, more).ranges() <= RANGES_MAX
    }

    /// A session, whose client is here, publishes these, too; those that it did not before.
    pub(super) fn enter(&mut self, session: u64, client: &str, more: &RangeSet) -> RangeSet {
        self.come_back(session);
        let joined = self.joined(session, more);
        if joined.is_empty() {
            return joined;
        }
        let had = self.take_out(session).map(|publisher| publisher.declared).unwrap_or_default();
        let new = more.difference(&had);
        for index in new.indices() {
            *self.at(index) += 1;
        }
        self.put(session, Publisher { client: client.into(), declared: joined, is_away: false });
        new
    }

    /// A session of an earlier run has declared these; its client is away.
    pub(super) fn restore(&mut self, session: u64, client: &str, declared: RangeSet) {
        self.stay(session, Publisher { client: client.into(), declared, is_away: true });
    }

    /// A session's client is gone; the parameters that nobody publishes any more. What it declared
    /// stays its own if the session is kept.
    pub(super) fn leave(&mut self, session: u64, is_kept: bool) -> RangeSet {
        let Some(mut publisher) = self.take_out(session) else { return RangeSet::new() };
        let orphaned = if publisher.is_away {
            RangeSet::new()
        } else {
            let orphaned = publisher.declared.indices().filter(|index| {
                let count = self.at(*index);
                *count -= 1;
                *count == 0
            });
            orphaned.collect()
        };
        publisher.is_away = true;
        if is_kept {
            self.stay(session, publisher);
        }
        orphaned
    }

    /// Keeps what a session whose client is away has declared, if there is room.
    fn stay(&mut self, session: u64, publisher: Publisher) {
        let ranges = publisher.declared.ranges();
        if ranges > 0 && self.away_ranges + ranges <= AWAY_RANGES_MAX {
            self.put(session, publisher);
        }
    }

    /// A session's client is back, and publishes what it declared.
    pub(super) fn come_back(&mut self, session: u64) {
        if !self.sessions.get(&session).is_some_and(|publisher| publisher.is_away) {
            return;
        }
        let Some(mut publisher) = self.take_out(session) else { return };
        for index in publisher.declared.indices() {
            *self.at(index) += 1;
        }
        publisher.is_away = false;
        self.put(session, publisher);
    }

    /// A session whose client is away is over.
    pub(super) fn forget_session(&mut self, session: u64) {
        if self.sessions.get(&session).is_some_and(|publisher| publisher.is_away) {
            self.take_out(session);
        }
    }

    /// Parameters are gone: nobody publishes them.
    pub(super) fn forget(&mut self, parameters: &RangeSet) {
        (self.ranges, self.away_ranges) = (0, 0);
        self.sessions.retain(|_, publisher| {
            if publisher.declared.iter().any(|range| parameters.overlaps(&range)) {
                publisher.declared = publisher.declared.difference(parameters);
            }
            self.ranges += publisher.declared.ranges();
            self.away_ranges += publisher.away_ranges();
            !publisher.declared.is_empty()
        });
        for index in parameters.indices() {
            *self.at(index) = 0;
        }
    }

    fn take_out(&mut self, session: u64) -> Option<Publisher> {
        let publisher = self.sessions.remove(&session)?;
        self.ranges -= publisher.declared.ranges();
        self.away_ranges -= publisher.away_ranges();
        Some(publisher)
    }

    fn put(&mut self, session: u64, publisher: Publisher) {
        self.ranges += publisher.declared.ranges();
        self.away_ranges += publisher.away_ranges();
        self.sessions.insert(session, publisher);
    }

    /// What a session would publish with these.
    fn joined(&self, session: u64, more: &RangeSet) -> RangeSet {
        self.of(session).map_or_else(|| more.clone(), |had| had.union(more))
    }

    fn at(&mut self, index: u32) -> &mut u32 {
        let index = index as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        &mut self.counts[index]
    }
}

impl Publisher {
    fn publishes(&self, index: u32) -> bool {
        !self.is_away && self.declared.contains(index)
    }

    fn away_ranges(&self) -> usize {
        if self.is_away { self.declared.ranges() } else { 0 }
    }
}
