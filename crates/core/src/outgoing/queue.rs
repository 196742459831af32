//! A level of the queue: QoS 1 and 2 messages of one priority that wait for one client, in memory, or only as offsets
//! in the journal.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_wire::QoS;

use super::ends::end_bytes;
use super::levels::Level;
use crate::ledger::{DeliveryManner, DeliverySpan};
use crate::memory::Counted;
use crate::{Delivery, Message, Offset};

/// A message in memory, or a span of messages that are only in the journal.
#[derive(Clone, Debug)]
pub(super) enum QueueEntry {
    /// In memory.
    Here(Delivery),
    /// To be loaded before it is sent.
    Stored(DeliverySpan),
}

impl QueueEntry {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Here(delivery) => delivery.message.bytes(),
            Self::Stored(span) => span.bytes() as usize,
        }
    }

    pub(super) fn qos(&self) -> QoS {
        match self {
            Self::Here(delivery) => delivery.qos,
            Self::Stored(span) => span.manner.qos,
        }
    }

    /// Whether it is a request or its end, which makes room for no other message.
    fn of_request(&self) -> bool {
        match self {
            Self::Here(delivery) => delivery.of_request,
            Self::Stored(span) => span.manner.of_request,
        }
    }

    /// The offset of the message, or of the first one; None if it is only in memory.
    pub(super) fn offset(&self) -> Option<Offset> {
        match self {
            Self::Here(delivery) => delivery.offset(),
            Self::Stored(span) => Some(span.first),
        }
    }
}

impl Level for LevelQueue {
    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// A message as an offset in the journal; None if it is only in memory. It shares the manner of the `last` one, if that
/// is equal.
pub(super) fn stored(
    delivery: &Delivery,
    last: Option<&Arc<DeliveryManner>>,
) -> Option<DeliverySpan> {
    let (first, manner) = (delivery.offset()?, delivery.manner());
    let manner = match last.filter(|last| ***last == manner) {
        Some(last) => Arc::clone(last),
        None => Arc::new(manner),
    };
    Some(DeliverySpan { first, count: 1, bytes: delivery.message.bytes() as u32, manner })
}

/// The messages that wait, the oldest first.
#[derive(Debug, Default)]
pub(super) struct LevelQueue {
    pub entries: VecDeque<QueueEntry>,
    pub len: usize,
    /// Saturates, because a damaged journal may contain any number.
    pub bytes: usize,
    /// Bytes of the messages that are in memory.
    pub here_bytes: usize,
    /// Requests and their ends among them, which are never dropped for others, and their bytes.
    pub kept: usize,
    pub kept_bytes: usize,
    /// Bytes of the ends among them that are in memory.
    pub end_bytes: usize,
    /// The first entries, all of which are such.
    leading_kept: usize,
    /// How many messages have left the queue.
    pub gone: u64,
    /// The memory of the entries. Messages count themselves.
    counted: Counted,
}

/// Entries that an empty queue keeps allocated.
const ENTRIES_KEPT: usize = 64;

impl LevelQueue {
    /// How many messages will have left it when the newest one leaves.
    pub(super) fn end(&self) -> u64 {
        self.gone + self.len as u64
    }

    /// Whether the next message has to be loaded.
    pub(super) fn is_stored(&self) -> bool {
        matches!(self.entries.front(), Some(QueueEntry::Stored(_)))
    }

    pub(super) fn push(&mut self, delivery: Delivery) {
        self.len += 1;
        self.bytes = self.bytes.saturating_add(delivery.message.bytes());
        self.comes(&delivery);
        self.count_kept(delivery.of_request, 1, delivery.message.bytes());
        self.entries.push_back(QueueEntry::Here(delivery));
        self.count();
    }

    /// How many messages, and bytes, can be dropped for others.
    pub(super) fn droppable(&self) -> (usize, usize) {
        (self.len - self.kept, self.bytes.saturating_sub(self.kept_bytes))
    }

    #[inline]
    fn count_kept(&mut self, of_request: bool, messages: usize, bytes: usize) {
        if of_request {
            self.kept += messages;
            self.kept_bytes = self.kept_bytes.saturating_add(bytes);
        }
    }

    #[inline]
    fn kept_leaves(&mut self, of_request: bool, bytes: usize) {
        if of_request {
            self.kept -= 1;
            self.kept_bytes = self.kept_bytes.saturating_sub(bytes);
        }
    }

    #[inline]
    fn count(&mut self) {
        self.counted.set(self.entries.capacity() * size_of::<QueueEntry>());
    }

    /// Frees the memory of many entries when the queue is empty.
    #[inline]
    fn rest(&mut self) {
        if self.entries.is_empty() && self.entries.capacity() > ENTRIES_KEPT {
            self.entries = VecDeque::new();
            self.count();
        }
    }

    /// Adds a message for a client that is away: only its offset, if it is in the journal.
    pub(super) fn push_away(&mut self, delivery: Delivery) {
        let last = match self.entries.back() {
            Some(QueueEntry::Stored(span)) => Some(&span.manner),
            _ => None,
        };
        match stored(&delivery, last) {
            Some(span) => self.push_span(span),
            None => self.push(delivery),
        }
    }

    pub(super) fn push_span(&mut self, span: DeliverySpan) {
        self.len += span.count as usize;
        self.bytes = self.bytes.saturating_add(span.bytes() as usize);
        self.count_kept(span.manner.of_request, span.count as usize, span.bytes() as usize);
        let joined = match self.entries.back_mut() {
            Some(QueueEntry::Stored(last)) => last.extend(&span),
            _ => false,
        };
        if !joined {
            self.entries.push_back(QueueEntry::Stored(span));
            self.count();
        }
    }

