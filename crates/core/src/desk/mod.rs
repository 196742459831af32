//! Desks: the parts of the broker that answer requests to `$slipring/NAME/...`, such as the table and the streams.
//! What they have in common is here; what a request means is theirs.
//!
//! Pure: requests come in as bytes, answers go out as JSON, and a change is a value that the engine writes to the
//! journal and tells to others.

mod answer;
mod problem;
mod request;
mod rows;

pub use answer::ANSWER_BYTES_MAX;
pub(crate) use answer::{ENVELOPE_BYTES, INDEX_BYTES, fitting, json, page};
pub use problem::{PROBLEMS_MAX, Problem, ProblemCode, RequestRefusal};
pub(crate) use problem::{json_error, shown};
pub use request::REQUEST_BYTES_MAX;
pub(crate) use request::{
    check_bytes, check_name, check_prefix, full_name, parse, parse_declaration, parse_or_default,
};
pub(crate) use rows::AnswerRows;
pub use rows::PAGE_BYTES_MAX;

use crate::table::ClockReading;
use crate::{Limit, Limits, NAME_BYTES_MAX, Owner, Principal, Quota, SessionKey, Way};

/// Messages that tell everyone of a change: JSON, one message each.
pub type ChangeMessages = Vec<Vec<u8>>;

/// A part of the broker that answers requests. The engine has one owner for every desk, which locks it, keeps its
/// records until the journal has them, and publishes what it tells.
pub trait Desk {
    /// A request that was read.
    type Request;
    /// What a request changed; the default is nothing.
    type Change: Default;

    /// The topic on which changes are told.
    const CHANGES: &'static str;
    /// The requests that change nothing. The control plane may make these.
    const QUESTIONS: &'static [&'static str];
    /// The limits that a declaration without room has reached: that of all clients, and that of one owner.
    const LIMITS: [Limit; 2];
    /// How many bytes of work each byte of an answer is.
    const ANSWER_WORK: usize = 1;

    /// How much there may be.
    fn bounds(limits: &Limits) -> DeskBounds;

    /// Reads the request of this name, the last level of its topic.
    fn parse(name: &str, body: &[u8]) -> Result<Self::Request, RequestRefusal>;

    /// What a request costs, in steps of work.
    fn steps(&self, _: &Self::Request) -> usize {
        0
    }

    /// Does what a request asks: the answer as JSON, and what changed.
    fn act(
        &mut self,
        request: Self::Request,
        requester: &Requester<'_>,
    ) -> Result<(Vec<u8>, Self::Change), RequestRefusal>;

    /// Appends the records of a change, and of what a session that is kept publishes from now on.
    fn record(&self, change: &Self::Change, kept: Option<SessionKey>, out: &mut Vec<u8>);

    /// Follows a change; what is to be told of it. None where only the session is different, or nothing.
    fn changed(&mut self, change: &Self::Change, at: ClockReading) -> Option<ChangeMessages>;

    /// The limit that changes and subscriptions reach, and how often they did since this was last asked.
    fn take_reached(&mut self) -> (Limit, u64);

    /// A session's client is gone. What it declared stays its own if the session is kept.
    fn leave(&mut self, session: SessionKey, is_kept: bool, at: ClockReading) -> ChangeMessages;

    /// A session whose client is away is over: it has declared nothing.
    fn end(&mut self, session: SessionKey);

    /// Does what a request asks, if it could be read, and answers.
    fn answer(
        &mut self,
        request: Result<Self::Request, RequestRefusal>,
        requester: &Requester<'_>,
    ) -> RequestOutcome<Self::Change> {
        let mut steps = 0;
        let answered = request.and_then(|request| {
            steps = self.steps(&request);
            self.act(request, requester)
        });
        match answered {
            Ok((answer, change)) => RequestOutcome { answer, change, refused: None, steps },
            Err(refusal) => RequestOutcome { steps, ..refusal.outcome(requester.answer_bytes_max) },
        }
    }
}

/// Who asks, and what an answer has to keep to.
#[derive(Clone, Copy)]
pub struct Requester<'a> {
    /// Who it is.
    pub from: Principal<'a>,
    /// How much there may be.
    pub bounds: DeskBounds,
    /// Whether a name is another desk's: a parameter's or a stream's.
    pub is_taken: &'a dyn Fn(&str) -> bool,
    /// The largest answer that the client takes.
    pub answer_bytes_max: usize,
}

impl<'a> Requester<'a> {
    /// Who owns what the request adds; the broker itself has no quota.
    pub(crate) fn owner(&self) -> Option<&'a Owner> {
        (self.from.way != Way::Broker).then_some(self.from.owner)
    }
}

/// How much a desk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeskBounds {
    /// Parameters or streams; a further one is refused.
    pub entries: usize,
    /// Bytes that they take: of names and definitions (about), or of buffers.
    pub bytes: usize,
    /// Bytes of a name.
    pub name_bytes: usize,
    /// Levels of a name.
    pub name_levels: usize,
    /// How the entries, and their bytes where those are divided, are divided among owners.
    pub quotas: [Quota; 2],
}

impl DeskBounds {
    pub(crate) fn of(limits: &Limits, entries: usize, bytes: usize, quotas: [Quota; 2]) -> Self {
        let name_bytes = limits.topic_bytes.min(NAME_BYTES_MAX);
        Self { entries, bytes, name_bytes, name_levels: limits.topic_levels, quotas }
    }
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOutcome<C> {
    /// JSON for the client.
    pub answer: Vec<u8>,
    /// What is different now.
    pub change: C,
    /// Why it was refused; then nothing changed.
    pub refused: Option<ProblemCode>,
    /// What it cost, in steps of work.
    pub steps: usize,
}

impl RequestRefusal {
    /// What becomes of a request that is refused.
    pub fn outcome<C: Default>(&self, answer_bytes_max: usize) -> RequestOutcome<C> {
        let answer = self.answer(answer_bytes_max);
        RequestOutcome { answer, change: C::default(), refused: Some(self.code), steps: 0 }
    }
}
