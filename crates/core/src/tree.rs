//! The topic tree: finds the subscribers of a topic. It equals a naive matcher, and is faster.

use std::collections::HashMap;

/// A subscriber at a filter: cheap to clone, and found by a key.
pub trait Leaf: Clone {
    /// Tells the subscribers of one filter apart.
    type Key: Ord;

    /// The key of this subscriber.
    fn key(&self) -> Self::Key;
}

/// Subscribers by topic filter.
#[derive(Debug)]
pub struct Tree<S> {
    root: Node<S>,
    subscriptions: usize,
    /// Levels of filters, each once for all filters that begin in the same way.
    nodes: usize,
}

/// Measured memory of a level, and of a subscription with its filter in the session.
const NODE_BYTES: usize = 512;
const SUBSCRIPTION_BYTES: usize = 256;

#[derive(Debug)]
struct Node<S> {
    levels: HashMap<Box<str>, Node<S>>,
    /// The subtree of `+`.
    any: Option<Box<Node<S>>>,
    /// Subscribers whose filter ends here, by key.
    here: Vec<S>,
    /// Subscribers whose filter ends with `#` below here, by key.
    below: Vec<S>,
}

impl<S> Default for Node<S> {
    fn default() -> Self {
        Self { levels: HashMap::new(), any: None, here: Vec::new(), below: Vec::new() }
    }
}

impl<S> Default for Tree<S> {
    fn default() -> Self {
        Self { root: Node::default(), subscriptions: 0, nodes: 0 }
    }
}

impl<S: Leaf> Tree<S> {
    /// Adds a subscription, or replaces the one with the same key; returns whether it was added.
    pub fn insert(&mut self, filter: &str, subscriber: S) -> bool {
        let leaf = self.root.leaf(filter, &mut self.nodes);
        match leaf.binary_search_by_key(&subscriber.key(), S::key) {
            Ok(at) => {
                leaf[at] = subscriber;
                false
            }
            Err(at) => {
                leaf.insert(at, subscriber);
                self.subscriptions += 1;
                true
            }
        }
    }

    /// Removes a subscription; returns false if there was none.
    pub fn remove(&mut self, filter: &str, key: &S::Key) -> bool {
        let removed = self.root.remove(filter.split('/'), key, &mut self.nodes);
        self.subscriptions -= usize::from(removed);
        removed
    }

    /// The number of subscriptions.
    pub fn len(&self) -> usize {
        self.subscriptions
    }

    /// Its estimated memory.
    pub fn bytes(&self) -> usize {
        self.nodes * NODE_BYTES + self.subscriptions * SUBSCRIPTION_BYTES
    }

    /// The memory that a filter may add to it.
    pub fn bytes_of(filter: &str) -> usize {
        crate::levels(filter) * NODE_BYTES + SUBSCRIPTION_BYTES
    }

    /// Whether there are no subscriptions.
    pub fn is_empty(&self) -> bool {
        self.subscriptions == 0
    }

    /// The subscribers of a topic, once for each filter that matches.
    pub fn subscribers(&self, topic: &str) -> Vec<S> {
        let mut found = Vec::new();
        // MQTT-4.7.2-1: a leading wildcard does not match topics that begin with `$`.
        if topic.starts_with('$') {
            let (first, rest) = topic.split_once('/').map_or((topic, None), |(a, b)| (a, Some(b)));
            if let Some(node) = self.root.levels.get(first) {
                node.collect(rest, &mut found);
            }
        } else {
            self.root.collect(Some(topic), &mut found);
        }
        found
    }
}

impl<S: Leaf> Node<S> {
    fn leaf(&mut self, filter: &str, nodes: &mut usize) -> &mut Vec<S> {
        let mut node = self;
        for level in filter.split('/') {
            let mut made = || {
                *nodes += 1;
                Self::default()
            };
            node = match level {
                "#" => return &mut node.below,
                "+" => node.any.get_or_insert_with(|| Box::new(made())),
                _ => node.levels.entry(level.into()).or_insert_with(made),
            };
        }
        &mut node.here
    }

