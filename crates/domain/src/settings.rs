//! What an operator may set of the domain.

use crate::InterestBounds;
use crate::bounds::FOREIGN_BYTES_MAX;

/// How long the domain waits, and how much it keeps.
#[derive(Clone, Copy, Debug)]
pub struct DomainSettings {
    /// How long a subscription waits until all brokers in reach know of it.
    pub answer_ms: u64,
    /// How long a broker that is out of reach is remembered. Far longer than any message is on its way: a broker that is
    /// forgotten begins anew, and its numbers, too.
    pub forget_ms: u64,
    /// How far behind the greatest number of its origin a message is still told apart from others.
    pub arrival_window: usize,
    /// By how much the start of another broker can grow between two of its records. One that grows by more may be forged:
    /// it is taken, and told.
    pub start_step_max: u64,
    /// How much memory the filters of other brokers take, with their levels in the tree. A broker whose filters find no
    /// room gets every message.
    pub foreign_bytes_max: usize,
    /// How much this broker announces.
    pub interest: InterestBounds,
}

impl Default for DomainSettings {
    fn default() -> Self {
        Self {
            answer_ms: 200,
            forget_ms: 3_600_000,
            arrival_window: 65_536,
            start_step_max: u64::MAX,
            foreign_bytes_max: FOREIGN_BYTES_MAX,
            interest: InterestBounds::default(),
        }
    }
}
