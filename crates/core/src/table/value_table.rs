//! The current value table: takes samples in, keeps the newest of each parameter, and passes samples on to selections
//! and readers.

use std::sync::Arc;

use slipring_wire::Publish;
use slipring_wire::frame::{FrameView, Hops, RangeSet};

use super::refused::{check, check_room, check_time};
use super::{
    Choice, ClockReading, Current, FirstValues, GroupLimits, Groups, ListId, Lists, Needs,
    PlainOutlet, PlainReaders, PlainTerms, ReaderId, Registry, SampleRefused, SelectionFilter,
    TableState, plain_sample,
};
use crate::{Millis, ParameterIndex, Plan, SessionKey};

/// The most bytes that all selections of every sample gather together. From half of it on, nothing waits for a beat.
const GATHERED_BYTES_MAX: usize = 256 << 20;

/// The parameters, their newest values, and who selected them.
#[derive(Debug)]
pub struct Table {
    /// The parameters.
    pub registry: Registry,
    /// The newest values.
    pub current: Current,
    pub(super) groups: Groups,
    /// Plain subscriptions to parameters.
    pub readers: PlainReaders,
    /// Lists that clients chose.
    pub lists: Lists,
    /// Parameters without a publisher that have to become stale.
    pub(super) orphaned: RangeSet,
    /// Whether more parameters have to become stale than one portion.
    pub is_going_stale: bool,
}

/// A subscription that selects parameters.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// As the client wrote it.
    pub filter: &'a str,
    /// The subscription identifier, sent with every message; 0 is none.
    pub identifier: u32,
    /// What it needs.
    pub needs: Needs,
    /// The largest packet that the client takes.
    pub packet_bytes_max: usize,
}

