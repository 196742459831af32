//! Jumps of the wall clock while the broker runs, so that no message ages by them.
//!
//! Example: message 9 came at 12:00 by the wall clock. At 12:01 somebody sets the clock to 13:01; message 10 is
//! the first after that. At 13:02 message 9 is read back from the journal: 62 minutes old by the wall clock,
//! of which `since(9)` says that 60 are the jump. Message 10 is as old as the wall clock says.

use std::sync::Mutex;

use slipring_core::Offset;

use crate::clock::Clock;
use crate::locks::lock;

/// A smaller difference between the two clocks is drift, not a jump.
const JUMP_NS: i64 = 500_000_000;
/// Jumps remembered; the oldest is forgotten first.
const JUMPS_MAX: usize = 64;

/// Compares the wall clock with the one that never jumps.
#[derive(Debug)]
pub(crate) struct Jumps {
    clock: Clock,
    /// See [`start_ns`]; as the wall clock was set when the broker started.
    start_ns: i64,
    // A lock: taken once a second, and when messages are read back from the journal.
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// How far the wall clock has jumped since the start, in all.
    ahead_ns: i64,
    /// The first offset after each jump, and how far it went.
    jumps: Vec<(Offset, i64)>,
}

impl Jumps {
    pub fn new(clock: Clock) -> Self {
        Self { start_ns: start_ns(&clock), clock, seen: Mutex::default() }
    }

    /// Compares both clocks; `next_offset` is the next message's number in the journal.
    pub fn look(&self, next_offset: Offset) {
        self.note(next_offset, start_ns(&self.clock).saturating_sub(self.start_ns));
    }

    fn note(&self, next_offset: Offset, ahead_ns: i64) {
        let mut seen = lock(&self.seen);
        let jump_ns = ahead_ns.saturating_sub(seen.ahead_ns);
        if jump_ns.abs() > JUMP_NS {
            if seen.jumps.len() == JUMPS_MAX {
                seen.jumps.remove(0);
            }
            seen.jumps.push((next_offset, jump_ns));
            seen.ahead_ns = ahead_ns;
        }
    }

    /// How far the clock has jumped since the message with this offset came.
    pub fn since(&self, offset: Offset) -> i64 {
        let seen = lock(&self.seen);
        let after = seen.jumps.iter().filter(|(first, _)| offset < *first);
        after.map(|(_, jump_ns)| jump_ns).sum()
    }
}

/// When the broker started, as the wall clock is set now.
fn start_ns(clock: &Clock) -> i64 {
    let uptime_ns = i64::try_from(clock.uptime().as_nanos()).unwrap_or(i64::MAX);
    clock.now_ns().saturating_sub(uptime_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_what_came_before_a_jump_is_older_by_it() {
        let clock = Clock::simulated(0);
        let jumps = Jumps::new(clock.clone());
        for (first, jump_ns) in
            [(10, 3_600_000_000_000), (20, 100_000_000), (30, -3_600_100_000_000)]
        {
            clock.jump(jump_ns);
            jumps.look(Offset::new(first));
        }
        assert_eq!(jumps.since(Offset::new(9)), 0, "forth and back again");
        assert_eq!(jumps.since(Offset::new(10)), -3_600_000_000_000);
        assert_eq!(jumps.since(Offset::new(30)), 0);
    }
}
