//! The subscribers of each topic, by its exact name. Pure.

use std::collections::HashMap;

/// Subscribers by topic.
#[derive(Default)]
pub struct TopicSubscribers {
    by_topic: HashMap<Vec<u8>, Vec<usize>>,
}

impl TopicSubscribers {
    pub fn add(&mut self, topic: &[u8], client: usize) {
        let clients = self.by_topic.entry(topic.to_vec()).or_default();
        if !clients.contains(&client) {
            clients.push(client);
        }
    }

    pub fn remove(&mut self, client: usize) {
        self.by_topic.retain(|_, clients| {
            clients.retain(|&other| other != client);
            !clients.is_empty()
        });
    }

    pub fn of(&self, topic: &[u8]) -> &[usize] {
        self.by_topic.get(topic).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_goes_to_its_subscribers_while_they_are_there() {
        let mut subscribers = TopicSubscribers::default();
        subscribers.add(b"a", 1);
        subscribers.add(b"a", 2);
        subscribers.add(b"a", 2);
        subscribers.add(b"b", 1);
        assert_eq!(subscribers.of(b"a"), [1, 2]);
        subscribers.remove(1);
        assert_eq!(subscribers.of(b"a"), [2]);
        assert!(subscribers.of(b"b").is_empty());
    }
}
