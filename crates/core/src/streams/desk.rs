//! Where requests about streams are answered: read, done, told.

use slipring_wire::matches;

use super::answer::{Declared, Removed, json, listing};
use super::declare::{Bounds, Change};
use super::request::Request;
use super::whole::Streams;
use crate::table::{Added, AnswerRows, Code, Refusal};

/// Bytes of an answer that are not streams, at most.
const FRAME_BYTES: usize = 160;
/// Bytes of one index in an answer, at most, with its comma.
const INDEX_BYTES: usize = 8;

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// JSON for the client.
    pub answer: Vec<u8>,
    /// To be written down, and told to others.
    pub change: Change,
    /// Why it was refused; then nothing changed.
    pub refused: Option<Code>,
}

impl Outcome {
    /// Of a request that is refused.
    pub fn of(refusal: &Refusal, answer_bytes_max: usize) -> Self {
        let answer = refusal.answer(answer_bytes_max);
        Self { answer, change: Change::default(), refused: Some(refusal.code) }
    }
}

impl Streams {
    /// Answers a request of a session.
    pub fn answer(
        &mut self,
        session: u64,
        name: &str,
        body: &[u8],
        bounds: &Bounds<'_>,
        answer_bytes_max: usize,
    ) -> Outcome {
        let answered = Request::parse(name, body)
            .and_then(|request| self.act(session, request, bounds, answer_bytes_max));
        match answered {
            Ok((answer, change)) => Outcome { answer, change, refused: None },
            Err(refusal) => Outcome::of(&refusal, answer_bytes_max),
        }
    }

    fn act(
        &mut self,
        session: u64,
        request: Request,
        bounds: &Bounds<'_>,
        bytes_max: usize,
    ) -> Result<(Vec<u8>, Change), Refusal> {
        let refuse = |problems| Refusal::of(problems).expect("there is a problem");
        match request {
            Request::Declare(asked) => {
                check_room(FRAME_BYTES + INDEX_BYTES * asked.len(), bytes_max)?;
                let (indices, change) = self.declare(session, &asked, bounds).map_err(refuse)?;
                Ok((json(&Declared { revision: self.revision(), indices }), change))
            }
            Request::Remove { names } => {
                check_room(FRAME_BYTES, bytes_max)?;
                let change = self.remove(session, &names).map_err(refuse)?;
                let removed = change.removed.len();
                Ok((json(&Removed { revision: self.revision(), removed }), change))
            }
            Request::List { filter, from, count } => {
                let listing = self.list(&filter, from, count, bytes_max)?;
                Ok((listing, Change::default()))
            }
        }
    }

    fn list(
        &self,
        filter: &str,
        from: u32,
        count: usize,
        bytes_max: usize,
    ) -> Result<Vec<u8>, Refusal> {
        let mut rows = AnswerRows::new(count, bytes_max.saturating_sub(FRAME_BYTES));
        let mut next = None;
        let there = self.catalog.iter_from(from).filter(|(_, entry)| matches(filter, &entry.name));
        for (index, _) in there {
            let Some(listed) = self.listed(index) else { continue };
            match rows.add(&listed) {
                Added::Taken => {}
                Added::Full => {
                    next = Some(index);
                    break;
                }
                Added::TooLarge(bytes) => return Err(too_large(FRAME_BYTES + bytes, bytes_max)),
            }
        }
        Ok(listing(self.revision(), next, &rows))
    }
}

fn check_room(bytes: usize, most: usize) -> Result<(), Refusal> {
    if bytes <= most { Ok(()) } else { Err(too_large(bytes, most)) }
}

fn too_large(bytes: usize, most: usize) -> Refusal {
    let text =
        format!("the answer would have about {bytes} bytes, and at most {most} fit: ask for less");
    Refusal::new(Code::TooLarge, text)
}
