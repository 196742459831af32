//! QoS 1 and 2 messages that wait for one client: here, or only as places in the journal.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_wire::QoS;

use crate::ledger::{DeliveryManner, DeliverySpan};
use crate::memory::Counted;
use crate::{Delivery, Message, Offset};

/// A message that waits, or a span of messages that are not here.
#[derive(Clone, Debug)]
pub(super) enum QueueEntry {
    /// To be sent as it is.
    Here(Delivery),
    /// To be loaded first.
    Stored(DeliverySpan),
}

impl QueueEntry {
    pub fn bytes(&self) -> usize {
        match self {
            Self::Here(delivery) => delivery.message.bytes(),
            Self::Stored(span) => span.bytes() as usize,
        }
    }

    pub fn qos(&self) -> QoS {
        match self {
            Self::Here(delivery) => delivery.qos,
            Self::Stored(span) => span.manner.qos,
        }
    }

    /// The offset of the message, or of the first; None is a message that is only here.
    pub fn offset(&self) -> Option<Offset> {
        match self {
            Self::Here(delivery) => delivery.message.place.map(|place| place.offset),
            Self::Stored(span) => Some(span.first),
        }
    }

    /// The same without the message itself, if it can be loaded again.
    pub fn stored(&self, last: Option<&Arc<DeliveryManner>>) -> Option<DeliverySpan> {
        let Self::Here(delivery) = self else { return None };
        let manner = DeliveryManner {
            qos: delivery.qos,
            retain: delivery.retain,
            identifiers: delivery.identifiers.clone(),
        };
        // Neighbours are mostly alike, and then share what they have in common.
        let manner = match last.filter(|last| ***last == manner) {
            Some(last) => Arc::clone(last),
            None => Arc::new(manner),
        };
        Some(DeliverySpan::one(self.offset()?, delivery.message.bytes() as u32, manner))
    }
}

/// The delivery of a message that was loaded.
pub(super) fn loaded(message: Arc<Message>, manner: &DeliveryManner) -> Delivery {
    let identifiers = manner.identifiers.clone();
    Delivery { message, qos: manner.qos, retain: manner.retain, identifiers }
}

/// The messages that wait, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: VecDeque<QueueEntry>,
    messages: usize,
    /// About: a journal that lies can say more than fits.
    bytes: usize,
    /// Bytes of the messages that are in memory.
    here_bytes: usize,
    /// How many messages have left it.
    gone: u64,
    /// The memory of the entries. Messages count themselves.
    counted: Counted,
}

/// Entries that an empty queue keeps room for.
const ENTRIES_KEPT: usize = 64;

