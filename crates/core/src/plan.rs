//! The plan: everything the control plane decides, in one immutable value the engine swaps whole.

use slipring_wire::{FilterError, check_filter, matches};

use crate::{Authentication, Durability, DurabilityRule, Limits, Principal, Right, Rights};

/// What the control plane hands down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Bounds on what clients may do.
    pub limits: Limits,
    /// The bounds of each listener, in the order of the listeners; where there are none, `limits`.
    pub listeners: Vec<Limits>,
    /// Another broker, told to clients there is no room for (T11).
    pub server_reference: Option<String>,
    /// Seconds between two tellings of the `$SYS` topics; 0 is never.
    pub sys_interval_s: u32,
    /// How the table treats samples.
    pub table: TableRules,
    /// What goes into the journal.
    pub journal: JournalRule,
    /// How safe a message is before it is acknowledged.
    pub durability: DurabilityRule,
    /// What is removed from the journal again.
    pub retention: Retention,
    /// Bytes the journal may store; beyond it QoS 1 and 2 are refused (0x97). None: the disk is the bound.
    pub journal_bytes_max: Option<u64>,
    /// Who is let in.
    pub authentication: Authentication,
    /// Who may do what.
    pub rights: Rights,
}

impl Plan {
    /// The bounds of a listener.
    pub fn limits_of(&self, listener: usize) -> &Limits {
        self.listeners.get(listener).unwrap_or(&self.limits)
    }

    /// Whether a principal may do this.
    pub fn allows(&self, who: &Principal<'_>, right: Right<'_>) -> bool {
        let is_reader =
            right != Right::Read || self.authentication.users.may_read_journal(who.user);
        is_reader && self.rights.allow(who, right)
    }

    /// How safe a message on this topic is: what is not journaled is in memory only.
    pub fn durability_of(&self, topic: &str) -> Durability {
        if self.journal.covers(topic) { self.durability.of(topic) } else { Durability::Memory }
    }
}

/// How the table treats samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRules {
    /// Milliseconds that samples are gathered for a subscriber that does not say.
    pub beat_ms: u16,
    /// Periods of its nominal rate that a parameter may be silent before it is stale.
    pub stale_periods: u32,
    /// Milliseconds that any parameter may be silent.
    pub stale_min_ms: u32,
    /// Seconds that the time of a sample may be ahead of the broker's clock.
    pub future_s: u32,
}

impl Default for TableRules {
    fn default() -> Self {
        Self { beat_ms: 20, stale_periods: 5, stale_min_ms: 200, future_s: 3_600 }
    }
}

/// When what is in the journal may be removed. What a session still needs stays in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Seconds; what is older goes. None: age is no reason.
    pub age_s: Option<u64>,
    /// Bytes; the oldest beyond them go. None: size is no reason.
    pub bytes: Option<u64>,
    /// Keep what a consumer has not read, whatever its age.
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
    /// A filter of the journal rule is not one.
    #[error("'{filter}' is not a topic filter: {why}")]
    Filter {
        /// The filter as given.
        filter: String,
        /// What is wrong with it.
        why: FilterError,
    },
    /// Two users have the same name.
    #[error("the user '{name}' is there twice")]
    UserTwice {
        /// The name.
        name: String,
    },
}

impl JournalRule {
    /// Journals what any of these filters matches.
    pub fn new(filters: Vec<String>) -> Result<Self, PlanError> {
        for filter in &filters {
            check_filter(filter)
                .map_err(|why| PlanError::Filter { filter: filter.clone(), why })?;
        }
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
    fn the_journal_takes_what_one_of_its_filters_matches() {
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
