//! Texts of which there are few, but which many parameters have: types and units.

use std::collections::HashMap;

/// A text for each index, or none.
#[derive(Debug, Default)]
pub(crate) struct FewTexts {
    texts: Vec<Box<str>>,
    places: HashMap<Box<str>, usize>,
    /// The place of the text of each index.
    by_index: Vec<Option<usize>>,
}

impl FewTexts {
    /// Sets the text of an index.
    pub fn put(&mut self, index: usize, text: Option<&str>) {
        if index >= self.by_index.len() {
            self.by_index.resize(index + 1, None);
        }
        self.by_index[index] = text.map(|text| {
            self.places.get(text).copied().unwrap_or_else(|| {
                self.texts.push(text.into());
                self.places.insert(text.into(), self.texts.len() - 1);
                self.texts.len() - 1
            })
        });
    }

    /// How many different texts there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// The place of an index's text.
    pub fn place(&self, index: u32) -> Option<usize> {
        self.by_index.get(index as usize).copied().flatten()
    }

    /// The text at a place.
    pub fn text(&self, place: usize) -> &str {
        &self.texts[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_place() {
        let mut texts = FewTexts::default();
        texts.put(0, Some("kPa"));
        texts.put(2, Some("K"));
        texts.put(3, Some("kPa"));
        let found: Vec<_> = (0..5).map(|index| texts.place(index)).collect();
        assert_eq!(found, [Some(0), None, Some(1), Some(0), None]);
        assert_eq!((texts.len(), texts.text(1)), (2, "K"));
    }
}
