//! One group: the subscribers of equal selections.

use slipring_wire::frame::{RangeSet, RunView};

use super::every::EveryFlow;
use super::format::{FrameContext, PacketFormat};
use super::key::GroupKey;
use super::last_sent::LastSent;
use super::members::{Member, Recipients};
use super::newest::NewestFlow;
use super::packets::PacketPosition;
use super::remembered::RememberedBytes;
use super::scratch::GroupScratch;
use super::{FirstValues, SendPackets};
use crate::table::columns::Columns;
use crate::table::current::span;
use crate::table::{Current, Millis};
use crate::{ParameterIndex, SessionKey};

/// About the most bytes of first values that a new subscriber is sent at once, in less than a millisecond. The
/// rest follows in portions.
const FIRST_BYTES_MAX: usize = 2 << 20;

/// When and which samples a group sends.
#[derive(Debug)]
enum GroupFlow {
    Every(Box<EveryFlow>),
    Newest(Box<NewestFlow>),
}

#[derive(Debug)]
pub(super) struct Group {
    pub key: GroupKey,
    pub chosen: RangeSet,
    pub format: PacketFormat,
    members: Vec<Member>,
    flow: GroupFlow,
}

impl Group {
    pub fn new(
        key: GroupKey,
        chosen: RangeSet,
        beat_ms: u16,
        current: &Current,
        room: &mut RememberedBytes,
    ) -> Self {
        let (needs, format) = (key.needs, PacketFormat::new(&key));
        let sent = needs.compares().then(|| LastSent::new(&chosen, &needs, current, room));
        let flow = match needs.rate_mhz {
            Some(rate_mhz) => GroupFlow::Newest(Box::new(NewestFlow::new(rate_mhz, sent))),
            None => GroupFlow::Every(Box::new(EveryFlow::new(&needs, beat_ms, sent))),
        };
        Self { key, chosen, format, members: Vec::new(), flow }
    }

    pub fn join(
        &mut self,
        mut member: Member,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
    ) -> FirstValues {
        let chosen = &self.chosen;
        self.format.head_bytes = member.head.bytes.len().max(self.format.head_bytes);
        let format = &self.format;
        match &mut self.flow {
            GroupFlow::Every(every) => {
                let alone = self.members.is_empty();
                member.from = every.before_join(alone, chosen, format, context, scratch);
            }
            GroupFlow::Newest(newest) => {
                member.since = newest.before_join(chosen, &mut self.members, &context.state);
            }
        }
        let state = &context.state;
        let columns = &state.current.columns;
        let rest = self.format.first_beyond(chosen, FIRST_BYTES_MAX, state);
        let end = rest.map_or(u32::MAX, u32::from);
        let now = chosen.intersect(&std::iter::once(0..end).collect());
        scratch.write(columns, format, context, |add| changed(columns, &now, 0, add));
        let mut first = scratch.first(&mut member);
        first.is_whole = rest.is_none();
        member.missing_from = rest;
        self.members.push(member);
        self.bound(context.state.now_ms, scratch);
        first
    }

    /// Counts the gathered bytes. If all groups together hold too many, this group's are sent at once or dropped.
    fn bound(&mut self, now_ms: Millis, scratch: &mut GroupScratch) {
        let GroupFlow::Every(every) = &mut self.flow else { return };
        every.count(&mut scratch.gathered);
        if scratch.gathered.is_half_full() {
            every.make_due(now_ms);
        }
        if scratch.gathered.is_full() {
            for member in &mut self.members {
                let dropped = every.skip_for(member);
                if dropped > 0 {
                    scratch.lost += dropped;
                    member.missing_from = Some(ParameterIndex::new(0));
                    scratch.gathered.overrun.push(member.subscriber);
                }
            }
            every.free(&mut scratch.gathered);
        }
    }

    /// Changes the default beat, unless the subscribers chose their own.
    pub fn set_beat_ms(&mut self, beat_ms: u16) {
        if let (GroupFlow::Every(every), None) = (&mut self.flow, self.key.needs.beat_ms) {
            every.set_beat_ms(beat_ms.into());
        }
    }

    /// Removes a subscriber; returns how many are left.
    pub fn remove_member(
        &mut self,
        subscriber: SessionKey,
        filter: &str,
        scratch: &mut GroupScratch,
    ) -> usize {
        self.members.retain(|member| member.subscriber != subscriber || *member.filter != *filter);
        let heads = self.members.iter().map(|member| member.head.bytes.len());
        self.format.head_bytes = heads.max().unwrap_or_default();
        if self.members.is_empty() {
            scratch.remembered.recount(self.remembered_bytes(), 0);
            if let GroupFlow::Every(every) = &mut self.flow {
                every.free(&mut scratch.gathered);
            }
        }
        self.members.len()
    }

    /// The subscribers, in the order they joined.
    pub fn subscribers(&self) -> impl Iterator<Item = SessionKey> {
        self.members.iter().map(|member| member.subscriber)
    }

    /// The bytes of the change memory.
    pub fn remembered_bytes(&self) -> usize {
        let sent = match &self.flow {
            GroupFlow::Every(every) => &every.sent,
            GroupFlow::Newest(newest) => &newest.sent,
        };
        sent.as_ref().map_or(0, |sent| sent.bytes)
    }

    /// The bytes that would be freed if one subscriber left.
    pub fn bytes_of_last(&self) -> usize {
        if self.members.len() == 1 { self.remembered_bytes() } else { 0 }
    }

