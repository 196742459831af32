//! The interest as a broker announces it: merged and bounded. It matches whatever one of the subscriptions matches, and,
//! unless it is widened, nothing else.

use std::collections::BTreeMap;

use super::difference::InterestDifference;
use crate::WantedRate;
use crate::bounds::FILTER_LEVELS_MAX;
use crate::record::RecordError;

/// Filters, and the highest rate at which somebody wants the topics of each.
pub type WantedFilters = BTreeMap<Box<str>, WantedRate>;

/// Which topics the subscribers of a broker want.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnouncedInterest {
    filters: WantedFilters,
    totals: FilterTotals,
    dollar_topics: Option<WantedRate>,
    is_widened: bool,
}

/// What is known of filters without looking at each: kept up to date with every change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilterTotals {
    pub filters: usize,
    pub bytes: usize,
    /// Of all filters and rates, in any order.
    pub checksum: u64,
}

impl FilterTotals {
    pub fn add(&mut self, filter: &str, rate: WantedRate) {
        self.filters += 1;
        self.bytes += filter.len();
        self.checksum = self.checksum.wrapping_add(checksum(filter, rate));
    }

    pub fn remove(&mut self, filter: &str, rate: WantedRate) {
        self.filters -= 1;
        self.bytes -= filter.len();
        self.checksum = self.checksum.wrapping_sub(checksum(filter, rate));
    }
}

fn checksum(filter: &str, rate: WantedRate) -> u64 {
    let of_filter = crc32c::crc32c(filter.as_bytes());
    u64::from(crc32c::crc32c_append(of_filter, &rate.to_wire().to_be_bytes()))
}

impl AnnouncedInterest {
    pub(crate) fn new(
        filters: WantedFilters,
        dollar_topics: Option<WantedRate>,
        is_widened: bool,
    ) -> Self {
        let mut totals = FilterTotals::default();
        for (filter, rate) in &filters {
            totals.add(filter, *rate);
        }
        Self { filters, totals, dollar_topics, is_widened }
    }

    pub(crate) fn check_filter(filter: &str) -> Result<(), RecordError> {
        let is_deep = filter.split('/').nth(FILTER_LEVELS_MAX).is_some();
        if is_deep || slipring_wire::check_filter(filter).is_err() {
            return Err(RecordError::WrongFilter);
        }
        Ok(())
    }

    pub(crate) fn totals(&self) -> FilterTotals {
        self.totals
    }

    /// The totals that it would have after a difference.
    pub(crate) fn totals_after(&self, difference: &InterestDifference) -> FilterTotals {
        let mut totals = self.totals;
        for (filter, rate) in &difference.filters {
            if let Some(before) = self.filters.get(filter) {
                totals.remove(filter, *before);
            }
            if let Some(after) = rate {
                totals.add(filter, *after);
            }
        }
        totals
    }

    pub(crate) fn apply(&mut self, difference: &InterestDifference) {
        self.totals = self.totals_after(difference);
        for (filter, rate) in &difference.filters {
            match rate {
                Some(rate) => drop(self.filters.insert(filter.clone(), *rate)),
                None => drop(self.filters.remove(filter)),
            }
        }
        self.dollar_topics = difference.dollar_topics;
        self.is_widened = difference.is_widened;
    }

    /// The filters, by their order as texts.
    pub fn filters(&self) -> &WantedFilters {
        &self.filters
    }

    /// At which rate all topics that begin with `$` are wanted. No filter matches all of these (MQTT-4.7.2-1), so that
    /// an interest which had to be widened to everything says it here.
    pub fn dollar_topics(&self) -> Option<WantedRate> {
        self.dollar_topics
    }

    /// Whether it matches more than the subscriptions do, because they were too many or too long.
    pub fn is_widened(&self) -> bool {
        self.is_widened
    }
}
