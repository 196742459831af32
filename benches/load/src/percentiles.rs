//! Percentiles of times. Pure.

/// Sorted times.
pub struct Percentiles {
    sorted_ns: Vec<u64>,
}

impl Percentiles {
    pub fn of(mut times_ns: Vec<u64>) -> Self {
        times_ns.sort_unstable();
        Self { sorted_ns: times_ns }
    }

    /// The mean; 0 if there are no times.
    pub fn mean(&self) -> u64 {
        let sum: u128 = self.sorted_ns.iter().map(|time| u128::from(*time)).sum();
        (sum / (self.sorted_ns.len().max(1) as u128)) as u64
    }

    /// The smallest time that at least `share` of a thousand times do not exceed; 0 if there are none.
    pub fn per_mille(&self, share: usize) -> u64 {
        let rank = (self.sorted_ns.len() * share).div_ceil(1_000);
        self.sorted_ns.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_time_that_so_many_do_not_exceed() {
        let percentiles = Percentiles::of((1..=1_000).rev().collect());
        assert_eq!((percentiles.per_mille(500), percentiles.mean()), (500, 500));
        assert_eq!(percentiles.per_mille(990), 990);
        assert_eq!(percentiles.per_mille(1_000), 1_000);
    }

    #[test]
    fn few_times_have_percentiles_too() {
        assert_eq!(Percentiles::of(vec![7]).per_mille(500), 7);
        assert_eq!(Percentiles::of(vec![7, 9]).per_mille(990), 9);
        assert_eq!(Percentiles::of(vec![]).per_mille(990), 0);
    }
}