impl Table {
    /// A table with these parameters and values; nobody publishes yet.
    pub fn new(registry: Registry, mut current: Current, plan: &Plan) -> Self {
        let all: RangeSet = registry
            .entries()
            .iter_from(ParameterIndex::new(0))
            .map(|(index, _)| index.get())
            .collect();
        current.define(&all, &registry);
        let remembered_bytes = plan.limits.selection_bytes;
        let room = GroupLimits { gathered_bytes: GATHERED_BYTES_MAX, remembered_bytes };
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

    /// Takes over another plan, also for existing selections.
    pub fn follow(&mut self, plan: &Plan) {
        self.groups.set_beat_ms(plan.table.beat_ms);
        self.groups.set_remembered_bytes_max(plan.limits.selection_bytes);
    }

    /// Takes a frame of a session, as a whole or not at all.
    pub fn take_frame(
        &mut self,
        session: SessionKey,
        view: &FrameView<'_>,
        at: ClockReading,
        plan: &Plan,
    ) -> Result<(), SampleRefused> {
        let Self { registry, current, groups, readers, .. } = self;
        check(registry, current, session, view, at, plan)?;
        let skew_ns = view.header.hops.map_or(0, |hops| hops.skew_ns);
        let published_ns = view.header.sent_ns.saturating_add(skew_ns);
        let hops = Hops { published_ns, received_ns: at.now_ns, skew_ns };
        for run in view.runs() {
            current.apply(&run, at);
            let state = state(registry, current, at);
            groups.offer(&run, Some(hops), &state);
            readers.offer(&run, session, current.change(), at.now_ms);
            groups.bound_texts(plan.limits.parameter_bytes, &state);
        }
        Ok(())
    }

    /// Takes a plain message on the topic of a parameter as a sample of it.
    pub fn take_text(
        &mut self,
        parameter: ParameterIndex,
        message: &Publish<'_>,
        at: ClockReading,
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
        let one: RangeSet = std::iter::once(parameter.get()).collect();
        let Self { registry, current, groups, .. } = self;
        let state = state(registry, current, at);
        groups.offer_newest(&one, &state);
        groups.bound_texts(plan.limits.parameter_bytes, &state);
        Ok(())
    }

    /// Adds a selection of a session; returns the values to send first.
    pub fn choose(
        &mut self,
        session: SessionKey,
        chosen: &Chosen<'_>,
        at: ClockReading,
    ) -> FirstValues {
        let choice = self.choice(session, chosen);
        let Self { registry, current, groups, .. } = self;
        groups.join(session, choice, &state(registry, current, at))
    }

    pub(super) fn choice(&mut self, session: SessionKey, chosen: &Chosen<'_>) -> Choice {
        let list = self.hold(session, chosen.filter);
        let set = match (SelectionFilter::parse(chosen.filter), list) {
            (Some(SelectionFilter::Filter(filter)), _) => self.registry.matching(filter),
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

    /// Adds a plain subscription of a reader, in place of its earlier one with this filter; `topics` is the part
    /// of the filter that topics match. Returns the steps of work.
    pub fn read(
        &mut self,
        reader: ReaderId,
        filter: &str,
        topics: &str,
        terms: PlainTerms,
        at: ClockReading,
    ) -> usize {
        let chosen = self.registry.matching(topics);
        self.readers.read(reader, filter, terms, chosen, at.now_ms)
    }

    /// Sends readers their messages, about `messages` at most; see [`PlainReaders`]. Returns the steps of work.
    pub fn serve_readers(
        &mut self,
        messages: usize,
        at: ClockReading,
        outlet: &mut dyn PlainOutlet,
    ) -> usize {
        let Self { registry, current, readers, .. } = self;
        readers.serve(messages, registry, &state(registry, current, at), outlet)
    }

    /// Ends a session's selection with this filter, if it has one.
    pub fn give_up(&mut self, session: SessionKey, filter: &str) {
        self.groups.leave(session, filter);
        if let Some(list) = list_of(filter) {
            self.lists.release(list, session, filter);
        }
    }

    /// The list that a filter names, if there is one. It is kept while the session subscribes to it.
    pub fn hold(&mut self, session: SessionKey, filter: &str) -> Option<Arc<RangeSet>> {
        self.lists.hold(list_of(filter)?, session, filter)
    }

    /// Restores the list of a session from the journal, unless it is of another table.
    pub fn hold_again(&mut self, session: SessionKey, filter: &str, list: &RangeSet) {
        let table = self.registry.id();
        let is_ours = list_of(filter) == Some(ListId::of(table, list));
        if is_ours && self.lists.put(table, list.clone()).is_ok() {
            self.hold(session, filter);
        }
    }

    /// How many samples were too large for a packet of their subscriber since the last call.
    pub fn take_lost(&mut self) -> u64 {
        self.groups.take_lost()
    }

    /// How often a choice did not fit in the change memory; see [`Groups::take_uncompared`].
    pub fn take_uncompared(&mut self) -> u64 {
        self.groups.take_uncompared()
    }

    /// Sessions whose gathered samples were dropped; see [`Groups::take_overrun`].
    pub fn take_overrun(&mut self) -> Vec<SessionKey> {
        self.groups.take_overrun()
    }

    /// Messages to a session were dropped; see [`Groups::missed`].
    pub fn missed(&mut self, session: SessionKey) -> bool {
        self.groups.missed(session)
    }

    /// Sends a session the newest values it may have missed; see [`Groups::mend`].
    pub fn mend(
        &mut self,
        session: SessionKey,
        room: usize,
        at: ClockReading,
        send: &mut dyn FnMut(SessionKey, &[u8], u32),
    ) -> bool {
        self.groups.mend(session, room, &state(&self.registry, &self.current, at), send)
    }

    /// Whether samples for a session wait to be written as text; [`Self::mend`] does nothing until they are sent.
    pub fn awaits_text(&self, session: SessionKey) -> bool {
        self.groups.awaits_text(session)
    }

    /// How many different selections there are.
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

    /// Sends due frames but writes no text; returns the work, see [`Groups::tick_frames`].
    pub fn tick_frames(
        &mut self,
        work_max: usize,
        at: ClockReading,
        ready: &mut dyn FnMut(SessionKey) -> bool,
        send: &mut dyn FnMut(SessionKey, &[u8], u32),
    ) -> usize {
        self.groups.tick_frames(work_max, &state(&self.registry, &self.current, at), ready, send)
    }

    /// Sends due samples; see [`Groups::tick`].
    pub fn tick(
        &mut self,
        work_max: usize,
        at: ClockReading,
        ready: &mut dyn FnMut(SessionKey) -> bool,
        send: &mut dyn FnMut(SessionKey, &[u8], u32),
    ) {
        self.groups.tick(work_max, &state(&self.registry, &self.current, at), ready, send);
    }
}

pub(super) fn state<'a>(
    registry: &'a Registry,
    current: &'a Current,
    at: ClockReading,
) -> TableState<'a> {
    TableState { now_ms: at.now_ms, now_ns: at.now_ns, names: registry, current }
}

/// The list that a filter names.
fn list_of(filter: &str) -> Option<ListId> {
    SelectionFilter::parse(filter).and_then(SelectionFilter::list)
}
