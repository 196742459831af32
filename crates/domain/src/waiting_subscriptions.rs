//! Subscriptions whose interest is not known everywhere yet, in the order in which they came.

use std::collections::VecDeque;

/// How many can wait; a subscription beyond it is answered at once.
pub(crate) const WAITING_SUBSCRIPTIONS_MAX: usize = 65_536;

/// Names a subscription that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionToken(u64);

/// A subscription that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitingSubscription {
    pub token: SubscriptionToken,
    /// The version of this broker's record that tells of it; None until that is announced.
    pub counter: Option<u64>,
    pub deadline_ms: u64,
}

/// All that wait. Both versions and deadlines ascend.
#[derive(Debug, Default)]
pub(crate) struct WaitingSubscriptions {
    queue: VecDeque<WaitingSubscription>,
    next_token: u64,
}

impl WaitingSubscriptions {
    pub fn push(&mut self, counter: Option<u64>, deadline_ms: u64) -> Option<SubscriptionToken> {
        if self.queue.len() >= WAITING_SUBSCRIPTIONS_MAX {
            return None;
        }
        let token = SubscriptionToken(self.next_token);
        self.next_token += 1;
        self.queue.push_back(WaitingSubscription { token, counter, deadline_ms });
        Some(token)
    }

    /// Those that waited for an announcement wait for this version to be known.
    pub fn announced(&mut self, counter: u64) {
        let unannounced = self.queue.iter_mut().rev().take_while(|one| one.counter.is_none());
        unannounced.for_each(|one| one.counter = Some(counter));
    }

    pub fn first(&self) -> Option<WaitingSubscription> {
        self.queue.front().copied()
    }

    pub fn pop(&mut self) {
        self.queue.pop_front();
    }
}
