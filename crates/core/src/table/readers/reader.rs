//! One reader: its plain subscriptions, and what it has received so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipring_wire::frame::RangeSet;

use super::framed::FramedChanges;
use super::parameter_sets::ParameterSet;
use super::recent::RecentSamples;
use super::round::NewestRound;
use super::turn::{MESSAGE_STEPS, MessageAllowance, TurnBudget};
use super::{PlainOutlet, PlainTerms, ReaderId};
use crate::access::ClientRights;
use crate::table::{Registry, TableState};
use crate::{Millis, ParameterIndex, SessionKey};

/// A plain subscription.
#[derive(Debug)]
pub(super) struct PlainFilter {
    pub terms: PlainTerms,
    pub chosen: Arc<ParameterSet>,
    /// The rights that narrow it.
    pub rights: Option<Arc<ClientRights>>,
}

#[derive(Debug)]
pub(super) struct Reader {
    pub filters: BTreeMap<Box<str>, PlainFilter>,
    /// The parameters of all filters.
    pub chosen: Arc<ParameterSet>,
    pub flow: ReaderFlow,
    pub allowance: MessageAllowance,
    /// Whether it is in the queue of readers to visit.
    pub is_queued: bool,
    /// When it is to be visited, if it is not in the queue.
    pub due_ms: Option<Millis>,
}

/// Which samples a reader gets.
#[derive(Debug)]
pub(super) enum ReaderFlow {
    /// Every sample.
    Every(SampleCursor),
    /// The newest values, in rounds.
    Newest(NewestRound),
}

/// The position of a reader of every sample among the recent samples.
#[derive(Debug, Default)]
pub(super) struct SampleCursor {
    /// Whether there are samples to send.
    pub has_work: bool,
    /// The number of the next recent sample to send.
    next: u64,
    /// It has received everything up to this change.
    since: u64,
    /// The change of the run that is being sent, for which the allowance was taken.
    run: Option<u64>,
    /// The parameters of that run whose samples were all sent.
    got: RangeSet,
    /// The change of the run that was noted last.
    noted: u64,
    /// How many recent samples are still to be sent.
    owed: usize,
}

/// What a reader needs after a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterVisit {
    /// Nothing: it has received everything.
    Idle,
    /// Another visit, when it is its turn.
    Again,
    /// Another visit at this time.
    Later(Millis),
    /// A change to newest values.
    Newest,
    /// A change to every sample.
    Every,
}

/// The samples and the table that a visit reads.
pub(super) struct VisitContext<'a> {
    pub recent: &'a RecentSamples,
    pub framed: &'a FramedChanges,
    pub registry: &'a Registry,
    pub state: TableState<'a>,
}

impl SampleCursor {
    /// Notes a run of this change; further calls for the same run do nothing. `number` is that of its first recent
    /// sample. Returns false if more samples are owed than are kept for one reader.
    pub fn note(&mut self, number: u64, change: u64, wanted: impl FnOnce() -> usize) -> bool {
        if std::mem::replace(&mut self.noted, change) == change {
            return true;
        }
        let wanted = wanted();
        if wanted == 0 {
            return true;
        }
        if !self.has_work {
            let since = change - 1;
            *self = Self { has_work: true, next: number, since, noted: change, ..Self::default() };
        }
        self.owed += wanted;
        self.owed <= RecentSamples::OWED_MAX
    }

    /// The first round of newest values: those that the reader has not received yet.
    pub fn newest_round(&self, now_ms: Millis) -> NewestRound {
        NewestRound::since(self.since, &self.got, self.run.unwrap_or(self.since), now_ms)
    }

    /// Ends a visit within a run: parameters with samples still to come were not sent completely.
    fn end_visit(&mut self, recent: &RecentSamples, change: u64) {
        let left = recent.from(self.next).take_while(|sample| sample.change == change);
        left.for_each(|sample| self.got.remove(sample.index..sample.index + 1));
    }
}

impl Reader {
    pub fn new(now_ms: Millis) -> Self {
        Self {
            filters: BTreeMap::new(),
            chosen: Arc::default(),
            flow: ReaderFlow::Every(SampleCursor::default()),
            allowance: MessageAllowance::full(now_ms),
            is_queued: false,
            due_ms: None,
        }
    }

