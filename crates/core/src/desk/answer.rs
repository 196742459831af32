//! Answers as JSON, shortened or refused if they are larger than the client accepts.

use std::fmt::Display;

use serde::Serialize;

use super::rows::AnswerRows;
use super::{PROBLEMS_MAX, Problem, ProblemCode, RequestRefusal, Requester};

/// The most bytes of an answer that is not a page; a page has fewer.
pub const ANSWER_BYTES_MAX: usize = 256 << 10;
/// The most bytes of one index in an answer, with its comma.
pub(crate) const INDEX_BYTES: usize = 8;
/// The most bytes of an answer besides indices, errors and rows.
pub(crate) const ENVELOPE_BYTES: usize = 160;

/// The answer to a request for indices.
#[derive(Serialize)]
pub(crate) struct FoundIndices<T> {
    /// The table's number; streams have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<u32>,
    pub revision: u64,
    pub indices: Vec<T>,
}

pub(crate) fn json(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).expect("strings and numbers")
}

/// A page as a JSON object: its first fields, the index where the next page begins, and the rows.
pub(crate) fn page(
    fields: &str,
    next: Option<impl Display>,
    name: &str,
    rows: &AnswerRows,
) -> Vec<u8> {
    let next = next.map_or_else(|| "null".to_owned(), |index| index.to_string());
    let head = format!("{{{fields},\"next\":{next},\"{name}\":[");
    [head.as_bytes(), rows.text(), b"]}"].concat()
}

/// JSON with as many of these problems as fit, and how many were left out; `write` makes it from both. The JSON
/// without any problem is returned even if it is too large.
pub(crate) fn fitting(
    problems: &[Problem],
    bytes_max: usize,
    write: impl Fn(&[Problem], usize) -> Vec<u8>,
) -> (Vec<u8>, usize) {
    let mut shown = problems.len().min(PROBLEMS_MAX);
    loop {
        let more = problems.len() - shown;
        let bytes = write(&problems[..shown], more);
        if shown == 0 || bytes.len() <= bytes_max {
            return (bytes, more);
        }
        shown /= 2;
    }
}

impl RequestRefusal {
    /// The refusal as JSON of at most so many bytes, with as many problems as fit.
    pub fn answer(&self, bytes_max: usize) -> Vec<u8> {
        #[derive(Serialize)]
        struct Refused<'a> {
            error: ProblemCode,
            message: &'a str,
            problems: &'a [Problem],
        }
        let (error, message) = (self.code, &*self.message);
        fitting(&self.problems, bytes_max, |problems, _| {
            json(&Refused { error, message, problems })
        })
        .0
    }
}

impl Requester<'_> {
    /// An answer with as many of its errors as fit.
    pub(crate) fn with_errors<T: Serialize>(
        &self,
        answer: &T,
        errors: &[Problem],
    ) -> Result<Vec<u8>, RequestRefusal> {
        #[derive(Serialize)]
        struct WithErrors<'a, T> {
            #[serde(flatten)]
            answer: &'a T,
            errors: &'a [Problem],
            #[serde(skip_serializing_if = "Option::is_none")]
            more_errors: Option<usize>,
        }
        let (bytes, _) = fitting(errors, self.bytes_max(), |errors, more| {
            json(&WithErrors { answer, errors, more_errors: (more > 0).then_some(more) })
        });
        self.expect_whole(bytes.len()).map(|()| bytes)
    }

    /// The most bytes of an answer that is not a page.
    fn bytes_max(&self) -> usize {
        self.answer_bytes_max.min(ANSWER_BYTES_MAX)
    }

    /// Refuses an answer that would be too large, because it cannot be sent in parts.
    pub(crate) fn expect_whole(&self, bytes: usize) -> Result<(), RequestRefusal> {
        if bytes > self.bytes_max() { Err(self.too_large(bytes)) } else { Ok(()) }
    }

    fn too_large(&self, bytes: usize) -> RequestRefusal {
        let most = self.bytes_max();
        let text = format!(
            "the answer would have about {bytes} bytes, and at most {most} fit: ask for less"
        );
        RequestRefusal::new(ProblemCode::TooLarge, text)
    }

    /// As many rows of a page as the client accepts, and the index where the next page begins.
    pub(crate) fn rows<I, R: Serialize>(
        &self,
        count: usize,
        rows: impl Iterator<Item = (I, R)>,
    ) -> Result<(AnswerRows, Option<I>), RequestRefusal> {
        let room = self.answer_bytes_max.saturating_sub(ENVELOPE_BYTES);
        let mut page = AnswerRows::new(count, room);
        let next = page.fill(rows, |row, text| {
            serde_json::to_writer(text, row).expect("strings and finite numbers");
        });
        match next {
            Ok(next) => Ok((page, next)),
            Err((_, bytes)) => Err(self.too_large(ENVELOPE_BYTES + bytes)),
        }
    }
}
