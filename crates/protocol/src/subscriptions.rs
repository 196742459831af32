//! The subscriptions of this client, and which of them an inbound message belongs to. Never talks to
//! the broker.
//!
//! The client matches topics itself because a broker may not offer subscription identifiers; a
//! message with identifiers belongs to those subscriptions alone. A bounded cache of topics makes the
//! usual match one look-up, however many filters there are.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use slipring_wire::{PropertyId, Publish, QoS, Value, matches};

use super::SubscriptionId;
use super::subscription_kind::SubscriptionKind;

/// Topics in the cache; at the limit it is emptied.
const TOPICS_MAX: usize = 16_384;

/// Filters remembered after an unsubscribe; beyond it the oldest is forgotten.
const GIVEN_UP_MAX: usize = 1024;

/// A topic and the subscriptions that want it, shared by all its messages.
#[derive(Clone, Debug)]
pub(super) struct TopicMatch {
    pub topic: Arc<str>,
    pub subscriptions: Arc<[SubscriptionId]>,
    /// Neither a subscription here nor one that was given up matches it: an earlier program of this
    /// session may have subscribed to it.
    pub unclaimed: bool,
}

/// One subscription.
#[derive(Debug)]
struct Entry {
    id: SubscriptionId,
    filters: Vec<String>,
    qos: QoS,
    kind: SubscriptionKind,
    /// The broker was asked to end it; its last messages may still come.
    is_retired: bool,
}

impl Entry {
    fn has(&self, wanted: &str) -> bool {
        self.is_asked() && self.filters.iter().any(|filter| filter == wanted)
    }

    fn is_asked(&self) -> bool {
        !self.is_retired && !matches!(self.kind, SubscriptionKind::AnswersOnly)
    }

    fn wants(&self, topic: &str) -> bool {
        self.filters.iter().any(|filter| filter_matches(filter, topic))
    }
}

#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    entries: Vec<Entry>,
    /// Filters that were given up. Their messages may still arrive for a while.
    given_up: VecDeque<String>,
    seen: HashMap<Arc<str>, TopicMatch>,
    /// Whether the broker takes identifiers; else every message is matched.
    identified: bool,
}

impl Subscriptions {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn add(
        &mut self,
        id: SubscriptionId,
        filters: Vec<String>,
        qos: QoS,
        kind: SubscriptionKind,
    ) {
        self.seen.clear();
        self.given_up.retain(|filter| !filters.contains(filter));
        self.entries.push(Entry { id, filters, qos, kind, is_retired: false });
    }

    /// Says whether the broker of this connection takes subscription identifiers.
    pub fn set_identified(&mut self, identified: bool) {
        self.seen.clear();
        self.identified = identified;
    }

    /// Whether a subscription uses this filter, and cannot share it with one of this kind.
    pub fn is_taken(&self, filter: &str, kind: &SubscriptionKind) -> bool {
        let mut users = self.entries.iter().filter(|entry| entry.has(filter));
        users.any(|entry| entry.kind.is_alone() || kind.is_alone())
    }

    /// How a subscription is made.
    pub fn kind(&self, id: SubscriptionId) -> Option<&SubscriptionKind> {
        let entry = self.entries.iter().find(|entry| entry.id == id);
        entry.map(|entry| &entry.kind)
    }

    /// The subscriptions to make again: in a new session all; in the same session those with an
    /// identifier, so that they begin with the newest values.
    pub fn to_repeat(&self, same_session: bool) -> Vec<(SubscriptionId, Vec<String>)> {
        let asked = self.entries.iter().filter(|entry| entry.is_asked());
        let again = asked.filter(|entry| !same_session || entry.kind.identifier().is_some());
        again.map(|entry| (entry.id, entry.filters.clone())).collect()
    }

    /// Notes that no subscription here uses these filters from now on.
    pub fn give_up(&mut self, filters: &[String]) {
        self.seen.clear();
        for filter in filters {
            self.given_up.retain(|known| known != filter);
            self.given_up.push_back(filter.clone());
        }
        let excess = self.given_up.len().saturating_sub(GIVEN_UP_MAX);
        self.given_up.drain(..excess);
    }

    /// The highest QoS that any subscription asks for with this filter; `None` if no subscription uses it.
    pub fn qos(&self, filter: &str) -> Option<QoS> {
        let users = self.entries.iter().filter(|entry| entry.has(filter));
        users.map(|entry| entry.qos).max()
    }

    /// Forgets a subscription and returns the filters that no other one uses.
    pub fn remove(&mut self, id: SubscriptionId) -> Vec<String> {
        self.seen.clear();
        let position = self.entries.iter().position(|entry| entry.id == id);
        let Some(position) = position else { return Vec::new() };
        let removed = self.entries.remove(position);
        let unused = |filter: &String| removed.is_asked() && self.qos(filter).is_none();
        removed.filters.iter().filter(|filter| unused(filter)).cloned().collect()
    }

    /// Notes that the broker is asked to end a subscription; returns the filters that no other one uses.
    pub fn retire(&mut self, id: SubscriptionId) -> Vec<String> {
        let Some(position) = self.entries.iter().position(|entry| entry.id == id) else {
            return Vec::new();
        };
        self.entries[position].is_retired = true;
        let filters = self.entries[position].filters.iter();
        filters.filter(|filter| self.qos(filter).is_none()).cloned().collect()
    }

    /// Forgets one filter of a subscription, because the broker refused it.
    pub fn refuse(&mut self, id: SubscriptionId, refused: &str) {
        self.seen.clear();
        for entry in self.entries.iter_mut().filter(|entry| entry.id == id) {
            entry.filters.retain(|filter| filter != refused);
        }
    }

