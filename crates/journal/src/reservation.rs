//! How many offsets are reserved ahead of the messages that are written. Pure: writes no file.
//!
//! An example: a broker starts at offset 1,000, and its first write holds the messages 1,000 to 1,499.
//! Before that write the file `reserved` says 5,596, which is 1,500 and 4,096 more. Then the power fails,
//! and the disk has kept only 200 of the messages, though a subscriber may have seen all 500. Recovery
//! keeps 1,000 to 1,199 and goes on at 5,596, so that no offset ever names two messages. After a clean
//! close `reserved` says 1,500, and the next start leaves no gap.

/// Offsets reserved at first: the gap that a broker leaves when it is killed right after its start.
const FEWEST: u64 = 1 << 12;
/// Offsets reserved at most: at a million messages a second, about one reservation a second is written.
const MOST: u64 = 1 << 20;

/// Offsets that messages may get before the next reservation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reservation {
    /// One past the last offset that may be given.
    pub end: u64,
    /// How many to reserve next. It doubles each time: a quiet journal leaves small gaps, and a busy one
    /// writes few reservations.
    ahead: u64,
}

impl Reservation {
    /// Nothing is reserved beyond an offset.
    pub fn at(offset: u64) -> Self {
        Self { end: offset, ahead: FEWEST }
    }

    /// The next reservation; `None` if this one covers the offsets up to `end`.
    pub fn renewed_for(self, end: u64) -> Option<Self> {
        let renewed = Self { end: end + self.ahead, ahead: (self.ahead * 2).min(MOST) };
        (end > self.end).then_some(renewed)
    }

    /// The largest end that can have been reserved for a journal that reaches up to `end`. For when the
    /// file `reserved` cannot be read.
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
            assert!(reservation.end >= end && reservation.end <= end + MOST);
        }
        assert_eq!(renewals, 10);
    }
}
