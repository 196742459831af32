//! A set of positions with one bit for each: adding one costs the same however many there are.

use slipring_wire::frame::RangeSet;

const WORD: usize = u64::BITS as usize;

/// The positions in the set.
#[derive(Debug, Default)]
pub(super) struct BitSet {
    words: Vec<u64>,
    count: usize,
}

impl BitSet {
    pub fn set(&mut self, place: usize) {
        if place / WORD >= self.words.len() {
            self.words.resize(place / WORD + 1, 0);
        }
        let (word, bit) = (&mut self.words[place / WORD], 1 << (place % WORD));
        self.count += usize::from(*word & bit == 0);
        *word |= bit;
    }

    pub fn clear(&mut self, place: usize) {
        let Some(word) = self.words.get_mut(place / WORD) else { return };
        let bit = 1 << (place % WORD);
        self.count -= usize::from(*word & bit != 0);
        *word &= !bit;
    }

    /// Takes all positions out of the set.
    pub fn take(&mut self) -> RangeSet {
        let mut taken = RangeSet::new();
        if std::mem::take(&mut self.count) == 0 {
            return taken;
        }
        for (word, first) in self.words.iter_mut().zip((0..).step_by(WORD)) {
            let word = std::mem::take(word);
            let marked = (0..u64::BITS).filter(|bit| word != 0 && word >> bit & 1 == 1);
            taken.extend(marked.map(|bit| first + bit));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_position_that_was_set_and_not_cleared_is_taken_once() {
        let mut marks = BitSet::default();
        for place in [700, 3, 64, 63, 3, 5, 5] {
            marks.set(place);
        }
        for place in [5, 9, 5_000] {
            marks.clear(place);
        }
        assert_eq!(marks.take().indices().collect::<Vec<_>>(), [3, 63, 64, 700]);
        assert!(marks.take().is_empty() && marks.count == 0);
        marks.set(64);
        assert_eq!(marks.take().indices().collect::<Vec<_>>(), [64]);
    }
}
