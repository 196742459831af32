//! Retained messages: of each topic the newest message that was published with the retain flag.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use crate::topic_pages::visit_page;
use crate::topics::ENTRY_BYTES;
use crate::{JournalPlace, Limit, Limits, Message, Millis, Owner, Shares};

/// Topics that a search looks at for one page.
const PAGE_TOPICS: usize = 256;

/// Bytes of the messages of one page, which one message may exceed. A client that stops reading keeps no more
/// than this of messages that are replaced meanwhile.
const PAGE_BYTES: usize = 256 << 10;

/// Some of the retained messages that a filter matches, by topic.
#[derive(Debug, Default)]
pub struct RetainedPage {
    /// The messages.
    pub messages: Vec<Arc<Message>>,
    /// The topic after which the next page begins; None on the last page.
    pub next: Option<Arc<str>>,
}

/// The retained messages.
#[derive(Debug, Default)]
pub struct Retained {
    by_topic: BTreeMap<Arc<str>, Entry>,
    /// How many messages, and how many bytes, each owner has.
    shares: [Shares; 2],
    /// The number of the newest one; each new one gets the next number.
    newest: u64,
}

/// The message of one topic.
#[derive(Clone, Debug)]
struct Entry {
    message: Arc<Message>,
    /// Whose quota counts it: its publisher's.
    owner: Owner,
    /// Its position in the order in which messages were retained.
    number: u64,
}

impl Retained {
    /// The number of messages, without the broker's own.
    pub fn len(&self) -> usize {
        self.shares[0].total()
    }

    /// Whether there are no messages but the broker's own.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The estimated memory of these messages.
    pub fn bytes(&self) -> usize {
        self.shares[1].total()
    }

    /// How many messages, and how many bytes, each owner has.
    pub fn shares(&self) -> [&Shares; 2] {
        self.shares.each_ref()
    }

    /// Keeps a message instead of the earlier one of its topic; the error is the limit that prevents it.
    pub fn set(
        &mut self,
        message: Arc<Message>,
        owner: &Owner,
        limits: &Limits,
    ) -> Result<(), Limit> {
        let topic = Arc::clone(message.topic());
        let earlier = self.by_topic.get(&topic).cloned();
        if let Some(earlier) = &earlier {
            self.give(earlier);
        }
        let own = earlier.as_ref().filter(|earlier| earlier.owner == *owner);
        let own = own.map_or(NO_COST, |earlier| cost(&earlier.message));
        let checked = self.check(cost(&message), own, owner, limits);
        let held = match (&checked, earlier) {
            (Err(_), None) => return checked,
            (Err(_), Some(earlier)) => earlier,
            (Ok(()), _) => {
                self.newest += 1;
                Entry { message, owner: owner.clone(), number: self.newest }
            }
        };
        self.take(&held);
        self.by_topic.insert(topic, held);
        checked
    }

    /// Whether there is room for a message that replaces the owner's `earlier` one. A message that needs no more
    /// than that one always has room, because a limit may have been lowered since.
    fn check(
        &self,
        cost: [usize; 2],
        earlier: [usize; 2],
        owner: &Owner,
        limits: &Limits,
    ) -> Result<(), Limit> {
        for (at, quota) in limits.retained_quotas().iter().enumerate() {
            if cost[at] > earlier[at] {
                quota.check(&self.shares[at], owner, cost[at])?;
            }
        }
        Ok(())
    }

    fn take(&mut self, held: &Entry) {
        for (shares, amount) in self.shares.iter_mut().zip(cost(&held.message)) {
            shares.take(&held.owner, amount);
        }
    }

    fn give(&mut self, held: &Entry) {
        for (shares, amount) in self.shares.iter_mut().zip(cost(&held.message)) {
            shares.give(&held.owner, amount);
        }
    }

    /// Notes the place of a message in the journal, if no newer message has replaced it. Its number stays.
    pub fn set_place(&mut self, kept: &Arc<Message>, place: JournalPlace) {
        if let Some(held) = self.by_topic.get_mut(kept.topic()) {
            if Arc::ptr_eq(&held.message, kept) {
                held.message = Arc::new(Message::clone(kept).at(place));
            }
        }
    }

    /// The number of the newest message. A message that is retained later gets a higher one.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// Removes the message of a topic (MQTT-3.3.1-6).
    pub fn remove(&mut self, topic: &str) {
        if let Some(gone) = self.by_topic.remove(topic) {
            self.give(&gone);
        }
    }

    /// The topics of clients' messages that were retained longest ago, these first. Nothing is removed.
    pub fn oldest(&self) -> Vec<Arc<str>> {
        let own = self.by_topic.iter().filter(|(topic, _)| !topic.starts_with('$'));
        let mut all: Vec<_> = own.map(|(topic, entry)| (entry.number, topic)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, topic)| Arc::clone(topic)).collect()
    }

    /// The retained message of a topic.
    pub fn get(&self, topic: &str) -> Option<&Arc<Message>> {
        self.by_topic.get(topic).map(|entry| &entry.message)
    }

    /// One page of the messages that a filter matches, from the topic behind `after` on. Messages with a number
    /// above `until` are left out: they were published after the client subscribed, and it gets them as live ones.
    pub fn page(&self, filter: &str, after: Option<&str>, until: u64) -> RetainedPage {
        let (mut messages, mut bytes) = (Vec::new(), 0);
        let mut take = |_: &Arc<str>, entry: &Entry| {
            if entry.number <= until {
                bytes += entry.message.bytes();
                messages.push(Arc::clone(&entry.message));
            }
            bytes < PAGE_BYTES
        };
        let topics = |from: Bound<&str>| self.by_topic.range::<str, _>((from, Bound::Unbounded));
        let next = visit_page(topics, (filter, after), PAGE_TOPICS, &mut take);
        RetainedPage { messages, next }
    }

    /// Removes the messages that have expired, and returns how many.
    pub fn expire(&mut self, now_ms: Millis) -> usize {
        let expired = self.by_topic.iter().filter(|(_, entry)| entry.message.is_expired(now_ms));
        let topics: Vec<Arc<str>> = expired.map(|(topic, _)| Arc::clone(topic)).collect();
        for topic in &topics {
            self.remove(topic);
        }
        topics.len()
    }
}

const NO_COST: [usize; 2] = [0, 0];

/// How many messages and bytes a message takes of the limits. The broker's own messages are few and take nothing,
/// so that clients have all of the limits.
fn cost(message: &Message) -> [usize; 2] {
    if message.topic().starts_with('$') { NO_COST } else { [1, message.bytes() + ENTRY_BYTES] }
}

#[cfg(test)]
#[path = "retained_tests.rs"]
mod tests;
