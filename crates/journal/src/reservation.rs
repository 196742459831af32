//! How many offsets are reserved ahead. Pure: writes no file.

/// So many at first: what a broker that is killed at once leaves out.
const FEWEST: u64 = 1 << 12;
/// So many at most: at a million messages a second a reservation is written about once a second.
const MOST: u64 = 1 << 20;

/// Offsets below `end` may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reservation {
    end: u64,
    /// How many are reserved next time: twice as many each time, so that a quiet journal leaves out
    /// few, and a busy one seldom writes.
    ahead: u64,
}

impl Reservation {
    /// None beyond an offset.
    pub fn at(offset: u64) -> Self {
        Self { end: offset, ahead: FEWEST }
    }

    /// One past the last offset that may be given.
    pub fn end(self) -> u64 {
        self.end
    }

    /// The next reservation, where offsets up to `end` are not covered by this one.
    pub fn renewed_for(self, end: u64) -> Option<Self> {
        let renewed = Self { end: end + self.ahead, ahead: (self.ahead * 2).min(MOST) };
        (end > self.end).then_some(renewed)
    }

    /// The most that can have been reserved beyond the offsets that are in the journal, for when the
    /// file that says it cannot be read.
    pub fn most_after(end: u64) -> u64 {
        end + 2 * MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_grow_up_to_a_bound_and_are_seldom() {
        let mut reservation = Reservation::at(10);
        assert_eq!(reservation.renewed_for(10), None);
        let mut renewals = 0;
        for end in 11..3_000_011 {
            if let Some(renewed) = reservation.renewed_for(end) {
                reservation = renewed;
                renewals += 1;
            }
            assert!(reservation.end() >= end && reservation.end() <= end + MOST);
        }
        assert_eq!(renewals, 10);
    }
}
