//! Which parameters each reader gets, as its filters and the table's parameters change.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use slipring_wire::frame::RangeSet;

use super::parameter_sets::ParameterSet;
use super::reader::{PlainFilter, Reader, ReaderFlow};
use super::{PlainReaders, PlainTerms, ReaderId};
use crate::Millis;
use crate::access::{ClientRights, Right};
use crate::table::groups::Choose;

/// Parameters whose listeners are counted in one step of work.
const COUNTED_STEP: usize = 16;

impl PlainReaders {
    /// Adds a plain subscription whose filter matches `chosen` now within `rights`, in place of the earlier one with the same filter.
    /// Returns the steps of work.
    pub fn read(
        &mut self,
        id: ReaderId,
        filter: &str,
        terms: PlainTerms,
        (chosen, rights): (RangeSet, Option<Arc<ClientRights>>),
        now_ms: Millis,
    ) -> usize {
        let Self { all, listeners, sets, .. } = self;
        let chosen = match rights {
            None => sets.share(topics_of(filter), chosen),
            Some(_) => Arc::new(ParameterSet::from(chosen)), // others may have others
        };
        let reader = all.entry(id).or_insert_with(|| Reader::new(now_ms));
        let more = chosen.difference(&reader.chosen);
        let new = PlainFilter { terms, chosen: Arc::clone(&chosen), rights };
        let before = reader.filters.insert(filter.into(), new);
        if before.is_some() {
            return self.rechoose(id);
        }
        if matches!(reader.flow, ReaderFlow::Every(_)) {
            listeners.grow(id, &reader.chosen, &more);
        }
        if reader.filters.len() == 1 {
            reader.chosen = chosen;
        } else {
            Arc::make_mut(&mut reader.chosen).add(&more);
        }
        steps(&more)
    }

    /// Ends plain subscriptions. Returns the steps of work.
    pub fn stop(&mut self, id: ReaderId, filters: &[&str]) -> usize {
        let Some(reader) = self.all.get_mut(&id) else { return 0 };
        let before = reader.filters.len();
        for filter in filters {
            reader.filters.remove(*filter);
        }
        match reader.filters.len() {
            0 => {
                let steps = steps(&reader.chosen);
                self.stop_all(id);
                steps
            }
            after if after < before => self.rechoose(id),
            _ => 0,
        }
    }

    /// Sets a reader's parameters to those of all its filters. Returns the steps of work.
    fn rechoose(&mut self, id: ReaderId) -> usize {
        let Self { all, listeners, .. } = self;
        let Some(reader) = all.get_mut(&id) else { return 0 };
        let ranges = reader.filters.values().flat_map(|known| known.chosen.iter());
        let mut ranges: Vec<Range<u32>> = ranges.collect();
        ranges.sort_unstable_by_key(|range| range.start); // adding at the end of a set is cheap
        let looked_at = ranges.len();
        let chosen: RangeSet = ranges.into_iter().collect();
        if chosen == **reader.chosen {
            return looked_at;
        }
        let only = reader.filters.values().next().filter(|_| reader.filters.len() == 1);
        let chosen = only.map_or_else(|| Arc::new(chosen.into()), |one| Arc::clone(&one.chosen));
        let before = std::mem::replace(&mut reader.chosen, chosen);
        if matches!(reader.flow, ReaderFlow::Every(_)) {
            listeners.remove(id, &before);
            listeners.add(id, &reader.chosen);
        }
        looked_at + steps(&before) + steps(&reader.chosen)
    }

    /// Parameters were added or removed: the filters are matched again.
    pub(in crate::table) fn table_changed(&mut self, choose: &mut Choose<'_>) {
        let Self { all, sets, .. } = self;
        let mut renewed: HashMap<Box<str>, Arc<ParameterSet>> = HashMap::new();
        let mut changed = Vec::new();
        for (id, reader) in all {
            let mut is_other = false;
            for (filter, PlainFilter { chosen, rights, .. }) in &mut reader.filters {
                let topics = topics_of(filter);
                if let Some(rights) = rights {
                    let now = choose(topics, chosen, Some((rights, Right::Subscribe)));
                    if now != ***chosen {
                        (*chosen, is_other) = (Arc::new(ParameterSet::from(now)), true);
                    }
                    continue;
                }
                if !renewed.contains_key(topics) {
                    renewed.insert(topics.into(), sets.share(topics, choose(topics, chosen, None)));
                }
                let now = &renewed[topics];
                is_other |= !Arc::ptr_eq(now, chosen);
                *chosen = Arc::clone(now);
            }
            changed.extend(is_other.then_some(*id));
        }
        for id in changed {
            self.rechoose(id);
        }
    }
}

/// The steps of work of adding or removing these parameters.
fn steps(chosen: &RangeSet) -> usize {
    chosen.ranges() + chosen.len() / COUNTED_STEP
}

/// The topic filter of a subscription, without `$share/NAME/`.
fn topics_of(filter: &str) -> &str {
    match slipring_wire::shared(filter) {
        Some(Ok((_, topics))) => topics,
        _ => filter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionKey;

    #[test]
    fn the_parameters_of_a_filter_are_in_memory_once_for_all_its_readers() {
        let mut readers = PlainReaders::default();
        for session in 1..10 {
            let (id, terms) = (ReaderId::Client(SessionKey::new(session)), PlainTerms::default());
            readers.read(id, "s3/+", terms, ([3, 13, 23].into_iter().collect(), None), 0);
        }
        let mut sets = readers.all.values().flat_map(|reader| {
            let filters = reader.filters.values().map(|filter| &filter.chosen);
            filters.chain([&reader.chosen])
        });
        let first = sets.next().unwrap();
        assert!(first.len() == 3 && sets.all(|other| Arc::ptr_eq(other, first)));
    }
}