    /// Takes the next message, if it is in memory.
    pub(super) fn pop(&mut self) -> Option<Delivery> {
        match self.entries.pop_front()? {
            QueueEntry::Here(delivery) => {
                self.rest();
                self.len -= 1;
                self.gone += 1;
                self.leading_kept = self.leading_kept.saturating_sub(1);
                self.kept_leaves(delivery.of_request, delivery.message.bytes());
                self.leaves(&delivery);
                Some(delivery)
            }
            QueueEntry::Stored(span) => {
                self.put_back(Some(span));
                None
            }
        }
    }

    /// Drops the oldest message that makes room for others, and returns it.
    pub(super) fn drop_oldest(&mut self) -> Option<QueueEntry> {
        if self.kept == self.len {
            return None;
        }
        let mut rest = self.entries.iter().skip(self.leading_kept);
        self.leading_kept += rest.position(|entry| !entry.of_request())?;
        let at = self.leading_kept;
        let entry = self.entries.remove(at)?;
        self.len -= 1;
        self.gone += 1;
        let dropped = match entry {
            QueueEntry::Here(delivery) => {
                self.leaves(&delivery);
                QueueEntry::Here(delivery)
            }
            QueueEntry::Stored(span) => {
                self.bytes = self.bytes.saturating_sub(span.bytes as usize);
                let oldest = QueueEntry::Stored(DeliverySpan { count: 1, ..span.clone() });
                if let Some(rest) = span.rest() {
                    self.entries.insert(at, QueueEntry::Stored(rest));
                }
                oldest
            }
        };
        Some(dropped)
    }

    /// Drops the oldest messages that are in memory, until `bytes` of them are gone. Returns them.
    pub(super) fn shrink(&mut self, bytes: usize) -> Vec<QueueEntry> {
        let mut dropped_bytes = 0;
        self.drop_if(|delivery| {
            let is_dropped = dropped_bytes < bytes && !delivery.of_request;
            dropped_bytes += if is_dropped { delivery.message.bytes() } else { 0 };
            is_dropped
        })
    }

    /// Drops messages that are in memory. Returns them.
    pub(super) fn drop_if(
        &mut self,
        mut is_dropped: impl FnMut(&Delivery) -> bool,
    ) -> Vec<QueueEntry> {
        let mut dropped = Vec::new();
        for entry in std::mem::take(&mut self.entries) {
            match entry {
                QueueEntry::Here(delivery) if is_dropped(&delivery) => {
                    self.len -= 1;
                    self.gone += 1;
                    self.kept_leaves(delivery.of_request, delivery.message.bytes());
                    self.leaves(&delivery);
                    dropped.push(QueueEntry::Here(delivery));
                }
                kept => self.entries.push_back(kept),
            }
        }
        self.leading_kept = 0;
        self.count();
        dropped
    }

    /// Frees the messages that can be loaded again.
    pub(super) fn unload(&mut self) {
        let queue = std::mem::take(self);
        self.gone = queue.gone;
        for entry in queue.entries {
            match entry {
                QueueEntry::Here(delivery) => self.push_away(delivery),
                QueueEntry::Stored(span) => self.push_span(span),
            }
        }
    }

    /// The next messages, up to the first one in memory: each with its offset and bytes.
    pub(super) fn stored(&self) -> impl Iterator<Item = (Offset, u32)> {
        let spans = self.entries.iter().map_while(|entry| match entry {
            QueueEntry::Stored(span) => Some(span),
            QueueEntry::Here(_) => None,
        });
        spans.flat_map(|span| (0..span.count).map(|at| (span.first.plus(at), span.bytes)))
    }

    /// Adds loaded messages, beginning with the next one; calls `lost` for those that the journal does not have.
    pub(super) fn fill(
        &mut self,
        find: impl Fn(Offset) -> Option<Option<Arc<Message>>>,
        mut lost: impl FnMut(Offset, QoS),
    ) {
        let mut here = Vec::new();
        while let Some(QueueEntry::Stored(span)) = self.entries.front() {
            let Some(found) = find(span.first) else { break };
            let Some(QueueEntry::Stored(span)) = self.entries.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(span.bytes as usize);
            self.kept_leaves(span.manner.of_request, span.bytes as usize);
            if let Some(message) = found {
                self.bytes = self.bytes.saturating_add(message.bytes());
                self.count_kept(span.manner.of_request, 1, message.bytes());
                let delivery = Delivery::new(message, DeliveryManner::clone(&span.manner));
                self.comes(&delivery);
                here.push(delivery);
            } else {
                self.len -= 1;
                self.gone += 1;
                lost(span.first, span.manner.qos);
            }
            self.put_back(span.rest());
        }
        for delivery in here.into_iter().rev() {
            self.entries.push_front(QueueEntry::Here(delivery));
        }
        self.leading_kept = 0;
        self.count();
    }

    /// Adds the bytes of a message that is in memory now.
    fn comes(&mut self, delivery: &Delivery) {
        self.here_bytes += delivery.message.bytes();
        self.end_bytes += end_bytes(delivery);
    }

    /// Subtracts the bytes of a message that has left the queue.
    fn leaves(&mut self, delivery: &Delivery) {
        self.bytes = self.bytes.saturating_sub(delivery.message.bytes());
        self.here_bytes -= delivery.message.bytes();
        self.end_bytes -= end_bytes(delivery);
    }

    fn put_back(&mut self, rest: Option<DeliverySpan>) {
        if let Some(span) = rest {
            self.entries.push_front(QueueEntry::Stored(span));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_takes_no_more_memory_than_a_message() {
        assert_eq!((size_of::<QueueEntry>(), size_of::<Delivery>()), (32, 32));
    }
}
