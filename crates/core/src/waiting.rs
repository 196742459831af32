//! Messages that wait for their first subscriber (T3): by topic, in order of priority, bounded.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipring_wire::{Properties, PropertyId, Value};

use crate::topics::{ENTRY_BYTES, LEVEL_BYTES, Topics};
use crate::{Limit, Limits, Message, Millis, Owner, Shares};

/// The user property by which a message asks to wait, with the value `1`.
pub const WAIT_PROPERTY: &str = "slipring-wait";
/// The user property that names its priority: `high`, `normal` or `low`.
pub const PRIORITY_PROPERTY: &str = "slipring-priority";

/// Which of the waiting messages are delivered first, and which have to make room last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Priority {
    /// After all others.
    Low = 0,
    /// When nothing is said.
    #[default]
    Normal = 1,
    /// Before all others.
    High = 2,
}

impl Priority {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Low, Self::Normal, Self::High].into_iter().find(|known| *known as u8 == byte)
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "low" => Some(Self::Low),
            "normal" => Some(Self::Normal),
            "high" => Some(Self::High),
            _ => None,
        }
    }
}

/// The priority to wait with, if a message asks to wait for a subscriber.
pub fn asks_to_wait(properties: Properties<'_>) -> Option<Priority> {
    let (mut waits, mut priority) = (false, Priority::default());
    for (id, value) in properties.iter() {
        match (id, value) {
            (PropertyId::UserProperty, Value::Pair(WAIT_PROPERTY, text)) => waits = text == "1",
            (PropertyId::UserProperty, Value::Pair(PRIORITY_PROPERTY, name)) => {
                priority = Priority::named(name).unwrap_or_default();
            }
            _ => {}
        }
    }
    waits.then_some(priority)
}

/// A message that waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waited {
    /// What.
    pub message: Arc<Message>,
    /// How urgent it is.
    pub priority: Priority,
    /// Which of its priority it is: the older has the lower number.
    number: u64,
    /// Whose quota it is counted for: who published it.
    owner: Owner,
}

impl Waited {
    fn rank(&self) -> Rank {
        Rank { priority: Reverse(self.priority), number: self.number }
    }
}

/// The order of delivery: the more urgent first, then the older.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    priority: Reverse<Priority>,
    number: u64,
}

/// A message, and whose quota it is counted for: who published it.
#[derive(Debug)]
struct Held {
    message: Arc<Message>,
    owner: Owner,
}

/// The messages that wait.
#[derive(Debug, Default)]
pub struct Waiting {
    messages: BTreeMap<Rank, Held>,
    /// The ranks at each topic.
    topics: Topics<BTreeSet<Rank>>,
    counts: Shares,
    bytes: Shares,
    /// How many there were.
    made: u64,
}

impl Waiting {
    /// How many wait.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Their bytes, about.
    pub fn bytes(&self) -> usize {
        self.bytes.total()
    }

    /// How many messages, and how many bytes, each owner has.
    pub fn shares(&self) -> [&Shares; 2] {
        [&self.counts, &self.bytes]
    }

    /// Adds a message, the youngest of its priority; says which limit is in the way.
    ///
    /// Where there is no room, messages of lower priority go, those that would be delivered last first.
    /// They are given: their publishers were told that they wait.
    pub fn push(
        &mut self,
        message: Arc<Message>,
        priority: Priority,
        owner: &Owner,
        limits: &Limits,
    ) -> Result<Vec<Waited>, Limit> {
        let victims = self.victims(cost(&message), priority, owner, limits)?;
        let victims = victims.into_iter().map(|rank| self.take_out(rank)).collect();
        self.made += 1;
        self.put_back(Waited { message, priority, number: self.made, owner: owner.clone() });
        Ok(victims)
    }

    /// Whether there is room for a message, or could be made; says which limit is in the way.
    pub fn check_room(
        &self,
        message: &Message,
        priority: Priority,
        owner: &Owner,
        limits: &Limits,
    ) -> Result<(), Limit> {
        self.victims(cost(message), priority, owner, limits).map(drop)
    }

