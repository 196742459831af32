//! The table as a whole: takes samples in, keeps the newest, and hands on what was chosen.

use std::sync::Arc;

use slipring_wire::Publish;
use slipring_wire::frame::{FrameView, Hops, RangeSet};

use super::answer::told;
use super::declare::sorted;
use super::refused::{check, check_room, check_time};
use super::{
    Aim, Arrival, Asking, Change, Choice, Current, Desk, Event, First, Groups, ListId, Lists,
    Needs, Outcome, PlainOutlet, PlainReaders, PlainTerms, ReaderId, Refusal, Registry, Request,
    Room, SampleRefused, Scene, plain_sample,
};
use crate::{Millis, Plan};

/// What selections of every sample gather for their beats, all together. From half of it on nothing waits.
const GATHERED_BYTES_MAX: usize = 256 << 20;

/// The parameters, their newest values, and who chose them.
#[derive(Debug)]
pub struct Table {
    /// What there is.
    pub registry: Registry,
    /// The newest values.
    pub current: Current,
    pub(super) groups: Groups,
    /// Plain subscriptions to parameters.
    pub readers: PlainReaders,
    lists: Lists,
    /// Parameters that lost their publisher and are to go stale.
    pub(super) orphaned: RangeSet,
    /// Whether more parameters are to go stale than did at the last look.
    pub is_going_stale: bool,
}

/// A subscription that chooses parameters.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// As the client wrote it.
    pub filter: &'a str,
    /// Told with every message; 0 is none.
    pub identifier: u32,
    /// What it needs.
    pub needs: Needs,
    /// The largest packet that the client takes.
    pub packet_bytes_max: usize,
}

impl Table {
    /// A table with these parameters and values; nobody publishes yet.
    pub fn new(registry: Registry, mut current: Current, plan: &Plan) -> Self {
        let all: RangeSet = registry.entries().iter_from(0).map(|(index, _)| index).collect();
        current.define(&all, &registry);
        let remembered_bytes = plan.limits.selection_bytes;
        let room = Room { gathered_bytes: GATHERED_BYTES_MAX, remembered_bytes };
        let groups = Groups::new(registry.id(), plan.table.beat_ms, room);
        Self {
            registry,
            current,
            groups,
            readers: PlainReaders::default(),
            lists: Lists::default(),
            orphaned: RangeSet::new(),
            is_going_stale: false,
        }
    }

    /// Another plan holds from now on, also for selections that are there.
    pub fn follow(&mut self, plan: &Plan) {
        self.groups.set_beat_ms(plan.table.beat_ms);
        self.groups.set_remembered_bytes_max(plan.limits.selection_bytes);
    }

    /// Answers a request of a session.
    pub fn answer(&mut self, request: Result<Request, Refusal>, asking: &Asking<'_>) -> Outcome {
        let Self { registry, lists, current, .. } = self;
        Desk { registry, lists, current }.answer(request, asking)
    }

    /// The parameters have changed: values and selections follow. What is to be told of it, as JSON.
    pub fn changed(&mut self, change: &Change, at: Arrival) -> Vec<Vec<u8>> {
        let Change { added, changed, revived, removed, .. } = change;
        let there = added.union(revived);
        for set in [&there, changed, removed] {
            self.current.define(set, &self.registry);
        }
        let Self { registry, current, groups, readers, .. } = self;
        if !there.is_empty() || !removed.is_empty() {
            let arrived = registry.tree_of(&there);
            let mut choose = |filter: &str, before: &RangeSet| {
                let (mut chosen, mut new) = (before.clone(), Vec::new());
                arrived.matching(filter, &mut |index| new.push(*index));
                chosen.add(&sorted(new));
                chosen.take_away(removed);
                chosen
            };
            groups.table_changed(&mut choose, &scene(registry, current, at));
            readers.table_changed(&mut choose);
        }
        let events = [(Event::Added, &there), (Event::Changed, changed), (Event::Removed, removed)];
        let events = events.into_iter().filter(|(_, set)| !set.is_empty());
        events.map(|(event, set)| told(registry, event, set, None)).collect()
    }

