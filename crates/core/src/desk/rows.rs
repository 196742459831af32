//! One page of an answer: as many rows of JSON as fit. It does not know what the rows mean.

/// The most bytes of one page, unless its only row is larger. They are written in one long turn of work.
pub const PAGE_BYTES_MAX: usize = 64 << 10;

/// The rows of a page, with commas between them.
#[derive(Debug)]
pub(crate) struct AnswerRows {
    text: Vec<u8>,
    count: usize,
    count_max: usize,
    bytes_max: usize,
}

impl AnswerRows {
    /// A page of at most so many rows and bytes.
    pub fn new(count_max: usize, bytes_max: usize) -> Self {
        Self { text: Vec::new(), count: 0, count_max, bytes_max }
    }

    /// Adds rows until the page is full; returns the index of the first row left out. The error is a row that fits
    /// in no page: its index and bytes.
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

    /// The rows as the items of a JSON list.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page of these rows, and the position of the first row left out.
    fn page(
        mut rows: AnswerRows,
        texts: &[&str],
    ) -> (String, Result<Option<usize>, (usize, usize)>) {
        let write = |row: &&&str, text: &mut Vec<u8>| text.extend_from_slice(row.as_bytes());
        let next = rows.fill(texts.iter().enumerate(), write);
        (String::from_utf8(rows.text().to_vec()).unwrap(), next)
    }

    #[test]
    fn a_page_has_as_many_rows_as_fit_and_at_least_one_if_the_client_accepts_it() {
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
