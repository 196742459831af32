//! What one client gives back when the memory budget is used up (`limits.memory_bytes`).
//!
//! The order: QoS 0 messages, the largest outbox first; then queued messages of sessions that are kept leave the
//! memory, if the journal has them; then queued messages that are only here, the oldest first.

use super::lane::{Encoded, Room};
use super::{Outgoing, Overflow, Pushed};
use crate::Limit;

/// What a client keeps of its outbox, or of its queue, when memory is short: who keeps up has less.
pub const SHORT_BYTES: usize = 64 << 10;

impl Outgoing {
    /// Bytes of QoS 0 messages that wait.
    pub fn outbox_bytes(&self) -> usize {
        self.lane.queued_bytes()
    }

    /// Bytes of QoS 1 and 2 messages that are in memory and may be in the journal, too.
    pub fn loaded_bytes(&self) -> usize {
        if self.durable.is_none() {
            return 0;
        }
        self.queue.here_bytes().saturating_add(self.window.bytes())
    }

    /// Bytes of QoS 1 and 2 messages that wait in memory.
    pub fn queue_bytes(&self) -> usize {
        self.queue.here_bytes()
    }

    /// The client was quiet for a while: gives memory back that nothing needs now.
    pub fn rest(&mut self) {
        self.lane.rest();
        self.window.rest();
    }

    /// Adds a QoS 0 message while memory is short: next to nothing may wait.
    #[cold]
    pub(super) fn push_short(&mut self, message: Encoded<'_>) -> Pushed {
        let most = SHORT_BYTES.max(message.len()).min(self.bounds.outbox_bytes);
        let policy = match self.bounds.qos0 {
            Overflow::DropNewest => Overflow::DropNewest,
            Overflow::DropOldest | Overflow::Disconnect => Overflow::DropOldest,
        };
        match self.lane.push(message, most, policy) {
            Room::Kept => self.nudge(),
            Room::Dropped(count) => self.lose(Some(Limit::MemoryBytes), count, true),
            Room::Overflow => self.overflow(Limit::MemoryBytes),
        }
    }

    /// Drops the oldest QoS 0 messages beyond what a client may keep; how many.
    pub fn shrink_outbox(&mut self) -> u32 {
        let dropped = self.lane.shrink(SHORT_BYTES);
        self.untold += u64::from(dropped);
        dropped
    }

    /// Lets go of messages that the journal has: they are read from there later. None is dropped.
    pub fn unload(&mut self) -> u32 {
        if self.durable.is_some() {
            self.queue.unload();
            self.window.unload(); // needed again only when the client comes back
            self.window.rest();
        }
        0
    }

    /// Drops the oldest queued messages beyond what a client may keep in memory; how many.
    pub fn shrink_queue(&mut self) -> u32 {
        let mut dropped = 0;
        while self.queue.here_bytes() > SHORT_BYTES && !self.queue.is_stored() && self.drop_oldest()
        {
            dropped += 1;
        }
        self.untold += u64::from(dropped);
        dropped
    }
}
