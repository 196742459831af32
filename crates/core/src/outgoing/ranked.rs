//! The queue of one client: its QoS 1 and 2 messages by priority, in the order of arrival within each.

use std::sync::Arc;

use slipring_wire::QoS;

use super::levels::{self, Levels};
use super::queue::{LevelQueue, QueueEntry};
use crate::ledger::DeliverySpan;
use crate::{Delivery, Message, Offset, Overflow, Priority};

/// The messages that wait.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub levels: Levels<LevelQueue>,
    /// Bytes of ends of requests in memory that the client found when it came.
    pub found_bytes: usize,
}

/// A figure of the queue, for all levels together.
macro_rules! figures {
    ($($(#[$note:meta])* $name:ident,)*) => {$(
        $(#[$note])*
        #[inline]
        pub(super) fn $name(&self) -> usize {
            self.levels.sum(|level| level.$name)
        }
    )*};
}

impl Queue {
    figures! {
        /// How many messages wait.
        len,
        /// Their bytes.
        bytes,
        /// Bytes of the messages that are in memory.
        here_bytes,
        /// Bytes of the ends of requests that are in memory.
        end_bytes,
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Whether only normal messages wait, and have waited lately.
    pub(super) fn is_plain(&self) -> bool {
        self.levels.is_plain()
    }

    /// How many normal messages have left the queue. Retained messages have their places among these.
    #[inline]
    pub(super) fn gone(&self) -> u64 {
        self.levels.normal.gone
    }

    /// How many will have left it when the newest normal one leaves.
    pub(super) fn end(&self) -> u64 {
        self.levels.normal.end()
    }

    /// The level whose turn it is; `is_retained_due` if retained messages are next among the normal ones.
    #[inline]
    pub(super) fn next(&self, is_retained_due: bool) -> Priority {
        self.levels.next(is_retained_due)
    }

    /// Whether the next message has to be loaded.
    pub(super) fn is_stored(&self) -> bool {
        self.levels.get(self.next(false)).is_some_and(LevelQueue::is_stored)
    }

    pub(super) fn push(&mut self, delivery: Delivery) {
        self.levels.at(delivery.priority).push(delivery);
    }

    /// Adds a message for a client that is away: only its offset, if it is in the journal.
    pub(super) fn push_away(&mut self, delivery: Delivery) {
        self.levels.at(delivery.priority).push_away(delivery);
    }

    pub(super) fn push_span(&mut self, span: DeliverySpan) {
        self.levels.at(span.manner.priority).push_span(span);
    }

    /// Takes the next message of a level, if it is in memory.
    #[inline]
    pub(super) fn pop(&mut self, level: Priority, is_retained_due: bool) -> Option<Delivery> {
        let delivery = self.levels.get_mut(level)?.pop()?;
        self.took(level, delivery.message.bytes(), is_retained_due);
        Some(delivery)
    }

    /// Counts a message that was taken, here or among the retained ones.
    #[inline]
    pub(super) fn took(&mut self, level: Priority, bytes: usize, is_retained_due: bool) {
        self.levels.took(level, levels::cost(1, bytes), is_retained_due);
    }

    /// How many messages, and bytes, would make room for one of this priority.
    pub(super) fn droppable(&self, priority: Priority, overflow: Overflow) -> (usize, usize) {
        let victims =
            levels::victims(priority, overflow).filter_map(|level| self.levels.get(level));
        victims.map(LevelQueue::droppable).fold((0, 0), |(messages, bytes), level| {
            (messages + level.0, bytes.saturating_add(level.1))
        })
    }

    /// Drops the oldest message of the lowest level that makes room for one of this priority; returns it.
    pub(super) fn drop_for(
        &mut self,
        priority: Priority,
        overflow: Overflow,
    ) -> Option<QueueEntry> {
        levels::victims(priority, overflow)
            .find_map(|level| self.levels.get_mut(level).and_then(LevelQueue::drop_oldest))
    }

    /// Drops the oldest messages of a priority that are in memory, until no more than `keep_bytes` of the queue are there.
    /// Returns them.
    pub(super) fn shrink(&mut self, priority: Priority, keep_bytes: usize) -> Vec<QueueEntry> {
        let bytes = self.here_bytes().saturating_sub(keep_bytes);
        self.levels.get_mut(priority).map_or_else(Vec::new, |level| level.shrink(bytes))
    }

    /// Frees the messages that can be loaded again.
    pub(super) fn unload(&mut self) {
        self.levels.for_each(LevelQueue::unload);
        self.rest();
    }

    /// Frees memory that is not needed now.
    pub(super) fn rest(&mut self) {
        self.levels.rest();
    }

    /// The next messages of each level, up to the first one in memory: each with its offset and bytes. The level whose turn
    /// it is comes first.
    pub(super) fn stored(&self) -> impl Iterator<Item = (Offset, u32)> {
        let next = self.levels.get(self.next(false));
        let others = self
            .levels
            .iter()
            .filter(move |level| next.is_none_or(|next| !std::ptr::eq(next, *level)));
        next.into_iter().chain(others).flat_map(LevelQueue::stored)
    }

    /// Adds loaded messages, beginning with the next one of each level; calls `lost` for those that the journal does not
    /// have.
    pub(super) fn fill(
        &mut self,
        find: impl Fn(Offset) -> Option<Option<Arc<Message>>>,
        mut lost: impl FnMut(Offset, QoS),
    ) {
        self.levels.for_each(|level| level.fill(&find, &mut lost));
    }
}
