//! A map by topic, as a tree of levels, so that a filter visits only the branches that it can match.

use std::collections::HashMap;

/// Measured memory of an entry beyond the bytes of its message: the message, and its entries in the maps.
pub(crate) const ENTRY_BYTES: usize = 384;
/// Measured memory of a level that no other topic shares.
pub(crate) const LEVEL_BYTES: usize = 512;

/// At most one value for each topic.
#[derive(Debug)]
pub(crate) struct Topics<T> {
    root: Node<T>,
}

#[derive(Debug)]
struct Node<T> {
    levels: HashMap<Box<str>, Node<T>>,
    here: Option<T>,
}

impl<T> Default for Node<T> {
    fn default() -> Self {
        Self { levels: HashMap::new(), here: None }
    }
}

impl<T> Default for Topics<T> {
    fn default() -> Self {
        Self { root: Node::default() }
    }
}

impl<T> Topics<T> {
    pub(crate) fn get(&self, topic: &str) -> Option<&T> {
        let mut node = &self.root;
        for level in topic.split('/') {
            node = node.levels.get(level)?;
        }
        node.here.as_ref()
    }

    /// The place of a topic, made if there is none. An empty place stays until `remove`.
    pub(crate) fn place(&mut self, topic: &str) -> &mut Option<T> {
        let mut node = &mut self.root;
        for level in topic.split('/') {
            if !node.levels.contains_key(level) {
                node.levels.insert(level.into(), Node::default());
            }
            node = node.levels.get_mut(level).expect("inserted above");
        }
        &mut node.here
    }

    pub(crate) fn remove(&mut self, topic: &str) -> Option<T> {
        self.root.remove(topic.split('/'))
    }

    /// Visits the values that a filter matches, in no particular order.
    pub(crate) fn matching<'a>(&'a self, filter: &str, visit: &mut dyn FnMut(&'a T)) {
        self.matching_within(filter, &mut { usize::MAX }, visit);
    }

    /// The same, within a number of steps: one for each level of a topic that it looks at. Returns whether the
    /// steps were enough.
    pub(crate) fn matching_within<'a>(
        &'a self,
        filter: &str,
        steps: &mut usize,
        visit: &mut dyn FnMut(&'a T),
    ) -> bool {
        let mut visit = |value| {
            visit(value);
            true
        };
        self.root.search(Some(filter), true, steps, &mut visit)
    }

    /// Whether a filter matches anything; None if the steps are not enough to tell.
    pub(crate) fn matches_any(&self, filter: &str, mut steps: usize) -> Option<bool> {
        let mut found = false;
        let mut visit = |_: &T| {
            found = true;
            false
        };
        let is_complete = self.root.search(Some(filter), true, &mut steps, &mut visit);
        (found || is_complete).then_some(found)
    }
}

impl<T> Node<T> {
    /// `rest` is the part of the filter below this node; `None` if the filter ends here. `visit` returns whether to
    /// continue. Returns false if it stopped the search, or the steps were not enough.
    fn search<'a>(
        &'a self,
        rest: Option<&str>,
        is_root: bool,
        steps: &mut usize,
        visit: &mut dyn FnMut(&'a T) -> bool,
    ) -> bool {
        let Some(left) = steps.checked_sub(1) else { return false };
        *steps = left;
        let Some(rest) = rest else { return self.here.iter().all(visit) };
        let (level, below) = rest.split_once('/').map_or((rest, None), |(a, b)| (a, Some(b)));
        // MQTT-4.7.2-1: a leading wildcard does not match topics that begin with `$`.
        let children = self.levels.iter().filter(|(name, _)| !(is_root && name.starts_with('$')));
        let mut children = children.map(|(_, node)| node);
        match level {
            "#" => {
                self.here.iter().all(&mut *visit)
                    && children.all(|node| node.search(Some("#"), false, steps, visit))
            }
            "+" => children.all(|node| node.search(below, false, steps, visit)),
            _ => {
                let node = self.levels.get(level);
                node.is_none_or(|node| node.search(below, false, steps, visit))
            }
        }
    }

    fn remove(&mut self, mut levels: std::str::Split<'_, char>) -> Option<T> {
        let Some(level) = levels.next() else { return self.here.take() };
        let node = self.levels.get_mut(level)?;
        let gone = node.remove(levels);
        if node.levels.is_empty() && node.here.is_none() {
            self.levels.remove(level);
        }
        gone
    }
}
