//! Requests that wait for an answer, by packet identifier.

use std::collections::HashMap;

use slipring_wire::PacketId;

use super::SubscriptionId;

/// Requests that may wait for an answer at once; one more is refused.
pub(super) const WAITING_MAX: usize = 1024;

/// What an answer will be about.
#[derive(Debug)]
pub(super) enum Request {
    Subscribe { id: SubscriptionId, filters: Vec<String> },
    Unsubscribe,
}

#[derive(Debug, Default)]
pub(super) struct Answers {
    waiting: HashMap<PacketId, Request>,
}

impl Answers {
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= WAITING_MAX
    }

    pub fn uses(&self, packet_id: PacketId) -> bool {
        self.waiting.contains_key(&packet_id)
    }

    pub fn expect(&mut self, packet_id: PacketId, request: Request) {
        self.waiting.insert(packet_id, request);
    }

    pub fn take(&mut self, packet_id: PacketId) -> Option<Request> {
        self.waiting.remove(&packet_id)
    }
}
