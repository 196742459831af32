//! Rights that changed while messages waited: each is checked again before it is sent.

use std::sync::Arc;

use super::Outgoing;
use crate::access::ClientRights;
use crate::{Delivery, Priority};

impl Outgoing {
    /// The client may have lost rights: QoS 0 messages that wait are dropped, because they have no topic any more that
    /// could be checked; the others are checked when they are sent. Returns how many were dropped.
    pub fn recheck(&mut self, rights: Arc<ClientRights>) -> u32 {
        self.check_queued(rights);
        let priorities = [Priority::Low, Priority::Normal, Priority::High];
        priorities.map(|priority| self.shrink_outbox(priority, 0)).iter().sum()
    }

    /// Checks each QoS 1 and 2 message that waits now before it is sent.
    pub fn check_queued(&mut self, rights: Arc<ClientRights>) {
        self.recheck = Some(rights);
        self.end_recheck();
    }

    /// Whether the client may still have a message that waited. What concerns a request was decided with the request.
    #[inline]
    pub(super) fn may_still_have(&self, delivery: &Delivery) -> bool {
        let Some(rights) = &self.recheck else { return true };
        delivery.of_request || rights.allow_receiving(delivery.message.topic())
    }

    /// Ends the checks when nothing waits that was queued under other rights.
    #[inline]
    pub(super) fn end_recheck(&mut self) {
        let is_over =
            self.queue.is_empty() && self.replays.is_empty() && self.window.slots.is_empty();
        if self.recheck.is_some() && is_over {
            self.recheck = None;
        }
    }
}
