//! Finds what differs from the announced interest without looking at every filter.
//!
//! An example: `a/+` is new, and `a/b` and `a/b/c` are announced. Looked at are the filters that begin with `a/`; of
//! them, `a/b` is covered now, and leaves.

use std::collections::BTreeSet;
use std::ops::Bound;

use super::covering::{covered_prefix, covers_or_is, has_wildcard};
use super::difference::InterestDifference;
use super::rate_counts::RateCounts;
use super::{AnnouncedInterest, Interest, InterestBounds};

/// Filters that changed since the last announcement; with more, it is computed anew from all.
const CHANGED_MAX: usize = 1_024;

/// What differs from the announced interest, and what it took to find it.
#[derive(Debug)]
pub(crate) struct InterestUpdate {
    pub difference: InterestDifference,
    /// The bytes of the filters that were looked at.
    pub looked_at_bytes: usize,
}

impl Interest {
    /// Remembers that the highest rate of a filter is another one now.
    pub(super) fn has_changed(&mut self, filter: &str) {
        let highest = self.counted.get(filter).and_then(RateCounts::highest);
        self.covering.set(filter, highest);
        if let Some(changed) = &mut self.changed {
            changed.insert(filter.into());
        }
        self.changed.take_if(|changed| changed.len() > CHANGED_MAX);
    }

    /// What leads from the interest that it announced last to the present one.
    pub(crate) fn update(
        &mut self,
        announced: &AnnouncedInterest,
        bounds: InterestBounds,
    ) -> InterestUpdate {
        let changed = self.changed.replace(BTreeSet::new());
        let small = changed.filter(|_| !self.was_widened);
        if let Some(update) =
            small.and_then(|changed| self.small_update(&changed, announced, bounds))
        {
            return update;
        }
        let (after, is_widened) = self.computed(bounds);
        self.was_widened = is_widened;
        InterestUpdate {
            difference: InterestDifference::between(announced, &after),
            looked_at_bytes: self.counted.keys().map(|filter| filter.len()).sum(),
        }
    }

    /// None if it is no less work to compute the interest anew, or it has to be widened.
    fn small_update(
        &self,
        changed: &BTreeSet<Box<str>>,
        announced: &AnnouncedInterest,
        bounds: InterestBounds,
    ) -> Option<InterestUpdate> {
        let (affected, looked_at_bytes) = self.affected(changed)?;
        let mut difference =
            InterestDifference { is_widened: self.cut > 0, ..InterestDifference::default() };
        for filter in affected {
            let highest = self.counted.get(filter).and_then(RateCounts::highest);
            let rate = highest.filter(|rate| !self.covering.covers(filter, *rate));
            if announced.filters().get(filter) != rate.as_ref() {
                difference.filters.insert(filter.into(), rate);
            }
        }
        let totals = announced.totals_after(&difference);
        let fits = totals.filters <= bounds.filters_max && totals.bytes <= bounds.bytes_max;
        fits.then_some(InterestUpdate { difference, looked_at_bytes })
    }

    /// The changed filters and those that they cover, and the bytes of all that were looked at.
    fn affected<'a>(
        &'a self,
        changed: &'a BTreeSet<Box<str>>,
    ) -> Option<(BTreeSet<&'a str>, usize)> {
        let mut affected: BTreeSet<&str> = changed.iter().map(|filter| &**filter).collect();
        let (mut looked_at, mut bytes) = (0, changed.iter().map(|filter| filter.len()).sum());
        for filter in changed.iter().filter(|filter| has_wildcard(filter)) {
            let prefix = covered_prefix(filter);
            let alike = self.counted.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
            for other in alike.map(|(other, _)| other).take_while(|other| other.starts_with(prefix))
            {
                looked_at += 1;
                bytes += other.len();
                if looked_at > self.counted.len() {
                    return None;
                }
                if covers_or_is(filter, other) {
                    affected.insert(other);
                }
            }
        }
        Some((affected, bytes))
    }
}
