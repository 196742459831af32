//! Frees the memory of requests, then of answers that wait for an asker.

use slipring_core::requests::RequestEvent;
use slipring_core::{Outgoing, Priority, memory};

use super::Relief;
use crate::requests::Job;
use crate::requests::dropping::DROPPED;

impl Relief<'_> {
    /// Drops requests that wait or are computed. Their askers and services are told a little later, and then their memory
    /// is free: the round ends here, so that nothing of a higher rank is dropped in vain.
    pub(super) fn drop_requests(&self, priority: Priority) {
        if Self::is_within_budget() {
            return;
        }
        let bytes = memory::used().saturating_sub(memory::enough());
        let mut book = self.broker.requests.book();
        let victims = book.victims(priority, bytes);
        self.frees_later.set(book.has_victims());
        drop(book);
        for key in victims {
            self.broker.requests.later(Job::End(key, RequestEvent::Drop, Some(DROPPED)));
        }
    }

    /// Drops answers that wait in memory for askers that are away. Their requests were computed, so that the others go
    /// first.
    pub(super) fn drop_answers(&self, priority: Priority) {
        if Self::is_within_budget() {
            return;
        }
        for client in self.largest(Outgoing::end_bytes) {
            if Self::is_enough() {
                return;
            }
            self.broker.drop_answers(client, priority, Self::is_enough);
        }
    }
}
