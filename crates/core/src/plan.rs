//! The plan: everything the control plane decides, in one immutable value the engine swaps whole.

use slipring_wire::{FilterError, check_filter, matches};

/// What the control plane hands down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Bounds on what clients may do.
    pub limits: Limits,
    /// What goes into the journal.
    pub journal: JournalRule,
}

/// The bounds on what a client may do. Each says what happens when it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; a further one is told the server is busy.
    pub connections: usize,
    /// Bytes of one packet; a larger one ends the connection (0x95).
    pub packet_bytes: usize,
    /// Bytes of the CONNECT packet, before anyone has proved who they are.
    pub connect_bytes: usize,
    /// Milliseconds from accepting a connection to its whole CONNECT.
    pub connect_ms: u64,
    /// Seconds; a client that asks for more, or for none, is given this keep-alive.
    pub keep_alive_s: u16,
    /// Bytes of a client identifier (0x85).
    pub client_id_bytes: usize,
    /// Levels of a topic or a filter (0x90, 0x8f).
    pub topic_levels: usize,
    /// Subscriptions of one client; a further one is refused (0x97).
    pub subscriptions: usize,
    /// Bytes waiting for one subscriber; the oldest messages go first.
    pub outbox_bytes: usize,
    /// Topics whose newest value is kept; further topics are carried, but not shown.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            packet_bytes: 1 << 20,
            connect_bytes: 16 << 10,
            connect_ms: 10_000,
            keep_alive_s: 3_600,
            client_id_bytes: 256,
            topic_levels: 32,
            subscriptions: 1_000,
            outbox_bytes: 8 << 20,
            values: 100_000,
        }
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
