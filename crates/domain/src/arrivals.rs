//! Which messages of each origin have been taken, so that none is taken twice. Never forgets one that could count as
//! new again.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::BrokerId;
use crate::arrival_window::ArrivalWindow;
use crate::bounds::BROKERS_MAX;
#[cfg(test)]
use crate::tests::planted_bug::{PlantedBug, is_planted};

/// How many lost ranges wait to be told; further numbers are only counted.
const LOST_RANGES_MAX: usize = 1_024;

/// Where and when a message entered the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageOrigin {
    /// The broker that it entered at.
    pub broker: BrokerId,
    /// Which start of that broker.
    pub start: u64,
    /// Its number among the messages of that start.
    pub number: u64,
}

/// Whether a message is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageArrival {
    /// It is here for the first time.
    New,
    /// It was taken before.
    Repeated,
    /// So much has come since that nobody knows whether it was taken. Its number was told as lost if it was not.
    TooLate,
    /// So many origins are remembered that there is no room for another.
    NoRoom,
}

/// Numbers of one origin that did not arrive, and will not be taken any more. Messages that nobody wanted here were
/// never sent here, and are among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRange {
    /// The broker that they entered at.
    pub origin: BrokerId,
    /// Which start of that broker.
    pub start: u64,
    /// The numbers.
    pub numbers: Range<u64>,
}

/// The numbers that have been taken, by origin.
#[derive(Debug)]
pub struct Arrivals {
    window: usize,
    origins: BTreeMap<BrokerId, ArrivalWindow>,
    lost: VecDeque<LostRange>,
    untold: u64,
}

impl Arrivals {
    /// Tells numbers apart that are less than so many behind the greatest one; rounded up to a multiple of 64.
    pub fn new(window: usize) -> Self {
        Self { window, origins: BTreeMap::new(), lost: VecDeque::new(), untold: 0 }
    }

    /// Takes a message if it is new. The first number of an origin says where its numbers begin: what is before it is
    /// taken if it comes, and not missed if it does not.
    pub fn take(&mut self, message: MessageOrigin) -> MessageArrival {
        let MessageOrigin { broker: origin, start, number } = message;
        let has_room = self.origins.len() < BROKERS_MAX;
        let window = match self.origins.get_mut(&origin) {
            Some(window) => window,
            None if !has_room => return MessageArrival::NoRoom,
            None => self.origins.entry(origin).or_insert(ArrivalWindow::new(start, self.window)),
        };
        if start < window.start() {
            return MessageArrival::TooLate;
        }
        let mut lost = Vec::new();
        if start > window.start() {
            let ended = std::mem::replace(window, ArrivalWindow::new(start, self.window));
            ended.end(&mut |numbers| lost.push((ended.start(), numbers)));
        }
        let arrival = window.take(number, &mut |numbers| lost.push((start, numbers)));
        for (start, numbers) in lost {
            self.lose(LostRange { origin, start, numbers });
        }
        #[cfg(test)]
        if is_planted(PlantedBug::RepeatsTaken) {
            return MessageArrival::New;
        }
        arrival
    }

    /// Numbers that are lost, if there are some that were not told.
    pub fn poll_lost(&mut self) -> Option<LostRange> {
        self.lost.pop_front()
    }

    /// How many numbers were lost that [`poll_lost`](Self::poll_lost) does not tell, because too many ranges waited.
    pub fn untold(&self) -> u64 {
        self.untold
    }

    /// Forgets an origin: all its numbers are new again.
    pub fn forget(&mut self, origin: BrokerId) {
        self.origins.remove(&origin);
    }

    fn lose(&mut self, range: LostRange) {
        if let Some(last) = self.lost.back_mut() {
            let is_same = last.origin == range.origin && last.start == range.start;
            if is_same && last.numbers.end == range.numbers.start {
                last.numbers.end = range.numbers.end;
                return;
            }
        }
        if self.lost.len() == LOST_RANGES_MAX {
            self.untold += range.numbers.end - range.numbers.start;
            return;
        }
        self.lost.push_back(range);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::strategies_tests::broker;

    const WINDOW: u64 = 128;

    fn message(start: u64, number: u64) -> MessageOrigin {
        MessageOrigin { broker: broker(1), start, number }
    }

    /// Numbers near each other, with a leap now and then.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let step = prop_oneof![8 => -140..20i64, 4 => 1..4i64, 1 => 0..400i64];
        prop::collection::vec(step, 1..200).prop_map(|steps| {
            let mut greatest = 200i64;
            let of = |step: i64| {
                let number = greatest + step;
                greatest = greatest.max(number);
                number.unsigned_abs()
            };
            steps.into_iter().map(of).collect()
        })
    }

