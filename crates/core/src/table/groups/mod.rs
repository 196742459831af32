//! Selections that are shared: the subscribers of equal selections are one group, and each frame of a group is
//! encoded once (G8, P4). Only the head of its packet, with topic and identifier, is each subscriber's own.
//!
//! An example: 50 displays select `engine/#` as frames with a beat of 20 ms, and one selects it at 10 Hz. That
//! is two groups. A publisher's frame with 200 of the chosen parameters is offered to both. At the end of the
//! beat the first group encodes one frame of, say, 1,700 bytes, and sends these bytes 50 times with 50 heads
//! of about 40 bytes. Every 100 ms the second group encodes one frame of what has changed.
//!
//! The table offers every change of the newest values right after it was made. This module never reads a clock
//! and never waits; it returns encoded packets.

mod charges;
mod choice;
mod every;
mod format;
mod gathered;
mod group;
mod head;
mod key;
mod last_sent;
mod members;
mod newest;
mod packets;
mod remembered;
mod scratch;
mod sending;
mod text_backlog;
mod watching;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use slipring_wire::frame::{Hops, RangeSet, RunView};

pub use choice::{Choice, FirstValues};
pub use head::frame_topic;
pub use watching::Selector;

use self::charges::GroupCharges;
use self::format::{FrameContext, SampleHops};
use self::group::Group;
use self::head::PublishHead;
use self::key::GroupKey;
use self::members::Member;
use self::remembered::bytes_of;
use self::scratch::GroupScratch;
use self::text_backlog::TextBacklog;
use super::{Current, Millis, Names, SelectionFilter};
use crate::SessionKey;
use crate::access::{ClientRights, Right};

/// The table at one moment: the time, its parameters and their newest values.
#[derive(Clone, Copy)]
pub struct TableState<'a> {
    /// By the monotonic clock.
    pub now_ms: Millis,
    /// By the broker's clock, nanoseconds since 1970.
    pub now_ns: i64,
    /// What the table knows of its parameters.
    pub names: &'a dyn Names,
    /// The newest values.
    pub current: &'a Current,
}

/// The memory that all groups together may use.
#[derive(Clone, Copy, Debug)]
pub struct GroupLimits {
    /// For gathered samples. From half of it on, samples do not wait for the end of a beat.
    pub gathered_bytes: usize,
    /// For the values they sent last, without texts.
    pub remembered_bytes: usize,
}

/// Returns the parameters that a filter matches now, from those it matched before, within these rights.
pub type Choose<'a> = dyn FnMut(&str, &RangeSet, Narrowing<'_>) -> RangeSet + 'a;

/// The rights that narrow a choice, and what they must allow; None if nothing narrows it.
pub type Narrowing<'a> = Option<(&'a ClientRights, Right)>;

/// Sends a subscriber the packets in these bytes, one after the other: so many messages.
pub type SendPackets<'a> = dyn FnMut(SessionKey, &[u8], u32) + 'a;

/// All selections.
#[derive(Debug)]
pub struct Groups {
    table: u32,
    /// How long samples are gathered if a subscriber names no beat.
    beat_ms: u16,
    all: BTreeMap<u64, Group>,
    /// The group that was served last; the next turn begins after it.
    served: u64,
    by_key: HashMap<GroupKey, u64>,
    /// The filters of each subscriber, as it wrote them, and their groups.
    by_subscriber: HashMap<SessionKey, Vec<(Arc<str>, u64)>>,
    next: u64,
    scratch: GroupScratch,
    text_backlog: TextBacklog,
    charges: GroupCharges,
}

impl Groups {
    /// No groups yet; `beat_ms` is how long samples are gathered if a subscriber names no beat.
    pub fn new(table: u32, beat_ms: u16, room: GroupLimits) -> Self {
        Self {
            table,
            beat_ms,
            all: BTreeMap::new(),
            served: 0,
            by_key: HashMap::new(),
            by_subscriber: HashMap::new(),
            next: 0,
            scratch: GroupScratch::new(room),
            text_backlog: TextBacklog::default(),
            charges: GroupCharges::default(),
        }
    }