impl Queue {
    pub fn len(&self) -> usize {
        self.messages
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of the messages that are in memory.
    pub fn here_bytes(&self) -> usize {
        self.here_bytes
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many messages have left it.
    pub fn gone(&self) -> u64 {
        self.gone
    }

    /// How many will have when all that wait now are gone.
    pub fn end(&self) -> u64 {
        self.gone + self.messages as u64
    }

    /// Whether the next message has to be loaded.
    pub fn is_stored(&self) -> bool {
        matches!(self.entries.front(), Some(QueueEntry::Stored(_)))
    }

    pub fn push(&mut self, delivery: Delivery) {
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(delivery.message.bytes());
        self.here_bytes += delivery.message.bytes();
        self.entries.push_back(QueueEntry::Here(delivery));
        self.count();
    }

    #[inline]
    fn count(&mut self) {
        self.counted.set(self.entries.capacity() * size_of::<QueueEntry>());
    }

    /// Gives the memory of entries back that were many.
    #[inline]
    fn rest(&mut self) {
        if self.entries.is_empty() && self.entries.capacity() > ENTRIES_KEPT {
            self.entries = VecDeque::new();
            self.count();
        }
    }

    /// Adds a message for a client that is away: only its place, if it has one.
    pub fn push_away(&mut self, delivery: Delivery) {
        let entry = QueueEntry::Here(delivery);
        let last = match self.entries.back() {
            Some(QueueEntry::Stored(span)) => Some(&span.manner),
            _ => None,
        };
        if let Some(span) = entry.stored(last) {
            return self.push_span(span);
        }
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(entry.bytes());
        self.here_bytes += entry.bytes();
        self.entries.push_back(entry);
        self.count();
    }

    pub fn push_span(&mut self, span: DeliverySpan) {
        self.messages += span.count as usize;
        self.bytes = self.bytes.saturating_add(span.bytes() as usize);
        let joined = match self.entries.back_mut() {
            Some(QueueEntry::Stored(last)) => last.extend(&span),
            _ => false,
        };
        if !joined {
            self.entries.push_back(QueueEntry::Stored(span));
            self.count();
        }
    }

    /// The next message, if it is here.
    pub fn pop(&mut self) -> Option<Delivery> {
        match self.entries.pop_front()? {
            QueueEntry::Here(delivery) => {
                self.rest();
                self.messages -= 1;
                self.gone += 1;
                self.leaves(&delivery);
                Some(delivery)
            }
            QueueEntry::Stored(span) => {
                self.put_back(Some(span));
                None
            }
        }
    }

    /// Drops the oldest message: its offset and quality.
    pub fn drop_oldest(&mut self) -> Option<(Option<Offset>, QoS)> {
        let entry = self.entries.pop_front()?;
        let dropped = (entry.offset(), entry.qos());
        self.messages -= 1;
        self.gone += 1;
        match entry {
            QueueEntry::Here(delivery) => self.leaves(&delivery),
            QueueEntry::Stored(span) => {
                self.bytes = self.bytes.saturating_sub(span.bytes as usize);
                self.put_back(span.rest());
            }
        }
        Some(dropped)
    }

    /// Lets go of the messages that can be loaded again.
    pub fn unload(&mut self) {
        let queue = std::mem::take(self);
        self.gone = queue.gone;
        for entry in queue.entries {
            match entry {
                QueueEntry::Here(delivery) => self.push_away(delivery),
                QueueEntry::Stored(span) => self.push_span(span),
            }
        }
    }

    /// The first messages that are not here: each with its offset and bytes.
    pub fn stored(&self) -> impl Iterator<Item = (Offset, u32)> {
        let spans = self.entries.iter().map_while(|entry| match entry {
            QueueEntry::Stored(span) => Some(span),
            QueueEntry::Here(_) => None,
        });
        spans.flat_map(|span| (0..span.count).map(|at| (span.first.plus(at), span.bytes)))
    }

    /// Puts loaded messages into their places, from the first on; `lost` hears of what is no more.
    pub fn fill(
        &mut self,
        find: impl Fn(Offset) -> Option<Option<Arc<Message>>>,
        mut lost: impl FnMut(Offset, QoS),
    ) {
        let mut here = Vec::new();
        while let Some(QueueEntry::Stored(span)) = self.entries.front() {
            let Some(found) = find(span.first) else { break };
            let Some(QueueEntry::Stored(span)) = self.entries.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(span.bytes as usize);
            if let Some(message) = found {
                self.bytes = self.bytes.saturating_add(message.bytes());
                self.here_bytes += message.bytes();
                here.push(loaded(message, &span.manner));
            } else {
                self.messages -= 1;
                self.gone += 1;
                lost(span.first, span.manner.qos);
            }
            self.put_back(span.rest());
        }
        for delivery in here.into_iter().rev() {
            self.entries.push_front(QueueEntry::Here(delivery));
        }
        self.count();
    }

    /// A message that was in memory is no longer in the queue.
    fn leaves(&mut self, delivery: &Delivery) {
        self.bytes = self.bytes.saturating_sub(delivery.message.bytes());
        self.here_bytes -= delivery.message.bytes();
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
    fn a_place_in_the_journal_takes_no_more_than_a_message_that_is_here() {
        assert_eq!((size_of::<QueueEntry>(), size_of::<Delivery>()), (32, 32));
    }
}
