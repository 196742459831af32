//! Finds the parameters that a filter matches: few at once, many in several turns.

use std::collections::HashSet;

use slipring_wire::frame::RangeSet;
use slipring_wire::matches;

use super::declare::sorted;
use super::entries::Entry;
use super::registry::Registry;
use crate::access::{ClientRights, Right};
use crate::{ParameterIndex, Work};

/// The most steps through the tree of names for the filters of one list that have no finished search.
const STEPS_MAX: usize = 1 << 16;
/// After this many steps a filter is searched in parts.
const FEW_STEPS: usize = 4_096;
/// Indices that are searched for one page, in about half a millisecond.
pub(super) const LOOKED_MAX: u32 = 8_192;
/// The filter that every parameter matches: none begins with `$`.
pub(super) const ALL: &str = "#";

/// A part of the parameters that a filter matches.
pub(super) struct Page<'a> {
    /// Each parameter with its index, and whether it exists.
    pub entries: Box<dyn Iterator<Item = (ParameterIndex, &'a Entry, bool)> + 'a>,
    /// The index where the next page begins; None if this is the last.
    pub next: Option<ParameterIndex>,
}

impl Registry {
    /// Searches the parameters that a filter matches until the turn is over; returns whether the search has
    /// finished. Then [`Self::matching`] takes little time.
    pub fn search(&mut self, filter: &str, work: &mut Work) -> bool {
        if !self.searches.has(filter) {
            let mut left = FEW_STEPS;
            let is_narrow = filter != ALL && self.found(filter, &mut left).is_some();
            work.add((FEW_STEPS - left) * Work::ENTRY / 2);
            if is_narrow || self.entries.end().get() <= LOOKED_MAX {
                return true;
            }
        }
        let is_known = self.searches.go_on(filter, &self.entries, work);
        // Sending the values of the found parameters is work too.
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

    /// Takes those parameters away that a client may not use.
    pub(super) fn narrow(&self, chosen: &mut RangeSet, rights: &ClientRights, right: Right) {
        let may = |index: &u32| {
            let entry = self.entries.get(ParameterIndex::new(*index));
            entry.is_some_and(|entry| rights.allow(right, &entry.name))
        };
        *chosen = chosen.indices().filter(may).collect();
    }

    /// Whether a filter matches any parameter. Also true if that takes many steps to tell and no search has
    /// finished.
    pub fn matches_any(&self, filter: &str) -> bool {
        match self.searches.known(filter) {
            Some(known) => !known.is_empty(),
            None => self.tree.matches_any(filter, FEW_STEPS).unwrap_or(true),
        }
    }

    /// The parameters that any of these filters matches; None if that takes too many steps.
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

    /// The parameters that a filter matches from an index on, ascending, and whether each exists. A page covers at
    /// most [`LOOKED_MAX`] indices of the table, unless the filter matches few parameters.
    pub(super) fn page(&self, filter: &str, from: ParameterIndex, removed: bool) -> Page<'_> {
        let few =
            if removed || filter == ALL { None } else { self.found(filter, &mut { FEW_STEPS }) };
        if let Some(few) = few {
            return self.page_of(few, from);
        }
        let (filter, end) = (filter.to_owned(), from.get().saturating_add(LOOKED_MAX));
        let known = self.entries.known_in(from.get()..end);
        let entries = known.filter(move |(_, entry, exists)| {
            (removed || *exists) && (filter == ALL || matches(&filter, &entry.name))
        });
        Page {
            entries: Box::new(entries),
            next: (end < self.entries.end().get()).then_some(ParameterIndex::new(end)),
        }
    }

    /// Those of these parameters that exist, from an index on: the only page.
    pub(super) fn page_of(
        &self,
        mut parameters: Vec<ParameterIndex>,
        from: ParameterIndex,
    ) -> Page<'_> {
        parameters.retain(|index| *index >= from);
        parameters.sort_unstable();
        parameters.dedup();
        let there = parameters.into_iter();
        let entries = there.filter_map(|index| Some((index, self.entries.get(index)?, true)));
        Page { entries: Box::new(entries), next: None }
    }

    /// The parameters that a filter matches, in no order; None if the steps do not suffice.
    fn found(&self, filter: &str, steps: &mut usize) -> Option<Vec<ParameterIndex>> {
        let mut found = Vec::new();
        let is_all = self.tree.matching_within(filter, steps, &mut |index| found.push(*index));
        is_all.then_some(found)
    }
}
