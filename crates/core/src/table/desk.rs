//! Where requests about the table are answered: read, done, told.

use serde::Serialize;

use super::answer::{Found, Listed, Removed, Selected, WithErrors, json, listing, pairs};
use super::answer_rows::{Added, AnswerRows};
use super::current::Current;
use super::declare::{Asked as DeclareAsked, Declared, sorted};
use super::finding::Page;
use super::lists::Lists;
use super::problem::{Code, PROBLEMS_MAX, Problem, Refusal};
use super::registry::{Bounds, Change, Registry};
use super::request::{Declaration, Request, Wanted};
use super::values;
use crate::Holder;

/// Bytes of one index in an answer, at most, with its comma.
const INDEX_BYTES: usize = 8;
/// Bytes of an answer that are not indices, errors or parameters, at most.
const FRAME_BYTES: usize = 160;

/// Bytes of one answer that is not a page; a page has fewer.
pub const ANSWER_BYTES_MAX: usize = 256 << 10;

const A_STREAM: &str = "a stream has this name; take another one";

/// Where requests are answered.
#[derive(Debug)]
pub struct Desk<'a> {
    /// The parameters.
    pub registry: &'a mut Registry,
    /// Lists that clients chose.
    pub lists: &'a mut Lists,
    /// The newest values.
    pub current: &'a Current,
}

/// Who asks, and what an answer has to keep to.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The session.
    pub session: u64,
    /// The client identifier, told to others.
    pub client: &'a str,
    /// How much there may be.
    pub bounds: Bounds,
    /// Whose the parameters are that it adds, and how many it may have; None is nobody's.
    pub holder: Option<Holder<'a, 1>>,
    /// Whether a name is a stream's.
    pub is_stream: &'a dyn Fn(&str) -> bool,
    /// Bytes of an answer, at most.
    pub answer_bytes_max: usize,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// JSON for the client.
    pub answer: Vec<u8>,
    /// To be written down, and told to others.
    pub change: Change,
    /// Why it was refused; then nothing changed.
    pub refused: Option<Code>,
    /// What it cost, in steps of work.
    pub steps: usize,
}

impl Desk<'_> {
    /// Does what a request asks, if it could be read, and answers.
    pub fn answer(&mut self, request: Result<Request, Refusal>, asking: &Asking<'_>) -> Outcome {
        let mut steps = 0;
        let answered = request.and_then(|request| {
            asking.expect_whole(FRAME_BYTES)?;
            steps = request.steps(self.registry.end());
            self.act(request, asking)
        });
        match answered {
            Ok((answer, change)) => Outcome { answer, change, refused: None, steps },
            Err(refusal) => Outcome { steps, ..refusal.outcome(asking.answer_bytes_max) },
        }
    }

    fn act(&mut self, request: Request, asking: &Asking<'_>) -> Answered {
        let answer = match request {
            Request::Declare(declaration) => return self.declare(declaration, asking),
            Request::Remove { names, force } => return self.remove(&names, force, asking),
            Request::Find { names } => self.find(&names, asking),
            Request::List { filter, from, count, removed } => {
                self.list(&filter, from, count, removed, asking)
            }
            Request::Select(wanted) => self.select(&wanted, asking),
            Request::Values(question) => {
                values::show(self.registry, self.current, &question, asking.answer_bytes_max)
            }
        };
        answer.map(|answer| (answer, Change::default()))
    }
}

impl Refusal {
    /// What becomes of a request that is refused.
    pub fn outcome(&self, answer_bytes_max: usize) -> Outcome {
        let answer = self.answer(answer_bytes_max);
        Outcome { answer, change: Change::default(), refused: Some(self.code), steps: 0 }
    }
}

type Answered = Result<(Vec<u8>, Change), Refusal>;