    pub fn offer(
        &mut self,
        run: &RunView<'_>,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
    ) {
        if !run.ranges().any(|range| self.chosen.overlaps(&range)) {
            return;
        }
        match &mut self.flow {
            GroupFlow::Every(every) => {
                every.gather(run, &self.chosen, &self.format, context);
                self.bound(context.state.now_ms, scratch);
            }
            GroupFlow::Newest(newest) => newest.note_hops(context.newest_hops),
        }
    }

    pub fn offer_newest(
        &mut self,
        changed: &RangeSet,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
    ) {
        if !changed.iter().any(|range| self.chosen.overlaps(&range)) {
            return;
        }
        match &mut self.flow {
            GroupFlow::Every(every) => {
                let changed = changed.intersect(&self.chosen);
                every.gather_newest(&changed, &self.format, context, scratch);
                self.bound(context.state.now_ms, scratch);
            }
            GroupFlow::Newest(newest) => newest.note_hops(context.newest_hops),
        }
    }

    /// Takes over another set of chosen parameters; the values of added ones are sent.
    pub fn rechoose(
        &mut self,
        chosen: RangeSet,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
    ) {
        let new = context.state.current.known(&chosen.difference(&self.chosen));
        let room = &mut scratch.remembered;
        match &mut self.flow {
            GroupFlow::Every(every) => {
                if let Some(sent) = &mut every.sent {
                    sent.rechoose(&chosen, context.state.current, room);
                }
                every.gather_newest(&new, &self.format, context, scratch);
            }
            GroupFlow::Newest(newest) => {
                newest.rechoose(&chosen, &new, &mut self.members, &context.state, room);
            }
        }
        self.chosen = chosen;
        self.bound(context.state.now_ms, scratch);
    }

    /// Forgets texts that are no longer the newest.
    pub fn forget_old_texts(&mut self, context: &FrameContext<'_>, scratch: &mut GroupScratch) {
        match &mut self.flow {
            GroupFlow::Every(every) => every.forget_old_texts(&self.format, context, scratch),
            GroupFlow::Newest(newest) => newest.forget_old_texts(context.state.current),
        }
        self.bound(context.state.now_ms, scratch);
    }

    /// Messages to a subscriber were dropped: it needs the newest values of all chosen parameters.
    pub fn missed(&mut self, subscriber: SessionKey) {
        let of_subscriber = |member: &&mut Member| member.subscriber == subscriber;
        for member in self.members.iter_mut().filter(of_subscriber) {
            member.missing_from = Some(ParameterIndex::new(0));
        }
    }

    /// Sends a subscriber the newest values it may have missed, about `room` bytes; returns whether that was
    /// all.
    pub fn mend(
        &mut self,
        subscriber: SessionKey,
        room: usize,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
        send: &mut SendPackets<'_>,
    ) -> bool {
        let missing = |(at, member): (usize, &Member)| {
            Some((at, member.missing_from.filter(|_| member.subscriber == subscriber)?))
        };
        let found = self.members.iter().enumerate().find_map(missing);
        let Some((at, from)) = found else { return true };
        let missing = self.chosen.intersect(&std::iter::once(from.get()..u32::MAX).collect());
        let missing = context.state.current.known(&missing);
        let some = self.format.portion(&missing, room, &context.state);
        let rest = missing.difference(&some).iter().next();
        self.members[at].missing_from = rest.as_ref().map(|range| ParameterIndex::new(range.start));
        let mut recipients = Recipients { members: &mut self.members, send };
        let compared = match &mut self.flow {
            GroupFlow::Every(every) => {
                every.send_early(at, &mut recipients, &self.format, context);
                every.sent.as_mut()
            }
            GroupFlow::Newest(newest) => newest.sent.as_mut(),
        };
        scratch.packets.is_deferred = true;
        let mut uncompared = some;
        if let Some(known) = compared {
            let places = known.places(&uncompared);
            scratch.write(&known.columns, &self.format, context, |add| {
                for (span, index) in places {
                    add(span, index);
                }
            });
            uncompared = uncompared.intersect(&known.uncompared);
        }
        let columns = &context.state.current.columns;
        scratch.write(columns, &self.format, context, |add| changed(columns, &uncompared, 0, add));
        recipients.send_to(at, &mut scratch.packets, PacketPosition::default());
        scratch.lost += scratch.packets.clear();
        scratch.packets.is_deferred = false;
        rest.is_none()
    }

    pub fn due_ms(&self, current: &Current) -> Option<Millis> {
        match &self.flow {
            GroupFlow::Every(every) => every.due_ms,
            GroupFlow::Newest(newest) => newest.due_ms(current),
        }
    }

    pub fn tick(
        &mut self,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
        ready: &mut dyn FnMut(SessionKey) -> bool,
        send: &mut SendPackets<'_>,
    ) {
        let mut recipients = Recipients { members: &mut self.members, send };
        let (chosen, format) = (&self.chosen, &self.format);
        match &mut self.flow {
            GroupFlow::Every(every) => {
                if every.due_ms.is_some_and(|due| due <= context.state.now_ms) {
                    scratch.lost += every.flush(&mut recipients, format, context);
                    every.shrink(&mut scratch.gathered);
                }
            }
            GroupFlow::Newest(newest) => {
                let due = newest.due_members(chosen, recipients.members, &context.state, ready);
                newest.serve(due, chosen, &mut recipients, format, context, scratch);
            }
        }
    }
}

/// Calls `add` for each span of chosen parameters that changed after `since`, in columns where position and index
/// are the same.
pub(super) fn changed(
    columns: &Columns,
    chosen: &RangeSet,
    since: u64,
    add: &mut dyn FnMut(std::ops::Range<usize>, u32),
) {
    for range in chosen {
        columns.changed(span(&range), since, |span| add(span.clone(), span.start as u32));
    }
}
