//! Finds the parameters that a filter matches: few at once, many in several turns.

use std::collections::HashSet;
use std::sync::Arc;

use slipring_wire::frame::RangeSet;
use slipring_wire::matches;

use super::declare::sorted;
use super::entries::Entry;
use super::registry::Registry;
use crate::access::{ClientRights, Right};
use crate::desk::Requester;
use crate::{ParameterIndex, Work};

/// The most steps through the tree of names for the filters of one list that have no finished search.
const STEPS_MAX: usize = 1 << 16;
/// After this many steps a filter is searched in parts.
const FEW_STEPS: usize = 4_096;
/// Indices that are searched for one page, in about half a millisecond.
pub(super) const LOOKED_MAX: u32 = 8_192;
/// So many parameters are narrowed at once, in about half a millisecond.
const FEW: usize = 2_048;
/// The filter that every parameter matches: none begins with `$`.
pub const ALL: &str = "#";

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

    /// The same for those of them that a client may use; None if that is all. Then [`Self::usable`] takes little time.
    pub fn search_within(
        &mut self,
        filter: &str,
        narrowing: Option<(&Arc<ClientRights>, Right)>,
        work: &mut Work,
    ) -> bool {
        if !self.search(filter, work) {
            return false;
        }
        let Some(narrowing) = narrowing else { return true };
        if self.searches.known(filter).is_none_or(|known| known.len() <= FEW) {
            return true;
        }
        self.narrowed.go_on(filter, narrowing, &self.entries, work)
    }

    /// The parameters that a filter matches, and that a client may use.
    pub fn usable(&self, filter: &str, rights: &Arc<ClientRights>, right: Right) -> RangeSet {
        let known = self.narrowed.known(filter, right, |one| Arc::ptr_eq(one, rights));
        known.cloned().unwrap_or_else(|| {
            let mut chosen = self.matching(filter);
            self.narrow(&mut chosen, rights, right);
            chosen
        })
    }

    /// Those parameters of a list that a client may use.
    pub(super) fn usable_of(
        &self,
        list: &RangeSet,
        rights: &Arc<ClientRights>,
        right: Right,
    ) -> RangeSet {
        let known = self.narrowed.known(ALL, right, |one| Arc::ptr_eq(one, rights));
        if let Some(known) = known {
            return known.intersect(list);
        }
        let mut chosen = list.clone();
        self.narrow(&mut chosen, rights, right);
        chosen
    }

    /// The parameters that these filters match, and that a requester may see; and the filters of which they are not
    /// known.
    pub(super) fn known_to<'a>(
        &self,
        filters: &'a [String],
        requester: &Requester<'_>,
        right: Right,
    ) -> (RangeSet, Vec<&'a str>) {
        let subject = requester.from.subject();
        let is_whose = |rights: &Arc<ClientRights>| {
            rights.are_by_policy(requester.policy)
                && *rights.client_id == *subject.client_id
                && *rights.identity == *subject.identity
        };
        let (mut seen, mut others) = (RangeSet::new(), Vec::new());
        for filter in filters {
            match self.narrowed.known(filter, right, is_whose) {
                Some(known) => seen.add(known),
                None => others.push(&**filter),
            }
        }
        (seen, others)
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
    pub(super) fn matching_any<'a>(
        &self,
        filters: impl IntoIterator<Item = &'a str>,
    ) -> Option<RangeSet> {
        let distinct: HashSet<&str> = filters.into_iter().collect();
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
