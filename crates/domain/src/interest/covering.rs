//! Finds whether a filter covers another one: matches each topic that the other matches.

use std::collections::HashMap;

use crate::WantedRate;

/// How many levels are looked at for one filter. A filter whose search is given up is announced although another may
/// cover it, which is right, and longer. Filters must be made for it to reach this: thousands with `+` in many places.
const STEPS_MAX: usize = 1_000;

/// The filters that can cover others: those with wildcards, as a tree of their levels.
#[derive(Clone, Debug, Default)]
pub(super) struct CoveringFilters {
    root: Node,
}

#[derive(Clone, Debug, Default)]
struct Node {
    levels: HashMap<Box<str>, Node>,
    /// The node of `+`.
    any: Option<Box<Node>>,
    /// The rate of the filter that ends here.
    here: Option<WantedRate>,
    /// The rate of the filter that ends with `#` below here.
    below: Option<WantedRate>,
}

/// A place in the tree, while it is looked for what covers a filter.
#[derive(Clone, Copy)]
struct Place<'a> {
    node: &'a Node,
    /// How many levels of the filter led here.
    level: usize,
    /// Whether the tree's filter has the same levels so far.
    is_same: bool,
}

/// Whether it can cover another filter.
pub(super) fn has_wildcard(filter: &str) -> bool {
    filter.contains(['+', '#'])
}

/// What all filters begin with that a filter covers.
pub(super) fn covered_prefix(filter: &str) -> &str {
    let end = filter.find(['+', '#']).unwrap_or(filter.len());
    // `a/#` matches `a`, too.
    if filter[end..].starts_with('#') {
        filter[..end].trim_end_matches('/')
    } else {
        &filter[..end]
    }
}

/// Whether a filter matches each topic that another matches, or is the same.
pub(super) fn covers_or_is(filter: &str, other: &str) -> bool {
    // MQTT-4.7.2-1: a leading wildcard does not match topics that begin with `$`.
    if other.starts_with('$') && filter.starts_with(['+', '#']) {
        return false;
    }
    let mut others = other.split('/');
    for level in filter.split('/') {
        match (level, others.next()) {
            ("#", _) => return true,
            ("+", Some(other)) if other != "#" => {}
            (name, Some(other)) if name == other => {}
            _ => return false,
        }
    }
    others.next().is_none()
}

impl CoveringFilters {
    pub fn of<'a>(filters: impl Iterator<Item = (&'a str, WantedRate)>) -> Self {
        let mut tree = Self::default();
        filters.for_each(|(filter, rate)| tree.set(filter, Some(rate)));
        tree
    }

    /// Puts a filter in with its rate, or takes it out.
    pub fn set(&mut self, filter: &str, rate: Option<WantedRate>) {
        if has_wildcard(filter) {
            self.root.set(Some(filter), rate);
        }
    }

    /// Whether another filter covers this one, and is wanted at this rate at least.
    pub fn covers(&self, filter: &str, rate: WantedRate) -> bool {
        if self.root.is_empty() {
            return false;
        }
        let is_enough = |found: Option<WantedRate>| found.is_some_and(|found| found >= rate);
        let levels: Vec<&str> = filter.split('/').collect();
        let mut places = vec![Place { node: &self.root, level: 0, is_same: true }];
        for _ in 0..STEPS_MAX {
            let Some(place) = places.pop() else { return false };
            let node = place.node;
            let level = levels.get(place.level).copied();
            // MQTT-4.7.2-1: a leading wildcard does not match topics that begin with `$`.
            let matches_any = place.level > 0 || !filter.starts_with('$');
            let is_itself = place.is_same && level == Some("#");
            if matches_any && !is_itself && is_enough(node.below) {
                return true;
            }
            match level {
                None if !place.is_same && is_enough(node.here) => return true,
                None | Some("#") => {}
                Some("+") => places.extend(place.onward(node.any.as_deref(), true)),
                Some(name) => {
                    places.extend(place.onward(node.levels.get(name), true));
                    let any = node.any.as_deref().filter(|_| matches_any);
                    places.extend(place.onward(any, false));
                }
            }
        }
        false
    }
}

impl Node {
    fn is_empty(&self) -> bool {
        let ends = self.here.is_some() || self.below.is_some();
        !ends && self.any.is_none() && self.levels.is_empty()
    }

    /// Goes down the levels that are left. Filters have few levels, so that it does not go deep.
    fn set(&mut self, filter: Option<&str>, rate: Option<WantedRate>) {
        let Some(filter) = filter else {
            self.here = rate;
            return;
        };
        let (level, rest) = match filter.split_once('/') {
            Some((level, rest)) => (level, Some(rest)),
            None => (filter, None),
        };
        match level {
            "#" => self.below = rate,
            "+" => {
                let child = self.any.get_or_insert_default();
                child.set(rest, rate);
                self.any.take_if(|child| child.is_empty());
            }
            name => {
                if !self.levels.contains_key(name) {
                    self.levels.insert(name.into(), Self::default());
                }
                let Some(child) = self.levels.get_mut(name) else { return };
                child.set(rest, rate);
                if child.is_empty() {
                    self.levels.remove(name);
                }
            }
        }
    }
}

impl<'a> Place<'a> {
    fn onward(self, node: Option<&'a Node>, is_same: bool) -> Option<Self> {
        let is_same = is_same && self.is_same;
        node.map(|node| Self { node, level: self.level + 1, is_same })
    }
}
