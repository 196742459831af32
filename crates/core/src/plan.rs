//! The plan: everything that the control plane decides, as one immutable value. The engine replaces it as a whole.

use std::sync::Arc;

use slipring_wire::{FilterError, check_filter, matches};

use crate::access::{AccessPolicy, Grant, Identity, Right, Subject};
use crate::alarms::AlarmRules;
use crate::requests::RequestRules;
use crate::{
    AuditRules, Authentication, Durability, DurabilityRule, Limits, Principal, PriorityRule,
    QuotaRules, Way,
};

/// The area of operators: whoever may administer it is let in when there is no more room for others.
const CLIENTS: &str = "clients";

/// Everything that the control plane decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The limits of clients.
    pub limits: Limits,
    /// The limits of each listener, in the order of the listeners; a listener without them has `limits`.
    pub listeners: Vec<Limits>,
    /// Another broker, named to clients for which there is no room.
    pub server_reference: Option<String>,
    /// Seconds between two messages of a `$SYS` topic; 0 is no messages.
    pub sys_interval_s: u32,
    /// How the table treats samples.
    pub table: TableRules,
    /// When a value beyond a limit is an alarm.
    pub alarms: Arc<AlarmRules>,
    /// Which topics are journaled.
    pub journal: JournalRule,
    /// The durability of each topic.
    pub durability: DurabilityRule,
    /// The priority of each topic.
    pub priority: PriorityRule,
    /// When old segments of the journal are removed.
    pub retention: Retention,
    /// Bytes of the journal; beyond them QoS 1 and 2 messages are refused (0x97). None: the disk is the bound.
    pub journal_bytes_max: Option<u64>,
    /// Which messages are requests, and how their services are chosen.
    pub requests: RequestRules,
    /// Who is let in.
    pub authentication: Authentication,
    /// Who may do what.
    pub access: Arc<AccessPolicy>,
    /// How much each user or address may have.
    pub quotas: Arc<QuotaRules>,
    /// What the audit keeps.
    pub audit: AuditRules,
}

impl Plan {
    /// The limits of a listener.
    pub fn limits_of(&self, listener: usize) -> &Limits {
        self.listeners.get(listener).unwrap_or(&self.limits)
    }

    /// Whether a principal may do this on a topic.
    pub fn allows(&self, who: &Principal<'_>, right: Right, topic: &str) -> bool {
        self.grant(who, topic).allows(right)
            && (right != Right::Administer || self.may_operate(who))
    }

    /// What a principal may do on a topic.
    pub fn grant(&self, who: &Principal<'_>, topic: &str) -> Grant {
        if who.way == Way::Broker {
            return Grant::EVERYTHING;
        }
        self.access.grant(who.subject(), topic)
    }

    /// While no rights are asked for, every client on the broker's machine is an operator, and no other.
    fn may_operate(&self, who: &Principal<'_>) -> bool {
        self.access.is_enforced() || who.owner.is_on_this_machine()
    }

    /// Whether somebody is an operator. While no rights are asked for there are none.
    pub fn is_operator(&self, identity: &Identity) -> bool {
        let subject = Subject { identity, client_id: "" };
        self.access.is_enforced() && self.access.allows(subject, Right::Administer, CLIENTS)
    }

    /// The durability of a topic; without the journal it is in memory only.
    pub fn durability_of(&self, topic: &str) -> Durability {
        if self.journal.covers(topic) { self.durability.of(topic) } else { Durability::Memory }
    }
}

/// How the table treats samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRules {
    /// The beat in milliseconds of a subscriber that does not choose one.
    pub beat_ms: u16,
    /// A parameter is stale after a silence of so many periods of its nominal rate.
    pub stale_periods: u32,
    /// Milliseconds of silence that make no parameter stale.
    pub stale_min_ms: u32,
    /// Seconds that the time of a sample may be ahead of the broker's clock.
    pub future_s: u32,
}

impl Default for TableRules {
    fn default() -> Self {
        Self { beat_ms: 20, stale_periods: 5, stale_min_ms: 200, future_s: 3_600 }
    }
}

/// When segments of the journal are removed. Messages that a session still needs stay in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Remove messages older than so many seconds; None: age is no reason.
    pub age_s: Option<u64>,
    /// Remove the oldest messages beyond so many bytes; None: size is no reason.
    pub bytes: Option<u64>,
    /// Keep messages that a consumer has not read, whatever their age.
    pub keep_unread: bool,
}

impl Default for Retention {
    fn default() -> Self {
        Self { age_s: None, bytes: None, keep_unread: true }
    }
}

/// Which topics are journaled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalRule {
    filters: Vec<String>,
}

/// Why a plan cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A text is not a topic filter.
    #[error("'{filter}' is not a topic filter: {why}")]
    Filter {
        /// The text.
        filter: String,
        /// What is wrong with it.
        why: FilterError,
    },
    /// A limit or a hysteresis of an alarm is not a finite number.
    #[error("a limit or the hysteresis of a rule of alarms is not a finite number")]
    AlarmNumber,
    /// Two users have the same name.
    #[error("the user '{name}' is there twice")]
    UserTwice {
        /// The name.
        name: String,
    },
}

impl PlanError {
    /// Checks a filter of the plan.
    pub(crate) fn check(filter: &str) -> Result<(), Self> {
        check_filter(filter).map_err(|why| Self::Filter { filter: filter.to_owned(), why })
    }
}

impl JournalRule {
    /// Journals the topics that any of these filters matches.
    pub fn new(filters: Vec<String>) -> Result<Self, PlanError> {
        filters.iter().try_for_each(|filter| PlanError::check(filter))?;
        Ok(Self { filters })
    }

    /// Whether a message on this topic is journaled.
    pub fn covers(&self, topic: &str) -> bool {
        self.filters.iter().any(|filter| matches(filter, topic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_journaled_if_one_of_the_filters_matches() {
        let rule = JournalRule::new(vec!["gripen/#".into(), "+/alarm".into()]).unwrap();
        assert!(rule.covers("gripen/39-7/rpm"));
        assert!(rule.covers("plant/alarm"));
        assert!(!rule.covers("plant/level"));
    }

    #[test]
    fn a_topic_that_is_not_journaled_is_in_memory_only() {
        let journal = JournalRule::new(vec!["gripen/#".into()]).unwrap();
        let plan = Plan { journal, ..Plan::default() };
        assert_eq!(plan.durability_of("gripen/39-7/rpm"), Durability::Disk);
        assert_eq!(plan.durability_of("plant/level"), Durability::Memory);
    }

    #[test]
    fn a_bad_filter_is_named() {
        let error = JournalRule::new(vec!["a/#/b".into()]).unwrap_err();
        assert!(error.to_string().contains("'a/#/b'"));
    }
}
