//! Which subscriptions of this client a message belongs to. Never talks to the broker.
//!
//! The client matches because a broker may not offer subscription identifiers; a message that has
//! some belongs to those subscriptions alone. A bounded memory of topics already seen makes the usual
//! match one look-up, however many filters there are.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use slipring_wire::{PropertyId, Publish, QoS, Value, matches};

use super::SubscriptionId;
use super::manner::Manner;

/// Topics remembered; at the limit all are forgotten, and learnt again as they come.
const TOPICS_MAX: usize = 16_384;

/// Filters remembered after they were given up; the oldest is forgotten.
const GIVEN_UP_MAX: usize = 1024;

/// A topic and who wants it, shared by all its messages.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub topic: Arc<str>,
    pub subscriptions: Arc<[SubscriptionId]>,
    /// No subscription, and none that was given up: an earlier one of the session may have left it.
    pub unclaimed: bool,
}

/// One subscription.
#[derive(Debug)]
struct Entry {
    id: SubscriptionId,
    filters: Vec<String>,
    qos: QoS,
    manner: Manner,
}

impl Entry {
    fn has(&self, wanted: &str) -> bool {
        self.is_asked() && self.filters.iter().any(|filter| filter == wanted)
    }

    fn is_asked(&self) -> bool {
        !matches!(self.manner, Manner::Unasked)
    }

    fn wants(&self, topic: &str) -> bool {
        // Frames come on the topic of the whole filter, other messages on their own.
        let mut filters = self.filters.iter();
        filters.any(|filter| matches(filter, topic) || matches(bare(filter), topic))
    }
}

#[derive(Debug, Default)]
pub(super) struct Routes {
    subscriptions: Vec<Entry>,
    /// Filters that were given up; their messages may still come for a while.
    given_up: VecDeque<String>,
    seen: HashMap<Arc<str>, Route>,
    /// Whether the broker takes identifiers; else every message is matched.
    identified: bool,
}

impl Routes {
    pub fn len(&self) -> usize {
        self.subscriptions.len()
    }

    pub fn add(&mut self, id: SubscriptionId, filters: Vec<String>, qos: QoS, manner: Manner) {
        self.seen.clear();
        self.given_up.retain(|filter| !filters.contains(filter));
        self.subscriptions.push(Entry { id, filters, qos, manner });
    }

    /// Another connection, whose broker takes identifiers or not.
    pub fn set_identified(&mut self, identified: bool) {
        self.seen.clear();
        self.identified = identified;
    }

    /// Whether a subscription has this filter, and cannot share it with one of this manner.
    pub fn is_taken(&self, filter: &str, manner: &Manner) -> bool {
        let mut users = self.subscriptions.iter().filter(|entry| entry.has(filter));
        users.any(|entry| entry.manner.identifier().is_some() || manner.identifier().is_some())
    }

    pub fn has(&self, id: SubscriptionId) -> bool {
        self.subscriptions.iter().any(|entry| entry.id == id)
    }

    /// How a subscription is made.
    pub fn manner(&self, id: SubscriptionId) -> Option<&Manner> {
        let entry = self.subscriptions.iter().find(|entry| entry.id == id);
        entry.map(|entry| &entry.manner)
    }

    /// The subscriptions to make again: all in a new session, in the same one those with an
    /// identifier, which begin with what is newest.
    pub fn again(&self, same_session: bool) -> Vec<(SubscriptionId, Vec<String>)> {
        let asked = self.subscriptions.iter().filter(|entry| entry.is_asked());
        let again = asked.filter(|entry| !same_session || entry.manner.identifier().is_some());
        again.map(|entry| (entry.id, entry.filters.clone())).collect()
    }

    /// Messages of these filters are nobody's from now on.
    pub fn give_up(&mut self, filters: &[String]) {
        self.seen.clear();
        for filter in filters {
            self.given_up.retain(|known| known != filter);
            self.given_up.push_back(filter.clone());
        }
        let excess = self.given_up.len().saturating_sub(GIVEN_UP_MAX);
        self.given_up.drain(..excess);
    }

    /// The best quality any subscription wants of this filter; none if no one has it.
    pub fn quality(&self, filter: &str) -> Option<QoS> {
        let users = self.subscriptions.iter().filter(|entry| entry.has(filter));
        users.map(|entry| entry.qos).max()
    }

    /// Forgets a subscription and returns the filters that no other one uses.
    pub fn remove(&mut self, id: SubscriptionId) -> Vec<String> {
        self.seen.clear();
        let position = self.subscriptions.iter().position(|entry| entry.id == id);
        let Some(position) = position else { return Vec::new() };
        let removed = self.subscriptions.remove(position);
        let unused = |filter: &String| removed.is_asked() && self.quality(filter).is_none();
        removed.filters.iter().filter(|filter| unused(filter)).cloned().collect()
    }

    /// Forgets one filter of a subscription, because the broker refused it.
    pub fn refuse(&mut self, id: SubscriptionId, refused: &str) {
        self.seen.clear();
        for entry in self.subscriptions.iter_mut().filter(|entry| entry.id == id) {
            entry.filters.retain(|filter| filter != refused);
        }
    }

