//! The plan for Python: made from dictionaries with the keys of the configuration.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use slipring_core::requests::RequestRules;
use slipring_core::{
    AuditKind, AuditRules, Authentication, DurabilityRule, JournalRule, Limit, Limits, Overflow,
    OwnerQuotas, Priority, PriorityRule, QuotaRules, Retention, TableRules, Users, Verifier,
};

use crate::access::{self, AccessDict};
use crate::alarms::AlarmsDict;
use crate::tokens::TokenRules;

pyo3::import_exception!(slipring.errors, PlanError);

/// The bounds, from a dictionary with all keys of the configuration.
struct LimitsDict(Box<Limits>);

impl<'py> FromPyObject<'_, 'py> for LimitsDict {
    type Error = PyErr;

    fn extract(values: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = |key: &str| values.get_item(key)?.extract::<String>();
        let mut limits = Limits {
            qos0_full: overflow(&text("qos0_full")?)?,
            qos12_full: overflow(&text("qos12_full")?)?,
            ..Limits::default()
        };
        for key in Limit::ALL.iter().map(|limit| limit.name()) {
            let number = values.get_item(key)?.extract()?;
            if !limits.set(key, number) {
                return Err(PlanError::new_err(format!("limits.{key} cannot be {number}")));
            }
        }
        Ok(Self(Box::new(limits)))
    }
}

fn overflow(name: &str) -> PyResult<Overflow> {
    match name {
        "drop_oldest" => Ok(Overflow::DropOldest),
        "drop_newest" => Ok(Overflow::DropNewest),
        "disconnect" => Ok(Overflow::Disconnect),
        _ => Err(PlanError::new_err(format!("'{name}' is not a policy for a full queue"))),
    }
}

/// What is kept, how safely and for how long, with the keys of the configuration; 0 is no bound.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct JournalDict {
    topics: Vec<String>,
    durability: String,
    /// Levels by filter, in their order; `durability` is the level of the rest.
    rules: Vec<(String, String)>,
    retain_age_s: u64,
    retain_bytes: u64,
    bytes_max: u64,
    keep_unread: bool,
}

impl JournalDict {
    fn durability(&self) -> PyResult<DurabilityRule> {
        let level = |name: &str| name.parse().map_err(refused);
        let rules = self.rules.iter().map(|(filter, name)| Ok((filter.clone(), level(name)?)));
        let rules = rules.collect::<PyResult<_>>()?;
        DurabilityRule::new(rules, level(&self.durability)?).map_err(refused)
    }

    fn retention(&self) -> Retention {
        Retention {
            age_s: bound(self.retain_age_s),
            bytes: bound(self.retain_bytes),
            keep_unread: self.keep_unread,
        }
    }
}

/// The rules of the table, with the keys of the configuration.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct TableDict {
    beat_ms: u16,
    stale_periods: u32,
    stale_min_ms: u32,
    future_s: u32,
}

impl From<TableDict> for TableRules {
    fn from(rules: TableDict) -> Self {
        Self {
            beat_ms: rules.beat_ms,
            stale_periods: rules.stale_periods,
            stale_min_ms: rules.stale_min_ms,
            future_s: rules.future_s,
        }
    }
}

/// The priority of each filter, in their order.
fn priority_rule(rules: Vec<(String, String)>) -> PyResult<PriorityRule> {
    let rules = rules.into_iter().map(|(filter, name)| match Priority::named(&name) {
        Some(priority) => Ok((filter, priority)),
        None => Err(PlanError::new_err(format!("'{name}' is not a priority: high, normal or low"))),
    });
    PriorityRule::new(rules.collect::<PyResult<_>>()?).map_err(refused)
}

/// Which messages are requests, and how their services are chosen, by filter in their order.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct RequestsDict {
    /// Filters, and seconds until a request times out that does not say when.
    timeouts: Vec<(String, f64)>,
    /// Filters and strategies.
    strategies: Vec<(String, String)>,
}

impl RequestsDict {
    fn rules(self) -> PyResult<RequestRules> {
        let timeouts = self.timeouts.into_iter();
        let timeouts = timeouts.map(|(filter, seconds)| {
            let timeout = Duration::try_from_secs_f64(seconds).unwrap_or_default();
            (filter, u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
        });
        let strategies = self.strategies.into_iter();
        let strategies =
            strategies.map(|(filter, name)| Ok((filter, name.parse().map_err(refused)?)));
        let strategies = strategies.collect::<PyResult<_>>()?;
        RequestRules::new(timeouts.collect(), strategies).map_err(refused)
    }
}

/// What the audit keeps, with the keys of the configuration; 0 is no bound.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct AuditDict {
    kinds: Vec<String>,
    retain_age_s: u64,
    retain_bytes: u64,
    required: bool,
}

impl AuditDict {
    fn rules(self) -> PyResult<AuditRules> {
        let mut rules = AuditRules {
            kinds: 0,
            age_s: bound(self.retain_age_s),
            bytes: bound(self.retain_bytes),
            is_required: self.required,
        };
        for name in self.kinds {
            let unknown = || PlanError::new_err(format!("the audit has no kind '{name}'"));
            rules.kinds |= AuditKind::of(&name).ok_or_else(unknown)?.bit();
        }
        Ok(rules)
    }
}