impl Desk<'_> {
    fn declare(&mut self, mut declaration: Declaration, asking: &Asking<'_>) -> Answered {
        let Asking { session, client, bounds, .. } = asking;
        let mut problems = std::mem::take(&mut declaration.problems);
        let asked = declaration.asked();
        asking.expect_whole(FRAME_BYTES + INDEX_BYTES * asked.len())?;
        let streams = asked.iter().filter(|one| (asking.is_stream)(one.name));
        problems.extend(streams.map(|one| one.problem(Code::Clash, A_STREAM)));
        problems.extend(self.beyond_quota(&asked, asking));
        let declared = if problems.is_empty() {
            self.registry.declare_asked(*session, client, &asked, bounds)
        } else {
            problems.append(&mut self.registry.problems(*session, &asked, bounds));
            Err(problems)
        };
        match declared {
            Ok(Declared { indices, change }) => {
                if let Some(holder) = &asking.holder {
                    self.registry.own(&change.added.union(&change.revived), holder.owner);
                }
                let (table, revision) = (self.registry.id(), self.registry.revision());
                Ok((json(&Found { table, revision, indices }), change))
            }
            Err(mut problems) => {
                problems.sort_by_key(|problem| problem.at);
                Err(Refusal::of(problems).expect("there is a problem"))
            }
        }
    }

    /// The first parameter that its owner may not have.
    fn beyond_quota(&self, asked: &[DeclareAsked<'_>], asking: &Asking<'_>) -> Option<Problem> {
        let Holder { owner, quotas: [quota] } = asking.holder?;
        let mut new = asked.iter().filter(|one| self.registry.index_of(one.name).is_none());
        let first = new.next()?;
        let shares = self.registry.entries().shares();
        let limit = quota.check(shares, owner, 1 + new.count()).err()?;
        let (code, what) = Code::of_quota(limit, "parameters")?;
        Some(first.problem(code, what))
    }

    fn find(&self, names: &[String], asking: &Asking<'_>) -> Result<Vec<u8>, Refusal> {
        let (indices, errors) = self.look_up(names);
        let (table, revision) = (self.registry.id(), self.registry.revision());
        let found = Found { table, revision, indices };
        asking.with_errors(&found, &errors)
    }

    fn look_up(&self, names: &[String]) -> (Vec<Option<u32>>, Vec<Problem>) {
        let mut errors = Vec::new();
        let found = names.iter().enumerate().map(|(at, name)| {
            let found = self.registry.find(at, name);
            found.map_err(|problem| errors.push(problem)).ok()
        });
        let indices = found.collect();
        (indices, errors)
    }

    fn list(
        &self,
        filter: &str,
        from: u32,
        count: usize,
        removed: bool,
        asking: &Asking<'_>,
    ) -> Result<Vec<u8>, Refusal> {
        let Page { entries, mut next } = self.registry.page(filter, from, removed);
        let mut rows = AnswerRows::new(count, asking.answer_bytes_max.saturating_sub(FRAME_BYTES));
        for (index, entry, is_there) in entries {
            match rows.add(&Listed::of(index, entry, !is_there)) {
                Added::Taken => {}
                Added::Full => {
                    next = Some(index);
                    break;
                }
                Added::TooLarge(bytes) => return Err(asking.too_large(FRAME_BYTES + bytes)),
            }
        }
        let (table, revision) = (self.registry.id(), self.registry.revision());
        Ok(listing(table, revision, next, &rows))
    }

    fn remove(&mut self, names: &[String], force: bool, asking: &Asking<'_>) -> Answered {
        let (change, errors) = self.registry.remove(asking.session, names, force);
        let removed = Removed { removed: change.removed.len(), revision: self.registry.revision() };
        asking.with_errors(&removed, &errors).map(|answer| (answer, change))
    }

    fn select(&mut self, wanted: &Wanted, asking: &Asking<'_>) -> Result<Vec<u8>, Refusal> {
        let (set, indices, errors) = match wanted {
            Wanted::Names(names) => {
                let (indices, errors) = self.look_up(names);
                (sorted(indices.iter().flatten().copied().collect()), Some(indices), errors)
            }
            Wanted::Filters(filters) => {
                let set = self.registry.matching_any(filters);
                (set.ok_or_else(too_wide)?, None, Vec::new())
            }
        };
        let (table, revision) = (self.registry.id(), self.registry.revision());
        let size =
            INDEX_BYTES * indices.as_ref().map_or(0, Vec::len) + 2 * INDEX_BYTES * set.ranges();
        asking.expect_whole(FRAME_BYTES + size)?;
        let ranges = pairs(&set);
        let list = self.lists.put(table, set);
        let selection = list.map_err(|full| Refusal::new(Code::Full, full.to_string()))?;
        let chosen =
            Selected { table, revision, selection: selection.to_string(), indices, ranges };
        asking.with_errors(&chosen, &errors)
    }
}

fn too_wide() -> Refusal {
    let text = "so many filters with wildcards take too long to look for: ask for fewer at once";
    Refusal::new(Code::TooLarge, text)
}

impl Asking<'_> {
    /// An answer with its errors, as many as there is room for.
    fn with_errors<T: Serialize>(
        &self,
        answer: &T,
        errors: &[Problem],
    ) -> Result<Vec<u8>, Refusal> {
        let mut told = errors.len().min(PROBLEMS_MAX);
        loop {
            let more = errors.len() - told;
            let more_errors = (more > 0).then_some(more);
            let bytes = json(&WithErrors { answer, errors: &errors[..told], more_errors });
            if bytes.len() <= self.bytes_max() {
                return Ok(bytes);
            }
            if told == 0 {
                return Err(self.too_large(bytes.len()));
            }
            told /= 2;
        }
    }

    /// Bytes of an answer that is not a page.
    fn bytes_max(&self) -> usize {
        self.answer_bytes_max.min(ANSWER_BYTES_MAX)
    }

    /// Refuses an answer that would be larger and cannot be asked for in parts.
    fn expect_whole(&self, bytes: usize) -> Result<(), Refusal> {
        if bytes > self.bytes_max() { Err(self.too_large(bytes)) } else { Ok(()) }
    }

    fn too_large(&self, bytes: usize) -> Refusal {
        let most = self.bytes_max();
        let text = format!(
            "the answer would have about {bytes} bytes, and at most {most} fit: ask for less"
        );
        Refusal::new(Code::TooLarge, text)
    }
}