    /// Changes the beat of subscribers that name none, also for samples that wait already.
    pub fn set_beat_ms(&mut self, beat_ms: u16) {
        self.beat_ms = beat_ms;
        self.all.values_mut().for_each(|group| group.set_beat_ms(beat_ms));
    }

    /// Changes the limit of remembered bytes. Groups that use more already keep their memory.
    pub fn set_remembered_bytes_max(&mut self, bytes_max: usize) {
        self.scratch.remembered.bytes_max = bytes_max;
    }

    /// By how many bytes the groups' memory would grow if a choice replaced the subscriber's earlier one with the
    /// same filter.
    pub fn growth(&self, subscriber: SessionKey, choice: &Choice, current: &Current) -> usize {
        let key = GroupKey::of(choice, &PublishHead::new(choice));
        if !choice.needs.compares() || self.by_key.contains_key(&key) {
            return 0;
        }
        let mut chosen = self.by_subscriber.get(&subscriber).into_iter().flatten();
        let before = chosen.find(|(filter, _)| *filter == choice.filter);
        let before = before.map_or(0, |(_, id)| self.all[id].bytes_of_last());
        bytes_of(&choice.chosen, current).saturating_sub(before)
    }

    /// Whether the groups' memory may grow by so many bytes.
    pub fn has_room(&self, growth: usize) -> bool {
        self.scratch.remembered.has_room(growth)
    }

