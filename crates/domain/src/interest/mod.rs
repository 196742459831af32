//! Which topics the subscribers of this broker want: counted, and merged into what it announces. Never decides where a
//! message goes.

mod announced;
mod changes;
mod covering;
mod difference;
mod rate_counts;
#[cfg(test)]
mod tests;
mod widening;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::WantedRate;
use crate::bounds::{FILTER_BYTES_MAX, FILTER_LEVELS_MAX, FILTERS_MAX};

pub(crate) use announced::FilterTotals;
pub use announced::{AnnouncedInterest, WantedFilters};
pub(crate) use changes::InterestUpdate;
use covering::CoveringFilters;
pub(crate) use difference::InterestDifference;
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
    /// By the filter that is announced for them.
    counted: BTreeMap<Box<str>, RateCounts>,
    /// Those of them with wildcards.
    covering: CoveringFilters,
    /// How many subscriptions have too many levels, so that a shorter filter is counted for them.
    cut: usize,
    /// Filters whose highest rate changed since the last update; None if they are many.
    changed: Option<BTreeSet<Box<str>>>,
    /// Whether the last update was widened to keep to the bounds.
    was_widened: bool,
}

impl Interest {
    /// Counts a subscription; returns whether that can change what is announced.
    pub fn subscribe(&mut self, filter: &str, rate: WantedRate) -> bool {
        let topics = topics_of(filter);
        let filter = shortened(topics);
        let is_first_cut = is_cut(topics) && self.cut == 0;
        self.cut += usize::from(is_cut(topics));
        let is_changed = if let Some(counts) = self.counted.get_mut(&*filter) {
            counts.add(rate)
        } else {
            self.counted.insert(filter.as_ref().into(), RateCounts::of(rate));
            true
        };
        if is_changed {
            self.has_changed(&filter);
        }
        is_changed || is_first_cut
    }

    /// Takes back a subscription that was counted; returns whether that can change what is announced.
    pub fn unsubscribe(&mut self, filter: &str, rate: WantedRate) -> bool {
        let topics = topics_of(filter);
        let filter = shortened(topics);
        let Some(counts) = self.counted.get_mut(&*filter) else { return false };
        let is_last_cut = is_cut(topics) && self.cut == 1;
        self.cut = self.cut.saturating_sub(usize::from(is_cut(topics)));
        let is_changed = counts.remove(rate);
        if counts.is_empty() {
            self.counted.remove(&*filter);
        }
        if is_changed {
            self.has_changed(&filter);
        }
        is_changed || is_last_cut
    }

    /// How many different filters are counted.
    pub fn len(&self) -> usize {
        self.counted.len()
    }

    /// Whether nobody wants anything.
    pub fn is_empty(&self) -> bool {
        self.counted.is_empty()
    }

    /// What to announce. It depends on the subscriptions alone, not on the order in which they came. It looks at every
    /// filter.
    pub fn announce(&self, bounds: InterestBounds) -> AnnouncedInterest {
        self.computed(bounds).0
    }

    /// What to announce, and whether it is widened to keep to the bounds.
    fn computed(&self, bounds: InterestBounds) -> (AnnouncedInterest, bool) {
        let highest = self.counted.iter().filter_map(|(filter, counts)| {
            let rate = counts.highest()?;
            (!self.covering.covers(filter, rate)).then(|| (filter.clone(), rate))
        });
        let widened = widening::widen(highest.collect(), bounds);
        let is_widened = self.cut > 0 || widened.is_widened;
        let interest = AnnouncedInterest::new(widened.filters, widened.dollar_topics, is_widened);
        (interest, widened.is_widened)
    }
}

fn want(wanted: &mut WantedFilters, filter: Box<str>, rate: WantedRate) {
    let highest = wanted.entry(filter).or_insert(rate);
    *highest = rate.max(*highest);
}

/// Leaves out each filter that another covers at its rate or a higher one.
fn merge(mut wanted: WantedFilters) -> WantedFilters {
    let rates = wanted.iter().map(|(filter, rate)| (&**filter, *rate));
    let covering = CoveringFilters::of(rates);
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
    if is_cut(filter) {
        Cow::Owned(widening::below(filter, FILTER_LEVELS_MAX - 1))
    } else {
        Cow::Borrowed(filter)
    }
}

/// Whether a filter has too many levels.
fn is_cut(filter: &str) -> bool {
    filter.match_indices('/').nth(FILTER_LEVELS_MAX - 1).is_some()
}
