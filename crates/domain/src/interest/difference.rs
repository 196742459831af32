//! What differs between two interests of one broker. To apply it twice changes nothing more, and one that was made from
//! an earlier version can be applied to each version up to the one it leads to.

use std::collections::BTreeMap;

use super::AnnouncedInterest;
use crate::WantedRate;

/// The filters that differ, and all that is not a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InterestDifference {
    /// Their rate from now on; None for a filter that is wanted no more.
    pub filters: BTreeMap<Box<str>, Option<WantedRate>>,
    pub dollar_topics: Option<WantedRate>,
    pub is_widened: bool,
}

impl InterestDifference {
    /// What leads from one interest to another.
    pub fn between(before: &AnnouncedInterest, after: &AnnouncedInterest) -> Self {
        let gone = before.filters().keys().filter(|filter| !after.filters().contains_key(*filter));
        let gone = gone.map(|filter| (filter.clone(), None));
        let present = after.filters().iter();
        let new = present.filter(|(filter, rate)| before.filters().get(&***filter) != Some(*rate));
        Self {
            filters: gone.chain(new.map(|(filter, rate)| (filter.clone(), Some(*rate)))).collect(),
            dollar_topics: after.dollar_topics(),
            is_widened: after.is_widened(),
        }
    }

    /// Whether it leads from this interest to the same one.
    pub fn is_none(&self, before: &AnnouncedInterest) -> bool {
        let same = (before.dollar_topics(), before.is_widened());
        self.filters.is_empty() && (self.dollar_topics, self.is_widened) == same
    }

    /// The bytes of its filters together.
    pub fn filter_bytes(&self) -> usize {
        self.filters.keys().map(|filter| filter.len()).sum()
    }
}
