//! Which of two records of one broker is newer.

/// The version of a broker's record: the newest wins. A broker that lost its state begins to count again, but with a
/// later start, so that whatever it says is newer than all that it said before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordVersion {
    // The order of the fields is the order of versions.
    start: u64,
    counter: u64,
}

impl RecordVersion {
    /// The version with this number, in this start of the broker.
    pub const fn new(start: u64, counter: u64) -> Self {
        Self { start, counter }
    }

    /// Which start of the broker wrote it.
    pub const fn start(self) -> u64 {
        self.start
    }

    /// How many versions that start wrote before it.
    pub const fn counter(self) -> u64 {
        self.counter
    }

    /// The version after this one, in the same start.
    #[must_use]
    pub const fn next(self) -> Self {
        Self { counter: self.counter + 1, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::RecordVersion;

    #[test]
    fn a_later_start_wins_however_far_the_earlier_one_counted() {
        assert!(RecordVersion::new(2, 0) > RecordVersion::new(1, u64::MAX));
        assert!(RecordVersion::new(2, 0).next() > RecordVersion::new(2, 0));
    }
}
