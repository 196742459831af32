//! Desks: the parts of the broker that answer requests to `$slipring/NAME/...`, such as the table and the streams.
//! This module has what they share; each desk decides what its requests mean.
//!
//! It does no I/O: requests come in as bytes, answers go out as JSON, and each change is returned as a value that the
//! engine writes to the journal and announces.

mod answer;
mod declaration;
mod problem;
mod request;
mod rows;

pub use answer::ANSWER_BYTES_MAX;
pub(crate) use answer::{ENVELOPE_BYTES, FoundIndices, INDEX_BYTES, fitting, json, page};
pub(crate) use declaration::{
    DESCRIPTION_BYTES_MAX, DeskSize, EntryGrowth, INDICES_MAX, Report, SOURCE_BYTES_MAX,
    check_text, entry_problems, lack_of_room, parse_declaration,
};
pub use declaration::{Declaration, DeclaredEntry};
pub(crate) use problem::{PROBLEMS_MAX, json_error, refuse, shown};
pub use problem::{Problem, ProblemCode, RequestRefusal};
pub use request::REQUEST_BYTES_MAX;
pub(crate) use request::{check_bytes, check_count, no_such_request, parse, parse_or_default};
pub(crate) use rows::AnswerRows;
pub use rows::PAGE_BYTES_MAX;

use serde::Serialize;
use slipring_wire::frame::RangeSet;

use crate::access::{AccessPolicy, Right};
use crate::table::ClockReading;
use crate::{Limit, Limits, NAME_BYTES_MAX, Offset, Owner, Principal, Quota, SessionKey, Way};

/// Messages that announce changes: JSON, one message each.
pub type ChangeMessages = Vec<Vec<u8>>;

/// What happened to parameters or streams, as it is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeEvent {
    /// They were added, or were declared again after they had been removed.
    Added,
    /// Their descriptions changed.
    Changed,
    /// They were removed.
    Removed,
    /// The values of these parameters are old.
    Stale,
    /// The values of these parameters are current again.
    Fresh,
    /// No connected client publishes these streams any more.
    Silent,
    /// A client publishes these streams again.
    Live,
}

/// A part of the broker that answers requests. The engine has one owner for every desk: it locks the desk, keeps
/// records until the journal has them, and publishes the messages about changes.
pub trait Desk {
    /// A parsed request.
    type Request;
    /// What a request changed; the default is nothing.
    type Change: Default;

    /// The topic of the messages about changes.
    const CHANGES: &'static str;
    /// The requests that change nothing. The control plane may make these.
    const QUESTIONS: &'static [&'static str];
    /// The limits of declared entries: of all clients together, and of one owner.
    const LIMITS: [Limit; 2];
    /// What [`DeskBounds::bytes`] limits, for people.
    const BYTES_OF: &'static str;
    /// How many bytes of work each byte of an answer is.
    const ANSWER_WORK: usize = 1;

    /// How much the desk may hold under these limits.
    fn bounds(limits: &Limits) -> DeskBounds;

    /// Parses the request of this name, the last level of its topic.
    fn parse(name: &str, body: &[u8]) -> Result<Self::Request, RequestRefusal>;

    /// The steps of work of a request.
    fn steps(&self, _: &Self::Request) -> usize {
        0
    }

    /// Does what a request asks. Returns the answer as JSON, and what changed.
    fn act(
        &mut self,
        request: Self::Request,
        requester: &Requester<'_>,
    ) -> Result<(Vec<u8>, Self::Change), RequestRefusal>;

    /// Appends the records of a change. If the requester's session is kept, they say what it publishes from now on.
    fn record(&self, change: &Self::Change, kept: Option<SessionKey>, out: &mut Vec<u8>);

    /// Notes that the journal has these records, at this offset and time.
    fn journaled(&mut self, _records: &[u8], _offset: Offset, _receive_ns: i64) {}

    /// Completes a change after its records were written. Returns the messages that announce it; None if nothing
    /// but the requester's session changed.
    fn changed(&mut self, change: &Self::Change, at: ClockReading) -> Option<ChangeMessages>;

    /// What is needed to see an entry.
    const SEEING: Right;

    /// A message about a change, with those entries only whose names pass; None if none is left.
    fn narrowed(&self, message: &[u8], may_see: &dyn Fn(&str) -> bool) -> Option<Vec<u8>>;

    /// The limit that changes and subscriptions can reach, and how often they reached it since the last call.
    fn take_reached(&mut self) -> (Limit, u64);

    /// Restores what a session of an earlier run declared, as far as it still exists. Its client is away.
    fn restore(&mut self, session: SessionKey, client_id: &str, declared: &RangeSet);

    /// A session's client has disconnected. If the session is kept, it still owns what it declared.
    fn leave(&mut self, session: SessionKey, is_kept: bool, at: ClockReading) -> ChangeMessages;

    /// A session whose client is away has ended: it owns nothing any more.
    fn end(&mut self, session: SessionKey);

    /// Does what a request asks, if it could be parsed, and answers it.
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

/// Who makes a request, and the limits of its answer.
#[derive(Clone, Copy)]
pub struct Requester<'a> {
    /// Who acts.
    pub from: Principal<'a>,
    /// How much the desk may hold.
    pub bounds: DeskBounds,
    /// Whether another desk uses a name already.
    pub is_taken: &'a dyn Fn(&str) -> bool,
    /// The largest answer that the client accepts.
    pub answer_bytes_max: usize,
    /// Who may do what.
    pub policy: &'a AccessPolicy,
}

impl<'a> Requester<'a> {
    /// Whether the requester may do this to a parameter or a stream.
    pub(crate) fn may(&self, right: Right, name: &str) -> bool {
        self.sees_all() || self.policy.allows(self.from.subject(), right, name)
    }

    /// Whether no rights are asked for.
    pub(crate) fn sees_all(&self) -> bool {
        self.from.way == Way::Broker || !self.policy.is_enforced()
    }

    /// The owner of what the request adds; the broker itself has no quota.
    pub(crate) fn owner(&self) -> Option<&'a Owner> {
        (self.from.way != Way::Broker).then_some(self.from.owner)
    }
}

/// How much a desk may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeskBounds {
    /// Parameters or streams; a further one is refused.
    pub entries: usize,
    /// Bytes of names and definitions (about), or of buffers.
    pub bytes: usize,
    /// Bytes of a name.
    pub name_bytes: usize,
    /// Levels of a name.
    pub name_levels: usize,
    /// The shares of owners in the entries and, for streams, in their bytes.
    pub quotas: [Quota; 2],
}

impl DeskBounds {
    pub(crate) fn of(limits: &Limits, entries: usize, bytes: usize, quotas: [Quota; 2]) -> Self {
        let name_bytes = limits.topic_bytes.min(NAME_BYTES_MAX);
        Self { entries, bytes, name_bytes, name_levels: limits.topic_levels, quotas }
    }
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOutcome<C> {
    /// JSON for the client.
    pub answer: Vec<u8>,
    /// What changed.
    pub change: C,
    /// Why it was refused; then nothing changed.
    pub refused: Option<ProblemCode>,
    /// Its steps of work.
    pub steps: usize,
}

impl RequestRefusal {
    /// The result of a refused request.
    pub fn outcome<C: Default>(&self, answer_bytes_max: usize) -> RequestOutcome<C> {
        let answer = self.answer(answer_bytes_max);
        RequestOutcome { answer, change: C::default(), refused: Some(self.code), steps: 0 }
    }
}