    pub fn visit(
        &mut self,
        id: ReaderId,
        context: &VisitContext<'_>,
        turn: &mut TurnBudget,
        outlet: &mut dyn PlainOutlet,
    ) -> AfterVisit {
        self.allowance.fill(context.state.now_ms);
        let Self { filters, chosen, flow, allowance, .. } = self;
        let mut sending =
            Sending { id, filters, context, outlet, sent: 0, identifiers: Vec::new() };
        match flow {
            ReaderFlow::Every(cursor) => cursor.visit(chosen, allowance, turn, &mut sending),
            ReaderFlow::Newest(round) => round.visit(chosen, allowance, turn, &mut sending),
        }
    }
}

impl SampleCursor {
    fn visit(
        &mut self,
        chosen: &RangeSet,
        allowance: &mut MessageAllowance,
        turn: &mut TurnBudget,
        sending: &mut Sending<'_, '_>,
    ) -> AfterVisit {
        let VisitContext { recent, framed, .. } = *sending.context;
        let room = sending.outlet.room(sending.id).every;
        while self.has_work {
            if recent.has_dropped(self.next) {
                return AfterVisit::Newest;
            }
            let Some(change) = recent.get(self.next).map(|sample| sample.change) else {
                self.has_work = false;
                break;
            };
            if self.run != Some(change) {
                let run = recent.from(self.next).take_while(|sample| sample.change == change);
                let wanted = run.filter(|sample| chosen.contains(sample.index)).count();
                let is_allowed = sending.sent < room && allowance.take(wanted);
                if wanted > 0 && !is_allowed {
                    return AfterVisit::Newest;
                }
                self.run = Some(change);
            }
            while let Some(sample) = recent.get(self.next).filter(|next| next.change == change) {
                if !turn.spend(1) {
                    self.end_visit(recent, change);
                    return AfterVisit::Again;
                }
                self.next += 1;
                if !chosen.contains(sample.index) {
                    continue;
                }
                self.owed = self.owed.saturating_sub(1);
                // A later plain message was delivered at once: this sample is older than it.
                if !framed.is_outdated(ParameterIndex::new(sample.index), change) {
                    self.got.insert(sample.index..sample.index + 1);
                    sending.send(&sample.sample(), Some(sample.publisher), turn);
                }
            }
            (self.since, self.run) = (change, None);
            self.got.clear();
        }
        AfterVisit::Idle
    }
}

/// Sends messages to one reader during a visit.
pub(super) struct Sending<'a, 'o> {
    pub id: ReaderId,
    filters: &'a BTreeMap<Box<str>, PlainFilter>,
    pub context: &'a VisitContext<'a>,
    pub outlet: &'o mut dyn PlainOutlet,
    /// Bytes sent in this visit.
    pub sent: usize,
    identifiers: Vec<u32>,
}

impl Sending<'_, '_> {
    /// Sends a sample if a subscription wants it. The publisher is known only for recent samples.
    pub fn send(
        &mut self,
        sample: &slipring_wire::frame::Sample<'_>,
        publisher: Option<SessionKey>,
        turn: &mut TurnBudget,
    ) {
        turn.spend(MESSAGE_STEPS + self.filters.len() / MESSAGE_STEPS);
        let VisitContext { registry, .. } = *self.context;
        let parameter = ParameterIndex::new(sample.index);
        let Some(entry) = registry.entries().get(parameter) else { return };
        if self.find_terms(parameter, publisher) {
            let Self { id, outlet, identifiers, .. } = self;
            self.sent += outlet.send(*id, &entry.name, sample, registry.entries(), identifiers);
        }
    }

    /// Finds the identifiers of the subscriptions that want a sample; false if none does.
    fn find_terms(&mut self, parameter: ParameterIndex, publisher: Option<SessionKey>) -> bool {
        self.identifiers.clear();
        let mut is_wanted = false;
        for PlainFilter { terms, chosen, .. } in self.filters.values() {
            if !chosen.contains(parameter.get())
                || (terms.no_local && self.is_own(parameter, publisher))
            {
                continue;
            }
            is_wanted = true;
            self.identifiers.extend((terms.identifier > 0).then_some(terms.identifier));
        }
        is_wanted
    }

    /// Whether the reader published a sample itself (MQTT-3.8.3-3). The publisher of a newest value is not known;
    /// a reader that has declared the parameter counts as its publisher.
    fn is_own(&self, parameter: ParameterIndex, publisher: Option<SessionKey>) -> bool {
        let ReaderId::Client(session) = self.id else { return false };
        let declared = || {
            let one = std::iter::once(parameter.get()..parameter.next().get());
            self.context.registry.publishers.may_publish(session, one).is_ok()
        };
        publisher.map_or_else(declared, |publisher| publisher == session)
    }
}
