//! One page of rows as JSON: as many as there is room for. Knows nothing of what they say.

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

impl AnswerRows {
    /// A page of so many rows and bytes at most.
    pub fn new(count_max: usize, bytes_max: usize) -> Self {
        Self { text: Vec::new(), count: 0, count_max, bytes_max }
    }

    /// Adds rows until the page is full; the index of the first that is left out. A row that no page holds is
    /// an error: its index and bytes.
    pub fn fill<I, R>(
        &mut self,
        rows: impl Iterator<Item = (I, R)>,
        write: impl Fn(&R, &mut Vec<u8>),
    ) -> Result<Option<I>, (I, usize)> {
        for (index, row) in rows {
            if self.count == self.count_max {
                return Ok(Some(index));
            }
            let before = self.text.len();
            if self.count > 0 {
                self.text.push(b',');
            }
            write(&row, &mut self.text);
            let bytes = self.text.len();
            if self.count == 0 && bytes > self.bytes_max {
                return Err((index, bytes));
            }
            if self.count > 0 && bytes > self.bytes_max.min(PAGE_BYTES_MAX) {
                self.text.truncate(before);
                return Ok(Some(index));
            }
            self.count += 1;
        }
        Ok(None)
    }

    /// The rows as the items of a list.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page of these rows, and the place of the first that is left out.
    fn page(
        mut rows: AnswerRows,
        texts: &[&str],
    ) -> (String, Result<Option<usize>, (usize, usize)>) {
        let write = |row: &&&str, text: &mut Vec<u8>| text.extend_from_slice(row.as_bytes());
        let next = rows.fill(texts.iter().enumerate(), write);
        (String::from_utf8(rows.text().to_vec()).unwrap(), next)
    }

    #[test]
    fn a_page_has_as_many_rows_as_fit_and_one_row_of_any_size_that_is_taken() {
        let few = AnswerRows::new(10, 8);
        assert_eq!(page(few, &["1", "\"ab\"", "3", "4"]), ("1,\"ab\",3".to_owned(), Ok(Some(3))));
        let long = "x".repeat(PAGE_BYTES_MAX + 2);
        let wide = AnswerRows::new(10, 2 * PAGE_BYTES_MAX);
        assert_eq!(page(wide, &[&long, "1"]), (long.clone(), Ok(Some(1))));
        assert_eq!(page(AnswerRows::new(10, 5), &["\"long\""]).1, Err((0, 6)));
    }

    #[test]
    fn a_page_has_no_more_rows_than_were_asked_for() {
        assert_eq!(page(AnswerRows::new(1, 100), &["1", "2"]), ("1".to_owned(), Ok(Some(1))));
        assert_eq!(page(AnswerRows::new(0, 100), &["1"]), (String::new(), Ok(Some(0))));
        assert_eq!(page(AnswerRows::new(1, 100), &["1"]).1, Ok(None));
    }
}
