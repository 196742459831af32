//! The policy: all rules, and what they say about somebody and a topic.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::overlap::{covers, overlap};
use super::tree::{RuleTree, WhoKey};
use super::{AccessRule, Grant, Right, Subject, Who};

/// Who may do what. Without rules that are enforced, everybody may do everything.
#[derive(Default)]
pub struct AccessPolicy {
    is_enforced: bool,
    /// Whether a subscription that is wider than the right is narrowed; otherwise it is refused.
    pub narrows: bool,
    pub(super) rules: Vec<AccessRule>,
    /// Roles of users.
    roles: HashMap<Box<str>, Box<[Box<str>]>>,
    pub(super) keys: WhoKeys,
    tree: RuleTree,
    /// The rules about each [`Who`], by their index.
    pub(super) about: Vec<Vec<u32>>,
    /// Each [`Who`], by its number.
    pub(super) whos: Vec<Who>,
}

/// The answer to a question, and the rule that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it is allowed.
    pub is_allowed: bool,
    /// The index of the rule; None if no rule is about it.
    pub rule: Option<usize>,
}

/// How much of a subscription's filter somebody may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterAccess {
    /// Every topic that it matches.
    Whole,
    /// Some of them, or it is not certain that it is every one.
    Part,
    /// No topic.
    Nothing,
}

/// The number of each [`Who`]; separate maps, so that a look-up makes no text.
#[derive(Debug, Default)]
pub(super) struct WhoKeys {
    count: WhoKey,
    anyone: Option<WhoKey>,
    anonymous: Option<WhoKey>,
    known: Option<WhoKey>,
    users: HashMap<Box<str>, WhoKey>,
    roles: HashMap<Box<str>, WhoKey>,
    claims: HashMap<Box<str>, HashMap<Box<str>, WhoKey>>,
}

impl AccessPolicy {
    /// A policy that is enforced: what no rule allows is denied.
    pub fn enforced(
        rules: Vec<AccessRule>,
        roles_of_users: HashMap<Box<str>, Box<[Box<str>]>>,
    ) -> Self {
        let mut policy = Self { is_enforced: true, roles: roles_of_users, ..Self::default() };
        for (at, rule) in rules.iter().enumerate() {
            for who in &rule.who {
                let key = policy.keys.make(who);
                if policy.keys.count as usize > policy.whos.len() {
                    policy.whos.push(who.clone());
                    policy.about.push(Vec::new());
                }
                let about = &mut policy.about[key as usize];
                if about.last() != Some(&(at as u32)) {
                    about.push(at as u32);
                }
                for topic in &rule.topics {
                    policy.tree.insert(&topic.text, key, rule.grant);
                }
            }
        }
        policy.rules = rules;
        policy
    }

