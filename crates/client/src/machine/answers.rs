//! Requests that wait for an answer, by packet identifier.

use std::collections::HashMap;

use slipring_wire::PacketId;

use super::SubscriptionId;

/// Requests that may wait for an answer at once; one more is refused.
pub(super) const WAITING_MAX: usize = 1024;

/// What an answer will be about.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Subscribe { id: SubscriptionId, filters: Vec<String> },
    Unsubscribe { filters: Vec<String> },
}

#[derive(Debug, Default)]
pub(super) struct Answers {
    /// With the number of the request, for their order.
    waiting: HashMap<PacketId, (u64, Request)>,
    newest: u64,
}

impl Answers {
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= WAITING_MAX
    }

    pub fn uses(&self, packet_id: PacketId) -> bool {
        self.waiting.contains_key(&packet_id)
    }

    pub fn expect(&mut self, packet_id: PacketId, request: Request) {
        self.newest += 1;
        self.waiting.insert(packet_id, (self.newest, request));
    }

    /// Every request that has no answer, and after another connection will have none; in order.
    pub fn take_all(&mut self) -> Vec<Request> {
        let mut all: Vec<_> = self.waiting.drain().map(|(_, numbered)| numbered).collect();
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, request)| request).collect()
    }

    pub fn take(&mut self, packet_id: PacketId) -> Option<Request> {
        self.waiting.remove(&packet_id).map(|(_, request)| request)
    }
}