    /// Takes a message out; None if somebody has done so before.
    pub fn remove(&mut self, message: &Arc<Message>) -> Option<Waited> {
        let ranks = self.topics.get(message.topic())?;
        let mut ranks = ranks.iter().copied();
        let rank = ranks.find(|rank| Arc::ptr_eq(&self.messages[rank].message, message))?;
        Some(self.take_out(rank))
    }

    /// A message that was taken out waits again, in its place in the order.
    pub fn put_back(&mut self, waited: Waited) {
        let rank = waited.rank();
        let Waited { message, owner, .. } = waited;
        self.counts.take(&owner, 1);
        self.bytes.take(&owner, cost(&message));
        self.topics.place(message.topic()).get_or_insert_default().insert(rank);
        self.messages.insert(rank, Held { message, owner });
    }

    /// Takes what a new subscription to this filter gets, at most so many, in order of delivery; and how many
    /// levels of topics were looked at.
    pub fn take(&mut self, filter: &str, now_ms: Millis, most: usize) -> (Vec<Waited>, usize) {
        let (mut ranks, mut steps) = (Vec::new(), usize::MAX);
        self.topics.matching_within(filter, &mut steps, &mut |found| ranks.extend(found));
        ranks.retain(|rank| !self.messages[rank].message.is_expired(now_ms));
        ranks.sort_unstable();
        ranks.truncate(most);
        let taken = ranks.into_iter().map(|rank| self.take_out(rank)).collect();
        (taken, usize::MAX - steps)
    }

    /// Takes out what has expired.
    pub fn expire(&mut self, now_ms: Millis) -> Vec<Waited> {
        let expired = self.messages.iter().filter(|(_, held)| held.message.is_expired(now_ms));
        let ranks: Vec<Rank> = expired.map(|(rank, _)| *rank).collect();
        ranks.into_iter().map(|rank| self.take_out(rank)).collect()
    }

    /// Those that must go for one more message of an owner.
    fn victims(
        &self,
        bytes: usize,
        priority: Priority,
        owner: &Owner,
        limits: &Limits,
    ) -> Result<Vec<Rank>, Limit> {
        let [counts, sizes] = limits.waiting_quotas();
        let messages_max = counts.room_for(&self.counts, owner, 1)?;
        let bytes_max = sizes.room_for(&self.bytes, owner, bytes)?;
        let (mut left, mut left_bytes) = (self.len(), self.bytes());
        let mut victims = Vec::new();
        let mut last = self.messages.iter().rev();
        loop {
            let limit = if left >= limits.waiting_messages {
                Limit::WaitingMessages
            } else if left_bytes + bytes > limits.waiting_bytes {
                Limit::WaitingBytes
            } else if left >= messages_max || left_bytes + bytes > bytes_max {
                Limit::ReservePercent
            } else {
                break;
            };
            match last.next() {
                Some((rank, held)) if rank.priority.0 < priority => {
                    left -= 1;
                    left_bytes -= cost(&held.message);
                    victims.push(*rank);
                }
                _ => return Err(limit),
            }
        }
        Ok(victims)
    }

    fn take_out(&mut self, rank: Rank) -> Waited {
        let Held { message, owner } = self.messages.remove(&rank).expect("a rank that is there");
        self.counts.give(&owner, 1);
        self.bytes.give(&owner, cost(&message));
        if let Some(ranks) = self.topics.place(message.topic()) {
            ranks.remove(&rank);
            if ranks.is_empty() {
                self.topics.remove(message.topic());
            }
        }
        Waited { message, priority: rank.priority.0, number: rank.number, owner }
    }
}

/// What a message takes of the bound, as if no other had the levels of its topic behind the first.
fn cost(message: &Message) -> usize {
    let levels = message.topic().bytes().filter(|byte| *byte == b'/').count();
    message.bytes() + ENTRY_BYTES + levels * LEVEL_BYTES
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
