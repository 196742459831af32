//! The plan: everything the control plane decides, in one immutable value the engine swaps whole.

use slipring_wire::{FilterError, check_filter, matches};

use crate::{Authentication, Limits};

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
    /// What goes into the journal.
    pub journal: JournalRule,
    /// How long it stays there.
    pub keeping: Keeping,
    /// Who is let in.
    pub authentication: Authentication,
}

impl Plan {
    /// The bounds of a listener.
    pub fn limits_of(&self, listener: usize) -> &Limits {
        self.listeners.get(listener).unwrap_or(&self.limits)
    }
}

/// How much the journal holds, and for how long. None is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeping {
    /// Seconds after which a segment is removed.
    pub retain_age_s: Option<u64>,
    /// Bytes above which the oldest segments are removed.
    pub retain_bytes: Option<u64>,
    /// Bytes at which the journal is full.
    pub bytes_max: Option<u64>,
    /// Whether what a consumer has not read stays, whatever its age and size.
    pub keep_unread: bool,
}

impl Default for Keeping {
    fn default() -> Self {
        Self { retain_age_s: None, retain_bytes: None, bytes_max: None, keep_unread: true }
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
    fn a_bad_filter_is_named() {
        let error = JournalRule::new(vec!["a/#/b".into()]).unwrap_err();
        assert!(error.to_string().contains("'a/#/b'"));
    }
}
