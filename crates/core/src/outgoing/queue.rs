//! QoS 1 and 2 messages that wait for one client: here, or only as places in the journal.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_wire::QoS;

use crate::ledger::{Manner, Run};
use crate::memory::Counted;
use crate::{Delivery, Message};

/// A message that waits, or a run of messages that are not here.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// To be sent as it is.
    Here(Delivery),
    /// To be loaded first.
    Stored(Run),
}

impl Entry {
    pub fn bytes(&self) -> usize {
        match self {
            Self::Here(delivery) => delivery.message.bytes(),
            Self::Stored(run) => run.bytes() as usize,
        }
    }

    pub fn qos(&self) -> QoS {
        match self {
            Self::Here(delivery) => delivery.qos,
            Self::Stored(run) => run.manner.qos,
        }
    }

    /// The offset of the message, or of the first; None is a message that is only here.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Here(delivery) => delivery.message.place.map(|place| place.offset),
            Self::Stored(run) => Some(run.first),
        }
    }

    /// The same without the message itself, if it can be loaded again.
    pub fn stored(&self, last: Option<&Arc<Manner>>) -> Option<Run> {
        let Self::Here(delivery) = self else { return None };
        let manner = Manner {
            qos: delivery.qos,
            retain: delivery.retain,
            identifiers: delivery.identifiers.clone(),
        };
        // Neighbours are mostly alike, and then share what they have in common.
        let manner = match last.filter(|last| ***last == manner) {
            Some(last) => Arc::clone(last),
            None => Arc::new(manner),
        };
        Some(Run::one(self.offset()?, delivery.message.bytes() as u32, manner))
    }
}

/// The delivery of a message that was loaded.
pub(super) fn loaded(message: Arc<Message>, manner: &Manner) -> Delivery {
    let identifiers = manner.identifiers.clone();
    Delivery { message, qos: manner.qos, retain: manner.retain, identifiers }
}

/// The messages that wait, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: VecDeque<Entry>,
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
        matches!(self.entries.front(), Some(Entry::Stored(_)))
    }

    pub fn push(&mut self, delivery: Delivery) {
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(delivery.message.bytes());
        self.here_bytes += delivery.message.bytes();
        self.entries.push_back(Entry::Here(delivery));
        self.count();
    }

    #[inline]
    fn count(&mut self) {
        self.counted.set(self.entries.capacity() * size_of::<Entry>());
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
        let entry = Entry::Here(delivery);
        let last = match self.entries.back() {
            Some(Entry::Stored(run)) => Some(&run.manner),
            _ => None,
        };
        if let Some(run) = entry.stored(last) {
            return self.push_run(run);
        }
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(entry.bytes());
        self.here_bytes += entry.bytes();
        self.entries.push_back(entry);
        self.count();
    }

    pub fn push_run(&mut self, run: Run) {
        self.messages += run.count as usize;
        self.bytes = self.bytes.saturating_add(run.bytes() as usize);
        let joined = match self.entries.back_mut() {
            Some(Entry::Stored(last)) => last.extend(&run),
            _ => false,
        };
        if !joined {
            self.entries.push_back(Entry::Stored(run));
            self.count();
        }
    }

    /// The next message, if it is here.
    pub fn pop(&mut self) -> Option<Delivery> {
        match self.entries.pop_front()? {
            Entry::Here(delivery) => {
                self.rest();
                self.messages -= 1;
                self.gone += 1;
                self.leaves(&delivery);
                Some(delivery)
            }
            Entry::Stored(run) => {
                self.put_back(Some(run));
                None
            }
        }
    }

    /// Drops the oldest message: its offset and quality.
    pub fn drop_oldest(&mut self) -> Option<(Option<u64>, QoS)> {
        let entry = self.entries.pop_front()?;
        let dropped = (entry.offset(), entry.qos());
        self.messages -= 1;
        self.gone += 1;
        match entry {
            Entry::Here(delivery) => self.leaves(&delivery),
            Entry::Stored(run) => {
                self.bytes = self.bytes.saturating_sub(run.bytes as usize);
                self.put_back(run.rest());
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
                Entry::Here(delivery) => self.push_away(delivery),
                Entry::Stored(run) => self.push_run(run),
            }
        }
    }

    /// The first messages that are not here: each with its offset and bytes.
    pub fn stored(&self) -> impl Iterator<Item = (u64, u32)> {
        let runs = self.entries.iter().map_while(|entry| match entry {
            Entry::Stored(run) => Some(run),
            Entry::Here(_) => None,
        });
        runs.flat_map(|run| run.offsets().map(|offset| (offset, run.bytes)))
    }

    /// Puts loaded messages into their places, from the first on; `lost` hears of what is no more.
    pub fn fill(
        &mut self,
        find: impl Fn(u64) -> Option<Option<Arc<Message>>>,
        mut lost: impl FnMut(u64, QoS),
    ) {
        let mut here = Vec::new();
        while let Some(Entry::Stored(run)) = self.entries.front() {
            let Some(found) = find(run.first) else { break };
            let Some(Entry::Stored(run)) = self.entries.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(run.bytes as usize);
            if let Some(message) = found {
                self.bytes = self.bytes.saturating_add(message.bytes());
                self.here_bytes += message.bytes();
                here.push(loaded(message, &run.manner));
            } else {
                self.messages -= 1;
                self.gone += 1;
                lost(run.first, run.manner.qos);
            }
            self.put_back(run.rest());
        }
        for delivery in here.into_iter().rev() {
            self.entries.push_front(Entry::Here(delivery));
        }
        self.count();
    }

    /// A message that was in memory is no longer in the queue.
    fn leaves(&mut self, delivery: &Delivery) {
        self.bytes = self.bytes.saturating_sub(delivery.message.bytes());
        self.here_bytes -= delivery.message.bytes();
    }

    fn put_back(&mut self, rest: Option<Run>) {
        if let Some(run) = rest {
            self.entries.push_front(Entry::Stored(run));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_journal_takes_no_more_than_a_message_that_is_here() {
        assert_eq!((size_of::<Entry>(), size_of::<Delivery>()), (32, 32));
    }
}
