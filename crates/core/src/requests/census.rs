//! How many requests are in each state, and on which topics. Counted as they change: a look at the counts costs the
//! same with a million open requests.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::RequestState;

/// The open requests of one topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TopicCount {
    /// Requests that are not over.
    pub open: usize,
    /// Those of them that wait for a service.
    pub stored: usize,
}

/// The open requests by state and by topic.
#[derive(Debug, Default)]
pub(super) struct Census {
    states: [usize; RequestState::ALL.len()],
    /// Only topics with an open request.
    topics: HashMap<Arc<str>, TopicCount>,
}

impl Census {
    /// A new request.
    pub(super) fn enter(&mut self, topic: &Arc<str>, state: RequestState) {
        self.states[state as usize] += 1;
        let stored = usize::from(state == RequestState::Stored);
        match self.topics.get_mut(topic) {
            Some(count) => {
                count.open += 1;
                count.stored += stored;
            }
            None => drop(self.topics.insert(Arc::clone(topic), TopicCount { open: 1, stored })),
        }
    }

    /// A request goes on to another state.
    pub(super) fn change(&mut self, topic: &str, state: &mut RequestState, to: RequestState) {
        let from = std::mem::replace(state, to);
        if from == to {
            return;
        }
        self.states[from as usize] -= 1;
        self.states[to as usize] += 1;
        self.count_stored(topic, from, -1);
        self.count_stored(topic, to, 1);
    }

    /// A request is over.
    pub(super) fn leave(&mut self, topic: &str, state: RequestState) {
        self.states[state as usize] -= 1;
        self.count_stored(topic, state, -1);
        let Some(count) = self.topics.get_mut(topic) else { return };
        count.open -= 1;
        if count.open == 0 {
            self.topics.remove(topic);
        }
    }

    fn count_stored(&mut self, topic: &str, state: RequestState, by: isize) {
        if state != RequestState::Stored {
            return;
        }
        if let Some(count) = self.topics.get_mut(topic) {
            count.stored = count.stored.saturating_add_signed(by);
        }
    }

    /// How many requests are in each state, by its number.
    pub(super) fn states(&self) -> [usize; RequestState::ALL.len()] {
        self.states
    }

    /// How many topics have an open request.
    pub(super) fn topics(&self) -> usize {
        self.topics.len()
    }

    /// The `most` topics with the most open requests, and their counts.
    pub(super) fn busiest(&self, most: usize) -> Vec<(Arc<str>, TopicCount)> {
        let mut all: Vec<_> =
            self.topics.iter().map(|(topic, count)| (Reverse(count.open), topic, count)).collect();
        if most < all.len() {
            all.select_nth_unstable_by_key(most, |(open, topic, _)| (*open, *topic));
            all.truncate(most);
        }
        all.sort_unstable_by_key(|(open, topic, _)| (*open, *topic));
        all.into_iter().map(|(_, topic, count)| (Arc::clone(topic), *count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(open: usize, stored: usize) -> TopicCount {
        TopicCount { open, stored }
    }

    #[test]
    fn each_step_of_a_request_is_counted_where_it_is() {
        let (mut census, topic) = (Census::default(), Arc::<str>::from("a"));
        let mut state = RequestState::New;
        census.enter(&topic, state);
        assert_eq!(census.busiest(9), [(Arc::clone(&topic), count(1, 0))]);
        census.change(&topic, &mut state, RequestState::Stored);
        assert_eq!(census.states()[RequestState::Stored as usize], 1);
        assert_eq!(census.busiest(9), [(Arc::clone(&topic), count(1, 1))]);
        census.change(&topic, &mut state, RequestState::Delivered);
        assert_eq!(state, RequestState::Delivered);
        assert_eq!(census.busiest(9), [(Arc::clone(&topic), count(1, 0))]);
        census.leave(&topic, state);
        assert_eq!(census.states(), [0; RequestState::ALL.len()]);
        assert_eq!(census.topics(), 0);
    }

    #[test]
    fn a_request_that_ends_while_it_waits_waits_no_more() {
        let (mut census, topic) = (Census::default(), Arc::<str>::from("a"));
        let mut state = RequestState::Stored;
        census.enter(&topic, state);
        census.enter(&topic, RequestState::Stored);
        census.change(&topic, &mut state, RequestState::TimedOut);
        census.leave(&topic, state);
        assert_eq!(census.busiest(9), [(topic, count(1, 1))]);
    }

    #[test]
    fn the_topics_with_the_most_requests_come_first() {
        let mut census = Census::default();
        for (topic, requests) in [("few", 1), ("most", 3), ("more", 2)] {
            (0..requests).for_each(|_| census.enter(&topic.into(), RequestState::New));
        }
        let names: Vec<_> = census.busiest(2).into_iter().map(|(topic, _)| topic).collect();
        assert_eq!(names, ["most".into(), "more".into()]);
        assert_eq!(census.topics(), 3);
    }
}
