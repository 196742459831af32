//! The parameters that filters match: a few at once, many in parts.

use std::collections::HashSet;

use slipring_wire::frame::RangeSet;
use slipring_wire::matches;

use super::declare::sorted;
use super::entries::Entry;
use super::registry::Registry;
use crate::Work;

/// Steps through the tree of names for the filters of one list that were not looked for before.
const STEPS_MAX: usize = 1 << 16;
/// Steps after which what a filter matches is looked for in parts.
const FEW_STEPS: usize = 4_096;
/// Indices that are looked through for one page, about half a millisecond.
pub(super) const LOOKED_MAX: u32 = 8_192;
/// The filter that every parameter matches: none begins with `$`.
pub(super) const ALL: &str = "#";

/// A part of the parameters that a filter matches.
pub(super) struct Page<'a> {
    /// Each with its index, and whether it is there.
    pub entries: Box<dyn Iterator<Item = (u32, &'a Entry, bool)> + 'a>,
    /// Where to go on behind them; none where that is all.
    pub next: Option<u32>,
}

impl Registry {
    /// Looks for what a filter matches until the turn is over; whether it is known now. Then
    /// [`Self::matching`] takes no time.
    pub fn search(&mut self, filter: &str, work: &mut Work) -> bool {
        if !self.searches.has(filter) {
            let mut left = FEW_STEPS;
            let is_narrow = filter != ALL && self.found(filter, &mut left).is_some();
            work.add((FEW_STEPS - left) * Work::ENTRY / 2);
            if is_narrow || self.end() <= LOOKED_MAX {
                return true;
            }
        }
        let is_known = self.searches.go_on(filter, &self.entries, work);
        // What is known is still sent to whoever asks for it.
        work.add(self.searches.known(filter).map_or(0, RangeSet::len) / 2);
        is_known
    }

    /// The parameters that a filter matches.
    pub fn matching(&self, filter: &str) -> RangeSet {
        match self.searches.known(filter) {
            Some(known) => known.clone(),
            None => sorted(self.found(filter, &mut { usize::MAX }).unwrap_or_default()),
        }
    }

    /// Whether a filter matches any parameter; true too where it takes many steps to tell, and it was not
    /// looked for.
    pub fn matches_any(&self, filter: &str) -> bool {
        match self.searches.known(filter) {
            Some(known) => !known.is_empty(),
            None => self.tree.matches_any(filter, FEW_STEPS).unwrap_or(true),
        }
    }

    /// The parameters that any of these filters matches; none where that takes too many steps.
    pub(super) fn matching_any(&self, filters: &[String]) -> Option<RangeSet> {
        let distinct: HashSet<&str> = filters.iter().map(String::as_str).collect();
        let (mut known, mut found) = (RangeSet::new(), Vec::new());
        let mut steps = STEPS_MAX;
        for filter in distinct {
            match self.searches.known(filter) {
                Some(some) => known.add(some),
                None => found.append(&mut self.found(filter, &mut steps)?),
            }
        }
        known.add(&sorted(found));
        Some(known)
    }

    /// The parameters that a filter matches from an index on, ascending, and whether they are there.
    /// Of a filter that matches few of many, only a part of the table is looked through at once.
    pub(super) fn page(&self, filter: &str, from: u32, removed: bool) -> Page<'_> {
        let few =
            if removed || filter == ALL { None } else { self.found(filter, &mut { FEW_STEPS }) };
        if let Some(few) = few {
            let few: Vec<u32> = sorted(few).indices().filter(|index| *index >= from).collect();
            let entries = few.into_iter().filter_map(|index| Some((index, self.get(index)?, true)));
            return Page { entries: Box::new(entries), next: None };
        }
        let (filter, end) = (filter.to_owned(), from.saturating_add(LOOKED_MAX));
        let known = self.entries.known_in(from..end);
        let entries = known.filter(move |(_, entry, is_there)| {
            (removed || *is_there) && (filter == ALL || matches(&filter, &entry.name))
        });
        Page { entries: Box::new(entries), next: (end < self.end()).then_some(end) }
    }

    /// What a filter matches, in no order; none where these steps do not do.
    fn found(&self, filter: &str, steps: &mut usize) -> Option<Vec<u32>> {
        let mut found = Vec::new();
        let is_all = self.tree.matching_within(filter, steps, &mut |index| found.push(*index));
        is_all.then_some(found)
    }
}
