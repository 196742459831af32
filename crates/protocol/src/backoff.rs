//! Whether a lost connection is made again, and when. Pure: the caller brings the time and a random number.
//!
//! The waits grow: each is a random part of 1 s, 2 s, 4 s, 8 s, 16 s, then of 30 s each time. For
//! example, a broker with 1000 clients restarts: about 500 of them connect within half a second, the rest
//! within a second, and not all at the same moment. After a reconnection the next bound is 2 s; after a
//! connection that lasted 30 s it is 1 s again.

use std::time::{Duration, Instant};

use crate::ConnectionLoss;

/// The bound of the first wait; each further bound is twice the one before.
const FIRST: Duration = Duration::from_secs(1);
/// No wait is longer. A connection that lasted as long makes the next wait a first one.
const LONGEST: Duration = Duration::from_secs(30);

/// The attempts since the last good connection.
#[derive(Debug)]
pub(super) struct ReconnectBackoff {
    /// How long to try after a loss; zero is not at all.
    limit: Duration,
    /// Whether each connection begins with a new token.
    renewed: bool,
    attempts: u32,
    opened: Option<Instant>,
    lost: Option<Instant>,
}

impl ReconnectBackoff {
    pub fn new(limit: Duration, renewed: bool) -> Self {
        Self { limit, renewed, attempts: 0, opened: None, lost: None }
    }

    /// The broker accepted the connection. The next wait is short, but not the shortest, so that a broker
    /// which accepts and then fails at once is not asked ever faster.
    pub fn opened(&mut self, now: Instant) {
        self.opened = Some(now);
        self.lost = None;
        self.attempts = self.attempts.min(1);
    }

    /// Whether there was a connection before.
    pub fn was_connected(&self) -> bool {
        self.opened.is_some()
    }

    /// Whether another connection may follow this loss, as far as it depends on the loss.
    pub fn may_follow(&self, loss: &ConnectionLoss) -> bool {
        let may_pass = loss.is_temporary() || (self.renewed && loss.is_end_of_proof());
        self.was_connected() && !self.limit.is_zero() && may_pass
    }

    /// The owner disconnects, or gives up; no connection is made again.
    pub fn stop(&mut self) {
        self.limit = Duration::ZERO;
    }

    /// How long to wait after this loss; `None` means to give up.
    pub fn wait(&mut self, loss: &ConnectionLoss, now: Instant, random: u32) -> Option<Duration> {
        let opened = self.opened?;
        let first = *self.lost.get_or_insert_with(|| {
            if now.saturating_duration_since(opened) >= LONGEST {
                self.attempts = 0;
            }
            now
        });
        if !self.may_follow(loss) || now.saturating_duration_since(first) >= self.limit {
            return None;
        }
        let most = (FIRST * 2u32.saturating_pow(self.attempts.min(16))).min(LONGEST);
        self.attempts += 1;
        Some(most.mul_f64(f64::from(random) / f64::from(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn open(limit: Duration, now: Instant) -> ReconnectBackoff {
        let mut retry = ReconnectBackoff::new(limit, false);
        retry.opened(now);
        retry
    }

    #[test]
    fn waits_grow_to_a_bound_and_are_random() {
        let now = Instant::now();
        let mut retry = open(Duration::MAX, now);
        let mut wait = |random| retry.wait(&ConnectionLoss::Closed, now, random).unwrap();
        assert_eq!(wait(u32::MAX), S);
        assert_eq!(wait(u32::MAX), 2 * S);
        assert!(wait(u32::MAX / 2) < 2 * S + S / 100);
        assert_eq!(wait(0), Duration::ZERO);
        assert_eq!(wait(u32::MAX), 16 * S);
        for _ in 0..100 {
            assert_eq!(wait(u32::MAX), 30 * S);
        }
    }

    #[test]
    fn after_a_connection_the_waits_are_short_again() {
        let now = Instant::now();
        let mut retry = open(Duration::MAX, now);
        for _ in 0..9 {
            retry.wait(&ConnectionLoss::Closed, now + S, 0);
        }
        retry.opened(now + S);
        assert_eq!(retry.wait(&ConnectionLoss::Closed, now + 2 * S, u32::MAX), Some(2 * S));
        retry.opened(now + 3 * S);
        assert_eq!(retry.wait(&ConnectionLoss::Closed, now + 99 * S, u32::MAX), Some(S));
    }

    #[test]
    fn the_client_gives_up_at_the_limit_and_if_another_try_cannot_help() {
        let now = Instant::now();
        let mut retry = open(10 * S, now);
        assert!(retry.wait(&ConnectionLoss::Closed, now + 100 * S, 0).is_some());
        assert!(retry.wait(&ConnectionLoss::Closed, now + 109 * S, 0).is_some());
        assert!(retry.wait(&ConnectionLoss::Closed, now + 110 * S, 0).is_none());
        let taken = slipring_wire::Reason::SessionTakenOver;
        let loss = ConnectionLoss::Disconnected { reason: taken, text: None };
        assert!(open(10 * S, now).wait(&loss, now, 0).is_none());
        let ended = slipring_wire::Reason::NotAuthorized;
        let loss = ConnectionLoss::Disconnected { reason: ended, text: None };
        assert!(open(10 * S, now).wait(&loss, now, 0).is_none());
        let mut renewed = ReconnectBackoff::new(10 * S, true);
        renewed.opened(now);
        assert!(renewed.wait(&loss, now, 0).is_some(), "a new token may be accepted");
        assert!(open(Duration::ZERO, now).wait(&ConnectionLoss::Closed, now, 0).is_none());
        assert!(
            ReconnectBackoff::new(10 * S, false).wait(&ConnectionLoss::Closed, now, 0).is_none(),
            "never connected"
        );
    }
}
