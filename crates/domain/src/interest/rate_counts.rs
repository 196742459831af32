//! How many subscriptions of one filter want which rate.

use crate::WantedRate;

/// How many subscriptions want which rate, the highest rate last. Most filters have one rate.
#[derive(Clone, Debug)]
pub(super) struct RateCounts(Vec<(WantedRate, usize)>);

impl RateCounts {
    pub fn of(rate: WantedRate) -> Self {
        Self(vec![(rate, 1)])
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn highest(&self) -> Option<WantedRate> {
        self.0.last().map(|(rate, _)| *rate)
    }

    /// Counts a subscription; returns whether the highest rate is another one now.
    pub fn add(&mut self, rate: WantedRate) -> bool {
        let before = self.highest();
        match self.0.binary_search_by_key(&rate, |(rate, _)| *rate) {
            Ok(at) => self.0[at].1 += 1,
            Err(at) => self.0.insert(at, (rate, 1)),
        }
        self.highest() != before
    }

    /// Takes back a subscription; returns whether the highest rate is another one now.
    pub fn remove(&mut self, rate: WantedRate) -> bool {
        let before = self.highest();
        if let Ok(at) = self.0.binary_search_by_key(&rate, |(rate, _)| *rate) {
            self.0[at].1 -= 1;
            self.0.retain(|(_, count)| *count > 0);
        }
        self.highest() != before
    }
}
