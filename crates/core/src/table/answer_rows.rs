//! One page of rows as JSON: as many as there is room for, written behind each other. Knows nothing of what they
//! say.

use serde::Serialize;

/// Bytes of one page, in which only a single row may be larger: what is written in one long turn of work.
pub const PAGE_BYTES_MAX: usize = 64 << 10;

/// The rows of a page so far, with commas between them.
#[derive(Debug)]
pub(crate) struct AnswerRows {
    text: Vec<u8>,
    count: usize,
    count_max: usize,
    bytes_max: usize,
}

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It is in the page.
    Taken,
    /// It is the first of the next page.
    Full,
    /// It is larger than any page may be: so many bytes.
    TooLarge(usize),
}

impl AnswerRows {
    /// A page of so many rows and bytes at most.
    pub fn new(count_max: usize, bytes_max: usize) -> Self {
        Self { text: Vec::new(), count: 0, count_max, bytes_max }
    }

    /// Adds a row.
    pub fn add(&mut self, row: &impl Serialize) -> Added {
        self.add_written(|text| {
            serde_json::to_writer(text, row).expect("strings and finite numbers");
        })
    }

    /// Adds a row that is written by hand.
    pub fn add_written(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Added {
        if self.count == self.count_max {
            return Added::Full;
        }
        let before = self.text.len();
        if self.count > 0 {
            self.text.push(b',');
        }
        write(&mut self.text);
        let bytes = self.text.len();
        if self.count == 0 && bytes > self.bytes_max {
            return Added::TooLarge(bytes);
        }
        if self.count > 0 && bytes > self.bytes_max.min(PAGE_BYTES_MAX) {
            self.text.truncate(before);
            return Added::Full;
        }
        self.count += 1;
        Added::Taken
    }

    /// The rows as the items of a list.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_as_many_rows_as_fit_and_one_row_of_any_size_that_is_taken() {
        let mut rows = AnswerRows::new(10, 8);
        assert_eq!(
            [rows.add(&1), rows.add(&"ab"), rows.add(&3)],
            [Added::Taken, Added::Taken, Added::Taken]
        );
        assert_eq!(rows.add(&4), Added::Full);
        assert_eq!(rows.text(), b"1,\"ab\",3");
        let long = "x".repeat(PAGE_BYTES_MAX);
        let mut rows = AnswerRows::new(10, 2 * PAGE_BYTES_MAX);
        assert_eq!([rows.add(&long), rows.add(&1)], [Added::Taken, Added::Full]);
        assert_eq!(AnswerRows::new(10, 5).add(&"long"), Added::TooLarge(6));
    }

    #[test]
    fn a_page_has_no_more_rows_than_were_asked_for() {
        let mut rows = AnswerRows::new(1, 100);
        assert_eq!([rows.add(&1), rows.add(&2)], [Added::Taken, Added::Full]);
        assert_eq!(AnswerRows::new(0, 100).add(&1), Added::Full);
    }
}
