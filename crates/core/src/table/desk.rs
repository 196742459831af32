//! Where requests about the table are answered: read, done, told.

use serde::Serialize;
use slipring_wire::frame::RangeSet;
use slipring_wire::matches;

use super::answer::{Found, Removed, Selected, WithErrors, json, listing, pairs, parameter};
use super::declare::Declared;
use super::entries::Entry;
use super::lists::Lists;
use super::problem::{Code, PROBLEMS_MAX, Problem, Refusal};
use super::registry::{Bounds, Change, Registry};
use super::request::{Declaration, Request, Wanted};

/// Bytes of one index in an answer, at most, with its comma.
const INDEX_BYTES: usize = 8;
/// Bytes of an answer that are not indices, errors or parameters, at most.
const FRAME_BYTES: usize = 160;

/// Where one client's requests are answered.
#[derive(Debug)]
pub struct Desk<'a> {
    /// The parameters.
    pub registry: &'a mut Registry,
    /// Lists that clients chose.
    pub lists: &'a mut Lists,
    /// How much there may be.
    pub bounds: &'a Bounds,
    /// Who asks.
    pub session: u64,
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
}

impl Desk<'_> {
    /// Reads a request, does what it asks, and answers.
    pub fn answer(&mut self, name: &str, body: &[u8]) -> Outcome {
        match Request::parse(name, body) {
            Ok(request) => self.act(request),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    /// Does what a request asks, and answers.
    pub fn act(&mut self, request: Request) -> Outcome {
        let answered = if self.answer_bytes_max < FRAME_BYTES {
            Err(self.too_large(FRAME_BYTES))
        } else {
            match request {
                Request::Declare(declaration) => self.declare(declaration),
                Request::Find { names } => self.find(&names),
                Request::List { filter, from, count, removed } => {
                    self.list(&filter, from, count, removed)
                }
                Request::Remove { names } => self.remove(&names),
                Request::Select(wanted) => self.select(&wanted),
            }
        };
        match answered {
            Ok((answer, change)) => Outcome { answer, change, refused: None },
            Err(refusal) => self.refuse(&refusal),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Outcome {
        refusal.outcome(self.answer_bytes_max)
    }
}

impl Refusal {
    /// What becomes of a request that is refused.
    pub fn outcome(&self, answer_bytes_max: usize) -> Outcome {
        let answer = self.answer(answer_bytes_max);
        Outcome { answer, change: Change::default(), refused: Some(self.code) }
    }
}

type Answered = Result<(Vec<u8>, Change), Refusal>;

impl Desk<'_> {
    fn declare(&mut self, mut declaration: Declaration) -> Answered {
        let mut problems = std::mem::take(&mut declaration.problems);
        let asked = declaration.asked();
        if !problems.is_empty() {
            problems.append(&mut self.registry.problems(self.session, &asked, self.bounds));
        }
        self.expect(FRAME_BYTES + INDEX_BYTES * asked.len())?;
        let declared = if problems.is_empty() {
            self.registry.declare_asked(self.session, &asked, self.bounds)
        } else {
            Err(problems)
        };
        match declared {
            Ok(Declared { indices, change }) => {
                let (table, revision) = (self.registry.id(), self.registry.revision());
                Ok((json(&Found { table, revision, indices }), change))
            }
            Err(mut problems) => {
                problems.sort_by_key(|problem| problem.at);
                Err(Refusal::of(problems).expect("there is a problem"))
            }
        }
    }

    fn find(&self, names: &[String]) -> Answered {
        let (indices, errors) = self.look_up(names);
        let (table, revision) = (self.registry.id(), self.registry.revision());
        let found = Found { table, revision, indices };
        self.with_errors(&found, &errors).map(|answer| (answer, Change::default()))
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

    fn list(&self, filter: &str, from: u32, count: usize, removed: bool) -> Answered {
        let chosen = (filter != "#").then(|| self.registry.matching(filter));
        let is_chosen = |index: u32, entry: &Entry, is_there: bool| match &chosen {
            _ if !is_there => removed && matches(filter, &entry.name),
            None => true,
            Some(set) => set.contains(index),
        };
        let (mut parameters, mut bytes, mut next) = (Vec::new(), FRAME_BYTES, None);
        for (index, entry, is_there) in self.registry.entries().known_from(from) {
            if !is_chosen(index, entry, is_there) {
                continue;
            }
            let text = parameter(index, entry, !is_there);
            bytes += text.len() + 1;
            if parameters.is_empty() {
                self.expect(bytes)?;
            }
            if parameters.len() == count || bytes > self.answer_bytes_max {
                next = Some(index);
                break;
            }
            parameters.push(text);
        }
        let (table, revision) = (self.registry.id(), self.registry.revision());
        Ok((listing(table, revision, next, &parameters), Change::default()))
    }

    fn remove(&mut self, names: &[String]) -> Answered {
        let (change, errors) = self.registry.remove(self.session, names);
        let removed = Removed { removed: change.removed.len(), revision: self.registry.revision() };
        self.with_errors(&removed, &errors).map(|answer| (answer, change))
    }

    fn select(&mut self, wanted: &Wanted) -> Answered {
        let (indices, errors) = match wanted {
            Wanted::Names(names) => self.look_up(names),
            Wanted::Filters(_) => (Vec::new(), Vec::new()),
        };
        let mut set: Vec<u32> = indices.iter().flatten().copied().collect();
        if let Wanted::Filters(filters) = wanted {
            set.extend(
                filters.iter().flat_map(|filter| {
                    self.registry.matching(filter).indices().collect::<Vec<_>>()
                }),
            );
        }
        set.sort_unstable();
        let set: RangeSet = set.into_iter().collect();
        let (table, revision) = (self.registry.id(), self.registry.revision());
        let indices = matches!(wanted, Wanted::Names(_)).then_some(indices);
        let size =
            INDEX_BYTES * indices.as_ref().map_or(0, Vec::len) + 2 * INDEX_BYTES * set.ranges();
        self.expect(FRAME_BYTES + size)?;
        let ranges = pairs(&set);
        let list = self.lists.put(table, set);
        let selection = list.map_err(|full| Refusal::new(Code::Full, full.to_string()))?;
        let chosen =
            Selected { table, revision, selection: selection.to_string(), indices, ranges };
        self.with_errors(&chosen, &errors).map(|answer| (answer, Change::default()))
    }

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
            if bytes.len() <= self.answer_bytes_max {
                return Ok(bytes);
            }
            if told == 0 {
                return Err(self.too_large(bytes.len()));
            }
            told /= 2;
        }
    }

    fn expect(&self, bytes: usize) -> Result<(), Refusal> {
        if bytes > self.answer_bytes_max { Err(self.too_large(bytes)) } else { Ok(()) }
    }

    fn too_large(&self, bytes: usize) -> Refusal {
        let most = self.answer_bytes_max;
        let text = format!(
            "the answer would have about {bytes} bytes, and at most {most} fit: ask for less"
        );
        Refusal::new(Code::TooLarge, text)
    }
}
