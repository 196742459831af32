//! How much may wait for one client.

use crate::{Limits, Overflow};

/// The bounds of one client, and the policies when they are reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub outbox_bytes: usize,
    pub queue_messages: usize,
    pub queue_bytes: usize,
    pub inflight: usize,
    pub qos0: Overflow,
    pub qos12: Overflow,
}

impl From<&Limits> for Bounds {
    fn from(limits: &Limits) -> Self {
        Self {
            outbox_bytes: limits.outbox_bytes,
            queue_messages: limits.queue_messages,
            queue_bytes: limits.queue_bytes,
            inflight: limits.inflight,
            qos0: limits.qos0_full,
            qos12: limits.qos12_full,
        }
    }
}