    /// A policy that is not enforced: everybody may do everything.
    pub fn open() -> &'static Self {
        static OPEN: OnceLock<AccessPolicy> = OnceLock::new();
        OPEN.get_or_init(Self::default)
    }

    /// Whether rights are asked for at all.
    pub fn is_enforced(&self) -> bool {
        self.is_enforced
    }

    /// What somebody may do on a topic.
    pub fn grant(&self, subject: Subject<'_>, topic: &str) -> Grant {
        if !self.is_enforced {
            return Grant::EVERYTHING;
        }
        self.tree.grant(&self.keys_of(subject), subject, topic)
    }

    /// What somebody may do on a topic, with the numbers that [`AccessPolicy::keys_of`] has found.
    pub(super) fn grant_by(&self, keys: &[WhoKey], subject: Subject<'_>, topic: &str) -> Grant {
        if self.is_enforced { self.tree.grant(keys, subject, topic) } else { Grant::EVERYTHING }
    }

    /// Whether somebody may do this on a topic.
    pub fn allows(&self, subject: Subject<'_>, right: Right, topic: &str) -> bool {
        self.grant(subject, topic).allows(right)
    }

    /// Whether there is a topic on which somebody may do this, as far as a single rule tells.
    pub fn allows_somewhere(&self, subject: Subject<'_>, right: Right) -> bool {
        !self.is_enforced || self.rules_about(subject).any(|at| self.rules[at].grant.allows(right))
    }

    /// How much of a filter somebody may read.
    pub fn filter_access(&self, subject: Subject<'_>, right: Right, filter: &str) -> FilterAccess {
        if !self.is_enforced {
            return FilterAccess::Whole;
        }
        let (mut is_covered, mut is_touched, mut is_cut) = (false, false, false);
        for at in self.rules_about(subject) {
            let rule = &self.rules[at];
            if !rule.grant.mentions(right) {
                continue;
            }
            for topic in &rule.topics {
                let Some(topics) = topic.expand(subject) else { continue };
                if rule.grant.allows(right) {
                    is_covered |= covers(&topics, filter);
                    is_touched |= overlap(&topics, filter);
                } else if covers(&topics, filter) {
                    return FilterAccess::Nothing;
                } else {
                    is_cut |= overlap(&topics, filter);
                }
            }
        }
        match (is_covered && !is_cut, is_touched) {
            (true, _) => FilterAccess::Whole,
            (false, true) => FilterAccess::Part,
            (false, false) => FilterAccess::Nothing,
        }
    }

    /// The steps of work that [`AccessPolicy::filter_access`] takes.
    pub fn filter_steps(&self, subject: Subject<'_>) -> usize {
        let keys = if self.is_enforced { self.keys_of(subject) } else { Vec::new() };
        keys.iter().map(|key| self.about[*key as usize].len()).sum()
    }

    /// The answer to a question with the rule that decided, for people. It looks at every rule.
    pub fn decide(&self, subject: Subject<'_>, right: Right, topic: &str) -> Decision {
        if !self.is_enforced {
            return Decision { is_allowed: true, rule: None };
        }
        let is_about = |at: &usize| {
            let rule = &self.rules[*at];
            let matches = |filter: &str| slipring_wire::matches(filter, topic);
            rule.grant.mentions(right)
                && rule.topics.iter().any(|one| one.expand(subject).is_some_and(|it| matches(&it)))
        };
        let mut about: Vec<usize> = self.rules_about(subject).filter(is_about).collect();
        about.sort_unstable();
        let denies = about.iter().find(|at| !self.rules[**at].grant.allows(right));
        match (denies, about.first()) {
            (Some(at), _) => Decision { is_allowed: false, rule: Some(*at) },
            (None, Some(at)) => Decision { is_allowed: true, rule: Some(*at) },
            (None, None) => Decision { is_allowed: false, rule: None },
        }
    }

    /// The number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether somebody has a role, by the proof or by the plan.
    pub fn has_role(&self, subject: Subject<'_>, role: &str) -> bool {
        self.roles_of(subject).any(|own| own == role)
    }

    fn rules_about(&self, subject: Subject<'_>) -> impl Iterator<Item = usize> {
        let keys = self.keys_of(subject).into_iter();
        keys.flat_map(|key| self.about[key as usize].iter().map(|at| *at as usize))
    }

    fn roles_of<'a>(&'a self, subject: Subject<'a>) -> impl Iterator<Item = &'a str> {
        let user = subject.identity.user.as_deref();
        let planned = user.and_then(|user| self.roles.get(user)).into_iter().flatten();
        planned.chain(&subject.identity.roles).map(|role| &**role)
    }

    /// The numbers of everything that somebody is.
    pub(super) fn keys_of(&self, subject: Subject<'_>) -> Vec<WhoKey> {
        let keys = &self.keys;
        let identity = subject.identity;
        let user = identity.user.as_deref();
        let mut all: Vec<WhoKey> = keys.anyone.into_iter().collect();
        if let Some(user) = user {
            all.extend(keys.known);
            all.extend(keys.users.get(user));
        } else {
            all.extend(keys.anonymous);
        }
        all.extend(self.roles_of(subject).filter_map(|role| keys.roles.get(role)));
        let claims = identity.claims.iter();
        all.extend(claims.filter_map(|(name, value)| keys.claims.get(name)?.get(value)));
        all
    }
}

impl WhoKeys {
    /// The number of a [`Who`] that rules are about.
    pub(super) fn get(&self, who: &Who) -> Option<WhoKey> {
        match who {
            Who::Anyone => self.anyone,
            Who::Anonymous => self.anonymous,
            Who::Known => self.known,
            Who::User(name) => self.users.get(name).copied(),
            Who::Role(name) => self.roles.get(name).copied(),
            Who::Claim(name, value) => self.claims.get(name)?.get(value).copied(),
        }
    }

    fn make(&mut self, who: &Who) -> WhoKey {
        let count = &mut self.count;
        let new = || {
            *count += 1;
            *count - 1
        };
        match who {
            Who::Anyone => *self.anyone.get_or_insert_with(new),
            Who::Anonymous => *self.anonymous.get_or_insert_with(new),
            Who::Known => *self.known.get_or_insert_with(new),
            Who::User(name) => *self.users.entry(name.clone()).or_insert_with(new),
            Who::Role(name) => *self.roles.entry(name.clone()).or_insert_with(new),
            Who::Claim(name, value) => {
                let values = self.claims.entry(name.clone()).or_default();
                *values.entry(value.clone()).or_insert_with(new)
            }
        }
    }
}

impl PartialEq for AccessPolicy {
    fn eq(&self, other: &Self) -> bool {
        self.is_enforced == other.is_enforced
            && self.narrows == other.narrows
            && self.roles == other.roles
            && self.rules == other.rules
    }
}

impl Eq for AccessPolicy {}

impl std::fmt::Debug for AccessPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AccessPolicy({} rules)", self.rules.len())
    }
}
