//! Which parts of a broker's record changed in its last versions, so that a neighbour which has one of them is told only
//! these. Never holds what they are: that is in the newest record.

use std::collections::{BTreeMap, VecDeque};

use crate::interest::InterestDifference;
use crate::record::{ChangedParts, RecordDifference};
#[cfg(test)]
use crate::tests::planted_bug::{PlantedBug, is_planted};
use crate::{BrokerRecord, RecordVersion};

/// Versions of one broker that are remembered.
const VERSIONS_MAX: usize = 1_024;
/// Bytes of the filters that changed in them: with 256 brokers, 16 MiB.
const FILTER_BYTES_MAX: usize = 65_536;
/// What a filter takes besides its text, in a record and in a difference.
const ENTRY_BYTES: usize = 6;

/// The last changes of a record, the newest last; each begins where the one before it ends.
#[derive(Debug, Default)]
pub(crate) struct RecentChanges {
    changes: VecDeque<VersionChange>,
    filter_bytes: usize,
}

/// From one version of a record to a later one.
#[derive(Debug)]
struct VersionChange {
    before: RecordVersion,
    after: RecordVersion,
    has_description: bool,
    has_links: bool,
    has_load: bool,
    filters: Vec<Box<str>>,
}

impl VersionChange {
    fn filter_bytes(&self) -> usize {
        self.filters.iter().map(|filter| filter.len()).sum()
    }
}

impl RecentChanges {
    /// The record changed in these parts.
    pub fn push(&mut self, before: RecordVersion, after: RecordVersion, parts: &ChangedParts) {
        let filters = parts.interest.iter().flat_map(|interest| interest.filters.keys().cloned());
        let change = VersionChange {
            before,
            after,
            has_description: parts.description.is_some(),
            has_links: parts.links.is_some(),
            has_load: parts.load.is_some(),
            filters: filters.collect(),
        };
        self.filter_bytes += change.filter_bytes();
        self.changes.push_back(change);
        while self.changes.len() > VERSIONS_MAX || self.filter_bytes > FILTER_BYTES_MAX {
            let Some(oldest) = self.changes.pop_front() else { break };
            self.filter_bytes -= oldest.filter_bytes();
        }
    }

    /// What leads from a version of the record to the newest; None if that is not known, or is longer than the record.
    pub fn since(&self, before: RecordVersion, record: &BrokerRecord) -> Option<RecordDifference> {
        let first = self.changes.partition_point(|change| change.after <= before);
        #[cfg(test)]
        let first =
            if is_planted(PlantedBug::AnyBase) { self.changes.len().max(1) - 1 } else { first };
        let oldest = self.changes.get(first)?;
        #[cfg(test)]
        let before = if is_planted(PlantedBug::AnyBase) { oldest.before } else { before };
        if oldest.before > before || before.start() != record.version().start() {
            return None;
        }
        let changes = || self.changes.range(first..);
        let names = changes().flat_map(|change| &change.filters);
        let present = record.interest().filters();
        let filters: BTreeMap<_, _> =
            names.map(|name| (name.clone(), present.get(name).copied())).collect();
        let interest = InterestDifference {
            filters,
            dollar_topics: record.interest().dollar_topics(),
            is_widened: record.interest().is_widened(),
        };
        let bytes = interest.filter_bytes() + interest.filters.len() * ENTRY_BYTES;
        let totals = record.interest().totals();
        if bytes > totals.bytes + totals.filters * ENTRY_BYTES {
            return None;
        }
        let has = |part: fn(&VersionChange) -> bool| changes().any(part);
        let parts = ChangedParts {
            description: has(|one| one.has_description).then(|| record.description().clone()),
            links: has(|one| one.has_links).then(|| record.links().clone()),
            load: has(|one| one.has_load).then(|| record.load()),
            interest: Some(interest),
        };
        let (of, after, checksum) = (record.id(), record.version(), record.checksum());
        Some(RecordDifference { of, before, after, checksum, parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies_tests::broker;
    use crate::{BrokerDescription, Interest, InterestBounds, KnownBrokers, WantedRate};

    /// The own record of a broker that subscribes to these filters, each in a version.
    fn known(filters: impl Iterator<Item = String>) -> KnownBrokers {
        let first = BrokerRecord::first(broker(1), 1, BrokerDescription::default());
        let mut known = KnownBrokers::new(first);
        let mut interest = Interest::default();
        for filter in filters {
            interest.subscribe(&filter, WantedRate::EVERY_SAMPLE);
            let update = interest.update(known.own().interest(), InterestBounds::default());
            let interest = Some(update.difference);
            known.change_own(&ChangedParts { interest, ..ChangedParts::default() });
        }
        known
    }

    fn has_difference_since(known: &KnownBrokers, counter: usize) -> bool {
        known.since(broker(1), RecordVersion::new(1, counter as u64)).is_some()
    }

    #[test]
    fn versions_have_a_bound_and_the_oldest_are_left_out() {
        let known = known((0..VERSIONS_MAX + 10).map(|at| format!("{at:04}")));
        assert!(has_difference_since(&known, 10) && !has_difference_since(&known, 9));
        assert!(!has_difference_since(&known, VERSIONS_MAX + 10), "nothing leads to itself");
    }

    #[test]
    fn so_do_the_bytes_of_their_filters() {
        let long = "x".repeat(FILTER_BYTES_MAX / 8 - 1);
        let known = known((0..10).map(|at| format!("{at}{long}")));
        assert!(has_difference_since(&known, 2) && !has_difference_since(&known, 1));
    }
}