    /// How often a choice did not fit in the change memory since the last call, so that each sample of some of its
    /// parameters counts as a change.
    pub fn take_uncompared(&mut self) -> u64 {
        std::mem::take(&mut self.scratch.remembered.uncompared)
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are no selections.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many samples were too large for a packet of their subscriber since the last call.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.scratch.lost)
    }

    /// Subscribers whose gathered samples were dropped since the last call because memory was full. The caller has
    /// to [`Self::mend`] them.
    pub fn take_overrun(&mut self) -> Vec<SessionKey> {
        std::mem::take(&mut self.scratch.gathered.overrun)
    }

    /// Adds a subscriber, in place of its earlier choice with the same filter. It must get the returned values
    /// before any other packet of this selection. If the change memory is full, every sample counts as a change.
    pub fn join(
        &mut self,
        subscriber: SessionKey,
        choice: Choice,
        state: &TableState<'_>,
    ) -> FirstValues {
        self.leave(subscriber, &choice.filter);
        let head = PublishHead::new(&choice);
        let key = GroupKey::of(&choice, &head);
        let known = self.by_key.get(&key).copied();
        let id = known.unwrap_or_else(|| self.create_group(key, choice.chosen, state.current));
        let filter = choice.filter;
        self.by_subscriber.entry(subscriber).or_default().push((Arc::clone(&filter), id));
        let member = Member { subscriber, filter, head, ..Member::default() };
        let context = self.context(state);
        let group = self.all.get_mut(&id).expect("found or known");
        let first = group.join(member, &context, &mut self.scratch);
        self.recharge(id);
        first
    }

    fn context<'a>(&self, state: &TableState<'a>) -> FrameContext<'a> {
        FrameContext { table: self.table, newest_hops: None, state: *state }
    }

    fn create_group(&mut self, key: GroupKey, chosen: RangeSet, current: &Current) -> u64 {
        self.next += 1;
        let room = &mut self.scratch.remembered;
        let group = Group::new(key.clone(), chosen, self.beat_ms, current, room);
        self.all.insert(self.next, group);
        self.by_key.insert(key, self.next);
        self.next
    }

    /// Ends a subscriber's choice with this filter; false if it had none.
    pub fn leave(&mut self, subscriber: SessionKey, filter: &str) -> bool {
        let Some(chosen) = self.by_subscriber.get_mut(&subscriber) else { return false };
        let of_filter = |(other, _): &(Arc<str>, u64)| &**other == filter;
        let Some(at) = chosen.iter().position(of_filter) else { return false };
        let (_, id) = chosen.swap_remove(at);
        if chosen.is_empty() {
            self.by_subscriber.remove(&subscriber);
        }
        self.remove_member(subscriber, filter, id);
        true
    }

    /// Ends all choices of a subscriber.
    pub fn leave_all(&mut self, subscriber: SessionKey) {
        for (filter, id) in self.by_subscriber.remove(&subscriber).unwrap_or_default() {
            self.remove_member(subscriber, &filter, id);
        }
        self.charges.forget(subscriber);
    }

    fn remove_member(&mut self, subscriber: SessionKey, filter: &str, id: u64) {
        let group = self.all.get_mut(&id).expect("a subscriber's group is there");
        let has_waited = self.text_backlog.forget(id, subscriber);
        if group.remove_member(subscriber, filter, &mut self.scratch) == 0 {
            self.by_key.remove(&group.key);
            self.all.remove(&id);
        } else if has_waited && group.subscribers().any(|other| other == subscriber) {
            // It has an equal selection under another name, whose text was dropped too.
            group.missed(subscriber);
            self.scratch.gathered.overrun.push(subscriber);
        }
        self.recharge(id);
    }

    /// Offers the groups a run of samples that the table holds already.
    pub fn offer(&mut self, run: &RunView<'_>, hops: Option<Hops>, state: &TableState<'_>) {
        let newest_hops = hops.map(|hops| SampleHops { time_ns: run.newest_ns(), hops });
        let context = FrameContext { newest_hops, ..self.context(state) };
        for group in self.all.values_mut() {
            group.offer(run, &context, &mut self.scratch);
        }
    }

    /// Offers the groups the newest values of these parameters as samples: the broker itself set a value or a
    /// quality, or a plain message did.
    pub fn offer_newest(&mut self, changed: &RangeSet, state: &TableState<'_>) {
        let times = &state.current.columns.times;
        let newest = changed.indices().filter_map(|index| times.get(index as usize)).max();
        let hops = Hops { published_ns: state.now_ns, received_ns: state.now_ns, skew_ns: 0 };
        let newest_hops = newest.map(|time_ns| SampleHops { time_ns: *time_ns, hops });
        let context = FrameContext { newest_hops, ..self.context(state) };
        for group in self.all.values_mut() {
            group.offer_newest(changed, &context, &mut self.scratch);
        }
    }

    /// Bounds the old texts that groups keep only for comparison. If these use more than `bytes_max`, each group
    /// takes the newest texts at once, before they are due: it may send a text more than needed, never one less.
    pub fn bound_texts(&mut self, bytes_max: usize, state: &TableState<'_>) {
        if state.current.left_text_bytes() <= bytes_max {
            return;
        }
        let context = self.context(state);
        self.all.values_mut().for_each(|group| group.forget_old_texts(&context, &mut self.scratch));
    }

    /// Parameters were added or removed: filters are matched again, and the values of newly chosen parameters are
    /// sent. Lists stay as they are.
    pub fn table_changed(&mut self, choose: &mut Choose<'_>, state: &TableState<'_>) {
        let context = self.context(state);
        let mut known: HashMap<(Arc<str>, Option<*const ClientRights>), RangeSet> = HashMap::new();
        let mut changed = Vec::new();
        for (id, group) in &mut self.all {
            let key = Arc::clone(&group.key.filter);
            let Some(filter) = SelectionFilter::parse(&key).and_then(SelectionFilter::filter)
            else {
                continue;
            };
            let rights = group.key.rights.clone();
            let chosen = known
                .entry((Arc::clone(&key), rights.as_ref().map(Arc::as_ptr)))
                .or_insert_with(|| {
                    let rights = rights.as_deref().map(|rights| (rights, Right::Select));
                    choose(filter, &group.chosen, rights)
                });
            if *chosen != group.chosen {
                group.rechoose(chosen.clone(), &context, &mut self.scratch);
                changed.push(*id);
            }
        }
        for id in changed {
            self.recharge(id);
        }
    }
}
