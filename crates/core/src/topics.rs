//! Things by topic, level by level, so that a filter visits only what it can match.

use std::collections::HashMap;

/// What one more entry costs beyond its bytes: the message itself, and its places in the tables. Measured.
pub(crate) const ENTRY_BYTES: usize = 384;
/// What a level of a topic costs that no other has. Measured.
pub(crate) const LEVEL_BYTES: usize = 512;

/// At most one thing for each topic.
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
    pub fn get(&self, topic: &str) -> Option<&T> {
        let mut node = &self.root;
        for level in topic.split('/') {
            node = node.levels.get(level)?;
        }
        node.here.as_ref()
    }

    /// The place of a topic; one that is left empty stays until it is removed.
    pub fn place(&mut self, topic: &str) -> &mut Option<T> {
        let mut node = &mut self.root;
        for level in topic.split('/') {
            if !node.levels.contains_key(level) {
                node.levels.insert(level.into(), Node::default());
            }
            node = node.levels.get_mut(level).expect("entered above");
        }
        &mut node.here
    }

    pub fn remove(&mut self, topic: &str) -> Option<T> {
        self.root.remove(topic.split('/'))
    }

    /// Visits what a filter matches, in no order.
    pub fn matching<'a>(&'a self, filter: &str, visit: &mut dyn FnMut(&'a T)) {
        self.root.matching(Some(filter), true, &mut { usize::MAX }, visit);
    }

    /// The same, as far as these steps go: one for each level of a topic that is looked at. Whether that
    /// was all.
    pub fn matching_within<'a>(
        &'a self,
        filter: &str,
        steps: &mut usize,
        visit: &mut dyn FnMut(&'a T),
    ) -> bool {
        self.root.matching(Some(filter), true, steps, visit)
    }

    /// Whether a filter matches anything; none where these steps do not do.
    pub fn matches_any(&self, filter: &str, mut steps: usize) -> Option<bool> {
        self.root.matches_any(Some(filter), true, &mut steps)
    }
}

impl<T> Node<T> {
    /// `rest` is what of the filter lies below this node; `None` is nothing. False where the steps did
    /// not do.
    fn matching<'a>(
        &'a self,
        rest: Option<&str>,
        root: bool,
        steps: &mut usize,
        visit: &mut dyn FnMut(&'a T),
    ) -> bool {
        let Some(left) = steps.checked_sub(1) else { return false };
        *steps = left;
        let Some(rest) = rest else {
            self.here.iter().for_each(visit);
            return true;
        };
        let (level, below) = rest.split_once('/').map_or((rest, None), |(a, b)| (a, Some(b)));
        // MQTT-4.7.2-1: a leading wildcard does not match topics of the broker's own.
        let mut children = self.levels.iter().filter(|(name, _)| !(root && name.starts_with('$')));
        match level {
            "#" => {
                self.here.iter().for_each(&mut *visit);
                children.all(|(_, node)| node.matching(Some("#"), false, steps, visit))
            }
            "+" => children.all(|(_, node)| node.matching(below, false, steps, visit)),
            _ => {
                let node = self.levels.get(level);
                node.is_none_or(|node| node.matching(below, false, steps, visit))
            }
        }
    }

    fn matches_any(&self, rest: Option<&str>, root: bool, steps: &mut usize) -> Option<bool> {
        *steps = steps.checked_sub(1)?;
        let Some(rest) = rest else { return Some(self.here.is_some()) };
        let (level, below) = rest.split_once('/').map_or((rest, None), |(a, b)| (a, Some(b)));
        let below = match level {
            "#" if self.here.is_some() => return Some(true),
            "#" => Some("#"),
            "+" => below,
            _ => {
                let node = self.levels.get(level);
                return node.map_or(Some(false), |node| node.matches_any(below, false, steps));
            }
        };
        // MQTT-4.7.2-1, as above.
        for (_, node) in self.levels.iter().filter(|(name, _)| !(root && name.starts_with('$'))) {
            if node.matches_any(below, false, steps)? {
                return Some(true);
            }
        }
        Some(false)
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
