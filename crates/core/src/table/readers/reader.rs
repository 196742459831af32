//! One reader: its plain subscriptions, and how far it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipring_wire::frame::RangeSet;

use super::chosen::Chosen;
use super::framed::FramedChanges;
use super::lap::{Found, Lap};
use super::recent::RecentSamples;
use super::turn::{Allowance, MESSAGE_STEPS, Turn};
use super::{PlainOutlet, PlainTerms, ReaderId};
use crate::Millis;
use crate::table::{Registry, Scene};

/// How soon a reader is visited again that has had all it may get for now.
const AGAIN_MS: Millis = 20;
/// Messages that a reader gets before another one's turn.
const PORTION: usize = 256;

/// A plain subscription.
#[derive(Debug)]
pub(super) struct PlainFilter {
    pub terms: PlainTerms,
    pub chosen: Arc<Chosen>,
}

#[derive(Debug)]
pub(super) struct Reader {
    pub filters: BTreeMap<Box<str>, PlainFilter>,
    /// What all of them choose.
    pub chosen: Arc<Chosen>,
    pub flow: Flow,
    pub allowance: Allowance,
    /// Whether it is among those that are visited next.
    pub is_queued: bool,
    /// When it is visited otherwise.
    pub due_ms: Option<Millis>,
}

/// What a reader gets.
#[derive(Debug)]
pub(super) enum Flow {
    /// Every sample.
    Every(Place),
    /// The newest values, in rounds.
    Newest(Lap),
}

/// Where a reader of every sample is.
#[derive(Debug, Default)]
pub(super) struct Place {
    has_work: bool,
    /// The number of the recent sample that it gets next.
    next: u64,
    /// It has everything up to this change.
    since: u64,
    /// The change of the run that it is getting, for which it had the allowance.
    run: Option<u64>,
    /// The parameters of that run of which it has all samples.
    got: RangeSet,
    /// The change of the run that was noted last.
    noted: u64,
    /// How many recent samples it wants.
    owed: usize,
}

/// What becomes of a reader after a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// It has everything.
    Idle,
    /// It has more to get.
    Again,
    /// It has more to get, later.
    Later(Millis),
    /// It gets newest values from now on.
    Newest,
    /// It gets every sample from now on.
    Every,
}

/// What a visit needs to know.
pub(super) struct Surroundings<'a> {
    pub recent: &'a RecentSamples,
    pub framed: &'a FramedChanges,
    pub registry: &'a Registry,
    pub scene: Scene<'a>,
}

impl Place {
    /// A run came with this change, and is told once or several times. The first of its samples that are kept
    /// has this number; how many are wanted is asked once. False where more is owed than is kept for one
    /// reader.
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

    /// Whether there is something for it.
    pub fn has_work(&self) -> bool {
        self.has_work
    }

    /// Goes over to newest values: those that it does not have yet.
    pub fn lap(&self, now_ms: Millis) -> Lap {
        Lap::since(self.since, &self.got, self.run.unwrap_or(self.since), now_ms)
    }

    /// Ends a visit within a run. It does not have all samples of the parameters that are still to come.
    fn rest(&mut self, recent: &RecentSamples, change: u64) {
        let left = recent.from(self.next).take_while(|sample| sample.change == change);
        left.for_each(|sample| self.got.remove(sample.index..sample.index + 1));
    }
}

impl Reader {
    pub fn new(now_ms: Millis) -> Self {
        Self {
            filters: BTreeMap::new(),
            chosen: Arc::default(),
            flow: Flow::Every(Place::default()),
            allowance: Allowance::full(now_ms),
            is_queued: false,
            due_ms: None,
        }
    }

    pub fn visit(
        &mut self,
        id: ReaderId,
        around: &Surroundings<'_>,
        turn: &mut Turn,
        outlet: &mut dyn PlainOutlet,
    ) -> After {
        self.allowance.fill(around.scene.now_ms);
        let Self { filters, chosen, flow, allowance, .. } = self;
        let mut sending = Sending { id, filters, around, outlet, sent: 0, identifiers: Vec::new() };
        match flow {
            Flow::Every(place) => place.visit(chosen, allowance, turn, &mut sending),
            Flow::Newest(lap) => lap.visit(chosen, allowance, turn, &mut sending),
        }
    }
}