    pub fn find(&mut self, publish: &Publish<'_>) -> Route {
        let mut route = match self.seen.get(publish.topic) {
            Some(route) => route.clone(),
            None => self.learn(publish.topic),
        };
        let identifiers = identifiers(publish);
        if !identifiers.is_empty() {
            route.subscriptions = self.identified_by(&identifiers, publish.topic);
        }
        route
    }

    /// An earlier client of the session may have used the same numbers, so the topic counts too.
    fn identified_by(&self, identifiers: &[u32], topic: &str) -> Arc<[SubscriptionId]> {
        let named = self.subscriptions.iter().filter(|entry| {
            let identifier = entry.manner.identifier();
            identifier.is_some_and(|identifier| identifiers.contains(&identifier))
        });
        named.filter(|entry| entry.wants(topic)).map(|entry| entry.id).collect()
    }

    fn learn(&mut self, topic: &str) -> Route {
        if self.seen.len() >= TOPICS_MAX {
            self.seen.clear();
        }
        let matched = |entry: &&Entry| !self.identified || entry.manner.identifier().is_none();
        let wanting = self.subscriptions.iter().filter(matched);
        let wanting = wanting.filter(|entry| entry.wants(topic));
        let subscriptions: Arc<[_]> = wanting.map(|entry| entry.id).collect();
        let matched = |filter: &String| matches(filter, topic) || matches(bare(filter), topic);
        let given_up = self.given_up.iter().any(matched);
        let unclaimed = subscriptions.is_empty() && !given_up;
        let route = Route { topic: topic.into(), subscriptions, unclaimed };
        self.seen.insert(route.topic.clone(), route.clone());
        route
    }
}

fn identifiers(publish: &Publish<'_>) -> Vec<u32> {
    let named = publish.properties.iter().filter_map(|(id, value)| match (id, value) {
        (PropertyId::SubscriptionIdentifier, Value::Varint(identifier)) => Some(identifier),
        _ => None,
    });
    named.collect()
}

/// The filter inside a shared subscription, `$share/group/filter` (MQTT 5, 4.8.2), or inside a
/// selection that has a name, `$selection/name/filter`.
pub(crate) fn bare(filter: &str) -> &str {
    let named = filter.strip_prefix("$share/").or_else(|| filter.strip_prefix("$selection/"));
    let inside = named.and_then(|rest| rest.split_once('/'));
    inside.map_or(filter, |(_, inner)| inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(routes: &mut Routes, topic: &str) -> Vec<u64> {
        routes.find(&Publish::new(topic, b"")).subscriptions.iter().map(|id| id.0).collect()
    }

    fn add(routes: &mut Routes, id: u64, filters: &[&str]) {
        routes.add(
            SubscriptionId(id),
            filters.iter().map(ToString::to_string).collect(),
            QoS::AtMostOnce,
            Manner::Shared,
        );
    }

    #[test]
    fn a_message_goes_once_to_each_subscription_it_matches() {
        let mut routes = Routes::default();
        add(&mut routes, 1, &["a/#", "a/b"]);
        add(&mut routes, 2, &["+/b"]);
        assert_eq!(ids(&mut routes, "a/b"), [1, 2]);
        assert_eq!(ids(&mut routes, "a/c"), [1]);
        assert!(ids(&mut routes, "x").is_empty());
    }

    #[test]
    fn a_change_is_seen_by_topics_already_known() {
        let mut routes = Routes::default();
        assert!(ids(&mut routes, "a").is_empty());
        add(&mut routes, 1, &["a"]);
        assert_eq!(ids(&mut routes, "a"), [1]);
        routes.refuse(SubscriptionId(1), "a");
        assert!(ids(&mut routes, "a").is_empty());
    }

    #[test]
    fn a_filter_two_subscriptions_use_is_given_back_with_the_last() {
        let mut routes = Routes::default();
        add(&mut routes, 1, &["a", "b"]);
        add(&mut routes, 2, &["b"]);
        assert_eq!(routes.remove(SubscriptionId(1)), ["a"]);
        assert_eq!(routes.remove(SubscriptionId(2)), ["b"]);
        assert!(routes.remove(SubscriptionId(2)).is_empty());
    }

    #[test]
    fn a_shared_subscription_matches_by_the_filter_inside_it() {
        let mut routes = Routes::default();
        add(&mut routes, 1, &["$share/workers/a/+"]);
        assert_eq!(ids(&mut routes, "a/b"), [1]);
    }

    #[test]
    fn a_selection_with_a_name_matches_its_frames_and_the_topics_it_chose() {
        let mut routes = Routes::default();
        add(&mut routes, 1, &["$selection/plot/a/#"]);
        assert_eq!(ids(&mut routes, "$selection/plot/a"), [1]);
        assert_eq!(ids(&mut routes, "a/b"), [1]);
        assert!(ids(&mut routes, "$selection/other/a").is_empty());
    }

    #[test]
    fn the_memory_of_topics_is_bounded() {
        let mut routes = Routes::default();
        for number in 0..=TOPICS_MAX {
            routes.find(&Publish::new(&number.to_string(), b""));
        }
        assert_eq!(routes.seen.len(), 1);
    }
}