    fn remove(
        &mut self,
        mut levels: std::str::Split<'_, char>,
        key: &S::Key,
        nodes: &mut usize,
    ) -> bool {
        match levels.next() {
            None => take(&mut self.here, key),
            Some("#") => take(&mut self.below, key),
            Some("+") => {
                let Some(node) = &mut self.any else { return false };
                let removed = node.remove(levels, key, nodes);
                *nodes -= usize::from(self.any.take_if(|node| node.is_bare()).is_some());
                removed
            }
            Some(level) => {
                let Some(node) = self.levels.get_mut(level) else { return false };
                let removed = node.remove(levels, key, nodes);
                if node.is_bare() {
                    self.levels.remove(level);
                    *nodes -= 1;
                }
                removed
            }
        }
    }

    fn is_bare(&self) -> bool {
        self.levels.is_empty()
            && self.any.is_none()
            && self.here.is_empty()
            && self.below.is_empty()
    }

    /// `rest` is the part of the topic below this node; `None` if the topic ends here.
    fn collect(&self, rest: Option<&str>, found: &mut Vec<S>) {
        found.extend_from_slice(&self.below);
        let Some(rest) = rest else {
            return found.extend_from_slice(&self.here);
        };
        let (level, rest) = rest.split_once('/').map_or((rest, None), |(a, b)| (a, Some(b)));
        if let Some(node) = self.levels.get(level) {
            node.collect(rest, found);
        }
        if let Some(node) = &self.any {
            node.collect(rest, found);
        }
    }
}

fn take<S: Leaf>(subscribers: &mut Vec<S>, key: &S::Key) -> bool {
    let found = subscribers.binary_search_by_key(key, S::key);
    found.map(|at| subscribers.remove(at)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slipring_wire::matches;
    use std::collections::BTreeSet;

    impl Leaf for u8 {
        type Key = Self;

        fn key(&self) -> Self {
            *self
        }
    }

    fn filter() -> impl Strategy<Value = String> {
        let level = prop_oneof![Just("a"), Just("b"), Just(""), Just("+"), Just("$x")];
        (prop::collection::vec(level, 1..5), any::<bool>()).prop_map(|(mut levels, all)| {
            if all {
                levels.push("#");
            }
            levels.join("/")
        })
    }

    fn topic() -> impl Strategy<Value = String> {
        let level = prop_oneof![Just("a"), Just("b"), Just(""), Just("$x")];
        prop::collection::vec(level, 1..5).prop_map(|levels| levels.join("/"))
    }

    proptest! {
        #[test]
        fn the_tree_equals_a_naive_matcher_after_any_history(
            history in prop::collection::vec((filter(), 0u8..4, any::<bool>()), 0..40),
            topics in prop::collection::vec(topic(), 1..8),
        ) {
            let mut tree = Tree::default();
            let mut naive = BTreeSet::new();
            for (filter, subscriber, insert) in history {
                if insert {
                    prop_assert_eq!(tree.insert(&filter, subscriber), naive.insert((filter, subscriber)));
                } else {
                    prop_assert_eq!(tree.remove(&filter, &subscriber), naive.remove(&(filter, subscriber)));
                }
            }
            prop_assert_eq!(tree.len(), naive.len());
            for topic in topics {
                let mut found = tree.subscribers(&topic);
                let mut expected: Vec<u8> = naive.iter()
                    .filter(|(filter, _)| matches(filter, &topic))
                    .map(|(_, subscriber)| *subscriber).collect();
                found.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn a_tree_without_subscriptions_holds_no_nodes(filters in prop::collection::vec(filter(), 0..20)) {
            let mut tree = Tree::default();
            for filter in &filters {
                tree.insert(filter, 1u8);
            }
            for filter in &filters {
                tree.remove(filter, &1u8);
            }
            prop_assert!(tree.root.is_bare() && tree.is_empty());
            prop_assert_eq!(tree.bytes(), 0);
        }
    }
}
