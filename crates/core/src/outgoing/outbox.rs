//! The outbox: the lanes of encoded QoS 0 messages that wait for one client's socket, one for each priority that is
//! used, bounded together.

use super::lane::{Encoded, Lane};
use super::levels::{self, Level, Levels};
use crate::packets::Packets;
use crate::shared_bytes::SharedBytes;
use crate::{Millis, Overflow, Priority};

/// The result of adding a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// It was added.
    Kept,
    /// So many messages were dropped, perhaps the new one.
    Dropped(u32),
    /// There is no room, and the policy is to end the connection.
    Overflow,
}

/// The waiting messages.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    lanes: Levels<Lane>,
}

impl Level for Lane {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

impl Outbox {
    /// Adds a message. If there is no room within `bytes_max`, the policy decides.
    #[inline]
    pub(super) fn push(
        &mut self,
        message: Encoded<'_>,
        priority: Priority,
        bytes_max: usize,
        overflow: Overflow,
    ) -> Room {
        let is_plain = priority == Priority::Normal && self.lanes.is_plain();
        if is_plain && self.lanes.normal.queued_bytes() + message.cost() <= bytes_max {
            self.lanes.normal.add(message);
            return Room::Kept;
        }
        self.push_ranked(message, priority, bytes_max, overflow)
    }

    fn push_ranked(
        &mut self,
        message: Encoded<'_>,
        priority: Priority,
        bytes_max: usize,
        overflow: Overflow,
    ) -> Room {
        let mut room = Room::Kept;
        if self.queued_bytes() + message.cost() > bytes_max {
            match self.make_room(message.cost(), priority, bytes_max, overflow) {
                Ok(dropped) => room = Room::Dropped(dropped),
                Err(refused) => return refused,
            }
        }
        self.lanes.at(priority).add(message);
        room
    }

    /// Drops messages of this priority and below, the lowest and oldest first; returns how many. The error says that the
    /// new message is not added; then no other is dropped either.
    #[cold]
    fn make_room(
        &mut self,
        cost: usize,
        priority: Priority,
        bytes_max: usize,
        overflow: Overflow,
    ) -> Result<u32, Room> {
        if overflow == Overflow::Disconnect {
            return Err(Room::Overflow);
        }
        let waiting = self.queued_bytes();
        let droppable = levels::victims(priority, overflow)
            .filter_map(|level| self.lanes.get(level))
            .map(Lane::queued_bytes);
        if waiting - droppable.sum::<usize>() + cost > bytes_max {
            return Err(Room::Dropped(1));
        }
        Ok(self.drop_until(levels::victims(priority, overflow), bytes_max - cost, 0))
    }

    /// Drops the oldest messages of one level after the other until at most `bytes_max` wait, but keeps so many messages;
    /// returns how many it dropped.
    fn drop_until(
        &mut self,
        levels: impl Iterator<Item = Priority>,
        bytes_max: usize,
        kept: usize,
    ) -> u32 {
        let mut dropped = 0;
        for level in levels {
            while self.queued_bytes() > bytes_max
                && self.lanes.sum(Lane::len) > kept
                && self.lanes.get_mut(level).is_some_and(Lane::drop_oldest)
            {
                dropped += 1;
            }
        }
        dropped
    }

    /// Drops the oldest messages of a level until at most `bytes_max` of all wait, but not the last one; returns how many.
    pub(super) fn shrink(&mut self, level: Priority, bytes_max: usize) -> u32 {
        let dropped = self.drop_until(std::iter::once(level), bytes_max, 1);
        self.lanes.for_each(Lane::shrink);
        dropped
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Whether only normal messages wait, and have waited lately.
    pub(super) fn is_plain(&self) -> bool {
        self.lanes.is_plain()
    }

    #[inline]
    pub(super) fn queued_bytes(&self) -> usize {
        self.lanes.sum(Lane::queued_bytes)
    }

    /// Whether messages of a level wait.
    pub(super) fn has(&self, level: Priority) -> bool {
        self.lanes.get(level).is_some_and(|lane| !lane.is_empty())
    }

    /// Bytes that go before a new message of this priority.
    pub(super) fn bytes_before(&self, priority: Priority) -> usize {
        if self.lanes.is_plain() {
            return self.lanes.normal.queued_bytes();
        }
        let higher = [Priority::High, Priority::Normal, Priority::Low];
        let before = higher.into_iter().filter(|level| *level >= priority);
        before.filter_map(|level| self.lanes.get(level)).map(Lane::queued_bytes).sum()
    }

    /// Bytes of all buffers that parts are kept of, with this part added.
    pub(super) fn buffers_bytes_with(&self, buffer: &SharedBytes) -> usize {
        self.lanes.sum(|lane| lane.buffers_bytes_with(buffer))
    }

    /// Frees memory that is not needed now.
    pub(super) fn rest(&mut self) {
        self.lanes.rest();
        self.lanes.for_each(Lane::rest);
    }

    /// The level whose turn it is.
    #[inline]
    pub(super) fn next(&self) -> Priority {
        self.lanes.next(false)
    }

    /// Whether messages of a level have to be looked at one by one.
    #[inline]
    pub(super) fn is_expiring(&self, level: Priority, now_ms: Millis) -> bool {
        self.lanes.get(level).is_some_and(|lane| lane.is_expiring(now_ms))
    }

    /// Moves messages of the level whose turn it is to the end of `out`, until that has about `bytes` or it is another
    /// one's turn; returns how many.
    pub(super) fn take(&mut self, level: Priority, out: &mut Packets, bytes: usize) -> u64 {
        let before = out.len();
        let most = bytes.min(before.saturating_add(self.lanes.turn_bytes(level)));
        let messages = self.lanes.at(level).take(out, most);
        self.lanes.took(level, levels::cost(messages, out.len() - before), false);
        messages
    }

    /// Passes the oldest message of a level to `take`, and removes it; returns false if there is none.
    pub(super) fn take_one(&mut self, level: Priority, mut take: impl FnMut(&Encoded<'_>)) -> bool {
        let mut bytes = 0;
        let is_taken = self.lanes.at(level).take_one(|encoded| {
            bytes = encoded.len();
            take(encoded);
        });
        self.lanes.took(level, levels::cost(u64::from(is_taken), bytes), false);
        is_taken
    }
}

#[cfg(test)]
#[path = "outbox_tests.rs"]
mod tests;
