//! What the config says about requests by topic: which messages are requests, and how services are chosen.

use slipring_wire::matches;

use super::Balance;
use crate::{Millis, PlanError};

/// Messages of some topics that have a Response Topic are requests, whatever else they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRule {
    /// Milliseconds until one times out that does not say when.
    pub timeout_ms: Millis,
}

/// The rules by filter; the first that matches decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestRules {
    requests: Vec<(String, RequestRule)>,
    balances: Vec<(String, Balance)>,
}

impl RequestRules {
    /// Time-outs, and strategies, by filter.
    pub fn new(
        requests: Vec<(String, Millis)>,
        balances: Vec<(String, Balance)>,
    ) -> Result<Self, PlanError> {
        let filters = requests.iter().map(|(filter, _)| filter);
        let filters = filters.chain(balances.iter().map(|(filter, _)| filter));
        filters.into_iter().try_for_each(|filter| PlanError::check(filter))?;
        let rule = |(filter, timeout_ms)| (filter, RequestRule { timeout_ms });
        Ok(Self { requests: requests.into_iter().map(rule).collect(), balances })
    }

    /// The rule of a topic.
    pub fn of(&self, topic: &str) -> Option<RequestRule> {
        self.requests.iter().find(|(filter, _)| matches(filter, topic)).map(|(_, rule)| *rule)
    }

    /// The strategy of a topic.
    pub fn balance(&self, topic: &str) -> Balance {
        let found = self.balances.iter().find(|(filter, _)| matches(filter, topic));
        found.map_or_else(Balance::default, |(_, balance)| *balance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_filter_that_matches_decides() {
        let requests = vec![("solve/#".into(), 30_000), ("#".into(), 1_000)];
        let balances = vec![("solve/fast".into(), Balance::Fastest)];
        let rules = RequestRules::new(requests, balances).unwrap();
        assert_eq!(rules.of("solve/fast").map(|rule| rule.timeout_ms), Some(30_000));
        assert_eq!(rules.of("other").map(|rule| rule.timeout_ms), Some(1_000));
        assert_eq!(rules.balance("solve/fast"), Balance::Fastest);
        assert_eq!(rules.balance("solve/slow"), Balance::RoundRobin);
        assert!(RequestRules::new(vec![("a/#/b".into(), 1)], Vec::new()).is_err());
    }
}
