//! Finds whether a filter covers another one: matches each topic that the other matches.

use std::collections::HashMap;

use super::WantedFilters;
use crate::WantedRate;

/// How many levels are looked at for one filter. A filter whose search is given up is announced although another may
/// cover it, which is right, and longer. Filters must be made for it to reach this: thousands with `+` in many places.
const STEPS_MAX: usize = 1_000;

/// The filters that can cover others: those with wildcards. By level, as a tree in one vector.
pub(super) struct CoveringFilters<'a> {
    nodes: Vec<Node<'a>>,
}

#[derive(Default)]
struct Node<'a> {
    levels: HashMap<&'a str, usize>,
    /// The node of `+`.
    any: Option<usize>,
    /// The rate of the filter that ends here.
    here: Option<WantedRate>,
    /// The rate of the filter that ends with `#` below here.
    below: Option<WantedRate>,
}

/// A place in the tree, while it is looked for what covers a filter.
#[derive(Clone, Copy)]
struct Place {
    node: usize,
    /// How many levels of the filter led here.
    level: usize,
    /// Whether the tree's filter has the same levels so far.
    is_same: bool,
}

impl<'a> CoveringFilters<'a> {
    pub fn of(wanted: &'a WantedFilters) -> Self {
        let mut tree = Self { nodes: vec![Node::default()] };
        for (filter, rate) in wanted.iter().filter(|(filter, _)| filter.contains(['+', '#'])) {
            tree.insert(filter, *rate);
        }
        tree
    }

    fn insert(&mut self, filter: &'a str, rate: WantedRate) {
        let mut at = 0;
        for level in filter.split('/') {
            if level == "#" {
                self.nodes[at].below = Some(rate);
                return;
            }
            at = self.child(at, level);
        }
        self.nodes[at].here = Some(rate);
    }

    fn child(&mut self, at: usize, level: &'a str) -> usize {
        let made = self.nodes.len();
        let node = &mut self.nodes[at];
        let child = match level {
            "+" => *node.any.get_or_insert(made),
            _ => *node.levels.entry(level).or_insert(made),
        };
        if child == made {
            self.nodes.push(Node::default());
        }
        child
    }

    /// Whether another filter covers this one, and is wanted at this rate at least.
    pub fn covers(&self, filter: &str, rate: WantedRate) -> bool {
        let is_enough = |found: Option<WantedRate>| found.is_some_and(|found| found >= rate);
        let levels: Vec<&str> = filter.split('/').collect();
        let mut places = vec![Place { node: 0, level: 0, is_same: true }];
        for _ in 0..STEPS_MAX {
            let Some(place) = places.pop() else { return false };
            let node = &self.nodes[place.node];
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
                Some("+") => places.extend(place.onward(node.any, true)),
                Some(name) => {
                    places.extend(place.onward(node.levels.get(name).copied(), true));
                    places.extend(place.onward(node.any.filter(|_| matches_any), false));
                }
            }
        }
        false
    }
}

impl Place {
    fn onward(self, node: Option<usize>, is_same: bool) -> Option<Self> {
        let is_same = is_same && self.is_same;
        node.map(|node| Self { node, level: self.level + 1, is_same })
    }
}
