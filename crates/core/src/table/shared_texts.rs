//! The texts of samples, by their position in columns. The table and the change memories of groups share equal
//! texts: each is in memory once, and is counted until its last holder drops it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Spare capacity that a text may keep beyond twice its length.
const SPARE: usize = 64;
/// About how many bytes a text uses besides its own.
const COST: usize = 96;

/// The texts of some columns, by position.
#[derive(Debug, Default)]
pub(super) struct SharedTexts {
    by_place: HashMap<usize, Arc<Text>>,
    /// The bytes of the texts alone, without [`COST`].
    bytes: usize,
    /// The bytes of all texts that were created here, including those that only others still hold.
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
        // A text that was long once does not keep its memory.
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

impl SharedTexts {
    /// The text at a position; empty if there is none.
    pub fn get(&self, place: usize) -> &[u8] {
        self.by_place.get(&place).map_or(&[], |text| &text.bytes)
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// About the bytes of texts that were created here and that only others still hold.
    pub fn left_bytes(&self) -> usize {
        let own = self.bytes + self.by_place.len() * COST;
        self.meter.load(Relaxed).saturating_sub(own)
    }

    /// The positions that have a text, in no order.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.by_place.keys().copied()
    }

    pub fn remove(&mut self, place: usize) {
        self.bytes -= self.by_place.remove(&place).map_or(0, |text| text.bytes.len());
    }

    /// Sets the text at a position. If others hold the earlier text, they keep it.
    #[inline(never)] // keeps the code for numbers small
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

    /// Shares the text that `others` have at `there`, if it is equal; else creates one that is counted as theirs.
    #[inline(never)] // keeps the code for numbers small
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

    /// Whether two positions share one text in memory.
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
        let mut texts = SharedTexts::default();
        let long = vec![7; 1 << 20];
        for text in [&long[..], &long[..3]] {
            texts.put(0, text);
            assert_eq!((texts.get(0), texts.bytes()), (text, text.len()));
        }
        assert!(texts.by_place[&0].bytes.capacity() < 1_000);
    }

    #[test]
    fn a_text_is_counted_until_its_last_holder_drops_it() {
        let (mut table, mut one, mut two) =
            (SharedTexts::default(), SharedTexts::default(), SharedTexts::default());
        table.put(3, b"first");
        one.share(0, b"first", &table, 3);
        two.share(9, b"first", &table, 3);
        assert!(one.is_shared(0, &table, 3) && one.is_shared(0, &two, 9));
        assert_eq!(table.left_bytes(), 0, "the table holds it");
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
        let (mut table, mut one) = (SharedTexts::default(), SharedTexts::default());
        table.put(0, b"a");
        one.share(0, b"other", &table, 0);
        assert_eq!((one.bytes(), table.bytes(), table.left_bytes()), (5, 1, 5 + COST));
        one.share(0, b"a", &table, 0);
        assert_eq!((one.bytes(), table.left_bytes()), (1, 0));
    }

    #[test]
    fn texts_that_grow_and_shrink_in_place_are_counted_as_they_are() {
        let mut table = SharedTexts::default();
        for length in [1, 1_000, 10, 0, 70] {
            table.put(0, &vec![1; length]);
            assert_eq!((table.bytes(), table.left_bytes()), (length, 0));
            assert_eq!(table.meter.load(Relaxed), length + COST);
        }
    }
}
