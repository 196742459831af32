//! What readers choose: a filter more or less, and parameters that come and go.

use std::collections::HashMap;
use std::ops::Range;

use slipring_wire::frame::RangeSet;

use super::reader::{Flow, PlainFilter, Reader};
use super::{PlainReaders, PlainTerms, ReaderId};
use crate::Millis;
use crate::table::groups::Choose;

/// Parameters that are counted up or down in one step of work.
const COUNTED_STEP: usize = 16;

impl PlainReaders {
    /// A plain subscription, in place of the earlier one with the same filter. It chooses these parameters
    /// now. How many steps of work it was.
    pub fn read(
        &mut self,
        id: ReaderId,
        filter: &str,
        terms: PlainTerms,
        chosen: RangeSet,
        now_ms: Millis,
    ) -> usize {
        let Self { all, listeners, .. } = self;
        let reader = all.entry(id).or_insert_with(|| Reader::new(now_ms));
        let more = chosen.difference(&reader.chosen);
        let before = reader.filters.insert(filter.into(), PlainFilter { terms, chosen });
        if before.is_some() {
            return self.rechoose(id);
        }
        if matches!(reader.flow, Flow::Every(_)) {
            listeners.grow(id, &reader.chosen, &more);
        }
        reader.chosen.add(&more);
        steps(&more)
    }

    /// Plain subscriptions are over. How many steps of work it was.
    pub fn stop(&mut self, id: ReaderId, filters: &[&str]) -> usize {
        let Some(reader) = self.all.get_mut(&id) else { return 0 };
        let before = reader.filters.len();
        filters.iter().for_each(|filter| drop(reader.filters.remove(*filter)));
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

    /// The parameters of a reader are those of its filters. How many steps of work it was.
    fn rechoose(&mut self, id: ReaderId) -> usize {
        let Self { all, listeners, .. } = self;
        let Some(reader) = all.get_mut(&id) else { return 0 };
        let ranges = reader.filters.values().flat_map(|known| known.chosen.iter());
        let mut ranges: Vec<Range<u32>> = ranges.collect();
        ranges.sort_unstable_by_key(|range| range.start); // so that each is added at the end
        let looked_at = ranges.len();
        let chosen: RangeSet = ranges.into_iter().collect();
        if chosen == reader.chosen {
            return looked_at;
        }
        let before = std::mem::replace(&mut reader.chosen, chosen);
        if matches!(reader.flow, Flow::Every(_)) {
            listeners.remove(id, &before);
            listeners.add(id, &reader.chosen);
        }
        looked_at + steps(&before) + steps(&reader.chosen)
    }

    /// The table has other parameters now: what filters choose is asked for again.
    pub(in crate::table) fn table_changed(&mut self, choose: &mut Choose<'_>) {
        let mut known: HashMap<Box<str>, RangeSet> = HashMap::new();
        let mut changed = Vec::new();
        for (id, reader) in &mut self.all {
            let mut is_other = false;
            for (filter, PlainFilter { chosen, .. }) in &mut reader.filters {
                if !known.contains_key(filter) {
                    known.insert(filter.clone(), choose(topics_of(filter), chosen));
                }
                let now = &known[filter];
                is_other |= *now != *chosen;
                chosen.clone_from(now);
            }
            changed.extend(is_other.then_some(*id));
        }
        for id in changed {
            self.rechoose(id);
        }
    }
}

/// The work of adding or removing these parameters.
fn steps(chosen: &RangeSet) -> usize {
    chosen.ranges() + chosen.len() / COUNTED_STEP
}

/// The filter of topics in the filter of a subscription.
fn topics_of(filter: &str) -> &str {
    match slipring_wire::shared(filter) {
        Some(Ok((_, topics))) => topics,
        _ => filter,
    }
}
