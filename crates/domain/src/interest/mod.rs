//! Which topics the subscribers of this broker want: counted, and merged into what it announces. Never decides where a
//! message goes.

mod announced;
mod covering;
mod rate_counts;
#[cfg(test)]
mod tests;
mod widening;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::WantedRate;
use crate::bounds::{FILTER_BYTES_MAX, FILTER_LEVELS_MAX, FILTERS_MAX};

pub use announced::{AnnouncedInterest, WantedFilter};
use covering::CoveringFilters;
use rate_counts::RateCounts;

/// How much a broker may announce; beyond it, the interest is widened.
#[derive(Clone, Copy, Debug)]
pub struct InterestBounds {
    /// How many filters.
    pub filters_max: usize,
    /// How many bytes they have together.
    pub bytes_max: usize,
}

impl Default for InterestBounds {
    fn default() -> Self {
        Self { filters_max: FILTERS_MAX, bytes_max: FILTER_BYTES_MAX }
    }
}

/// The subscriptions of this broker, by filter. Their number is bounded by whoever grants subscriptions.
#[derive(Clone, Debug, Default)]
pub struct Interest {
    counted: BTreeMap<Box<str>, RateCounts>,
}

impl Interest {
    /// Counts a subscription; returns whether that can change what is announced.
    pub fn subscribe(&mut self, filter: &str, rate: WantedRate) -> bool {
        let filter = topics_of(filter);
        if let Some(counts) = self.counted.get_mut(filter) {
            return counts.add(rate);
        }
        self.counted.insert(filter.into(), RateCounts::of(rate));
        true
    }

    /// Takes back a subscription that was counted; returns whether that can change what is announced.
    pub fn unsubscribe(&mut self, filter: &str, rate: WantedRate) -> bool {
        let filter = topics_of(filter);
        let Some(counts) = self.counted.get_mut(filter) else { return false };
        let has_changed = counts.remove(rate);
        if counts.is_empty() {
            self.counted.remove(filter);
        }
        has_changed
    }

    /// How many different filters are counted.
    pub fn len(&self) -> usize {
        self.counted.len()
    }

    /// Whether nobody wants anything.
    pub fn is_empty(&self) -> bool {
        self.counted.is_empty()
    }

    /// What to announce. It depends on the subscriptions alone, not on the order in which they came.
    ///
    /// It looks at every filter, which costs less than encoding them again, as a new announcement does.
    pub fn announce(&self, bounds: InterestBounds) -> AnnouncedInterest {
        let mut is_cut = false;
        let mut wanted = BTreeMap::new();
        for (filter, counts) in &self.counted {
            let Some(rate) = counts.highest() else { continue };
            let shortened = shortened(filter);
            is_cut |= matches!(shortened, Cow::Owned(_)) && shortened != "#";
            want(&mut wanted, shortened.as_ref().into(), rate);
        }
        let merged = merge(wanted);
        let widened = widening::widen(merged, bounds);
        AnnouncedInterest::new(
            widened.filters.into_iter().collect(),
            widened.dollar_topics,
            is_cut || widened.is_widened,
        )
    }
}

/// Filters with the highest rate wanted of each.
type WantedFilters = BTreeMap<Box<str>, WantedRate>;

fn want(wanted: &mut WantedFilters, filter: Box<str>, rate: WantedRate) {
    let highest = wanted.entry(filter).or_insert(rate);
    *highest = rate.max(*highest);
}

/// Leaves out each filter that another covers at its rate or a higher one.
fn merge(mut wanted: WantedFilters) -> WantedFilters {
    let covering = CoveringFilters::of(&wanted);
    let are_covered: Vec<bool> =
        wanted.iter().map(|(filter, rate)| covering.covers(filter, *rate)).collect();
    let mut are_covered = are_covered.into_iter();
    wanted.retain(|_, _| are_covered.next() == Some(false));
    wanted
}

/// The filter that a subscription matches topics with: `$share/group/filter` counts as its filter.
fn topics_of(filter: &str) -> &str {
    match slipring_wire::shared(filter) {
        Some(Ok((_, topics))) => topics,
        _ => filter,
    }
}

/// The filter with at most [`FILTER_LEVELS_MAX`] levels. `+/#` matches what `#` does, and is written so: of two filters
/// that cover each other, one would leave out the other.
fn shortened(filter: &str) -> Cow<'_, str> {
    if filter == "+/#" {
        return Cow::Owned("#".into());
    }
    match filter.match_indices('/').nth(FILTER_LEVELS_MAX - 1) {
        Some(_) => Cow::Owned(widening::below(filter, FILTER_LEVELS_MAX - 1)),
        None => Cow::Borrowed(filter),
    }
}
