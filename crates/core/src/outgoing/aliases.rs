//! The topic aliases of messages to one client: the first topics of a connection get them.

use std::collections::HashMap;

use crate::delivery::TopicAlias;
use crate::requests::REQUESTS;

/// Aliases of one connection; they end with it (MQTT-3.3.2-7).
#[derive(Debug, Default)]
pub(super) struct Aliases {
    most: u16,
    known: HashMap<Box<str>, u16>,
}

impl Aliases {
    pub(super) fn new(most: u16) -> Self {
        Self { most, known: HashMap::new() }
    }

    /// Whether the client allows any (MQTT-3.1.2-27).
    pub(super) fn is_allowed(&self) -> bool {
        self.most > 0
    }

    /// The alias to send a topic with.
    pub(super) fn alias(&mut self, topic: &str) -> TopicAlias {
        if let Some(alias) = self.known.get(topic) {
            return TopicAlias::Known(*alias);
        }
        // The topic of a request with its key comes once.
        if self.known.len() >= usize::from(self.most) || topic.starts_with(REQUESTS) {
            return TopicAlias::None;
        }
        let alias = self.known.len() as u16 + 1;
        self.known.insert(topic.into(), alias);
        TopicAlias::New(alias)
    }

    /// Removes an alias whose packet was not sent.
    pub(super) fn forget(&mut self, topic: &str) {
        self.known.remove(topic);
    }
}
