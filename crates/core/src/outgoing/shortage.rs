//! Freeing memory of one client when the memory budget is used up (`limits.memory_bytes`).
//!
//! The engine says in which order (`docs/limits.md`): copies of messages that are in the journal, too; then QoS 0
//! messages; then messages that were sent and are not acknowledged; then queued ones; each time by priority.

use super::{Outgoing, Overflow};
use crate::{Limit, Priority};

/// Bytes of its outbox, and of its queue, that a client keeps when memory is short. A client that keeps up has fewer.
pub const SHORT_BYTES: usize = 64 << 10;

impl Outgoing {
    /// Bytes of QoS 0 messages that wait.
    pub fn outbox_bytes(&self) -> usize {
        self.outbox.queued_bytes()
    }

    /// Bytes of QoS 1 and 2 messages of a durable session that are in memory.
    pub fn loaded_bytes(&self) -> usize {
        if self.durable.is_none() {
            return 0;
        }
        self.queue.here_bytes().saturating_add(self.window.bytes)
    }

    /// Bytes of QoS 1 and 2 messages that wait in memory.
    pub fn queue_bytes(&self) -> usize {
        self.queue.here_bytes()
    }

    /// Frees memory that is not needed now, because the client was quiet for a while.
    pub fn rest(&mut self) {
        self.outbox.rest();
        self.queue.rest();
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

    /// Drops the oldest QoS 0 messages of a priority, until no more than `keep_bytes` wait; returns how many.
    pub fn shrink_outbox(&mut self, priority: Priority, keep_bytes: usize) -> u32 {
        let dropped = self.outbox.shrink(priority, keep_bytes);
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

    /// Bytes of QoS 1 and 2 messages that were sent, are not acknowledged, and are in memory.
    pub fn sent_bytes(&self) -> usize {
        self.window.here_bytes()
    }

    /// Frees messages of a priority that were sent and are not acknowledged, the oldest first, until no more than
    /// `keep_bytes` of them are in memory. They cannot be sent again, unless a durable session finds them in the journal.
    /// Returns 0, because the client may have them.
    pub fn forget_sent(&mut self, priority: Priority, keep_bytes: usize) -> u32 {
        let is_durable = self.durable.is_some();
        for delivery in self.window.forget(priority, keep_bytes, is_durable) {
            let victims = self.victims.get_or_insert_default();
            victims.add(&delivery.message, Limit::MemoryBytes);
        }
        0
    }

    /// Drops the oldest queued messages of a priority, until no more than `keep_bytes` of the queue are in memory;
    /// returns how many.
    pub fn shrink_queue(&mut self, priority: Priority, keep_bytes: usize) -> u32 {
        let dropped = self.queue.shrink(priority, keep_bytes);
        for entry in &dropped {
            self.note_dropped(entry, Limit::MemoryBytes);
        }
        self.unreported += dropped.len() as u64;
        dropped.len() as u32
    }
}
