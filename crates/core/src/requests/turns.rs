//! Whose turn it is among requests of several priorities: the higher go first, but none waits for ever.

use crate::Priority;

/// Of so many requests, one is of a lower priority, if one waits.
const LOWER_EACH: u32 = 16;

/// A request of each priority, by its number: the next one that waits, if one does.
pub(super) type Heads<T> = [Option<T>; 3];

/// By their numbers.
pub(super) const LEVELS: [Priority; 3] = [Priority::Low, Priority::Normal, Priority::High];

/// Counts what was taken.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Taken since the last one of a lower priority.
    higher: u32,
    /// Whether the one between has the next turn of the lower ones, not the lowest.
    is_between: bool,
}

impl Turns {
    /// The turns of a service that has come after so many others. Each begins at another place: also services that take
    /// only a few requests take one of a lower priority now and then.
    pub(super) fn after(others: u32) -> Self {
        let is_between = others / LOWER_EACH % 2 == 1;
        Self { higher: others % LOWER_EACH, is_between }
    }

    /// Takes one of the requests that wait: of the highest priority, or in its turn of a lower one, the lowest and the
    /// one between by turns. If no lower one waits, the turn stays until one does.
    pub(super) fn take<T>(&mut self, heads: &mut Heads<T>) -> Option<T> {
        let highest = heads.iter().rposition(Option::is_some)?;
        let mut lower = (0..highest).filter(|level| heads[*level].is_some());
        self.higher += 1;
        if self.higher < LOWER_EACH {
            return heads[highest].take();
        }
        let (lowest, between) = (lower.next(), lower.next());
        let Some(level) = between.filter(|_| self.is_between).or(lowest) else {
            self.higher = LOWER_EACH; // no overflow, however long none waits
            return heads[highest].take();
        };
        self.higher = 0;
        self.is_between = !self.is_between;
        heads[level].take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(waiting: [bool; 3], count: usize) -> Vec<usize> {
        let mut turns = Turns::default();
        let heads = || [0, 1, 2].map(|level| waiting[level].then_some(level));
        (0..count).filter_map(|_| turns.take(&mut heads())).collect()
    }

    #[test]
    fn each_lower_priority_has_a_turn() {
        let taken = order([true; 3], 64);
        let at = |level| (0..64).filter(|at| taken[*at] == level).collect::<Vec<_>>();
        assert_eq!((at(0), at(1)), (vec![15, 47], vec![31, 63]));
        assert_eq!(order([true, true, false], 16)[15], 0);
        assert_eq!(order([false, true, true], 32), [[2; 15].as_slice(), &[1]].concat().repeat(2));
        assert_eq!(order([false, false, true], 40), [2; 40]);
        assert!(order([false; 3], 5).is_empty());
    }

    #[test]
    fn a_turn_without_a_lower_one_stays_until_there_is_one() {
        let mut turns = Turns::default();
        (0..40).for_each(|_| assert_eq!(turns.take(&mut [None, None, Some(2)]), Some(2)));
        assert_eq!(turns.take(&mut [Some(0), None, Some(2)]), Some(0));
        assert_eq!(turns.take(&mut [Some(0), None, Some(2)]), Some(2));
    }
}
