//! Texts of samples by their place. Equal ones can be held by several at once: each is in memory once,
//! and is counted until the last one lets go of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that a text may have to spare, beyond its own length.
const SPARE: usize = 64;
/// What a text costs besides its own bytes, about.
const COST: usize = 96;

/// The texts of some places.
#[derive(Debug, Default)]
pub(super) struct Texts {
    by_place: HashMap<usize, Arc<Text>>,
    /// Without what they cost besides.
    bytes: usize,
    /// What all texts cost that began here, also those that only others hold by now.
    meter: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Text {
    bytes: Vec<u8>,
    meter: Arc<AtomicUsize>,
}

impl Text {
    fn new(bytes: &[u8], meter: &Arc<AtomicUsize>) -> Self {
        meter.fetch_add(bytes.len() + COST, Relaxed);
        Self { bytes: bytes.to_vec(), meter: Arc::clone(meter) }
    }

    fn overwrite(&mut self, bytes: &[u8]) {
        self.meter.fetch_add(bytes.len(), Relaxed);
        self.meter.fetch_sub(self.bytes.len(), Relaxed);
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        // What was long once does not keep its memory.
        if self.bytes.capacity() > 2 * bytes.len() + SPARE {
            self.bytes.shrink_to_fit();
        }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        self.meter.fetch_sub(self.bytes.len() + COST, Relaxed);
    }
}

impl Texts {
    /// The text of a place; empty where there is none.
    pub fn get(&self, place: usize) -> &[u8] {
        self.by_place.get(&place).map_or(&[], |text| &text.bytes)
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What texts cost that began here and that only others hold by now, about.
    pub fn left_bytes(&self) -> usize {
        let own = self.bytes + self.by_place.len() * COST;
        self.meter.load(Relaxed).saturating_sub(own)
    }

    /// The places that have a text, in no order.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.by_place.keys().copied()
    }

    pub fn remove(&mut self, place: usize) {
        self.bytes -= self.by_place.remove(&place).map_or(0, |text| text.bytes.len());
    }

    /// Keeps a text of its own; where others hold the earlier one, that stays theirs.
    #[inline(never)] // out of the way of numbers
    pub fn put(&mut self, place: usize, bytes: &[u8]) {
        let Some(text) = self.by_place.get_mut(&place) else {
            let text = Text::new(bytes, &self.meter);
            return self.hold(place, Arc::new(text));
        };
        if text.bytes == bytes {
            return;
        }
        self.bytes = self.bytes - text.bytes.len() + bytes.len();
        match Arc::get_mut(text) {
            Some(text) => text.overwrite(bytes),
            None => *text = Arc::new(Text::new(bytes, &self.meter)),
        }
    }

    /// Holds a text together with `others` that have the same one there; else it is counted as theirs.
    #[inline(never)] // out of the way of numbers
    pub fn share(&mut self, place: usize, bytes: &[u8], others: &Self, there: usize) {
        let same = others.by_place.get(&there).filter(|text| text.bytes == bytes);
        let text = same.map_or_else(|| Arc::new(Text::new(bytes, &others.meter)), Arc::clone);
        self.hold(place, text);
    }

    fn hold(&mut self, place: usize, text: Arc<Text>) {
        self.bytes += text.bytes.len();
        if let Some(before) = self.by_place.insert(place, text) {
            self.bytes -= before.bytes.len();
        }
    }

    /// Whether the texts of two places are one in memory.
    pub fn is_shared(&self, place: usize, others: &Self, there: usize) -> bool {
        match (self.by_place.get(&place), others.by_place.get(&there)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_long_once_does_not_keep_its_memory() {
        let mut texts = Texts::default();
        let long = vec![7; 1 << 20];
        for text in [&long[..], &long[..3]] {
            texts.put(0, text);
            assert_eq!((texts.get(0), texts.bytes()), (text, text.len()));
        }
        assert!(texts.by_place[&0].bytes.capacity() < 1_000);
    }

    #[test]
    fn a_text_is_counted_until_the_last_one_lets_go_of_it() {
        let (mut table, mut one, mut two) = (Texts::default(), Texts::default(), Texts::default());
        table.put(3, b"first");
        one.share(0, b"first", &table, 3);
        two.share(9, b"first", &table, 3);
        assert!(one.is_shared(0, &table, 3) && one.is_shared(0, &two, 9));
        assert_eq!(table.left_bytes(), 0, "it is the table's own");
        table.put(3, b"second");
        assert_eq!(
            (table.get(3), one.get(0), two.get(9)),
            (&b"second"[..], &b"first"[..], &b"first"[..])
        );
        assert_eq!(table.left_bytes(), 5 + COST, "two hold one text");
        one.share(0, b"second", &table, 3);
        assert_eq!(table.left_bytes(), 5 + COST);
        drop(two);
        assert_eq!(table.left_bytes(), 0);
        table.put(3, b"second");
        assert!(one.is_shared(0, &table, 3), "an equal text is the same one");
        table.remove(3);
        assert_eq!((table.bytes(), table.left_bytes()), (0, 6 + COST));
    }

    #[test]
    fn a_text_that_the_others_do_not_have_counts_as_theirs() {
        let (mut table, mut one) = (Texts::default(), Texts::default());
        table.put(0, b"a");
        one.share(0, b"other", &table, 0);
        assert_eq!((one.bytes(), table.bytes(), table.left_bytes()), (5, 1, 5 + COST));
        one.share(0, b"a", &table, 0);
        assert_eq!((one.bytes(), table.left_bytes()), (1, 0));
    }

    #[test]
    fn texts_that_grow_and_shrink_in_place_are_counted_as_they_are() {
        let mut table = Texts::default();
        for length in [1, 1_000, 10, 0, 70] {
            table.put(0, &vec![1; length]);
            assert_eq!((table.bytes(), table.left_bytes()), (length, 0));
            assert_eq!(table.meter.load(Relaxed), length + COST);
        }
    }
}
