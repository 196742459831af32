//! The current value table: takes samples in, keeps the newest of each parameter, and passes samples on to selections
//! and readers.

use std::sync::Arc;

use slipring_wire::Publish;
use slipring_wire::frame::{FrameView, Hops, RangeSet};

use super::lists::Lists;
use super::refused::{check, check_room, check_time};
use super::{
    Choice, ClockReading, Current, FirstValues, GroupLimits, Groups, ListId, Needs, PlainOutlet,
    PlainReaders, PlainTerms, ReaderId, Registry, SampleRefused, SelectionFilter, TableState,
    plain_sample,
};
use crate::access::{ClientRights, Right};
use crate::alarms::AlarmJudge;
use crate::{Holder, Limit, ParameterIndex, Plan, SessionKey};

/// The most bytes that all selections of every sample gather together. From half of it on, nothing waits for a beat.
const GATHERED_BYTES_MAX: usize = 256 << 20;

/// Parameters that are judged by other rules of alarms at a time.
const JUDGED_AT_ONCE: u32 = 1_024;

/// The parameters, their newest values, and the subscriptions to them.
#[derive(Debug)]
pub struct Table {
    /// The parameters.
    pub registry: Registry,
    /// The newest values.
    pub current: Current,
    /// Selections of parameters.
    pub groups: Groups,
    /// Plain subscriptions to parameters.
    pub readers: PlainReaders,
    /// Judges samples against limits.
    pub alarms: AlarmJudge,
    /// Lists that clients chose.
    pub(super) lists: Lists,
    /// Parameters without a publisher that are still to become stale.
    pub(super) orphaned: RangeSet,
    /// Whether more parameters are to become stale than fit in one portion.
    pub is_going_stale: bool,
}

/// A subscription with needs: it selects parameters, or streams.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// The filter as the client wrote it.
    pub filter: &'a str,
    /// The subscription identifier, sent with every message; 0 is none.
    pub identifier: u32,
    /// Its needs.
    pub needs: Needs,
    /// The largest packet that the client accepts.
    pub packet_bytes_max: usize,
    /// The rights that narrow it; None if it needs no narrowing.
    pub rights: Option<&'a Arc<ClientRights>>,
}

impl Table {
    /// A table with these parameters and values. They have no publishers yet.
    pub fn new(registry: Registry, mut current: Current, plan: &Plan) -> Self {
        let all = registry.entries.iter_from(ParameterIndex::new(0));
        let all: RangeSet = all.map(|(index, _)| index.get()).collect();
        current.define(&all, &registry.entries);
        let mut alarms = AlarmJudge::new(Arc::clone(&plan.alarms));
        alarms.define(&all, &registry.entries, 0); // nothing is removed
        let remembered_bytes = plan.limits.selection_bytes;
        let room = GroupLimits { gathered_bytes: GATHERED_BYTES_MAX, remembered_bytes };
        let groups = Groups::new(registry.entries.id(), plan.table.beat_ms, room);
        Self {
            registry,
            current,
            groups,
            readers: PlainReaders::default(),
            alarms,
            lists: Lists::default(),
            orphaned: RangeSet::new(),
            is_going_stale: false,
        }
    }

    /// Applies another plan, also to existing selections.
    pub fn follow(&mut self, plan: &Plan) {
        self.groups.set_beat_ms(plan.table.beat_ms);
        self.groups.set_remembered_bytes_max(plan.limits.selection_bytes);
    }

    /// Judges some parameters again by the rules of alarms in force, from an index on. Returns where to continue, until all
    /// were.
    pub fn judge_again(&mut self, from: ParameterIndex, now_ns: i64) -> Option<ParameterIndex> {
        let end = from.get().saturating_add(JUDGED_AT_ONCE);
        let part: RangeSet = std::iter::once(from.get()..end).collect();
        let known = self.registry.entries.end().get();
        self.alarms.define(&part, &self.registry.entries, now_ns);
        (end < known).then(|| ParameterIndex::new(end))
    }

    /// Accepts a frame that a session published, as a whole or not at all.
    pub fn take_frame(
        &mut self,
        session: SessionKey,
        view: &FrameView<'_>,
        at: ClockReading,
        plan: &Plan,
    ) -> Result<(), SampleRefused> {
        let Self { registry, current, groups, readers, alarms, .. } = self;
        check(registry, current, session, view, at, plan)?;
        let skew_ns = view.header.hops.map_or(0, |hops| hops.skew_ns);
        let published_ns = view.header.sent_ns.saturating_add(skew_ns);
        let hops = Hops { published_ns, received_ns: at.now_ns, skew_ns };
        for run in view.runs() {
            current.apply(&run, at);
            alarms.take_run(&run);
            let state = state(registry, current, at);
            groups.offer(&run, Some(hops), &state);
            readers.offer(&run, session, current.change(), at.now_ms);
            groups.bound_texts(plan.limits.parameter_bytes, &state);
        }
        Ok(())
    }

