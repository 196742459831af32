//! What a new policy changes: for whom, and which rights they may have lost. Both policies are compared once; then the
//! answer for one client costs a few look-ups, however many rules there are.

use std::collections::{HashMap, HashSet};

use super::tree::WhoKey;
use super::{AccessPolicy, AccessRule, Right, Subject, Who};

/// The difference between two policies.
pub struct PolicyChange<'a> {
    before: &'a AccessPolicy,
    now: &'a AccessPolicy,
    /// For each [`Who`] of the earlier policy: its number in the new one, if rules there are about it.
    renumbered: Vec<Option<WhoKey>>,
    /// The rights that the change of the rules about each [`Who`] of the new policy may take; None if they are the same.
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
        let earlier = before.numbered();
        let mut renumbered = vec![None; before.about.len()];
        let mut changed = vec![None; now.about.len()];
        for (who, key) in now.numbered() {
            let then = earlier.get(&who).copied();
            let rules = |policy: &'a AccessPolicy, key: Option<WhoKey>| match key {
                Some(key) => policy.about_one(key),
                None => Vec::new(),
            };
            let (old, new) = (rules(before, then), rules(now, Some(key)));
            if let Some(then) = then {
                renumbered[then as usize] = Some(key);
            }
            if old != new {
                changed[key as usize] = Some(lost(&old, &new));
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
                all.add(lost(&self.before.about_one(*key), &[]));
            }
        }
        for key in new {
            let was = old.iter().any(|old| self.renumbered[*old as usize] == Some(key));
            let change = if was {
                self.changed[key as usize]
            } else {
                Some(lost(&[], &self.now.about_one(key)))
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

impl AccessPolicy {
    /// The number of each [`Who`].
    fn numbered(&self) -> HashMap<Who, WhoKey> {
        let mut all = HashMap::with_capacity(self.about.len());
        for rule in &self.rules {
            for who in &rule.who {
                if !all.contains_key(who) {
                    all.extend(self.keys.get(who).map(|key| (who.clone(), key)));
                }
            }
        }
        all
    }

    /// The rules about one [`Who`].
    fn about_one(&self, key: WhoKey) -> Vec<&AccessRule> {
        self.about[key as usize].iter().map(|at| &self.rules[*at as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Identity;

    fn rule(who: &str, is_allowed: bool, right: &str) -> AccessRule {
        AccessRule::parse(&[who], is_allowed, &[right], &["a/#"]).unwrap()
    }

    fn policy(rules: &[AccessRule], role: Option<&str>) -> AccessPolicy {
        let roles = role.map(|role| ("anna".into(), Box::from([Box::from(role)])));
        AccessPolicy::enforced(rules.to_vec(), roles.into_iter().collect())
    }

    #[test]
    fn only_what_may_be_lost_is_named_and_only_for_whom_it_changes() {
        let (anna, bert) = (Identity::named("anna"), Identity::named("bert"));
        let reads = rule("user:anna", true, "subscribe");
        let denied = rule("user:anna", false, "publish");
        let by_role = rule("role:engineer", true, "select");
        let rows: [(&[AccessRule], Option<&str>, &[AccessRule], Option<&str>, Option<&[Right]>);
            7] = [
            (&[reads.clone()], None, &[reads.clone()], None, None),
            (&[], None, &[reads.clone()], None, Some(&[])),
            (&[reads.clone()], None, &[], None, Some(&[Right::Subscribe])),
            (
                &[reads.clone()],
                None,
                &[reads.clone(), denied.clone()],
                None,
                Some(&[Right::Publish]),
            ),
            (&[denied.clone()], None, &[], None, Some(&[])),
            (&[by_role.clone()], None, &[by_role.clone()], Some("engineer"), Some(&[])),
            (&[by_role.clone()], Some("engineer"), &[by_role], None, Some(&[Right::Select])),
        ];
        for (at, (old, old_role, new, new_role, expected)) in rows.into_iter().enumerate() {
            let (old, new) = (policy(old, old_role), policy(new, new_role));
            let change = PolicyChange::new(&old, &new);
            let lost = change.lost_by(Subject { identity: &anna, client_id: "c" });
            let named = lost.map(|lost| {
                Right::ALL.into_iter().filter(|right| lost.has_any(&[*right])).collect::<Vec<_>>()
            });
            assert_eq!(named.as_deref(), expected, "row {at}");
            assert_eq!(
                change.lost_by(Subject { identity: &bert, client_id: "c" }),
                None,
                "row {at}"
            );
        }
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
