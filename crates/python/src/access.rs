//! Rules of access for the plan, and questions about them.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use slipring_core::Plan;
use slipring_core::access::{
    AccessPolicy, AccessRule, FilterAccess, Identity, Right, RuleError, Subject,
};

use crate::access_rule::NativeRule;
use crate::plan::refused;

/// Who a rule is about, whether it allows, its rights and its topics.
pub(crate) type RuleTuple = (Vec<String>, bool, Vec<String>, Vec<String>);

/// Who may do what.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AccessDict {
    is_enforced: bool,
    narrows: bool,
    rules: Vec<Py<NativeRule>>,
    /// Roles by user.
    roles: HashMap<String, Vec<String>>,
}

impl AccessDict {
    #[expect(clippy::unnecessary_wraps, reason = "as the other parts of a plan are made")]
    pub fn policy(self) -> PyResult<AccessPolicy> {
        if !self.is_enforced {
            return Ok(AccessPolicy::default());
        }
        let parsed: Vec<_> = self.rules.iter().map(|rule| Arc::clone(&rule.get().0)).collect();
        let roles = self.roles.into_iter().map(|(user, roles)| {
            (user.into_boxed_str(), roles.into_iter().map(String::into_boxed_str).collect())
        });
        let roles_by_user = roles.collect();
        // Other threads of Python run meanwhile: there may be very many rules.
        let make = || {
            let owned = parsed.iter().map(|rule| (**rule).clone()).collect();
            AccessPolicy::enforced(owned, roles_by_user)
        };
        let mut policy = Python::attach(|py| py.detach(make));
        policy.narrows = self.narrows;
        Ok(policy)
    }
}

/// Who asks: a user name, roles, claims and a client identifier.
pub(crate) type Asker = (Option<String>, Vec<String>, Vec<(String, String)>, String);

/// Whether rules allow somebody to do this on a topic, and the index of the rule that decided.
pub(crate) fn decide(
    plan: &Plan,
    asker: Asker,
    right: &str,
    topic: &str,
) -> PyResult<(bool, Option<usize>)> {
    let right = parse_right(right)?;
    let (identity, client_id) = identity_of(asker);
    let subject = Subject { identity: &identity, client_id: &client_id };
    // The answer is the one that clients get; the other look-up only names the rule.
    let is_allowed = plan.access.allows(subject, right, topic);
    Ok((is_allowed, plan.access.decide(subject, right, topic).rule))
}

/// Whether somebody may do this, for each of some topics.
pub(crate) fn permits(
    plan: &Plan,
    asker: Asker,
    right: &str,
    topics: &[String],
) -> PyResult<Vec<bool>> {
    let right = parse_right(right)?;
    let (identity, client_id) = identity_of(asker);
    let subject = Subject { identity: &identity, client_id: &client_id };
    Ok(topics.iter().map(|topic| plan.access.allows(subject, right, topic)).collect())
}

/// How much of a filter somebody may use: "whole", "part" or "nothing".
pub(crate) fn filter_access(
    plan: &Plan,
    asker: Asker,
    right: &str,
    filter: &str,
) -> PyResult<&'static str> {
    let right = parse_right(right)?;
    let (identity, client_id) = identity_of(asker);
    let subject = Subject { identity: &identity, client_id: &client_id };
    Ok(match plan.access.filter_access(subject, right, filter) {
        FilterAccess::Whole => "whole",
        FilterAccess::Part => "part",
        FilterAccess::Nothing => "nothing",
    })
}

/// The rules that are about somebody, a right and a topic, or a part of a filter's topics: their indices, and
/// whether they are about all of them.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "made from Python's values")]
pub(crate) fn access_rules_covering(
    rules: Vec<RuleTuple>,
    asker: Asker,
    right: &str,
    topic: &str,
) -> PyResult<Vec<(usize, bool)>> {
    let right = parse_right(right)?;
    let (identity, client_id) = identity_of(asker);
    let subject = Subject { identity: &identity, client_id: &client_id };
    let mut about = Vec::new();
    for (at, (who, _, rights, topics)) in rules.iter().enumerate() {
        // As a rule that allows: then a policy of this rule alone says whether it is about the question.
        let rule = AccessRule::parse(who, true, rights, topics).map_err(refused)?;
        let alone = AccessPolicy::enforced(vec![rule], HashMap::new());
        let found = if topic.contains(['+', '#']) {
            alone.filter_access(subject, right, topic)
        } else if alone.allows(subject, right, topic) {
            FilterAccess::Whole
        } else {
            FilterAccess::Nothing
        };
        if found != FilterAccess::Nothing {
            about.push((at, found == FilterAccess::Whole));
        }
    }
    Ok(about)
}

fn parse_right(name: &str) -> PyResult<Right> {
    name.parse().map_err(|()| refused(RuleError::Right(name.to_owned())))
}

fn identity_of((user, roles, claims, client_id): Asker) -> (Identity, String) {
    let identity = Identity {
        user: user.map(String::into_boxed_str),
        roles: roles.into_iter().map(String::into_boxed_str).collect(),
        claims: claims.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
    };
    (identity, client_id)
}
