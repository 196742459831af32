//! Texts that the journal repeats, such as topics: equal ones share one allocation.

use std::collections::HashSet;
use std::sync::Arc;

/// Texts that are remembered. At this number all are forgotten, so that texts that never repeat cost little.
const TEXTS_MAX: usize = 16_384;

/// The texts that were seen last.
#[derive(Clone, Debug, Default)]
pub struct InternedTexts {
    last: Arc<str>,
    known: HashSet<Arc<str>>,
}

impl InternedTexts {
    /// The text, shared with those that are equal.
    pub fn share(&mut self, text: &str) -> Arc<str> {
        if *self.last != *text {
            self.last = self.find(text);
        }
        Arc::clone(&self.last)
    }

    fn find(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.known.get(text) {
            return Arc::clone(known);
        }
        if self.known.len() >= TEXTS_MAX {
            self.known.clear();
        }
        let new: Arc<str> = text.into();
        self.known.insert(Arc::clone(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_one_allocation() {
        let mut texts = InternedTexts::default();
        let (a, b) = (texts.share("a"), texts.share("b"));
        assert!(Arc::ptr_eq(&a, &texts.share("a")) && Arc::ptr_eq(&b, &texts.share("b")));
        assert_eq!((&*a, &*b, &*texts.share("")), ("a", "b", ""));
    }

    #[test]
    fn texts_that_never_repeat_are_forgotten() {
        let mut texts = InternedTexts::default();
        for number in 0..3 * TEXTS_MAX {
            assert_eq!(*texts.share(&number.to_string()), *number.to_string());
            assert!(texts.known.len() <= TEXTS_MAX);
        }
    }
}
