//! The tree of a policy's rules by the levels of their topics: finds what the rules say about one topic, in a time
//! that does not grow with the number of rules about other topics and other people.

use std::collections::HashMap;

use super::pattern::LevelTemplate;
use super::{Grant, Subject};

/// A number for each different [`super::Who`] of a policy.
pub(super) type WhoKey = u32;

/// What the rules say at the end of one filter, by who.
type Grants = HashMap<WhoKey, Grant>;

#[derive(Debug, Default)]
pub(super) struct RuleTree {
    root: Node,
}

#[derive(Debug, Default)]
struct Node {
    levels: HashMap<Box<str>, Node>,
    /// Levels with placeholders, by their text.
    templates: HashMap<Box<str>, (LevelTemplate, Node)>,
    /// The subtree of `+`.
    any: Option<Box<Node>>,
    /// Rules whose filter ends here.
    here: Grants,
    /// Rules whose filter ends with `#` below here.
    below: Grants,
}

/// A question: who asks, and what was found so far.
struct Look<'a> {
    who: &'a [WhoKey],
    subject: Subject<'a>,
    found: Grant,
}

impl RuleTree {
    pub fn insert(&mut self, filter: &str, who: WhoKey, grant: Grant) {
        let mut node = &mut self.root;
        for level in filter.split('/') {
            node = match level {
                "#" => return node.below.entry(who).or_default().add(grant),
                "+" => node.any.get_or_insert_default(),
                _ if level.contains('%') => {
                    let template = || LevelTemplate::parse(level).expect("the rule was checked");
                    let made = || (template(), Node::default());
                    &mut node.templates.entry(level.into()).or_insert_with(made).1
                }
                _ if !node.levels.contains_key(level) => {
                    node.levels.entry(level.into()).or_default()
                }
                _ => node.levels.get_mut(level).expect("it is there"),
            };
        }
        node.here.entry(who).or_default().add(grant);
    }

    /// What the rules about these say about a topic.
    pub fn grant(&self, who: &[WhoKey], subject: Subject<'_>, topic: &str) -> Grant {
        let mut look = Look { who, subject, found: Grant::default() };
        if topic.starts_with('$') {
            // MQTT-4.7.2-1: a leading wildcard does not match topics that begin with `$`.
            let (first, rest) = split(topic);
            if let Some(node) = self.root.levels.get(first) {
                node.look(rest, &mut look);
            }
        } else {
            self.root.look(Some(topic), &mut look);
        }
        look.found
    }
}

impl Node {
    /// `rest` is the part of the topic below this node; None if the topic ends here.
    fn look(&self, rest: Option<&str>, look: &mut Look<'_>) {
        look.add(&self.below);
        let Some(rest) = rest else { return look.add(&self.here) };
        let (level, rest) = split(rest);
        if let Some(node) = self.levels.get(level) {
            node.look(rest, look);
        }
        if let Some(node) = &self.any {
            node.look(rest, look);
        }
        for (template, node) in self.templates.values() {
            if template.matches(level, look.subject) {
                node.look(rest, look);
            }
        }
    }
}

impl Look<'_> {
    fn add(&mut self, grants: &Grants) {
        if grants.is_empty() {
            return;
        }
        for who in self.who {
            if let Some(grant) = grants.get(who) {
                self.found.add(*grant);
            }
        }
    }
}

fn split(topic: &str) -> (&str, Option<&str>) {
    topic.split_once('/').map_or((topic, None), |(level, rest)| (level, Some(rest)))
}
