//! The limits on a turn's work, and on one reader's messages in a second.

use crate::Millis;

/// The most plain messages that a reader gets in a second. It gets every sample while there are fewer.
pub const PLAIN_RATE: u64 = 10_000;

/// The steps of work of one message, as in [`crate::Work`]; the other costs are relative to it.
pub(super) const MESSAGE_STEPS: usize = crate::Work::ENCODED;
/// The steps of looking through one range of parameters.
pub(super) const RANGE_STEPS: usize = 1;
/// The steps of visiting a reader.
pub(super) const VISIT_STEPS: usize = 2;

/// The steps of work that are left of a turn.
#[derive(Debug)]
pub(super) struct TurnBudget {
    steps: usize,
    spent: usize,
}

impl TurnBudget {
    /// The budget for about so many messages.
    pub fn of(messages: usize) -> Self {
        Self { steps: messages * MESSAGE_STEPS, spent: 0 }
    }

    pub fn is_over(&self) -> bool {
        self.steps == 0
    }

    /// Takes steps; false if none were left.
    pub fn spend(&mut self, steps: usize) -> bool {
        let has_some = self.steps > 0;
        self.steps = self.steps.saturating_sub(steps);
        self.spent += steps;
        has_some
    }

    /// How many steps were taken; can be a little more than there were.
    pub fn spent(&self) -> usize {
        self.spent
    }
}

/// The messages that a reader may get now: [`PLAIN_RATE`] a second, and as many in one burst.
#[derive(Debug)]
pub(super) struct MessageAllowance {
    messages: u64,
    filled_ms: Millis,
}

impl MessageAllowance {
    pub fn full(now_ms: Millis) -> Self {
        Self { messages: PLAIN_RATE, filled_ms: now_ms }
    }

    pub fn fill(&mut self, now_ms: Millis) {
        let elapsed_ms = now_ms.saturating_sub(self.filled_ms);
        let more = elapsed_ms.saturating_mul(PLAIN_RATE) / 1000;
        if more > 0 {
            self.messages = self.messages.saturating_add(more).min(PLAIN_RATE);
            self.filled_ms = now_ms;
        }
    }

    /// Takes so many messages, all or none.
    pub fn take(&mut self, messages: usize) -> bool {
        let left = self.messages.checked_sub(messages as u64);
        self.messages = left.unwrap_or(self.messages);
        left.is_some()
    }
}
