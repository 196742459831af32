//! Readers: clients with plain subscriptions that match parameters, and what they get of frames.
//!
//! A reader gets every sample as a message of its own, up to [`PLAIN_RATE`] messages a second and as long as its
//! connection keeps up. Beyond that it gets newest values: in rounds through its parameters, the newest value
//! of each that changed. A publisher's frame is only noted here; messages are written in turns of bounded work.
//! This module never reads a clock and never waits.
//!
//! An example: a frame with 3,000 samples arrives, and readers A and B want all of them. Both may get 10,000
//! messages a second, so both get every sample. A turn of 1,000 messages sends about the first 1,000 to A; then
//! A goes to the end of the queue, and the next turn is B's. A's allowance is 7,000 messages after this frame.
//! If three more such frames follow within milliseconds, the fourth needs 3,000 messages and about 1,000 are
//! left: A changes to newest values, until it has not had to wait for a second.

mod choosing;
mod framed;
mod listeners;
mod parameter_sets;
mod reader;
mod recent;
mod round;
mod turn;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use slipring_wire::frame::{RangeSet, RunView, Sample};

pub use self::turn::PLAIN_RATE;

use self::framed::FramedChanges;
use self::listeners::Listeners;
use self::parameter_sets::ParameterSets;
use self::reader::{AfterVisit, Reader, ReaderFlow, SampleCursor, VisitContext};
use self::recent::{RecentSample, RecentSamples};
use self::turn::{TurnBudget, VISIT_STEPS};
use super::{Names, Registry, TableState};
use crate::{Millis, ParameterIndex, SessionKey};

/// A reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReaderId {
    /// The client of a session.
    Client(SessionKey),
    /// The members of a shared subscription, together.
    Share(u64),
}

/// What a plain subscription asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainTerms {
    /// The subscription identifier, sent with every message; 0 is none.
    pub identifier: u32,
    /// Leave out what the client published itself.
    pub no_local: bool,
}

/// The bytes that a reader's connection takes now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainRoom {
    /// For a reader of every sample: 0 if so much waits that it does not keep up.
    pub every: usize,
    /// For a reader of newest values: 0 until it has taken what it was sent before.
    pub newest: usize,
}

/// Where messages for readers go.
pub trait PlainOutlet {
    /// How many bytes a reader takes now.
    fn room(&mut self, reader: ReaderId) -> PlainRoom;

    /// Sends a sample on its topic, with the identifiers of the subscriptions that want it; returns the bytes.
    fn send(
        &mut self,
        reader: ReaderId,
        topic: &Arc<str>,
        sample: &Sample<'_>,
        names: &dyn Names,
        identifiers: &[u32],
    ) -> usize;
}

/// All readers.
#[derive(Debug, Default)]
pub struct PlainReaders {
    all: HashMap<ReaderId, Reader>,
    listeners: Listeners,
    sets: ParameterSets,
    recent: RecentSamples,
    framed: FramedChanges,
    /// Readers that are visited next, in this order.
    ready: VecDeque<ReaderId>,
    /// Readers that are visited later, by time.
    waiting: BTreeSet<(Millis, ReaderId)>,
}

impl PlainReaders {
    /// How many readers have parameters, and how many of them get newest values only.
    pub fn count(&self) -> (usize, usize) {
        let reading = self.all.values().filter(|reader| !reader.chosen.is_empty());
        let is_newest = |reader: &&Reader| matches!(reader.flow, ReaderFlow::Newest(_));
        (reading.clone().count(), reading.filter(is_newest).count())
    }

    /// Ends all plain subscriptions of a reader.
    pub fn stop_all(&mut self, id: ReaderId) {
        let Some(reader) = self.all.remove(&id) else { return };
        if let Some(due_ms) = reader.due_ms {
            self.waiting.remove(&(due_ms, id));
        }
        if matches!(reader.flow, ReaderFlow::Every(_)) {
            self.listeners.remove(id, &reader.chosen);
        }
        self.free();
    }

    /// Frees memory that no reader needs.
    fn free(&mut self) {
        if self.listeners.is_empty() {
            self.recent.clear();
        }
        if self.all.is_empty() {
            self.framed.free();
            self.ready = VecDeque::new();
        }
    }

    /// Notes a run of samples that the table holds already. A reader that is owed too many samples changes to newest
    /// values, so that the samples of others can be kept.
    pub(super) fn offer(
        &mut self,
        run: &RunView<'_>,
        publisher: SessionKey,
        change: u64,
        now_ms: Millis,
    ) {
        if self.all.is_empty() {
            return;
        }
        run.ranges().for_each(|range| self.framed.mark(&range, change));
        if self.listeners.is_empty() || !self.listeners.hears_any(run) {
            return;
        }
        for id in self.note_run(run, change) {
            self.schedule(id, AfterVisit::Newest, now_ms);
        }
        self.keep(run, publisher, change);
    }

