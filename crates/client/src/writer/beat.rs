//! The beat of a writer: ticks that are a period apart. A late caller does not shift them.

use std::time::{Duration, Instant};

/// The shortest period, except zero.
const PERIOD_MIN: Duration = Duration::from_millis(1);
/// The longest period.
const PERIOD_MAX: Duration = Duration::from_secs(10);

/// Ticks from a first one on; they do not drift, and missed ones are skipped. With a period of 20 ms,
/// the tick after 47 ms is 60 ms, and the one after 60 ms is 80 ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beat {
    period: Duration,
    first: Instant,
}

impl Beat {
    /// With a period of zero, every moment is a tick. Other periods are clamped to the bounds.
    pub fn new(period: Duration, first: Instant) -> Self {
        let bounded = period.clamp(PERIOD_MIN, PERIOD_MAX);
        Self { period: if period.is_zero() { period } else { bounded }, first }
    }

    /// The first tick after this moment.
    pub fn after(&self, now: Instant) -> Instant {
        let since = now.saturating_duration_since(self.first).as_nanos();
        let period = self.period.as_nanos();
        let Some(behind) = since.checked_rem(period) else { return now };
        now + Duration::from_nanos((period - behind) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn ticks_are_a_period_apart_even_for_a_late_caller() {
        let first = Instant::now();
        let beat = Beat::new(20 * MS, first);
        let mut tick = beat.after(first);
        assert_eq!(tick, first + 20 * MS);
        for number in 2..1000 {
            tick = beat.after(tick + 7 * MS);
            assert_eq!(tick, first + number * 20 * MS);
        }
    }

    #[test]
    fn ticks_that_were_missed_are_skipped() {
        let first = Instant::now();
        let beat = Beat::new(20 * MS, first);
        assert_eq!(beat.after(first + 1_000_003 * MS), first + 1_000_020 * MS);
    }

    #[test]
    fn without_a_period_every_moment_is_a_tick() {
        let first = Instant::now();
        assert_eq!(Beat::new(Duration::ZERO, first).after(first + MS), first + MS);
    }

    #[test]
    fn a_period_stays_within_its_bounds() {
        let first = Instant::now();
        assert_eq!(Beat::new(Duration::from_nanos(1), first).after(first), first + MS);
        assert_eq!(Beat::new(Duration::from_secs(99), first).after(first), first + PERIOD_MAX);
    }
}
