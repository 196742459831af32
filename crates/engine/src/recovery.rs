//! What a start found in the journal, told to people. Holds no logic.

use std::time::Duration;

use slipring_journal::Receipt;

/// What a start found, and how long it took.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// As the journal tells.
    pub receipt: Receipt,
    /// Until the broker could serve.
    pub took: Duration,
    /// Sessions that go on.
    pub sessions: usize,
    /// Retained messages that are there again.
    pub retained: usize,
    /// Messages that wait for the clients of those sessions.
    pub queued: usize,
}