    /// Notes a run for the readers that want it; returns those that are owed too many samples.
    fn note_run(&mut self, run: &RunView<'_>, change: u64) -> Vec<ReaderId> {
        let Self { all, listeners, ready, recent, .. } = self;
        let (number, mut flooded) = (recent.end(), Vec::new());
        listeners.each(run, |id| {
            let Some(Reader { flow: ReaderFlow::Every(cursor), chosen, is_queued, .. }) =
                all.get_mut(&id)
            else {
                return;
            };
            if !cursor.note(number, change, || wanted(run, chosen)) {
                flooded.push(id);
            }
            if cursor.has_work && !std::mem::replace(is_queued, true) {
                ready.push_back(id);
            }
        });
        flooded
    }

    fn keep(&mut self, run: &RunView<'_>, publisher: SessionKey, change: u64) {
        let Self { listeners, recent, .. } = self;
        if !listeners.hears_any(run) {
            return;
        }
        run.visit(|Sample { index, time_ns, quality, value }| {
            if listeners.hears(ParameterIndex::new(index)) {
                let value = value.to_owned();
                recent.push(RecentSample { index, time_ns, quality, value, change, publisher });
            }
        });
    }

    /// Notes that a plain message brought a newer sample; it is delivered to subscribers like any other message.
    pub(super) fn take_text(&mut self, parameter: ParameterIndex, change: u64) {
        if !self.all.is_empty() {
            self.framed.set_plain(parameter, change);
        }
    }

    /// When [`Self::serve`] has something to do. The time can be in the past.
    pub fn next_due_ms(&self) -> Option<Millis> {
        let later = self.waiting.first().map(|(due_ms, _)| *due_ms);
        if self.ready.is_empty() { later } else { Some(0) }
    }

    /// Sends readers their messages, about `messages` at most; readers take turns. Returns the steps of work.
    pub(super) fn serve(
        &mut self,
        messages: usize,
        registry: &Registry,
        state: &TableState<'_>,
        outlet: &mut dyn PlainOutlet,
    ) -> usize {
        self.wake_due(state.now_ms);
        let mut turn = TurnBudget::of(messages);
        while !turn.is_over() {
            let Some(id) = self.ready.pop_front() else { break };
            turn.spend(VISIT_STEPS);
            let Self { all, recent, framed, .. } = self;
            let Some(reader) = all.get_mut(&id) else { continue };
            reader.is_queued = false;
            let context = VisitContext { recent, framed, registry, state: *state };
            let after = reader.visit(id, &context, &mut turn, outlet);
            self.schedule(id, after, state.now_ms);
        }
        turn.spent()
    }

    fn wake_due(&mut self, now_ms: Millis) {
        while let Some((due_ms, id)) = self.waiting.first().copied() {
            if due_ms > now_ms {
                return;
            }
            self.waiting.pop_first();
            if let Some(reader) = self.all.get_mut(&id) {
                reader.due_ms = None;
                self.queue(id);
            }
        }
    }

    fn queue(&mut self, id: ReaderId) {
        let Some(reader) = self.all.get_mut(&id) else { return };
        if !std::mem::replace(&mut reader.is_queued, true) {
            self.ready.push_back(id);
        }
    }

    /// Does what a reader needs after a visit.
    fn schedule(&mut self, id: ReaderId, after: AfterVisit, now_ms: Millis) {
        let Some(reader) = self.all.get_mut(&id) else { return };
        match after {
            AfterVisit::Idle => {}
            AfterVisit::Again => self.queue(id),
            AfterVisit::Later(due_ms) => {
                reader.due_ms = Some(due_ms);
                self.waiting.insert((due_ms, id));
            }
            AfterVisit::Newest => {
                let ReaderFlow::Every(cursor) = &reader.flow else { return };
                reader.flow = ReaderFlow::Newest(cursor.newest_round(now_ms));
                self.listeners.remove(id, &reader.chosen);
                self.queue(id);
                self.free();
            }
            AfterVisit::Every => {
                reader.flow = ReaderFlow::Every(SampleCursor::default());
                self.listeners.add(id, &reader.chosen);
            }
        }
    }
}

/// How many samples of a run are of these parameters.
fn wanted(run: &RunView<'_>, chosen: &RangeSet) -> usize {
    if let Some(rows) = run.rows() {
        return rows * run.ranges().map(|range| chosen.count_in(&range)).sum::<usize>();
    }
    let counted = run.indices().zip(run.counts());
    let chosen = counted.filter(|(index, _)| chosen.contains(*index));
    chosen.map(|(_, count)| count as usize).sum()
}
