//! What people are shown of requests: those that are open, the last ones that ended, services, and counts.

use std::collections::VecDeque;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;

use super::book::Open;
use super::{Participant, RequestBook, RequestKey, RequestState, ResponseTimes, TopicCount};
use crate::{Millis, Priority, Shares};

/// Requests that ended and are remembered.
const ENDED_MAX: usize = 1_000;
/// Open requests that one page looks at.
const PAGE_MAX: usize = 1_024;

/// What happened since the start.
#[derive(Clone, Debug, Default)]
pub struct RequestCounts {
    /// New requests.
    pub asked: u64,
    /// Requests by the state in which they ended.
    pub ends: [u64; RequestState::ALL.len()],
    /// Requests that went to another service.
    pub retried: u64,
    /// How soon services answered.
    pub times: ResponseTimes,
}

/// How far somebody has looked at the open requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPage {
    /// Not at any yet.
    Start,
    /// Through the one with this deadline and key.
    Deadline(Millis, RequestKey),
    /// Through the one with this key, among those whose answer waits.
    Answer(RequestKey),
    /// At all.
    End,
}

/// One request.
#[derive(Debug)]
pub struct RequestSummary<C> {
    /// The request.
    pub key: RequestKey,
    /// Its topic.
    pub topic: Arc<str>,
    /// Where it is in its life.
    pub state: RequestState,
    /// Who asked.
    pub asker: Arc<C>,
    /// Who has it, or had it last.
    pub service: Option<Arc<C>>,
    /// Its priority.
    pub priority: Priority,
    /// Bytes of its payload.
    pub payload_bytes: usize,
    /// When it was asked, stored, delivered and answered or ended, in nanoseconds since 1970; 0 if it was not.
    pub times_ns: [i64; 4],
    /// When it times out, by the clock that never jumps; None once it cannot any more.
    pub deadline_ms: Option<Millis>,
    /// Why it ended so, in the words of its service or of the broker.
    pub reason: Option<Box<str>>,
}

impl<C> Clone for RequestSummary<C> {
    fn clone(&self) -> Self {
        let (topic, asker) = (Arc::clone(&self.topic), Arc::clone(&self.asker));
        let (service, reason) = (self.service.clone(), self.reason.clone());
        Self { topic, asker, service, reason, ..*self }
    }
}

/// A request that is over.
pub type EndedRequest<C> = RequestSummary<C>;

/// One service.
#[derive(Clone, Debug)]
pub struct ServiceSummary<C> {
    /// The client.
    pub client: Arc<C>,
    /// Requests that it has.
    pub busy: usize,
    /// Requests that it can have at once.
    pub limit: u16,
    /// Requests that it answered.
    pub answered: u64,
    /// Requests that it could not.
    pub failed: u64,
    /// How soon it answered.
    pub times: ResponseTimes,
}

/// The last requests that ended, the newest last.
#[derive(Debug)]
pub(super) struct Ended<C>(VecDeque<EndedRequest<C>>);

impl<C> Default for Ended<C> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<C: Participant> Ended<C> {
    pub(super) fn push(&mut self, open: &Open<C>, service: Option<Arc<C>>) {
        if self.0.len() >= ENDED_MAX {
            self.0.pop_front();
        }
        self.0.push_back(summary(open, service));
    }
}

fn summary<C: Participant>(open: &Open<C>, service: Option<Arc<C>>) -> RequestSummary<C> {
    RequestSummary {
        key: open.asked.key,
        topic: Arc::clone(open.asked.message.topic()),
        state: open.state,
        asker: open.asked.asker.clone(),
        service,
        priority: open.asked.priority,
        payload_bytes: open.asked.message.payload().len(),
        times_ns: open.times_ns,
        deadline_ms: (open.state < RequestState::AnswerStored).then_some(open.deadline_ms),
        reason: open.reason.clone(),
    }
}

impl<C: Participant> RequestBook<C> {
    /// How many requests are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether no request is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// How many requests are in each state, by its number.
    pub fn states(&self) -> [usize; RequestState::ALL.len()] {
        self.census.states()
    }

    /// How many topics have an open request.
    pub fn topics_total(&self) -> usize {
        self.census.topics()
    }

    /// The `most` topics with the most open requests, and their counts.
    pub fn busiest_topics(&self, most: usize) -> Vec<(Arc<str>, TopicCount)> {
        self.census.busiest(most)
    }

    /// How many open requests each owner has.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// Looks at the open requests after a place, those that time out next first, then those whose answer waits. The
    /// caller lets go of the book between two pages, so that a look at a million requests delays nobody.
    pub fn page(
        &self,
        from: RequestPage,
        is_wanted: &dyn Fn(&RequestSummary<C>) -> bool,
        found: &mut Vec<RequestSummary<C>>,
    ) -> RequestPage {
        let mut next = RequestPage::End;
        let mut look = |key: &RequestKey, place: RequestPage| {
            let summary = self.open.get(key).map(|open| self.summary_of(open));
            found.extend(summary.filter(is_wanted));
            next = place;
        };
        let (deadlines, answers) = match from {
            RequestPage::Start => (Some(Unbounded), Unbounded),
            RequestPage::Deadline(at_ms, key) => (Some(Excluded((at_ms, key))), Unbounded),
            RequestPage::Answer(key) => (None, Excluded(key)),
            RequestPage::End => return from,
        };
        let mut left = PAGE_MAX;
        if let Some(after) = deadlines {
            let range = (after, Unbounded);
            let overdue = self.overdue.range(range).take(left);
            let mut both: Vec<_> = self.deadlines.range(range).take(left).chain(overdue).collect();
            both.sort_unstable();
            for (at_ms, key) in both.into_iter().take(left) {
                look(key, RequestPage::Deadline(*at_ms, *key));
                left -= 1;
            }
        }
        for key in self.answers.range((answers, Unbounded)).take(left) {
            look(key, RequestPage::Answer(*key));
            left -= 1;
        }
        if left > 0 { RequestPage::End } else { next }
    }

    /// One request, open or ended a short time ago.
    pub fn find(&self, key: RequestKey) -> Option<RequestSummary<C>> {
        let open = self.open.get(&key).map(|open| self.summary_of(open));
        open.or_else(|| self.ended.0.iter().rev().find(|ended| ended.key == key).cloned())
    }

    fn summary_of(&self, open: &Open<C>) -> RequestSummary<C> {
        let place = open.service.and_then(|session| self.services.place(session));
        let service = place.and_then(|place| self.services.at(place));
        summary(open, service.map(|service| service.client.clone()))
    }

    /// At most so many of the last requests that ended, the newest first.
    pub fn last_ended(&self, most: usize) -> Vec<EndedRequest<C>> {
        self.ended.0.iter().rev().take(most).cloned().collect()
    }

    /// How many services there are, and how many requests all of them can have at once.
    pub fn services_total(&self) -> (usize, usize) {
        self.services.totals()
    }

    /// At most so many services, the busiest first.
    pub fn services(&self, most: usize) -> Vec<ServiceSummary<C>> {
        let mut all: Vec<_> = self.services.iter().collect();
        all.sort_by_key(|service| std::cmp::Reverse(service.held.len()));
        let shown = all.into_iter().take(most).map(|service| ServiceSummary {
            client: service.client.clone(),
            busy: service.held.len(),
            limit: service.limit,
            answered: service.answered,
            failed: service.failed,
            times: service.times.clone(),
        });
        shown.collect()
    }
}
