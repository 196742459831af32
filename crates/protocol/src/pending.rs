//! SUBSCRIBE and UNSUBSCRIBE packets that the broker has not answered, by packet identifier.

use std::collections::HashMap;

use slipring_wire::PacketId;

use super::SubscriptionId;

/// Requests that may wait for an answer at once; one more is refused.
pub(super) const PENDING_MAX: usize = 1024;

/// What the client asked the broker for.
#[derive(Debug)]
pub(super) enum PendingRequest {
    Subscribe {
        id: SubscriptionId,
        filters: Vec<String>,
    },
    /// `retired` is the subscription whose last messages are still awaited.
    Unsubscribe {
        filters: Vec<String>,
        retired: Option<SubscriptionId>,
    },
}

#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    /// With the number of the request, for their order.
    waiting: HashMap<PacketId, (u64, PendingRequest)>,
    newest: u64,
}

impl PendingRequests {
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= PENDING_MAX
    }

    pub fn uses(&self, packet_id: PacketId) -> bool {
        self.waiting.contains_key(&packet_id)
    }

    pub fn add(&mut self, packet_id: PacketId, request: PendingRequest) {
        self.newest += 1;
        self.waiting.insert(packet_id, (self.newest, request));
    }

    /// Takes all requests, in their order: another connection will not answer them.
    pub fn take_all(&mut self) -> Vec<PendingRequest> {
        let mut all: Vec<_> = self.waiting.drain().map(|(_, numbered)| numbered).collect();
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, request)| request).collect()
    }

    pub fn take(&mut self, packet_id: PacketId) -> Option<PendingRequest> {
        self.waiting.remove(&packet_id).map(|(_, request)| request)
    }
}
