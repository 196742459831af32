//! Rules of access for the plan, and questions about them.

use std::collections::HashMap;

use pyo3::prelude::*;
use slipring_core::Plan;
use slipring_core::access::{AccessPolicy, AccessRule, Identity, Right, RuleError, Subject};

use crate::plan::refused;

/// Who a rule is about, whether it allows, its rights and its topics.
pub(crate) type RuleTuple = (Vec<String>, bool, Vec<String>, Vec<String>);

/// Who may do what.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AccessDict {
    is_enforced: bool,
    narrows: bool,
    rules: Vec<RuleTuple>,
    /// Roles by user.
    roles: HashMap<String, Vec<String>>,
}

impl AccessDict {
    pub fn policy(self) -> PyResult<AccessPolicy> {
        if !self.is_enforced {
            return Ok(AccessPolicy::default());
        }
        let rules = self.rules.iter().map(parse);
        let rules = rules.collect::<Result<_, RuleError>>().map_err(refused)?;
        let users = self.roles.into_iter().map(|(user, names)| {
            (user.into_boxed_str(), names.into_iter().map(String::into_boxed_str).collect())
        });
        let mut policy = AccessPolicy::enforced(rules, users.collect());
        policy.narrows = self.narrows;
        Ok(policy)
    }
}

/// Raises if this is not a rule, and says why.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's values are converted, not lent")]
pub(crate) fn check_access_rule(rule: RuleTuple) -> PyResult<()> {
    parse(&rule).map(drop).map_err(refused)
}

fn parse((who, is_allowed, rights, topics): &RuleTuple) -> Result<AccessRule, RuleError> {
    AccessRule::parse(who, *is_allowed, rights, topics)
}

/// Who asks: a user name, roles, claims and a client identifier.
pub(crate) type Asker = (Option<String>, Vec<String>, Vec<(String, String)>, String);

/// Whether rules allow somebody to do this on a topic, and the index of the rule that decided.
pub(crate) fn decide(
    plan: &Plan,
    (user, roles, claims, client_id): Asker,
    right: &str,
    topic: &str,
) -> PyResult<(bool, Option<usize>)> {
    let right: Right = right.parse().map_err(|()| refused(RuleError::Right(right.to_owned())))?;
    let identity = Identity {
        user: user.map(String::into_boxed_str),
        roles: roles.into_iter().map(String::into_boxed_str).collect(),
        claims: claims.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
    };
    let subject = Subject { identity: &identity, client_id: &client_id };
    let decision = plan.access.decide(subject, right, topic);
    Ok((decision.is_allowed, decision.rule))
}