    /// Takes a frame of a session, as a whole or not at all.
    pub fn take_frame(
        &mut self,
        session: u64,
        view: &FrameView<'_>,
        at: Arrival,
        plan: &Plan,
    ) -> Result<(), SampleRefused> {
        let Self { registry, current, groups, readers, .. } = self;
        check(registry, current, session, view, at, plan)?;
        let skew_ns = view.header.hops.map_or(0, |hops| hops.skew_ns);
        let published_ns = view.header.sent_ns.saturating_add(skew_ns);
        let hops = Hops { published_ns, received_ns: at.now_ns, skew_ns };
        for run in view.runs() {
            current.apply(&run, at);
            let scene = scene(registry, current, at);
            groups.offer(&run, Some(hops), &scene);
            readers.offer(&run, session, current.change(), at.now_ms);
            groups.bound_texts(plan.limits.parameter_bytes, &scene);
        }
        Ok(())
    }

    /// Takes a plain message on the topic of a parameter as a sample of it.
    pub fn take_text(
        &mut self,
        parameter: u32,
        message: &Publish<'_>,
        at: Arrival,
        plan: &Plan,
    ) -> Result<(), SampleRefused> {
        let Some(entry) = self.registry.get(parameter) else { return Ok(()) };
        let read = plain_sample(entry, message.properties, message.payload, at.now_ns);
        let read = read.map_err(|why| SampleRefused::Text {
            name: (&*entry.name).into(),
            declared: entry.definition.kind.name(),
            why,
        })?;
        check_time(read.time_ns, at, &plan.table)?;
        check_room(&self.current, self.current.growth_by(&read.of(parameter)), plan)?;
        self.current.set(&read.of(parameter), at);
        self.readers.take_text(parameter, self.current.change());
        let one: RangeSet = std::iter::once(parameter).collect();
        let Self { registry, current, groups, .. } = self;
        let scene = scene(registry, current, at);
        groups.offer_newest(&one, &scene);
        groups.bound_texts(plan.limits.parameter_bytes, &scene);
        Ok(())
    }

    /// A session chooses parameters; the values to send first.
    pub fn choose(&mut self, session: u64, chosen: &Chosen<'_>, at: Arrival) -> First {
        let choice = self.choice(session, chosen);
        let Self { registry, current, groups, .. } = self;
        groups.join(session, choice, &scene(registry, current, at))
    }

    pub(super) fn choice(&mut self, session: u64, chosen: &Chosen<'_>) -> Choice {
        let list = self.hold(session, chosen.filter);
        let set = match (Aim::parse(chosen.filter), list) {
            (Some(Aim::Filter(filter)), _) => self.registry.matching(filter),
            (_, Some(list)) => RangeSet::clone(&list),
            (_, None) => RangeSet::new(),
        };
        Choice {
            filter: chosen.filter.into(),
            chosen: set,
            identifier: chosen.identifier,
            needs: chosen.needs,
            packet_bytes_max: chosen.packet_bytes_max,
        }
    }

    /// A plain subscription of a reader, in place of its earlier one with this filter; `topics` is the part
    /// of the filter that topics match. How many steps of work it was.
    pub fn read(
        &mut self,
        reader: ReaderId,
        filter: &str,
        topics: &str,
        terms: PlainTerms,
        at: Arrival,
    ) -> usize {
        let chosen = self.registry.matching(topics);
        self.readers.read(reader, filter, terms, chosen, at.now_ms)
    }

    /// Sends what readers are to get, at most about so many messages; see [`PlainReaders`]. How many steps of
    /// work it was.
    pub fn serve_readers(
        &mut self,
        messages: usize,
        at: Arrival,
        outlet: &mut dyn PlainOutlet,
    ) -> usize {
        let Self { registry, current, readers, .. } = self;
        readers.serve(messages, registry, &scene(registry, current, at), outlet)
    }

