//! The interest as a broker announces it: merged and bounded. It matches whatever one of the subscriptions matches, and,
//! unless it is widened, nothing else.

use crate::WantedRate;
use crate::bounds::FILTER_LEVELS_MAX;
use crate::record::RecordError;

/// A filter, and the highest rate at which somebody wants its topics.
pub type WantedFilter = (Box<str>, WantedRate);

/// Which topics the subscribers of a broker want.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnouncedInterest {
    /// In ascending order, each once.
    filters: Vec<WantedFilter>,
    dollar_topics: Option<WantedRate>,
    is_widened: bool,
}

impl AnnouncedInterest {
    pub(crate) fn new(
        filters: Vec<WantedFilter>,
        dollar_topics: Option<WantedRate>,
        is_widened: bool,
    ) -> Self {
        Self { filters, dollar_topics, is_widened }
    }

    pub(crate) fn check_filter(filter: &str) -> Result<(), RecordError> {
        let is_deep = filter.split('/').nth(FILTER_LEVELS_MAX).is_some();
        if is_deep || slipring_wire::check_filter(filter).is_err() {
            return Err(RecordError::WrongFilter);
        }
        Ok(())
    }

    /// The filters in ascending order, each once.
    pub fn filters(&self) -> &[WantedFilter] {
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
