//! Freeing memory of one client when the memory budget is used up (`limits.memory_bytes`).
//!
//! The engine frees in this order: QoS 0 messages, the largest outbox first; then copies of queued messages that are in
//! the journal, too; then queued messages that are only in memory, the oldest first.

use super::{Outgoing, Overflow};
use crate::Limit;

/// Bytes of its outbox, and of its queue, that a client keeps when memory is short. A client that keeps up has fewer.
pub const SHORT_BYTES: usize = 64 << 10;

impl Outgoing {
    /// Bytes of QoS 0 messages that wait.
    pub fn outbox_bytes(&self) -> usize {
        self.lane.queued_bytes()
    }

    /// Bytes of QoS 1 and 2 messages of a durable session that are in memory.
    pub fn loaded_bytes(&self) -> usize {
        if self.durable.is_none() {
            return 0;
        }
        self.queue.here_bytes.saturating_add(self.window.bytes)
    }

    /// Bytes of QoS 1 and 2 messages that wait in memory.
    pub fn queue_bytes(&self) -> usize {
        self.queue.here_bytes
    }

    /// Frees memory that is not needed now, because the client was quiet for a while.
    pub fn rest(&mut self) {
        self.lane.rest();
        self.window.rest();
    }

    /// The bound of the outbox, its policy and the limit to name while memory is short, for a message of `bytes`: only
    /// few bytes may wait, and no client is disconnected.
    #[cold]
    pub(super) fn short_bounds(&self, bytes: usize) -> (usize, Overflow, Limit) {
        let most = SHORT_BYTES.max(bytes).min(self.bounds.outbox_bytes);
        let policy = match self.bounds.qos0 {
            Overflow::DropNewest => Overflow::DropNewest,
            Overflow::DropOldest | Overflow::Disconnect => Overflow::DropOldest,
        };
        (most, policy, Limit::MemoryBytes)
    }

    /// Drops the oldest QoS 0 messages beyond what a client may keep; returns how many.
    pub fn shrink_outbox(&mut self) -> u32 {
        let dropped = self.lane.shrink(SHORT_BYTES);
        self.unreported += u64::from(dropped);
        dropped
    }

    /// Frees copies of messages that are in the journal, and are loaded later. Returns 0, because it drops none.
    pub fn unload(&mut self) -> u32 {
        if self.durable.is_some() {
            self.queue.unload();
            self.window.unload(); // only the next connection needs them
            self.window.rest();
        }
        0
    }

    /// Drops the oldest queued messages beyond what a client may keep in memory; returns how many.
    pub fn shrink_queue(&mut self) -> u32 {
        let mut dropped = 0;
        while self.queue.here_bytes > SHORT_BYTES && !self.queue.is_stored() && self.drop_oldest() {
            dropped += 1;
        }
        self.unreported += u64::from(dropped);
        dropped
    }
}
