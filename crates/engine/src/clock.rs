//! The broker's one clock. Everything in the engine that reads the time or waits for it asks here, so that a
//! simulation can move it.
//!
//! It shows two times. `now_ms` and `now` never go back: timers use them. `now_ns` is the wall clock, for records,
//! messages and comparisons with other machines; it may jump.

#![expect(clippy::disallowed_methods, reason = "the one place where the time is read")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use slipring_core::Millis;
use slipring_core::table::ClockReading;
use tokio::time::{Instant, Sleep};

/// Cheap to clone; all clones show the same time.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    started: Instant,
    /// What the simulated wall clock showed at the start, plus its jumps since; None reads the system's clock.
    wall_ns: Option<Arc<AtomicI64>>,
}

impl Clock {
    /// The system's clock, for a broker that starts now.
    pub fn start() -> Self {
        Self { started: Instant::now(), wall_ns: None }
    }

    /// A clock that the runtime's paused time moves, and whose wall clock shows `wall_ns` now.
    #[cfg(any(test, feature = "sim"))]
    pub fn simulated(wall_ns: i64) -> Self {
        Self { started: Instant::now(), wall_ns: Some(Arc::new(AtomicI64::new(wall_ns))) }
    }

    /// Moves the simulated wall clock, forward or back.
    #[cfg(any(test, feature = "sim"))]
    pub fn jump(&self, by_ns: i64) {
        let wall_ns = self.wall_ns.as_ref().expect("only a simulated clock can be moved");
        wall_ns.fetch_add(by_ns, Ordering::Relaxed);
    }

    #[inline]
    pub fn now(&self) -> Instant {
        self.started + self.uptime()
    }

    /// How long the broker has been up.
    #[inline]
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Milliseconds since the start.
    #[inline]
    pub fn now_ms(&self) -> Millis {
        self.uptime().as_millis() as Millis
    }

    /// Nanoseconds since 1970 by the wall clock.
    #[inline]
    pub fn now_ns(&self) -> i64 {
        if let Some(wall_ns) = &self.wall_ns {
            return wall_ns.load(Ordering::Relaxed) + self.uptime().as_nanos() as i64;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }

    /// Milliseconds since `at_ns` by the wall clock; 0 if the clock was set back since.
    pub fn age_ms(&self, at_ns: i64) -> Millis {
        u64::try_from(self.now_ns().saturating_sub(at_ns)).unwrap_or(0) / 1_000_000
    }

    /// Both times now, for the table.
    pub fn arrival(&self) -> ClockReading {
        self.arrival_at(self.now_ns())
    }

    /// Both times for a batch that came at `now_ns`.
    #[inline]
    pub fn arrival_at(&self, now_ns: i64) -> ClockReading {
        ClockReading { now_ms: self.now_ms(), now_ns }
    }

    /// Waits until so many milliseconds after the start.
    pub fn sleep_until(&self, at_ms: Millis) -> Sleep {
        tokio::time::sleep_until(self.started + Duration::from_millis(at_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_simulated_clock_moves_with_the_paused_runtime_and_its_wall_clock_jumps() {
        let clock = Clock::simulated(1_000_000_000);
        clock.sleep_until(2_500).await;
        assert_eq!((clock.now_ms(), clock.now_ns()), (2_500, 3_500_000_000));
        clock.clone().jump(-1_500_000_000);
        assert_eq!((clock.now_ms(), clock.now_ns()), (2_500, 2_000_000_000));
        assert_eq!(clock.age_ms(500_000_000), 1_500);
        assert_eq!(clock.age_ms(9_000_000_000), 0, "it is still to come");
    }
}
