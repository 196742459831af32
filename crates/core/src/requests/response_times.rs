//! How soon a service answers: a mean with its spread for choosing, and percentiles for people.

/// Each new time moves the mean by this part of the difference.
const PART: i64 = 8;
/// Fewer times than this say little.
const KNOWN: u32 = 4;

/// The mean of the response times and how far they spread; recent ones count more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    count: u32,
    mean_us: i64,
    spread_us: i64,
}

impl Speed {
    /// Adds a response time.
    pub fn add(&mut self, time_us: u64) {
        let time_us = i64::try_from(time_us).unwrap_or(i64::MAX / 2).min(i64::MAX / 2);
        self.count = self.count.saturating_add(1);
        if self.count == 1 {
            (self.mean_us, self.spread_us) = (time_us, time_us / 2);
            return;
        }
        let apart = time_us - self.mean_us;
        self.mean_us += apart / PART;
        self.spread_us += (apart.abs() - self.spread_us) / PART;
    }

    /// The mean; 0 while there is none.
    pub fn mean_us(&self) -> u64 {
        self.mean_us.unsigned_abs()
    }

    /// Whether another one may well be as fast: their times overlap, or it is hardly known.
    pub fn is_like(&self, other: &Self) -> bool {
        other.count < KNOWN
            || self.count < KNOWN && other.mean_us <= self.mean_us
            || other.mean_us - other.spread_us <= self.mean_us + self.spread_us
    }
}

/// Four buckets for each power of two of microseconds.
const STEPS: u32 = 4;
const BUCKETS: usize = 40 * STEPS as usize;

/// The response times of a service, or of all, counted in four buckets for each doubling: a time is rounded up by a
/// quarter at most.
#[derive(Clone, Debug, Default)]
pub struct ResponseTimes {
    buckets: Box<[u32]>,
    count: u64,
}

impl ResponseTimes {
    /// Counts a response time.
    pub fn add(&mut self, time_us: u64) {
        if self.buckets.is_empty() {
            self.buckets = vec![0; BUCKETS].into();
        }
        let bucket = bucket_of(time_us);
        self.buckets[bucket] = self.buckets[bucket].saturating_add(1);
        self.count += 1;
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The time that so many of a thousand do not exceed, rounded up to the end of its bucket; None without any.
    pub fn quantile_us(&self, per_mille: u64) -> Option<u64> {
        let wanted = (self.count * per_mille).div_ceil(1_000).max(1);
        let mut seen = 0;
        let found = self.buckets.iter().position(|count| {
            seen += u64::from(*count);
            seen >= wanted
        });
        found.map(end_of)
    }
}

fn bucket_of(time_us: u64) -> usize {
    if time_us < u64::from(STEPS) {
        return time_us as usize;
    }
    let power = time_us.ilog2();
    let step = (time_us >> (power - 2)) & u64::from(STEPS - 1);
    let bucket = (power - 1) as usize * STEPS as usize + step as usize;
    bucket.min(BUCKETS - 1)
}

/// The last microsecond of a bucket.
fn end_of(bucket: usize) -> u64 {
    let (power, step) = (bucket / STEPS as usize, (bucket % STEPS as usize) as u64);
    if power == 0 {
        return step;
    }
    ((u64::from(STEPS) + step + 1) << (power - 1)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentiles_are_those_of_the_times() {
        let mut times = ResponseTimes::default();
        assert_eq!(times.quantile_us(500), None);
        (1..=1_000).for_each(|time| times.add(time));
        let (half, most) = (times.quantile_us(500).unwrap(), times.quantile_us(990).unwrap());
        assert!((500..=595).contains(&half) && (990..=1_200).contains(&most), "{half} {most}");
        assert_eq!(times.count(), 1_000);
    }

    #[test]
    fn a_mean_follows_what_changes() {
        let mut speed = Speed::default();
        (0..50).for_each(|_| speed.add(100));
        assert_eq!(speed.mean_us(), 100);
        (0..50).for_each(|_| speed.add(10_000));
        assert!(speed.mean_us() > 9_000);
    }

    proptest! {
        #[test]
        fn a_time_is_in_a_bucket_that_ends_at_most_a_quarter_later(time in 0u64..1 << 40) {
            let end = end_of(bucket_of(time));
            prop_assert!(end >= time && end - time <= time / 4, "{time} in a bucket to {end}");
        }
    }
}