impl Place {
    fn visit(
        &mut self,
        chosen: &RangeSet,
        allowance: &mut Allowance,
        turn: &mut Turn,
        sending: &mut Sending<'_, '_>,
    ) -> After {
        let Surroundings { recent, framed, .. } = *sending.around;
        let room = sending.outlet.room(sending.id).every;
        while self.has_work {
            if recent.has_dropped(self.next) {
                return After::Newest;
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
                    return After::Newest;
                }
                self.run = Some(change);
            }
            while let Some(sample) = recent.get(self.next).filter(|next| next.change == change) {
                if !turn.spend(1) {
                    self.rest(recent, change);
                    return After::Again;
                }
                self.next += 1;
                if !chosen.contains(sample.index) {
                    continue;
                }
                self.owed = self.owed.saturating_sub(1);
                // A plain message that came after it was delivered at once; it is older then.
                if !framed.is_outdated(sample.index, change) {
                    self.got.insert(sample.index..sample.index + 1);
                    sending.send(&sample.sample(), Some(sample.publisher), turn);
                }
            }
            (self.since, self.run) = (change, None);
            self.got.clear();
        }
        After::Idle
    }
}

impl Lap {
    fn visit(
        &mut self,
        chosen: &RangeSet,
        allowance: &mut Allowance,
        turn: &mut Turn,
        sending: &mut Sending<'_, '_>,
    ) -> After {
        let Surroundings { framed, scene, .. } = *sending.around;
        let later = After::Later(scene.now_ms + AGAIN_MS);
        let room = sending.outlet.room(sending.id).newest;
        // A round in one visit finds all that there is; in several, something may have changed behind it.
        let (change, is_whole) = (scene.current.change(), self.is_at_begin());
        for _ in 0..PORTION {
            if sending.sent >= room {
                self.rest(change);
                self.hinder(scene.now_ms);
                return later;
            }
            match self.find(chosen, framed, turn) {
                Found::Parameter(parameter) if allowance.take(1) => {
                    let sample = scene.current.columns.sample(parameter as usize, parameter);
                    if let Some(sample) = sample {
                        sending.send(&sample, None, turn);
                    }
                }
                Found::Parameter(parameter) => {
                    self.back_to(parameter);
                    self.rest(change);
                    self.hinder(scene.now_ms);
                    return later;
                }
                Found::Pause => {
                    self.rest(change);
                    return After::Again;
                }
                Found::End => {
                    self.end(change);
                    return match self.is_calm(scene.now_ms) {
                        true if is_whole => After::Every,
                        true => After::Again,
                        false => later,
                    };
                }
            }
        }
        self.rest(change);
        After::Again
    }
}

/// Messages on their way to one reader.
struct Sending<'a, 'o> {
    id: ReaderId,
    filters: &'a BTreeMap<Box<str>, PlainFilter>,
    around: &'a Surroundings<'a>,
    outlet: &'o mut dyn PlainOutlet,
    /// Bytes that were sent.
    sent: usize,
    identifiers: Vec<u32>,
}

impl Sending<'_, '_> {
    /// Sends a sample, if a subscription wants it; the publisher is known of a sample that just came.
    fn send(
        &mut self,
        sample: &slipring_wire::frame::Sample<'_>,
        publisher: Option<u64>,
        turn: &mut Turn,
    ) {
        turn.spend(MESSAGE_STEPS + self.filters.len() / MESSAGE_STEPS);
        let Surroundings { registry, .. } = *self.around;
        let Some(entry) = registry.get(sample.index) else { return };
        if self.find_terms(sample.index, publisher) {
            let Self { id, outlet, identifiers, .. } = self;
            self.sent += outlet.send(*id, &entry.name, sample, registry, identifiers);
        }
    }

    /// Finds the identifiers of the subscriptions that want a sample; false where none does.
    fn find_terms(&mut self, parameter: u32, publisher: Option<u64>) -> bool {
        self.identifiers.clear();
        let mut is_wanted = false;
        for PlainFilter { terms, chosen } in self.filters.values() {
            if !chosen.contains(parameter) || (terms.no_local && self.is_own(parameter, publisher))
            {
                continue;
            }
            is_wanted = true;
            self.identifiers.extend((terms.identifier > 0).then_some(terms.identifier));
        }
        is_wanted
    }

    /// Whether the reader publishes a sample itself (MQTT-3.8.3-3). Of newest values it is not known who
    /// did; a reader that has declared the parameter counts as the publisher.
    fn is_own(&self, parameter: u32, publisher: Option<u64>) -> bool {
        let ReaderId::Client(session) = self.id else { return false };
        let declared = || {
            let one = std::iter::once(parameter..parameter + 1);
            self.around.registry.may_publish(session, one).is_ok()
        };
        publisher.map_or_else(declared, |publisher| publisher == session)
    }
}
