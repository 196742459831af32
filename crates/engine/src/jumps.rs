//! Jumps of the clock on the wall while the broker runs, so that nothing ages by them.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::event::now_ns;

/// A difference below this is how clocks run, not a jump.
const JUMP_NS: i64 = 500_000_000;
/// Jumps remembered; of older ones nothing is known.
const JUMPS_MAX: usize = 64;

/// The clock on the wall beside one that never jumps.
#[derive(Debug)]
pub(crate) struct Jumps {
    began: Instant,
    began_ns: i64,
    // A lock: taken once a second, and when messages are read back from the journal.
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// How far the clock on the wall is ahead.
    ahead_ns: i64,
    /// The first offset after each jump, and how far it went.
    jumps: Vec<(u64, i64)>,
}

impl Jumps {
    pub fn new() -> Self {
        Self { began: Instant::now(), began_ns: now_ns(), seen: Mutex::default() }
    }

    /// Looks at both clocks; `next_offset` is the next message's number in the journal.
    pub fn look(&self, next_offset: u64) {
        let elapsed_ns = i64::try_from(self.began.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let ahead_ns = now_ns().saturating_sub(self.began_ns).saturating_sub(elapsed_ns);
        self.note(next_offset, ahead_ns);
    }

    fn note(&self, next_offset: u64, ahead_ns: i64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let jump_ns = ahead_ns.saturating_sub(seen.ahead_ns);
        if jump_ns.abs() > JUMP_NS {
            if seen.jumps.len() == JUMPS_MAX {
                seen.jumps.remove(0);
            }
            seen.jumps.push((next_offset, jump_ns));
            seen.ahead_ns = ahead_ns;
        }
    }

    /// How far the clock has jumped since the message with this number came.
    pub fn since(&self, offset: u64) -> i64 {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let after = seen.jumps.iter().filter(|(first, _)| offset < *first);
        after.map(|(_, jump_ns)| jump_ns).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_before_a_jump_is_older_by_it() {
        let jumps = Jumps::new();
        jumps.note(10, 3_600_000_000_000);
        jumps.note(20, 3_600_100_000_000);
        jumps.note(30, 0);
        assert_eq!(jumps.since(9), 0, "forth and back again");
        assert_eq!(jumps.since(10), -3_600_000_000_000);
        assert_eq!(jumps.since(30), 0);
    }
}