/// Quotas by user, in their order: who, and the number of each key.
fn quota_rules(tables: Vec<(Vec<String>, BTreeMap<String, usize>)>) -> PyResult<QuotaRules> {
    let mut rules = QuotaRules::default();
    for (who, numbers) in tables {
        let mut quotas = OwnerQuotas::default();
        for (key, number) in numbers {
            if !quotas.set(&key, number) {
                return Err(PlanError::new_err(format!("there is no quota '{key}'")));
            }
        }
        rules.add(&who, quotas).map_err(refused)?;
    }
    Ok(rules)
}

fn bound(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

/// Everything the control plane decides, immutable.
#[pyclass(frozen, module = "slipring._native")]
pub(crate) struct Plan {
    pub(crate) plan: slipring_core::Plan,
    /// Whether the tokens that are accepted stay as they are.
    pub(crate) keeps_tokens: bool,
}

#[pymethods]
impl Plan {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each has its name in Python")]
    #[expect(clippy::needless_pass_by_value, reason = "made from Python's values")]
    #[pyo3(signature = (
        limits, *, listeners, journal, priorities, table, sys_interval_s, server_reference, users,
        anonymous, requests, access, audit, alarms, quotas, tokens=None, asks=false, stand_in_key=None
    ))]
    fn new(
        limits: LimitsDict,
        listeners: Vec<LimitsDict>,
        journal: JournalDict,
        priorities: Vec<(String, String)>,
        table: TableDict,
        sys_interval_s: u32,
        server_reference: Option<String>,
        users: BTreeMap<String, String>,
        anonymous: bool,
        requests: RequestsDict,
        access: AccessDict,
        audit: AuditDict,
        alarms: AlarmsDict,
        quotas: Vec<(Vec<String>, BTreeMap<String, usize>)>,
        tokens: Option<PyRef<'_, TokenRules>>,
        asks: bool,
        stand_in_key: Option<[u8; 32]>,
    ) -> PyResult<Self> {
        let users = make_users(users)?;
        let users = match stand_in_key {
            Some(key) => users.with_key(key),
            None => users,
        };
        let keeps_tokens = tokens.is_none();
        let tokens = tokens.map(|rules| Arc::clone(&rules.0)).unwrap_or_default();
        let plan = slipring_core::Plan {
            limits: *limits.0,
            listeners: listeners.into_iter().map(|limits| *limits.0).collect(),
            server_reference,
            sys_interval_s,
            table: table.into(),
            durability: journal.durability()?,
            priority: priority_rule(priorities)?,
            retention: journal.retention(),
            journal_bytes_max: bound(journal.bytes_max),
            journal: JournalRule::new(journal.topics).map_err(refused)?,
            requests: requests.rules()?,
            authentication: Authentication { users, anonymous, tokens, asks },
            access: Arc::new(access.policy()?),
            audit: audit.rules()?,
            alarms: Arc::new(alarms.rules()?),
            quotas: Arc::new(quota_rules(quotas)?),
        };
        Ok(Self { plan, keeps_tokens })
    }

    /// Whether rules allow this, and the index of the rule that decided; None if none is about it.
    fn decide(
        &self,
        user: Option<String>,
        roles: Vec<String>,
        claims: Vec<(String, String)>,
        client_id: String,
        right: &str,
        topic: &str,
    ) -> PyResult<(bool, Option<usize>)> {
        access::decide(&self.plan, (user, roles, claims, client_id), right, topic)
    }

    /// How much of a filter somebody may use: `whole`, `part` or `nothing`.
    fn filter_access(
        &self,
        asker: access::Asker,
        right: &str,
        topics: &str,
    ) -> PyResult<&'static str> {
        access::filter_access(&self.plan, asker, right, topics)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.plan)
    }
}

/// Users by name, with their verifiers.
fn make_users(users: BTreeMap<String, String>) -> PyResult<Users> {
    let verifiers = users.into_iter().map(|(name, text)| Ok((name, verifier(&text)?)));
    Users::new(verifiers.collect::<PyResult<Vec<_>>>()?).map_err(refused)
}

/// The verifier of a password, as a config file has it.
#[pyfunction]
pub(crate) fn make_verifier(password: &[u8], salt: &[u8], iterations: u32) -> PyResult<String> {
    let verifier = Verifier::new(password, salt, iterations).map_err(refused)?;
    Ok(verifier.written())
}

/// Raises if this is not a verifier, and says why.
#[pyfunction]
pub(crate) fn check_verifier(text: &str) -> PyResult<()> {
    verifier(text).map(drop)
}

fn verifier(text: &str) -> PyResult<Verifier> {
    Verifier::parse(text).map_err(refused)
}

pub(crate) fn refused(error: impl std::fmt::Display) -> PyErr {
    PlanError::new_err(error.to_string())
}
