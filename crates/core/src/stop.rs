//! Why a connection has to end.

use slipring_wire::{Reason, Violation};

use crate::Limit;

/// The peer broke a rule or reached a limit; the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What the peer did, and the reason code for it.
    pub violation: Violation,
    /// The limit that it reached, to be counted.
    pub limit: Option<Limit>,
}

impl From<Violation> for Stop {
    fn from(violation: Violation) -> Self {
        Self { violation, limit: None }
    }
}

impl Stop {
    /// The peer broke a rule.
    pub(crate) fn new(reason: Reason, what: &'static str) -> Self {
        Violation { reason, what }.into()
    }

    /// The peer reached a limit.
    pub(crate) fn at(limit: Limit, reason: Reason, what: &'static str) -> Self {
        Self { violation: Violation { reason, what }, limit: Some(limit) }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.violation.fmt(f)?;
        match self.limit {
            Some(limit) => write!(f, " ({})", limit.path()),
            None => Ok(()),
        }
    }
}
