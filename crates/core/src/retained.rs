//! Retained messages: the newest one of each topic that was published to be kept.

use std::sync::Arc;

use crate::topics::{ENTRY_BYTES, Topics};
use crate::{Limit, Limits, Message, Millis};

/// The retained messages.
#[derive(Debug, Default)]
pub struct Retained {
    topics: Topics<Arc<Message>>,
    messages: usize,
    bytes: usize,
}

impl Retained {
    /// How many there are, besides the broker's own.
    pub fn len(&self) -> usize {
        self.messages
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Their bytes, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps a message instead of the earlier one of its topic; says which limit is in the way.
    pub fn set(&mut self, message: Arc<Message>, limits: &Limits) -> Result<(), Limit> {
        let earlier = self.get(message.topic()).map_or(Cost::NONE, Cost::of);
        let cost = Cost::of(&message);
        let messages = self.messages - earlier.messages + cost.messages;
        let bytes = self.bytes - earlier.bytes + cost.bytes;
        if cost.messages > earlier.messages && messages > limits.retained_messages {
            return Err(Limit::RetainedMessages);
        }
        if cost.bytes > 0 && bytes > limits.retained_bytes {
            return Err(Limit::RetainedBytes);
        }
        let topic = Arc::clone(message.topic());
        *self.topics.place(&topic) = Some(message);
        self.bytes = bytes;
        self.messages = messages;
        Ok(())
    }

    /// Forgets the message of a topic (MQTT-3.3.1-6).
    pub fn remove(&mut self, topic: &str) {
        if let Some(gone) = self.topics.remove(topic) {
            let cost = Cost::of(&gone);
            self.bytes -= cost.bytes;
            self.messages -= cost.messages;
        }
    }

    /// The message of a topic.
    pub fn get(&self, topic: &str) -> Option<&Arc<Message>> {
        self.topics.get(topic)
    }

    /// The messages a filter matches, by topic.
    pub fn matching(&self, filter: &str) -> Vec<Arc<Message>> {
        let mut found = Vec::new();
        self.topics.matching(filter, &mut |message| found.push(Arc::clone(message)));
        found.sort_unstable_by(|a, b| a.topic().cmp(b.topic()));
        found
    }

    /// Forgets what has expired; how many that were.
    pub fn expire(&mut self, now_ms: Millis) -> usize {
        let mut found = Vec::new();
        self.topics.each(&mut |message| {
            found.extend(message.is_expired(now_ms).then(|| Arc::clone(message.topic())));
        });
        for topic in &found {
            self.remove(topic);
        }
        found.len()
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
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slipring_wire::{Publish, matches};
    use std::collections::BTreeSet;

    fn message(topic: &str) -> Arc<Message> {
        Arc::new(Message::new(&Publish::new(topic, b"payload"), topic.into(), 0))
    }

    fn levels(with: &'static [&'static str]) -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(with), 1..5).prop_map(|levels| levels.join("/"))
    }

    proptest! {
        #[test]
        fn a_filter_finds_what_it_matches_after_any_history(
            history in prop::collection::vec((levels(&["a", "b", "", "$x"]), any::<bool>()), 0..30),
            filter in levels(&["a", "b", "", "$x", "+"]),
            all in any::<bool>(),
        ) {
            let filter = if all { format!("{filter}/#") } else { filter };
            let (mut retained, mut naive) = (Retained::default(), BTreeSet::new());
            for (topic, set) in history {
                if set {
                    retained.set(message(&topic), &Limits::default()).unwrap();
                    naive.insert(topic);
                } else {
                    retained.remove(&topic);
                    naive.remove(&topic);
                }
            }
            let counted = naive.iter().filter(|topic| !topic.starts_with('$')).count();
            prop_assert_eq!(retained.len(), counted);
            let found: Vec<String> =
                retained.matching(&filter).iter().map(|found| found.topic().to_string()).collect();
            naive.retain(|topic| matches(&filter, topic));
            prop_assert_eq!(found, naive.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_full_store_takes_no_further_topic_but_replaces_those_it_has() {
        let mut retained = Retained::default();
        let limits = Limits { retained_messages: 1, ..Limits::default() };
        retained.set(message("a"), &limits).unwrap();
        assert_eq!(retained.set(message("b"), &limits), Err(Limit::RetainedMessages));
        retained.set(message("a"), &limits).unwrap();
        retained.remove("a");
        assert_eq!((retained.len(), retained.bytes()), (0, 0));
        let limits = Limits { retained_messages: 0, retained_bytes: 10, ..Limits::default() };
        retained.set(message("$SYS/broker/uptime"), &limits).unwrap();
        assert_eq!((retained.len(), retained.bytes()), (0, 0), "the broker's own take no room");
        let limits = Limits { retained_bytes: 10, ..Limits::default() };
        assert_eq!(retained.set(message("b"), &limits), Err(Limit::RetainedBytes));
    }
}
