//! What a start found in the journal, told to people. Holds no logic.

use std::time::Duration;

/// What a start found, and how long it took.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// As the journal tells.
    pub journal: slipring_journal::Receipt,
    /// Until the broker could serve.
    pub took: Duration,
    /// Sessions that go on.
    pub sessions: usize,
    /// Retained messages that are there again.
    pub retained: usize,
    /// Messages that wait for the clients of those sessions.
    pub queued: usize,
}
