//! Stored messages that were dropped, gathered for those who published them. Bounded, however many are dropped.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Limit, Message, NAME_BYTES_MAX, Offset, SessionKey};

/// Publishers whose losses are gathered at a time.
const PUBLISHERS_MAX: usize = 1_000;
/// Topics that one publisher is told, of all that it has lost messages of.
const TOPICS_MAX: usize = 4;
/// Messages that are only in the journal, and whose publishers are to be read there.
const IN_JOURNAL_MAX: usize = 1_000;

/// What one publisher has lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublisherLoss {
    /// How many messages.
    pub messages: u64,
    /// Their bytes: topics, properties and payloads.
    pub bytes: u64,
    /// The limit that was reached last.
    pub limit: Limit,
    /// Some of their topics, each once.
    pub topics: Vec<Arc<str>>,
}

/// A dropped message that was only in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalVictim {
    /// Where it is.
    pub offset: Offset,
    /// Its bytes.
    pub bytes: u64,
    /// The limit that was reached.
    pub limit: Limit,
}

/// The victims of a while, by publisher.
#[derive(Debug, Default)]
pub struct Victims {
    publishers: BTreeMap<SessionKey, PublisherLoss>,
    in_journal: Vec<JournalVictim>,
    /// Victims whose publisher is not told, because there are too many, or because it is not known.
    untold: u64,
}

impl PublisherLoss {
    fn new(limit: Limit) -> Self {
        Self { messages: 0, bytes: 0, limit, topics: Vec::new() }
    }

    fn add_topic(&mut self, topic: &Arc<str>) {
        let is_new = !self.topics.contains(topic);
        if is_new && self.topics.len() < TOPICS_MAX && topic.len() <= NAME_BYTES_MAX {
            self.topics.push(Arc::clone(topic));
        }
    }

    fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.limit = other.limit;
        for topic in &other.topics {
            self.add_topic(topic);
        }
    }
}

impl Victims {
    /// Whether nobody has lost anything.
    pub fn is_empty(&self) -> bool {
        self.publishers.is_empty() && self.in_journal.is_empty() && self.untold == 0
    }

    /// Adds a message that was in memory.
    pub fn add(&mut self, message: &Message, limit: Limit) {
        self.add_lost(message.publisher, message.topic(), message.bytes() as u64, limit);
    }

    /// Adds a message of a publisher.
    pub fn add_lost(&mut self, publisher: SessionKey, topic: &Arc<str>, bytes: u64, limit: Limit) {
        if publisher == SessionKey::BROKER {
            self.untold += 1;
        } else if let Some(loss) = self.loss_of(publisher, limit) {
            loss.messages += 1;
            loss.bytes += bytes;
            loss.limit = limit;
            loss.add_topic(topic);
        } else {
            self.untold += 1;
        }
    }

    /// Adds a message that is only in the journal.
    pub fn add_in_journal(&mut self, victim: JournalVictim) {
        if self.in_journal.len() < IN_JOURNAL_MAX {
            self.in_journal.push(victim);
        } else {
            self.untold += 1;
        }
    }

    /// Moves the victims of another list to this one.
    pub fn append(&mut self, other: &mut Self) {
        self.untold += std::mem::take(&mut other.untold);
        for victim in other.in_journal.drain(..) {
            self.add_in_journal(victim);
        }
        for (publisher, loss) in std::mem::take(&mut other.publishers) {
            match self.loss_of(publisher, loss.limit) {
                Some(own) => own.add(&loss),
                None => self.untold += loss.messages,
            }
        }
    }

    /// Takes the victims that are only in the journal.
    pub fn take_in_journal(&mut self) -> Vec<JournalVictim> {
        std::mem::take(&mut self.in_journal)
    }

    /// What each publisher has lost.
    pub fn publishers(&self) -> &BTreeMap<SessionKey, PublisherLoss> {
        &self.publishers
    }

    /// How many victims there are whose publisher is not told.
    pub fn untold(&self) -> u64 {
        self.untold
    }

    fn loss_of(&mut self, publisher: SessionKey, limit: Limit) -> Option<&mut PublisherLoss> {
        if self.publishers.len() >= PUBLISHERS_MAX && !self.publishers.contains_key(&publisher) {
            return None;
        }
        Some(self.publishers.entry(publisher).or_insert_with(|| PublisherLoss::new(limit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit::MemoryBytes;

    fn lose(victims: &mut Victims, publisher: u64, topic: &str) {
        victims.add_lost(SessionKey::new(publisher), &topic.into(), 10, LIMIT);
    }

    #[test]
    fn each_publisher_has_its_own_count_and_some_of_its_topics() {
        let (mut victims, mut others) = (Victims::default(), Victims::default());
        for topic in ["a", "b", "a"] {
            lose(&mut victims, 1, topic);
        }
        for topic in ["b", "c", "d", "e", "f"] {
            lose(&mut others, 1, topic);
        }
        lose(&mut others, 2, "a");
        victims.append(&mut others);
        assert!(others.is_empty());
        let first = &victims.publishers()[&SessionKey::new(1)];
        let topics: Vec<&str> = first.topics.iter().map(|topic| &**topic).collect();
        assert_eq!((first.messages, first.bytes), (8, 80));
        assert_eq!(topics, ["a", "b", "c", "d"]);
        assert_eq!(victims.publishers()[&SessionKey::new(2)].messages, 1);
    }

    #[test]
    fn the_list_is_bounded_and_counts_the_rest() {
        let mut victims = Victims::default();
        for number in 0..PUBLISHERS_MAX as u64 + 7 {
            lose(&mut victims, 1 + number, "t");
            let offset = Offset::new(number);
            victims.add_in_journal(JournalVictim { offset, bytes: 1, limit: LIMIT });
        }
        lose(&mut victims, 1, &"x".repeat(NAME_BYTES_MAX + 1));
        assert_eq!(victims.publishers().len(), PUBLISHERS_MAX);
        assert_eq!(victims.untold(), 14);
        assert_eq!(victims.take_in_journal().len(), IN_JOURNAL_MAX);
        assert_eq!(victims.publishers()[&SessionKey::new(1)].topics.len(), 1);
    }

    #[test]
    fn what_the_broker_published_itself_is_told_to_nobody() {
        let mut victims = Victims::default();
        victims.add_lost(SessionKey::BROKER, &"t".into(), 1, LIMIT);
        assert!(victims.publishers().is_empty() && !victims.is_empty());
    }
}
