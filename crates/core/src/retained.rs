//! Retained messages: the newest one of each topic that was published to be kept.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use slipring_wire::matches;

use crate::topics::ENTRY_BYTES;
use crate::{Limit, Limits, Message, Millis, Owner, Place, Shares};

/// Topics that are looked at for one page.
const PAGE_TOPICS: usize = 256;

/// Bytes of the messages of one page: who does not read on holds no more of what is replaced meanwhile.
/// One message may be larger.
const PAGE_BYTES: usize = 256 << 10;

/// Some of the retained messages that a filter matches, by topic.
#[derive(Debug, Default)]
pub struct RetainedPage {
    /// The messages.
    pub messages: Vec<Arc<Message>>,
    /// The topic after which the next page begins; none behind the last page.
    pub next: Option<Arc<str>>,
}

/// The retained messages.
#[derive(Debug, Default)]
pub struct Retained {
    by_topic: BTreeMap<Arc<str>, Entry>,
    messages: Shares,
    bytes: Shares,
    /// How often one was kept.
    newest: u64,
}

/// The message of one topic.
#[derive(Clone, Debug)]
struct Entry {
    message: Arc<Message>,
    /// Whose quota it is counted for: who retained it.
    owner: Owner,
    /// When it was kept, in the order of all of them.
    number: u64,
}

impl Retained {
    /// How many there are, besides the broker's own.
    pub fn len(&self) -> usize {
        self.messages.total()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their bytes, about.
    pub fn bytes(&self) -> usize {
        self.bytes.total()
    }

    /// How many messages, and how many bytes, each owner has.
    pub fn shares(&self) -> [&Shares; 2] {
        [&self.messages, &self.bytes]
    }

    /// Keeps a message instead of the earlier one of its topic; says which limit is in the way.
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
        let own = own.map_or(Cost::NONE, |earlier| Cost::of(&earlier.message));
        let checked = self.check(&Cost::of(&message), &own, owner, limits);
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

    /// Whether there is room for one more, where the owner gives up its own earlier one. One that takes
    /// no more room than that is always let in: a limit may have been lowered.
    fn check(
        &self,
        cost: &Cost,
        earlier: &Cost,
        owner: &Owner,
        limits: &Limits,
    ) -> Result<(), Limit> {
        let [messages, bytes] = limits.retained_quotas();
        if cost.messages > earlier.messages {
            messages.check(&self.messages, owner, cost.messages)?;
        }
        if cost.bytes > earlier.bytes {
            bytes.check(&self.bytes, owner, cost.bytes)?;
        }
        Ok(())
    }

    fn take(&mut self, held: &Entry) {
        let cost = Cost::of(&held.message);
        self.messages.take(&held.owner, cost.messages);
        self.bytes.take(&held.owner, cost.bytes);
    }

    fn give(&mut self, held: &Entry) {
        let cost = Cost::of(&held.message);
        self.messages.give(&held.owner, cost.messages);
        self.bytes.give(&held.owner, cost.bytes);
    }

    /// A message has its place in the journal, if it is still the one of its topic. It is no newer for that.
    pub fn place(&mut self, kept: &Arc<Message>, place: Place) {
        if let Some(held) = self.by_topic.get_mut(kept.topic()) {
            if Arc::ptr_eq(&held.message, kept) {
                held.message = Arc::new(Message::clone(kept).at(place));
            }
        }
    }

    /// The number of the newest one. What is kept later has a higher number.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// Forgets the message of a topic (MQTT-3.3.1-6).
    pub fn remove(&mut self, topic: &str) {
        if let Some(gone) = self.by_topic.remove(topic) {
            self.give(&gone);
        }
    }

    /// The message of a topic.
    pub fn get(&self, topic: &str) -> Option<&Arc<Message>> {
        self.by_topic.get(topic).map(|entry| &entry.message)
    }

    /// The messages a filter matches behind a topic, as far as one page goes. Those that were kept after
    /// the number `until` are left out: who asks had subscribed by then, and gets them as they are published.
    pub fn page(&self, filter: &str, after: Option<&str>, until: u64) -> RetainedPage {
        let (mut page, mut bytes) = (RetainedPage::default(), 0);
        let wildcard = filter.find(['+', '#']);
        let prefix = &filter[..wildcard.unwrap_or(filter.len())];
        let parent = prefix.strip_suffix('/').filter(|_| filter.ends_with("/#"));
        let alone = if wildcard.is_none() { Some(filter) } else { parent }; // `a/#` matches `a`, too
        if let (Some(topic), None) = (alone.filter(|topic| matches(filter, topic)), after) {
            let found = self.by_topic.get(topic).filter(|entry| entry.number <= until);
            page.messages.extend(found.map(|entry| Arc::clone(&entry.message)));
        }
        if wildcard.is_none() {
            return page;
        }
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let topics = self.by_topic.range::<str, _>((from, Bound::Unbounded));
        for (looked, (topic, entry)) in (page.messages.len()..).zip(topics) {
            if !topic.starts_with(prefix) {
                break;
            }
            if entry.number <= until && matches(filter, topic) {
                bytes += entry.message.bytes();
                page.messages.push(Arc::clone(&entry.message));
            }
            if looked + 1 == PAGE_TOPICS || bytes >= PAGE_BYTES {
                page.next = Some(Arc::clone(topic));
                break;
            }
        }
        page
    }

    /// Forgets what has expired; how many that were.
    pub fn expire(&mut self, now_ms: Millis) -> usize {
        let expired = self.by_topic.iter().filter(|(_, entry)| entry.message.is_expired(now_ms));
        let topics: Vec<Arc<str>> = expired.map(|(topic, _)| Arc::clone(topic)).collect();
        for topic in &topics {
            self.remove(topic);
        }
        topics.len()
    }
}

/// What a message takes of the bounds. The broker's own are few, and take nothing of what is meant
/// for clients.
struct Cost {
    messages: usize,
    bytes: usize,
}

impl Cost {
    const NONE: Self = Self { messages: 0, bytes: 0 };

    fn of(message: &Arc<Message>) -> Self {
        if message.topic().starts_with('$') {
            return Self::NONE;
        }
        Self { messages: 1, bytes: message.bytes() + ENTRY_BYTES }
    }
}

#[cfg(test)]
#[path = "retained_tests.rs"]
mod tests;
