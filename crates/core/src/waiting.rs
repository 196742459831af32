//! Messages that wait for their first subscriber: by topic, in order of priority, bounded.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipring_wire::{Properties, PropertyId, Value};

use crate::priority::PRIORITY_PROPERTY;
use crate::topics::{ENTRY_BYTES, LEVEL_BYTES, Topics};
use crate::{Limit, Limits, Message, Millis, Owner, Priority, Shares};

/// Levels of topics that a look at all topics visits: a few milliseconds.
const TOPIC_STEPS_MAX: usize = 100_000;
/// The user property by which a message asks to wait, with the value `1`.
pub const WAIT_PROPERTY: &str = "slipring-wait";

/// The priority of a message that asks to wait for a subscriber, with that of its topic if it names none; None if it
/// does not ask.
pub fn asks_to_wait(properties: Properties<'_>, topic: Priority) -> Option<Priority> {
    let (mut waits, mut priority) = (false, topic);
    for (id, value) in properties.iter() {
        match (id, value) {
            (PropertyId::UserProperty, Value::Pair(WAIT_PROPERTY, text)) => waits = text == "1",
            (PropertyId::UserProperty, Value::Pair(PRIORITY_PROPERTY, name)) => {
                priority = Priority::named(name).unwrap_or(topic);
            }
            _ => {}
        }
    }
    waits.then_some(priority)
}

/// A message that waits, or was taken out.
#[derive(Clone, Debug)]
pub struct WaitingMessage {
    /// The message.
    pub message: Arc<Message>,
    /// Its priority.
    pub priority: Priority,
    /// Its position among those of its priority: an older message has a lower number.
    number: u64,
    /// Whose quota counts it: its publisher's.
    owner: Owner,
}

impl WaitingMessage {
    fn rank(&self) -> Rank {
        (Reverse(self.priority), self.number)
    }
}

/// The order of delivery: by priority, then by age.
type Rank = (Reverse<Priority>, u64);

/// The messages that wait.
#[derive(Debug, Default)]
pub struct Waiting {
    messages: BTreeMap<Rank, WaitingMessage>,
    /// The ranks at each topic.
    topics: Topics<BTreeSet<Rank>>,
    counts: Shares,
    bytes: Shares,
    /// The number of the newest message.
    newest: u64,
}

impl Waiting {
    /// The number of waiting messages.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Their estimated memory.
    pub fn bytes(&self) -> usize {
        self.bytes.total()
    }

    /// How many messages, and how many bytes, each owner has.
    pub fn shares(&self) -> [&Shares; 2] {
        [&self.counts, &self.bytes]
    }

    /// The `most` topics with the most waiting messages: how many there are, and their estimated memory.
    pub fn by_topic(&self, most: usize) -> Vec<(Arc<str>, usize, usize)> {
        let mut all: Vec<&BTreeSet<Rank>> = Vec::new();
        let mut steps = TOPIC_STEPS_MAX;
        self.topics.matching_within("#", &mut steps, &mut |ranks| all.push(ranks));
        all.sort_by_key(|ranks| (Reverse(ranks.len()), ranks.first().copied()));
        let shown = all.into_iter().take(most).filter_map(|ranks| {
            let topic = self.messages.get(ranks.first()?)?.message.topic();
            let costs = ranks.iter().filter_map(|rank| self.messages.get(rank));
            Some((Arc::clone(topic), ranks.len(), costs.map(|one| cost(&one.message)).sum()))
        });
        shown.collect()
    }

    /// Adds a message, as the newest of its priority. The error is the limit that prevents it.
    ///
    /// If there is no room, messages of lower priority make room, beginning with the one that would be delivered
    /// last. They are returned, because their publishers were told that they wait.
    pub fn push(
        &mut self,
        message: Arc<Message>,
        priority: Priority,
        owner: &Owner,
        limits: &Limits,
    ) -> Result<Vec<WaitingMessage>, Limit> {
        let victims = self.victims(cost(&message), priority, owner, limits)?;
        let victims = victims.into_iter().map(|rank| self.take_out(rank)).collect();
        self.newest += 1;
        self.put_back(WaitingMessage {
            message,
            priority,
            number: self.newest,
            owner: owner.clone(),
        });
        Ok(victims)
    }

