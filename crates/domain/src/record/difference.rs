//! What differs between two versions of a broker's record, as a neighbour is told it.

use std::collections::BTreeMap;

use super::{BrokerDescription, BrokerRecord, Load, RecordError};
use crate::bounds::{FILTER_BYTES_MAX, FILTERS_MAX};
use crate::interest::InterestDifference;
use crate::{BrokerId, RecordVersion};

/// What leads from one version of a record to a later one of the same start. It holds what changed as it is in the later
/// one, so that it leads there from each version between the two as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordDifference {
    pub of: BrokerId,
    pub before: RecordVersion,
    pub after: RecordVersion,
    /// Of the record that it leads to: whoever gets another one has another base, and asks for the record.
    pub checksum: u64,
    pub parts: ChangedParts,
}

/// The parts of a record that are others than before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChangedParts {
    pub description: Option<BrokerDescription>,
    pub links: Option<BTreeMap<BrokerId, u32>>,
    pub load: Option<Load>,
    pub interest: Option<InterestDifference>,
}

impl ChangedParts {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl BrokerRecord {
    /// Changes these parts, and has this version from then on.
    pub(crate) fn apply(&mut self, parts: &ChangedParts, version: RecordVersion) {
        self.version = version;
        if let Some(description) = &parts.description {
            self.description.clone_from(description);
        }
        if let Some(links) = &parts.links {
            self.links.clone_from(links);
        }
        self.load = parts.load.unwrap_or(self.load);
        if let Some(interest) = &parts.interest {
            self.interest.apply(interest);
        }
    }

    /// Whether these parts lead to the record with this checksum; an error if that breaks the rules.
    pub(crate) fn leads_to(&self, parts: &ChangedParts, sum: u64) -> Result<bool, RecordError> {
        let unchanged = InterestDifference {
            dollar_topics: self.interest.dollar_topics(),
            is_widened: self.interest.is_widened(),
            ..InterestDifference::default()
        };
        let interest = parts.interest.as_ref().unwrap_or(&unchanged);
        let totals = self.interest.totals_after(interest);
        if totals.filters > FILTERS_MAX || totals.bytes > FILTER_BYTES_MAX {
            return Err(RecordError::TooManyFilters);
        }
        let links = parts.links.as_ref().unwrap_or(&self.links);
        Self::check_links(self.id, links)?;
        let description = parts.description.as_ref().unwrap_or(&self.description);
        let load = parts.load.unwrap_or(self.load);
        let rest = super::encoding::encoded_rest(description, links, load, interest);
        Ok(super::encoding::checksum(&rest, totals) == sum)
    }
}