    /// A session gives up what it chose by this filter, if it did.
    pub fn give_up(&mut self, session: u64, filter: &str) {
        self.groups.leave(session, filter);
        if let Some(list) = list_of(filter) {
            self.lists.release(list, session, filter);
        }
    }

    /// The list that a filter names, if there is one. It stays while the session subscribes to it.
    pub fn hold(&mut self, session: u64, filter: &str) -> Option<Arc<RangeSet>> {
        self.lists.hold(list_of(filter)?, session, filter)
    }

    /// A session that a journal knows has this list, unless it is of another table.
    pub fn hold_again(&mut self, session: u64, filter: &str, list: &RangeSet) {
        let table = self.registry.id();
        let is_ours = list_of(filter) == Some(ListId::of(table, list));
        if is_ours && self.lists.put(table, list.clone()).is_ok() {
            self.hold(session, filter);
        }
    }

    /// A session is over: it has no lists, and has declared nothing.
    pub fn end(&mut self, session: u64) {
        self.lists.release_all(session);
        self.registry.forget_session(session);
    }

    /// Samples that were too large for a packet of their subscriber, since this was last asked.
    pub fn take_lost(&mut self) -> u64 {
        self.groups.take_lost()
    }

    /// How often parameters found no room to be compared; see [`Groups::take_uncompared`].
    pub fn take_uncompared(&mut self) -> u64 {
        self.groups.take_uncompared()
    }

    /// Sessions for which something was dropped before it was sent; see [`Groups::take_overrun`].
    pub fn take_overrun(&mut self) -> Vec<u64> {
        self.groups.take_overrun()
    }

    /// Something on its way to a session was dropped; see [`Groups::missed`].
    pub fn missed(&mut self, session: u64) -> bool {
        self.groups.missed(session)
    }

    /// Sends a session the newest of what it may have missed; see [`Groups::mend`].
    pub fn mend(
        &mut self,
        session: u64,
        room: usize,
        at: Arrival,
        send: &mut dyn FnMut(u64, &[u8], u32),
    ) -> bool {
        self.groups.mend(session, room, &scene(&self.registry, &self.current, at), send)
    }

    /// Whether text waits to be written for a session; it is not mended before.
    pub fn awaits_text(&self, session: u64) -> bool {
        self.groups.awaits_text(session)
    }

    /// How many selections are served; equal ones are one.
    pub fn selections(&self) -> usize {
        self.groups.len()
    }

    /// When [`Self::tick`] has something to do.
    pub fn next_due_ms(&self) -> Option<Millis> {
        self.groups.next_due_ms(&self.current)
    }

    /// The same without text that waits to be written.
    pub fn groups_due_ms(&self) -> Option<Millis> {
        self.groups.groups_due_ms(&self.current)
    }

    /// Sends what is due, but writes no text; how much work it was, see [`Groups::tick_frames`].
    pub fn tick_frames(
        &mut self,
        work_max: usize,
        at: Arrival,
        ready: &mut dyn FnMut(u64) -> bool,
        send: &mut dyn FnMut(u64, &[u8], u32),
    ) -> usize {
        self.groups.tick_frames(work_max, &scene(&self.registry, &self.current, at), ready, send)
    }

    /// Sends what is due; see [`Groups::tick`].
    pub fn tick(
        &mut self,
        work_max: usize,
        at: Arrival,
        ready: &mut dyn FnMut(u64) -> bool,
        send: &mut dyn FnMut(u64, &[u8], u32),
    ) {
        self.groups.tick(work_max, &scene(&self.registry, &self.current, at), ready, send);
    }
}

pub(super) fn scene<'a>(registry: &'a Registry, current: &'a Current, at: Arrival) -> Scene<'a> {
    Scene { now_ms: at.now_ms, now_ns: at.now_ns, names: registry, current }
}

/// The list that a filter names.
fn list_of(filter: &str) -> Option<ListId> {
    Aim::parse(filter).and_then(Aim::list)
}