    /// Checks that `push` would find or make room for a message. The error is the limit that prevents it.
    pub fn check_room(
        &self,
        message: &Message,
        priority: Priority,
        owner: &Owner,
        limits: &Limits,
    ) -> Result<(), Limit> {
        self.victims(cost(message), priority, owner, limits).map(drop)
    }

    /// Takes a message out; None if it does not wait any more.
    pub fn remove(&mut self, message: &Arc<Message>) -> Option<WaitingMessage> {
        let ranks = self.topics.get(message.topic())?;
        let mut ranks = ranks.iter().copied();
        let rank = ranks.find(|rank| Arc::ptr_eq(&self.messages[rank].message, message))?;
        Some(self.take_out(rank))
    }

    /// Puts back a message that was taken out, at its earlier position.
    pub fn put_back(&mut self, waited: WaitingMessage) {
        let rank = waited.rank();
        self.counts.take(&waited.owner, 1);
        self.bytes.take(&waited.owner, cost(&waited.message));
        self.topics.place(waited.message.topic()).get_or_insert_default().insert(rank);
        self.messages.insert(rank, waited);
    }

    /// Takes at most `most` messages for a new subscription, in order of delivery: those on topics that its client may
    /// read. Returns them, and how many levels of topics the search looked at.
    pub fn take(
        &mut self,
        filter: &str,
        now_ms: Millis,
        most: usize,
        may_read: &dyn Fn(&str) -> bool,
    ) -> (Vec<WaitingMessage>, usize) {
        let (mut ranks, mut steps) = (Vec::new(), usize::MAX);
        self.topics.matching_within(filter, &mut steps, &mut |found| {
            let topic = found.first().map(|rank| self.messages[rank].message.topic());
            if topic.is_some_and(|topic| may_read(topic)) {
                ranks.extend(found);
            }
        });
        ranks.retain(|rank| !self.messages[rank].message.is_expired(now_ms));
        ranks.sort_unstable();
        ranks.truncate(most);
        let taken = ranks.into_iter().map(|rank| self.take_out(rank)).collect();
        (taken, usize::MAX - steps)
    }

    /// Takes out the message of a priority that would be delivered last of it.
    pub fn take_last(&mut self, priority: Priority) -> Option<WaitingMessage> {
        let all = (Reverse(priority), 0)..=(Reverse(priority), u64::MAX);
        let rank = *self.messages.range(all).next_back()?.0;
        Some(self.take_out(rank))
    }

    /// Takes out the messages that have expired.
    pub fn expire(&mut self, now_ms: Millis) -> Vec<WaitingMessage> {
        let expired = self.messages.iter().filter(|(_, held)| held.message.is_expired(now_ms));
        let ranks: Vec<Rank> = expired.map(|(rank, _)| *rank).collect();
        ranks.into_iter().map(|rank| self.take_out(rank)).collect()
    }

    /// The messages that have to make room for one more of an owner.
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
                Some((rank, held)) if held.priority < priority => {
                    left -= 1;
                    left_bytes -= cost(&held.message);
                    victims.push(*rank);
                }
                _ => return Err(limit),
            }
        }
        Ok(victims)
    }

    fn take_out(&mut self, rank: Rank) -> WaitingMessage {
        let waited = self.messages.remove(&rank).expect("the rank of a waiting message");
        self.counts.give(&waited.owner, 1);
        self.bytes.give(&waited.owner, cost(&waited.message));
        if let Some(ranks) = self.topics.place(waited.message.topic()) {
            ranks.remove(&rank);
            if ranks.is_empty() {
                self.topics.remove(waited.message.topic());
            }
        }
        waited
    }
}

/// The estimated memory of a message, as if no other one shared the levels of its topic behind the first.
fn cost(message: &Message) -> usize {
    let levels = message.topic().bytes().filter(|byte| *byte == b'/').count();
    message.bytes() + ENTRY_BYTES + levels * LEVEL_BYTES
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