    pub fn find(&mut self, publish: &Publish<'_>) -> TopicMatch {
        let mut found = match self.seen.get(publish.topic) {
            Some(found) => found.clone(),
            None => self.learn(publish.topic),
        };
        let identifiers = identifiers(publish);
        if !identifiers.is_empty() {
            found.subscriptions = self.identified_by(&identifiers, publish.topic);
        }
        found
    }

    /// An earlier program of the session may have used the same numbers, so the topic must match too.
    fn identified_by(&self, identifiers: &[u32], topic: &str) -> Arc<[SubscriptionId]> {
        let named = self.entries.iter().filter(|entry| {
            let identifier = entry.kind.identifier();
            identifier.is_some_and(|identifier| identifiers.contains(&identifier))
        });
        named.filter(|entry| entry.wants(topic)).map(|entry| entry.id).collect()
    }

    fn learn(&mut self, topic: &str) -> TopicMatch {
        if self.seen.len() >= TOPICS_MAX {
            self.seen.clear();
        }
        let matched = |entry: &&Entry| !self.identified || entry.kind.identifier().is_none();
        let wanting = self.entries.iter().filter(matched).filter(|entry| entry.wants(topic));
        let subscriptions: Arc<[_]> = wanting.map(|entry| entry.id).collect();
        let matched = |filter: &String| filter_matches(filter, topic);
        let given_up = self.given_up.iter().any(matched);
        let unclaimed = subscriptions.is_empty() && !given_up;
        let found = TopicMatch { topic: topic.into(), subscriptions, unclaimed };
        self.seen.insert(found.topic.clone(), found.clone());
        found
    }
}

fn identifiers(publish: &Publish<'_>) -> Vec<u32> {
    let named = publish.properties.iter().filter_map(|(id, value)| match (id, value) {
        (PropertyId::SubscriptionIdentifier, Value::Varint(identifier)) => Some(identifier),
        _ => None,
    });
    named.collect()
}

/// Whether a subscription with this filter gets messages of this topic. Frames of a selection come
/// on a topic that the whole filter matches, other messages on their own topic.
pub fn filter_matches(filter: &str, topic: &str) -> bool {
    matches(filter, topic) || matches(bare(filter), topic)
}

/// The filter inside a shared subscription, `$share/NAME/FILTER` (MQTT 5, 4.8.2), or inside a
/// selection that has a name, `$selection/NAME/FILTER`.
fn bare(filter: &str) -> &str {
    let named = filter.strip_prefix("$share/").or_else(|| filter.strip_prefix("$selection/"));
    let inside = named.and_then(|rest| rest.split_once('/'));
    inside.map_or(filter, |(_, inner)| inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(subscriptions: &mut Subscriptions, topic: &str) -> Vec<u64> {
        subscriptions.find(&Publish::new(topic, b"")).subscriptions.iter().map(|id| id.0).collect()
    }

    fn add(subscriptions: &mut Subscriptions, id: u64, filters: &[&str]) {
        subscriptions.add(
            SubscriptionId(id),
            filters.iter().map(ToString::to_string).collect(),
            QoS::AtMostOnce,
            SubscriptionKind::Plain,
        );
    }

    #[test]
    fn a_message_goes_once_to_each_subscription_it_matches() {
        let mut subscriptions = Subscriptions::default();
        add(&mut subscriptions, 1, &["a/#", "a/b"]);
        add(&mut subscriptions, 2, &["+/b"]);
        assert_eq!(ids(&mut subscriptions, "a/b"), [1, 2]);
        assert_eq!(ids(&mut subscriptions, "a/c"), [1]);
        assert!(ids(&mut subscriptions, "x").is_empty());
    }

    #[test]
    fn a_change_is_seen_by_topics_already_known() {
        let mut subscriptions = Subscriptions::default();
        assert!(ids(&mut subscriptions, "a").is_empty());
        add(&mut subscriptions, 1, &["a"]);
        assert_eq!(ids(&mut subscriptions, "a"), [1]);
        subscriptions.refuse(SubscriptionId(1), "a");
        assert!(ids(&mut subscriptions, "a").is_empty());
    }

    #[test]
    fn a_filter_two_subscriptions_use_is_given_back_with_the_last() {
        let mut subscriptions = Subscriptions::default();
        add(&mut subscriptions, 1, &["a", "b"]);
        add(&mut subscriptions, 2, &["b"]);
        assert_eq!(subscriptions.remove(SubscriptionId(1)), ["a"]);
        assert_eq!(subscriptions.remove(SubscriptionId(2)), ["b"]);
        assert!(subscriptions.remove(SubscriptionId(2)).is_empty());
    }

    #[test]
    fn a_shared_subscription_matches_by_the_filter_inside_it() {
        let mut subscriptions = Subscriptions::default();
        add(&mut subscriptions, 1, &["$share/workers/a/+"]);
        assert_eq!(ids(&mut subscriptions, "a/b"), [1]);
    }

    #[test]
    fn a_selection_with_a_name_matches_its_frames_and_the_topics_it_chose() {
        let mut subscriptions = Subscriptions::default();
        add(&mut subscriptions, 1, &["$selection/plot/a/#"]);
        assert_eq!(ids(&mut subscriptions, "$selection/plot/a"), [1]);
        assert_eq!(ids(&mut subscriptions, "a/b"), [1]);
        assert!(ids(&mut subscriptions, "$selection/other/a").is_empty());
    }

    #[test]
    fn the_cache_of_topics_is_bounded() {
        let mut subscriptions = Subscriptions::default();
        for number in 0..=TOPICS_MAX {
            subscriptions.find(&Publish::new(&number.to_string(), b""));
        }
        assert_eq!(subscriptions.seen.len(), 1);
    }
}
