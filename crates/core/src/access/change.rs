//! What a new policy changes: for whom, and which rights they may have lost. Both policies are compared once; then the
//! answer for one client costs a few look-ups, however many rules there are.

use std::collections::HashSet;

use super::tree::WhoKey;
use super::{AccessPolicy, AccessRule, Right, Subject};

/// The difference between two policies.
pub struct PolicyChange<'a> {
    before: &'a AccessPolicy,
    now: &'a AccessPolicy,
    /// For each [`Who`](super::Who) of the earlier policy: its number in the new one, if rules there are about it.
    renumbered: Vec<Option<WhoKey>>,
    /// The rights that the change of the rules about each [`Who`](super::Who) of the new policy may take; None if they are the same.
    changed: Vec<Option<RightSet>>,
}

/// Some rights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RightSet(u16);

impl RightSet {
    /// Every right.
    pub const ALL: Self = Self(u16::MAX);

    /// Whether one of these rights is in it.
    pub fn has_any(self, rights: &[Right]) -> bool {
        rights.iter().any(|right| self.0 & right.bit() != 0)
    }

    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl<'a> PolicyChange<'a> {
    /// Compares two policies.
    pub fn new(before: &'a AccessPolicy, now: &'a AccessPolicy) -> Self {
        let mut renumbered = vec![None; before.about.len()];
        let mut changed = vec![None; now.about.len()];
        for (key, who) in now.whos.iter().enumerate() {
            let then = before.keys.get(who);
            if let Some(then) = then {
                renumbered[then as usize] = Some(key as WhoKey);
            }
            let old = then.map(|then| &*before.about[then as usize]).unwrap_or_default();
            if !is_same(before, old, now, &now.about[key]) {
                changed[key] = Some(lost(&before.rules_at(old), &now.rules_at(&now.about[key])));
            }
        }
        Self { before, now, renumbered, changed }
    }

    /// The rights that somebody may have lost; None if nothing changes for them. A right that is named may be there all
    /// the same, by another rule.
    pub fn lost_by(&self, subject: Subject<'_>) -> Option<RightSet> {
        match (self.before.is_enforced(), self.now.is_enforced()) {
            (false, false) => return None,
            (false, true) => return Some(RightSet::ALL),
            (true, false) => return Some(RightSet::default()),
            (true, true) => {}
        }
        let (old, new) = (self.before.keys_of(subject), self.now.keys_of(subject));
        let mut is_changed = false;
        let mut all = RightSet::default();
        for key in &old {
            let still = self.renumbered[*key as usize].filter(|key| new.contains(key));
            if still.is_none() {
                is_changed = true;
                all.add(self.before.allowed_by(&self.before.about[*key as usize]));
            }
        }
        for key in new {
            let was = old.iter().any(|old| self.renumbered[*old as usize] == Some(key));
            let change = if was {
                self.changed[key as usize]
            } else {
                Some(self.now.denied_by(&self.now.about[key as usize]))
            };
            is_changed |= change.is_some();
            all.add(change.unwrap_or_default());
        }
        is_changed.then_some(all)
    }
}

/// The rights that new rules may take from whoever had the old ones: those of rules that allowed, and are gone, and of
/// rules that deny, and are new.
fn lost(old: &[&AccessRule], new: &[&AccessRule]) -> RightSet {
    let known: HashSet<&AccessRule> = old.iter().copied().collect();
    let kept: HashSet<&AccessRule> = new.iter().copied().collect();
    let mut all = RightSet::default();
    for rule in old.iter().filter(|rule| !kept.contains(*rule)) {
        all.add(RightSet(rule.grant.allowed()));
    }
    for rule in new.iter().filter(|rule| !known.contains(*rule)) {
        all.add(RightSet(rule.grant.denied()));
    }
    all
}

/// Whether two policies say the same in these rules.
fn is_same(before: &AccessPolicy, old: &[u32], now: &AccessPolicy, new: &[u32]) -> bool {
    let is_equal =
        |(old, new): (&u32, &u32)| before.rules[*old as usize] == now.rules[*new as usize];
    old.len() == new.len() && old.iter().zip(new).all(is_equal)
}

impl AccessPolicy {
    /// What the rules with these numbers allow.
    fn allowed_by(&self, numbers: &[u32]) -> RightSet {
        RightSet(numbers.iter().fold(0, |all, at| all | self.rules[*at as usize].grant.allowed()))
    }

    /// What the rules with these numbers deny.
    fn denied_by(&self, numbers: &[u32]) -> RightSet {
        RightSet(numbers.iter().fold(0, |all, at| all | self.rules[*at as usize].grant.denied()))
    }

    /// The rules with these numbers.
    fn rules_at(&self, numbers: &[u32]) -> Vec<&AccessRule> {
        numbers.iter().map(|at| &self.rules[*at as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Identity;

    fn rule(who: &str, is_allowed: bool, right: &str) -> AccessRule {
        AccessRule::parse(&[who], is_allowed, &[right], &["a/#"]).unwrap()
    }

    fn policy(rules: &[&AccessRule], role: Option<&str>) -> AccessPolicy {
        let anna = role.map(|role| ("anna".into(), Box::from([Box::from(role)])));
        AccessPolicy::enforced(rules.iter().copied().cloned().collect(), anna.into_iter().collect())
    }

    /// The rights that anna may have lost; bert never has.
    fn named(old: &AccessPolicy, new: &AccessPolicy) -> Option<Vec<Right>> {
        let (anna, bert) = (Identity::named("anna"), Identity::named("bert"));
        let change = PolicyChange::new(old, new);
        assert_eq!(change.lost_by(Subject { identity: &bert, client_id: "c" }), None);
        let lost = change.lost_by(Subject { identity: &anna, client_id: "c" })?;
        Some(Right::ALL.into_iter().filter(|right| lost.has_any(&[*right])).collect())
    }

    #[test]
    fn only_what_may_be_lost_is_named_and_only_for_whom_it_changes() {
        let reads = &rule("user:anna", true, "subscribe");
        let denied = &rule("user:anna", false, "publish");
        let by_role = &rule("role:engineer", true, "select");
        let engineer = Some("engineer");
        let (none, one) = (policy(&[], None), policy(&[reads], None));
        assert_eq!(named(&one, &policy(&[reads], None)), None);
        assert_eq!(named(&none, &one), Some(vec![]));
        assert_eq!(named(&one, &none), Some(vec![Right::Subscribe]));
        assert_eq!(named(&one, &policy(&[reads, denied], None)), Some(vec![Right::Publish]));
        assert_eq!(named(&policy(&[denied], None), &none), Some(vec![]));
        let (without, with) = (policy(&[by_role], None), policy(&[by_role], engineer));
        assert_eq!(named(&without, &with), Some(vec![]));
        assert_eq!(named(&with, &without), Some(vec![Right::Select]));
    }

    #[test]
    fn rights_that_begin_to_be_asked_for_may_all_be_lost() {
        let (open, closed) = (AccessPolicy::default(), policy(&[], None));
        let anna = Identity::named("anna");
        let subject = Subject { identity: &anna, client_id: "c" };
        assert_eq!(PolicyChange::new(&open, &closed).lost_by(subject), Some(RightSet::ALL));
        let opened = PolicyChange::new(&closed, &open).lost_by(subject);
        assert_eq!(opened, Some(RightSet::default()));
        assert_eq!(PolicyChange::new(&open, &open).lost_by(subject), None);
    }
}