    fn all_lost(arrivals: &mut Arrivals) -> Vec<u64> {
        std::iter::from_fn(|| arrivals.poll_lost()).flat_map(|range| range.numbers).collect()
    }

    proptest! {
        #[test]
        fn it_equals_a_set_of_all_numbers_as_far_as_the_window_reaches(numbers in numbers()) {
            let mut arrivals = Arrivals::new(WINDOW as usize);
            let (mut taken, mut greatest, first) = (BTreeSet::new(), 0, numbers[0]);
            for number in numbers {
                greatest = greatest.max(number);
                let expected = if number + WINDOW <= greatest {
                    MessageArrival::TooLate
                } else if taken.insert(number) {
                    MessageArrival::New
                } else {
                    MessageArrival::Repeated
                };
                prop_assert_eq!(arrivals.take(message(1, number)), expected, "{}", number);
            }
            let lost: Vec<u64> =
                (first..=greatest.saturating_sub(WINDOW)).filter(|number| !taken.contains(number)).collect();
            prop_assert_eq!(all_lost(&mut arrivals), lost);
        }
    }

    #[test]
    fn a_later_start_begins_anew_and_ends_the_earlier_one() {
        let mut arrivals = Arrivals::new(WINDOW as usize);
        assert_eq!(arrivals.take(message(1, 10)), MessageArrival::New);
        assert_eq!(arrivals.take(message(1, 12)), MessageArrival::New);
        assert_eq!(arrivals.take(message(2, 10)), MessageArrival::New);
        assert_eq!(arrivals.take(message(1, 11)), MessageArrival::TooLate);
        assert_eq!(arrivals.take(message(2, 10)), MessageArrival::Repeated);
        let lost = LostRange { origin: broker(1), start: 1, numbers: 11..12 };
        assert_eq!(arrivals.poll_lost(), Some(lost));
        assert_eq!(arrivals.poll_lost(), None);
    }

    #[test]
    fn the_greatest_number_is_never_taken_twice() {
        let mut arrivals = Arrivals::new(WINDOW as usize);
        assert_eq!(arrivals.take(message(1, 0)), MessageArrival::New);
        assert_eq!(arrivals.take(message(1, u64::MAX - 1)), MessageArrival::New);
        assert_eq!(arrivals.take(message(1, u64::MAX)), MessageArrival::TooLate);
        assert_eq!(arrivals.take(message(1, u64::MAX - 1)), MessageArrival::Repeated);
        assert_eq!(arrivals.take(message(1, 0)), MessageArrival::TooLate);
    }

    #[test]
    fn further_origins_than_there_can_be_brokers_are_refused() {
        let mut arrivals = Arrivals::new(1);
        let of = |number: u32| {
            let mut bytes = [0; BrokerId::BYTES];
            bytes[..4].copy_from_slice(&number.to_be_bytes());
            MessageOrigin { broker: BrokerId::from_bytes(bytes), start: 1, number: 1 }
        };
        for number in 0..BROKERS_MAX as u32 {
            assert_eq!(arrivals.take(of(number)), MessageArrival::New);
        }
        assert_eq!(arrivals.take(of(BROKERS_MAX as u32)), MessageArrival::NoRoom);
        arrivals.forget(of(0).broker);
        assert_eq!(arrivals.take(of(BROKERS_MAX as u32)), MessageArrival::New);
    }

    #[test]
    fn lost_ranges_that_nobody_fetches_are_counted() {
        let mut arrivals = Arrivals::new(64);
        for number in 0..10_000 {
            arrivals.take(message(1, number * 2));
        }
        let told = all_lost(&mut arrivals).len() as u64;
        assert_eq!(told, LOST_RANGES_MAX as u64);
        assert_eq!(told + arrivals.untold(), 9_999 - 32);
    }
}
