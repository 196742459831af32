//! Numbers that repeat, as places among those that differ.

const NONE: u32 = u32::MAX;
/// More different numbers are not worth a dictionary; and a place has 16 bits.
const DIFFERENT_MAX: usize = 1 << 15;

/// The numbers that differ, in the order in which they come, and for each row its place among them.
pub(super) struct Codes<T> {
    pub values: Vec<T>,
    pub places: Vec<u16>,
}

fn different_max(rows: usize) -> usize {
    (rows / 4).clamp(1, DIFFERENT_MAX)
}

/// Times, which may be any numbers. None if few repeat.
pub(super) fn time_codes(times: &[i64]) -> Option<Codes<i64>> {
    let most = different_max(times.len());
    let mut table = PlaceTable::new(most);
    let mut codes = Codes { values: Vec::new(), places: Vec::with_capacity(times.len()) };
    // The times of a parameter are mostly those of the one before it, in the same order.
    let mut next = 0;
    for time in times {
        if codes.values.get(next) != Some(time) {
            next = table.place(*time, &mut codes.values);
            if codes.values.len() > most {
                return None;
            }
        }
        codes.places.push(next as u16);
        next += 1;
    }
    Some(codes)
}

/// Numbers below `count`. None if few repeat.
pub(super) fn small_codes(
    numbers: impl ExactSizeIterator<Item = u32>,
    count: usize,
) -> Option<Codes<u32>> {
    let most = different_max(numbers.len());
    let mut known = vec![NONE; count];
    let mut codes = Codes { values: Vec::new(), places: Vec::with_capacity(numbers.len()) };
    for number in numbers {
        let place = &mut known[number as usize];
        if *place == NONE {
            if codes.values.len() == most {
                return None;
            }
            *place = codes.values.len() as u32;
            codes.values.push(number);
        }
        codes.places.push(*place as u16);
    }
    Some(codes)
}

/// Finds the place of a number by its hash.
struct PlaceTable {
    /// A power of two.
    slots: Vec<u32>,
}

impl PlaceTable {
    /// With room for one more than `most`.
    fn new(most: usize) -> Self {
        Self { slots: vec![NONE; (2 * most + 2).next_power_of_two()] }
    }

    /// The place of a number; a new one is appended.
    fn place(&mut self, number: i64, values: &mut Vec<i64>) -> usize {
        // Fibonacci hashing: the high bits depend on all others.
        let hash = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mut at = hash as usize & (self.slots.len() - 1);
        loop {
            let place = self.slots[at] as usize;
            if self.slots[at] == NONE {
                self.slots[at] = values.len() as u32;
                values.push(number);
                return values.len() - 1;
            }
            if values[place] == number {
                return place;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn codes_stand_for_the_numbers(
            different in prop::collection::vec(any::<i64>(), 1..20),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 100..300)
        ) {
            let times: Vec<i64> = picks.iter().map(|pick| *pick.get(&different)).collect();
            let codes = time_codes(&times).unwrap();
            let found: Vec<i64> = codes.places.iter().map(|at| codes.values[usize::from(*at)]).collect();
            prop_assert_eq!(found, times);
            let numbers: Vec<u32> = picks.iter().map(|pick| pick.index(20) as u32).collect();
            let codes = small_codes(numbers.iter().copied(), 20).unwrap();
            let found: Vec<u32> = codes.places.iter().map(|at| codes.values[usize::from(*at)]).collect();
            prop_assert_eq!(found, numbers);
        }
    }

    #[test]
    fn numbers_that_differ_have_no_codes() {
        let times: Vec<i64> = (0..1_000).collect();
        assert!(time_codes(&times).is_none());
        assert!(small_codes((0..1_000).map(|at| at as u32), 1_000).is_none());
    }
}
