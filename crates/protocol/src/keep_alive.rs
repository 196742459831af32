//! When to ping, and when to give up a silent broker. The caller brings the time; never reads a clock.

use std::time::{Duration, Instant};

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeepAliveAction {
    Nothing,
    Ping,
    Dead,
}

/// How long each side of a connection has been silent.
///
/// With an interval of 30 s: if nothing was sent for 30 s, a ping is due, so that the broker does not
/// give this client up (MQTT-3.1.2-20). If nothing came for 30 s, a ping is due as well; if nothing
/// comes for another 30 s, the broker is dead. While the driver does not read, because the inbox is
/// full, the broker's silence means nothing, and only our own counts.
#[derive(Debug)]
pub(super) struct KeepAlive {
    interval: Option<Duration>,
    sent: Instant,
    heard: Instant,
    asked: Option<Instant>,
    reading: bool,
}

impl KeepAlive {
    /// An interval of 0 s is none (MQTT 5, 3.1.2.10).
    pub fn new(interval_s: u16, now: Instant) -> Self {
        let interval = (interval_s > 0).then(|| Duration::from_secs(interval_s.into()));
        Self { interval, sent: now, heard: now, asked: None, reading: true }
    }

    pub fn sent(&mut self, now: Instant) {
        self.sent = now;
    }

    pub fn heard(&mut self, now: Instant) {
        self.heard = now;
        self.asked = None;
    }

    /// A PINGREQ is on its way.
    pub fn asked(&mut self, now: Instant) {
        self.sent = now;
        self.asked.get_or_insert(now);
    }

    /// Whether the driver reads the socket from now on.
    pub fn set_reading(&mut self, reading: bool, now: Instant) {
        if reading && !self.reading {
            self.heard = now;
            self.asked = self.asked.map(|_| now);
        }
        self.reading = reading;
    }

    pub fn deadline(&self) -> Option<Instant> {
        let interval = self.interval?;
        let ours = self.sent + interval;
        if !self.reading {
            return Some(ours);
        }
        Some(ours.min(self.asked.unwrap_or(self.heard) + interval))
    }

    pub fn due(&self, now: Instant) -> KeepAliveAction {
        let Some(interval) = self.interval else { return KeepAliveAction::Nothing };
        let over = |since: Instant| now.saturating_duration_since(since) >= interval;
        match self.asked {
            Some(asked) if self.reading && over(asked) => KeepAliveAction::Dead,
            None if self.reading && over(self.heard) => KeepAliveAction::Ping,
            _ if over(self.sent) => KeepAliveAction::Ping,
            _ => KeepAliveAction::Nothing,
        }
    }

    /// How long the peer has been silent.
    pub fn silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn a_silent_peer_is_asked_once_and_then_given_up() {
        let start = Instant::now();
        let mut alive = KeepAlive::new(10, start);
        assert_eq!(alive.due(start + 9 * S), KeepAliveAction::Nothing);
        assert_eq!(alive.due(start + 10 * S), KeepAliveAction::Ping);
        alive.asked(start + 10 * S);
        assert_eq!(alive.deadline(), Some(start + 20 * S));
        assert_eq!(alive.due(start + 20 * S), KeepAliveAction::Dead);
    }

    #[test]
    fn publishing_all_the_time_does_not_hide_a_dead_peer() {
        let start = Instant::now();
        let mut alive = KeepAlive::new(10, start);
        alive.sent(start + 9 * S);
        assert_eq!(alive.due(start + 10 * S), KeepAliveAction::Ping);
    }

    #[test]
    fn anything_heard_counts_as_an_answer() {
        let start = Instant::now();
        let mut alive = KeepAlive::new(10, start);
        alive.asked(start + 10 * S);
        alive.heard(start + 15 * S);
        assert_eq!(alive.due(start + 19 * S), KeepAliveAction::Nothing);
        assert_eq!(alive.due(start + 20 * S), KeepAliveAction::Ping);
    }

    #[test]
    fn a_client_that_does_not_read_keeps_pinging_and_does_not_give_up_the_broker() {
        let start = Instant::now();
        let mut alive = KeepAlive::new(10, start);
        alive.set_reading(false, start);
        alive.asked(start + 10 * S);
        assert_eq!(alive.due(start + 20 * S), KeepAliveAction::Ping);
        alive.asked(start + 20 * S);
        alive.set_reading(true, start + 100 * S);
        assert_eq!(alive.due(start + 105 * S), KeepAliveAction::Ping);
        alive.asked(start + 105 * S);
        assert_eq!(alive.due(start + 110 * S), KeepAliveAction::Dead);
    }

    #[test]
    fn an_interval_of_zero_means_no_pings() {
        let start = Instant::now();
        let alive = KeepAlive::new(0, start);
        assert_eq!(alive.deadline(), None);
        assert_eq!(alive.due(start + 9999 * S), KeepAliveAction::Nothing);
    }
}