    /// Accepts a plain message on the topic of a parameter as a sample of it.
    pub fn take_text(
        &mut self,
        parameter: ParameterIndex,
        message: &Publish<'_>,
        at: ClockReading,
        plan: &Plan,
    ) -> Result<(), SampleRefused> {
        let Some(entry) = self.registry.entries.get(parameter) else { return Ok(()) };
        let read = plain_sample(entry, message.properties, message.payload, at.now_ns);
        let read = read.map_err(|why| SampleRefused::Text {
            name: (&*entry.name).into(),
            declared: entry.definition.kind.name(),
            why,
        })?;
        check_time(read.time_ns, at, &plan.table)?;
        check_room(&self.current, self.current.growth_by(&read.of(parameter)), plan)?;
        self.current.set(&read.of(parameter), at);
        self.alarms.take_sample(&read.of(parameter));
        self.readers.take_text(parameter, self.current.change());
        let one: RangeSet = std::iter::once(parameter.get()).collect();
        let (groups, state) = self.groups_at(at);
        groups.offer_newest(&one, &state);
        groups.bound_texts(plan.limits.parameter_bytes, &state);
        Ok(())
    }

    /// Adds a selection of a session; returns the values to send first.
    pub fn choose(
        &mut self,
        session: SessionKey,
        selection: &Selection<'_>,
        at: ClockReading,
    ) -> FirstValues {
        let choice = self.choice(session, selection);
        let (groups, state) = self.groups_at(at);
        groups.join(session, choice, &state)
    }

    fn choice(&mut self, session: SessionKey, selection: &Selection<'_>) -> Choice {
        let Selection { filter, identifier, needs, packet_bytes_max, rights } = *selection;
        let list = self.hold(session, filter);
        let registry = &self.registry;
        let chosen = match (SelectionFilter::parse(filter), list, rights) {
            (Some(SelectionFilter::Filter(filter)), _, None) => registry.matching(filter),
            (Some(SelectionFilter::Filter(filter)), _, Some(rights)) => {
                registry.usable(filter, rights, Right::Select)
            }
            (_, Some(list), None) => RangeSet::clone(&list),
            (_, Some(list), Some(rights)) => registry.usable_of(&list, rights, Right::Select),
            (_, None, _) => RangeSet::new(),
        };
        let rights = rights.cloned();
        Choice { filter: filter.into(), chosen, identifier, needs, packet_bytes_max, rights }
    }

    /// The bytes of change memory that a selection would add; the error is the limit it would exceed. `taken`
    /// bytes are reserved already.
    pub fn room_for(
        &mut self,
        session: SessionKey,
        selection: &Selection<'_>,
        taken: usize,
        holder: Holder<'_, 1>,
    ) -> Result<usize, Limit> {
        if !selection.needs.compares() {
            return Ok(0);
        }
        let choice = self.choice(session, selection);
        let growth = self.groups.growth(session, &choice, &self.current);
        if growth > 0 {
            let Holder { owner, quotas: [quota] } = holder;
            if !self.groups.has_room(taken + growth) {
                return Err(Limit::SelectionBytes);
            }
            quota.check(self.groups.shares(), owner, taken + growth)?;
        }
        Ok(growth)
    }

    /// Adds a plain subscription of a reader, in place of its earlier one with this filter; `topics` is the part
    /// of the filter that topics match, and `rights` narrow it. Returns the steps of work.
    pub fn read(
        &mut self,
        reader: ReaderId,
        filter: &str,
        topics: &str,
        terms: PlainTerms,
        rights: Option<&Arc<ClientRights>>,
        at: ClockReading,
    ) -> usize {
        let chosen = match rights {
            None => self.registry.matching(topics),
            Some(rights) => self.registry.usable(topics, rights, Right::Subscribe),
        };
        self.readers.read(reader, filter, terms, (chosen, rights.cloned()), at.now_ms)
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

    /// The parameters that a session has declared, from an index on: at most so many, with their names.
    pub fn declared_by(&self, session: SessionKey, from: u32, most: usize) -> Vec<(u32, Arc<str>)> {
        let declared = self.registry.publishers.of(session).unwrap_or_default();
        let named = declared.indices().filter(|index| *index >= from).filter_map(|index| {
            let entry = self.registry.entries.get(ParameterIndex::new(index))?;
            Some((index, Arc::clone(&entry.name)))
        });
        named.take(most).collect()
    }

    /// Of these parameters, a session has lost the right to declare some, and may not publish others: it publishes them no
    /// longer.
    pub fn judge_declared(
        &mut self,
        session: SessionKey,
        judged: &RangeSet,
        lost: &RangeSet,
        muted: &RangeSet,
    ) {
        self.registry.publishers.mute(session, judged, muted);
        self.orphaned.add(&self.registry.publishers.take_from(session, lost));
    }

    /// Ends all reading of a session, until its subscriptions are entered again.
    pub fn stop_all(&mut self, session: SessionKey) {
        self.groups.leave_all(session);
        self.readers.stop_all(ReaderId::Client(session));
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
        let table = self.registry.entries.id();
        let is_ours = list_of(filter) == Some(ListId::of(table, list));
        if is_ours && self.lists.put(table, list.clone()).is_ok() {
            self.hold(session, filter);
        }
    }

    /// The selections, and the state of the table at this time, which their methods need.
    pub fn groups_at(&mut self, at: ClockReading) -> (&mut Groups, TableState<'_>) {
        let Self { registry, current, groups, .. } = self;
        (groups, state(registry, current, at))
    }
}

pub(super) fn state<'a>(
    registry: &'a Registry,
    current: &'a Current,
    at: ClockReading,
) -> TableState<'a> {
    TableState { now_ms: at.now_ms, now_ns: at.now_ns, names: &registry.entries, current }
}

/// The list that a filter names.
fn list_of(filter: &str) -> Option<ListId> {
    match SelectionFilter::parse(filter)? {
        SelectionFilter::List(list) => Some(list),
        SelectionFilter::Filter(_) => None,
    }
}
