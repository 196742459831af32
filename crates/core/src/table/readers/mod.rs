//! Readers: clients with plain subscriptions that match parameters, and what they get of frames.
//!
//! A reader gets every sample as a message of its own, up to [`PLAIN_RATE`] a second and while it takes
//! them. Beyond that newest wins: it goes round through its parameters and gets the newest value of each
//! that changed. A publisher's frame is only noted here; what it means for readers is done in turns of
//! bounded work. Never reads a clock and never waits.

mod choosing;
mod chosen;
mod framed;
mod lap;
mod listeners;
mod reader;
mod recent;
mod turn;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use slipring_wire::frame::{RangeSet, RunView, Sample};

pub use self::turn::PLAIN_RATE;

use self::chosen::ChosenSets;
use self::framed::FramedChanges;
use self::listeners::Listeners;
use self::reader::{After, Flow, Place, Reader, Surroundings};
use self::recent::{Recent, RecentSamples};
use self::turn::{Turn, VISIT_STEPS};
use super::{Names, Registry, Scene};
use crate::Millis;

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReaderId {
    /// The client of a session.
    Client(u64),
    /// The members of a shared subscription, together.
    Share(u64),
}

/// What a plain subscription asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainTerms {
    /// Told with every message; 0 is none.
    pub identifier: u32,
    /// Leave out what the client published itself.
    pub no_local: bool,
}

/// Bytes that a reader takes now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainRoom {
    /// Of every sample: none where so much waits that it does not keep up.
    pub every: usize,
    /// Of newest values: none until it has taken what it was sent before.
    pub newest: usize,
}

/// Where messages for readers go.
pub trait PlainOutlet {
    /// How much a reader takes now.
    fn room(&mut self, reader: ReaderId) -> PlainRoom;

    /// Sends a sample on its topic, with the identifiers of the subscriptions that want it; how many bytes.
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
    sets: ChosenSets,
    recent: RecentSamples,
    framed: FramedChanges,
    /// Those that are visited next, in their order.
    ready: VecDeque<ReaderId>,
    /// Those that are visited later.
    waiting: BTreeSet<(Millis, ReaderId)>,
}

impl PlainReaders {
    /// How many read any parameter, and how many of them get newest values only.
    pub fn count(&self) -> (usize, usize) {
        let reading = self.all.values().filter(|reader| !reader.chosen.is_empty());
        let is_newest = |reader: &&Reader| matches!(reader.flow, Flow::Newest(_));
        (reading.clone().count(), reading.filter(is_newest).count())
    }

    /// A reader is gone.
    pub fn stop_all(&mut self, id: ReaderId) {
        let Some(reader) = self.all.remove(&id) else { return };
        if let Some(due_ms) = reader.due_ms {
            self.waiting.remove(&(due_ms, id));
        }
        if matches!(reader.flow, Flow::Every(_)) {
            self.listeners.remove(id, &reader.chosen);
        }
        self.free();
    }

    /// Gives back memory that nobody needs any more.
    fn free(&mut self) {
        if self.listeners.is_empty() {
            self.recent.clear();
        }
        if self.all.is_empty() {
            self.framed.free();
            self.ready = VecDeque::new();
        }
    }

    /// Notes a run that the newest values have taken over. Whoever wants too much of it gets newest values,
    /// so that the samples of others stay.
    pub(super) fn offer(&mut self, run: &RunView<'_>, publisher: u64, change: u64, now_ms: Millis) {
        if self.all.is_empty() {
            return;
        }
        run.ranges().for_each(|range| self.framed.mark(range, change));
        if self.listeners.is_empty() || !self.listeners.hears_any(run) {
            return;
        }
        for id in self.note(run, change) {
            self.arrange(id, After::Newest, now_ms);
        }
        self.keep(run, publisher, change);
    }

    /// Tells those that listen to a run; who is owed too much now.
    fn note(&mut self, run: &RunView<'_>, change: u64) -> Vec<ReaderId> {
        let Self { all, listeners, ready, recent, .. } = self;
        let (number, mut flooded) = (recent.end(), Vec::new());
        listeners.each(run, |id| {
            let Some(Reader { flow: Flow::Every(place), chosen, is_queued, .. }) = all.get_mut(&id)
            else {
                return;
            };
            if !place.note(number, change, || wanted(run, chosen)) {
                flooded.push(id);
            }
            if place.has_work() && !std::mem::replace(is_queued, true) {
                ready.push_back(id);
            }
        });
        flooded
    }

    fn keep(&mut self, run: &RunView<'_>, publisher: u64, change: u64) {
        let Self { listeners, recent, .. } = self;
        if !listeners.hears_any(run) {
            return;
        }
        run.visit(|Sample { index, time_ns, quality, value }| {
            if listeners.hears(index) {
                let value = value.to_owned();
                recent.push(Recent { index, time_ns, quality, value, change, publisher });
            }
        });
    }

    /// A plain message brought a newer sample of a parameter, and goes to its subscribers by itself.
    pub(super) fn take_text(&mut self, parameter: u32, change: u64) {
        if !self.all.is_empty() {
            self.framed.set_plain(parameter, change);
        }
    }

    /// When [`Self::serve`] has something to do; it may be over already.
    pub fn next_due_ms(&self) -> Option<Millis> {
        let later = self.waiting.first().map(|(due_ms, _)| *due_ms);
        if self.ready.is_empty() { later } else { Some(0) }
    }

    /// Sends what readers are to get, at most about so many messages; readers take turns. How many steps of
    /// work it was.
    pub(super) fn serve(
        &mut self,
        messages: usize,
        registry: &Registry,
        scene: &Scene<'_>,
        outlet: &mut dyn PlainOutlet,
    ) -> usize {
        self.wake_due(scene.now_ms);
        let mut turn = Turn::of(messages);
        while !turn.is_over() {
            let Some(id) = self.ready.pop_front() else { break };
            turn.spend(VISIT_STEPS);
            let Self { all, recent, framed, .. } = self;
            let Some(reader) = all.get_mut(&id) else { continue };
            reader.is_queued = false;
            let around = Surroundings { recent, framed, registry, scene: *scene };
            let after = reader.visit(id, &around, &mut turn, outlet);
            self.arrange(id, after, scene.now_ms);
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

    /// A reader was visited.
    fn arrange(&mut self, id: ReaderId, after: After, now_ms: Millis) {
        let Some(reader) = self.all.get_mut(&id) else { return };
        match after {
            After::Idle => {}
            After::Again => self.queue(id),
            After::Later(due_ms) => {
                reader.due_ms = Some(due_ms);
                self.waiting.insert((due_ms, id));
            }
            After::Newest => {
                let Flow::Every(place) = &reader.flow else { return };
                reader.flow = Flow::Newest(place.lap(now_ms));
                self.listeners.remove(id, &reader.chosen);
                self.queue(id);
                self.free();
            }
            After::Every => {
                reader.flow = Flow::Every(Place::default());
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
