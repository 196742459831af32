//! How fast something may come: a bucket that fills at a rate. Pure: takes now.

use crate::Millis;

/// Thousandths, so that slow rates fill evenly.
const PARTS: i64 = 1_000;
/// Seconds of a rate that may be owed at most.
const DEBT_S: i64 = 60;

/// A bucket that holds what may come at once: at most what comes in a second at its rate. What is taken beyond that is
/// owed, and filled up first.
///
/// An example: at 100 a second, 300 come at once. 100 were there, so 200 are owed, and nothing more may come for 2 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateBucket {
    per_s: i64,
    parts: i64,
    at_ms: Millis,
}

impl RateBucket {
    /// A full bucket.
    pub fn new(per_s: usize, now_ms: Millis) -> Self {
        let per_s = i64::try_from(per_s).unwrap_or(i64::MAX).clamp(1, i64::MAX / PARTS / DEBT_S);
        Self { per_s, parts: per_s * PARTS, at_ms: now_ms }
    }

    /// Whether it has this rate.
    pub fn is_of(&self, per_s: usize) -> bool {
        Self::new(per_s, 0).per_s == self.per_s
    }

    fn fill(&mut self, now_ms: Millis) {
        let passed_ms = i64::try_from(now_ms.saturating_sub(self.at_ms)).unwrap_or(i64::MAX);
        self.at_ms = self.at_ms.max(now_ms);
        let filled = self.parts.saturating_add(passed_ms.saturating_mul(self.per_s));
        self.parts = filled.min(self.per_s * PARTS);
    }

    /// How much may come now.
    pub fn allowed(&mut self, now_ms: Millis) -> u64 {
        self.fill(now_ms);
        u64::try_from(self.parts / PARTS).unwrap_or(0)
    }

    /// Whether it has all that may be in it.
    pub fn is_full(&mut self, now_ms: Millis) -> bool {
        self.fill(now_ms);
        self.parts == self.per_s * PARTS
    }

    /// Takes what came.
    pub fn take(&mut self, amount: u64, now_ms: Millis) {
        self.fill(now_ms);
        let amount = i64::try_from(amount).unwrap_or(i64::MAX).saturating_mul(PARTS);
        self.parts = self.parts.saturating_sub(amount).max(-DEBT_S * self.per_s * PARTS);
    }

    /// Milliseconds until one may come; 0 if it may now.
    pub fn wait_ms(&self) -> Millis {
        let missing = (PARTS - self.parts).max(0);
        Millis::try_from((missing + self.per_s - 1) / self.per_s).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_owed_is_filled_up_first() {
        let mut bucket = RateBucket::new(100, 0);
        assert_eq!((bucket.allowed(0), bucket.wait_ms()), (100, 0));
        bucket.take(300, 0);
        assert_eq!((bucket.allowed(0), bucket.wait_ms()), (0, 2_010));
        assert_eq!(bucket.allowed(2_009), 0);
        assert_eq!(bucket.allowed(2_010), 1);
        assert_eq!(bucket.allowed(1_000_000), 100, "no more than a second's worth");
    }

    #[test]
    fn a_bucket_of_the_largest_rate_and_a_clock_that_goes_back_do_no_harm() {
        let mut bucket = RateBucket::new(usize::MAX, 10);
        bucket.take(u64::MAX, 20);
        bucket.take(1, 0);
        assert!(bucket.wait_ms() <= 61_000);
        assert!(bucket.allowed(Millis::MAX) > 0);
    }

    proptest! {
        #[test]
        fn no_more_than_the_rate_passes_in_any_time(
            per_s in 1_usize..1_000,
            steps in prop::collection::vec((0_u64..500, 0_u64..300), 1..100),
        ) {
            let mut bucket = RateBucket::new(per_s, 0);
            let (mut now_ms, mut passed) = (0, 0);
            for (wait_ms, wanted) in steps {
                now_ms += wait_ms;
                let taken = wanted.min(bucket.allowed(now_ms));
                bucket.take(taken, now_ms);
                passed += taken;
                prop_assert!(passed <= per_s as u64 * (now_ms + 1_000) / 1_000);
            }
        }
    }
}
