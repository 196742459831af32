//! Groups that get the newest values at a rate. A subscriber whose connection has no room is skipped, and later
//! gets one frame with everything that changed meanwhile: frames grow, they do not queue.
//!
//! An example at 10 Hz, so every 100 ms: at 100 ms subscribers A and B get the parameters that changed up to the
//! table's change 40. At 200 ms the table is at change 55 and B is not ready: A gets changes 41 to 55, B gets
//! nothing and is asked again every 20 ms. At 240 ms B is ready, and gets one frame with the newest values of
//! all parameters that changed since 40.

use slipring_wire::frame::RangeSet;

use super::TableState;
use super::format::{FrameContext, PacketFormat, SampleHops};
use super::group::changed;
use super::last_sent::LastSent;
use super::members::{Member, Recipients};
use super::packets::PacketPosition;
use super::remembered::RememberedBytes;
use super::scratch::GroupScratch;
use crate::SessionKey;
use crate::table::current::span;
use crate::table::{Current, Millis};

/// How soon a subscriber that was not ready is asked again, and how soon a group without changes looks again.
/// At higher rates it is the group's period instead.
const RETRY_US: u64 = 20_000;

#[derive(Debug)]
pub(super) struct NewestFlow {
    period_us: u64,
    due_us: u64,
    /// When members that were not ready are asked again.
    retry_us: Option<u64>,
    /// The newest change of the table that the group has looked at.
    looked: u64,
    /// The same for chosen parameters that are not in the change memory.
    uncompared_looked: u64,
    /// Whether values are still to be sent although the table has no newer change.
    has_pending: bool,
    /// The hops of the newest sample since the last frame, and of the one before that.
    newest_hops: Option<SampleHops>,
    newest_hops_before: Option<SampleHops>,
    pub sent: Option<LastSent>,
}

/// The members that are sent a frame now, and the change up to which it goes.
#[derive(Debug, Default)]
pub(super) struct DueMembers {
    members: Vec<usize>,
    through: u64,
}

impl NewestFlow {
    pub fn new(rate_mhz: u32, sent: Option<LastSent>) -> Self {
        Self {
            period_us: 1_000_000_000 / u64::from(rate_mhz),
            due_us: 0,
            retry_us: None,
            looked: 0,
            uncompared_looked: 0,
            has_pending: false,
            newest_hops: None,
            newest_hops_before: None,
            sent,
        }
    }

    /// Notes the hops of samples that the next frame will have.
    pub fn note_hops(&mut self, newest_hops: Option<SampleHops>) {
        self.newest_hops = SampleHops::newer(self.newest_hops, newest_hops);
    }

    /// A new member gets the newest values, so with a change memory the others must get them too. Returns the
    /// change up to which the new member has everything.
    pub fn before_join(
        &mut self,
        chosen: &RangeSet,
        members: &mut [Member],
        state: &TableState<'_>,
    ) -> u64 {
        if self.due_us == 0 {
            self.due_us = state.now_ms * 1000 + self.period_us;
        }
        self.note_uncompared(members, state.current);
        let Some(sent) = &mut self.sent else { return state.current.change() };
        let changes = sent.take_changed(state.current, chosen, 0, true, state.names);
        self.has_pending |= !changes.taken.is_empty();
        self.looked = state.current.change();
        sent.number
    }

    /// Every member needs the changed parameters that are not in the change memory.
    fn note_uncompared(&mut self, members: &mut [Member], current: &Current) {
        let since = std::mem::replace(&mut self.uncompared_looked, current.change());
        let Some(sent) = self.sent.as_ref().filter(|sent| !sent.uncompared.is_empty()) else {
            return;
        };
        let mut new = RangeSet::new();
        changed(&current.columns, &sent.uncompared, since, &mut |span, index| {
            new.insert(index..index + span.len() as u32);
        });
        if !new.is_empty() {
            self.has_pending = true;
            for member in members {
                member.owed = member.owed.union(&new);
            }
        }
    }

    /// Takes over another set of chosen parameters; `new` are the added ones that have a value.
    pub fn rechoose(
        &mut self,
        chosen: &RangeSet,
        new: &RangeSet,
        members: &mut [Member],
        state: &TableState<'_>,
        room: &mut RememberedBytes,
    ) {
        self.note_uncompared(members, state.current);
        self.has_pending |= !new.is_empty();
        let owed = match &mut self.sent {
            Some(sent) => {
                sent.rechoose(chosen, state.current, room);
                sent.take_changed(state.current, new, 0, true, state.names);
                &sent.uncompared
            }
            None => chosen,
        };
        for member in members {
            member.owed = member.owed.union(new).intersect(owed);
        }
    }

    /// Forgets texts that are no longer the newest. Values that differ are sent with the next frame.
    pub fn forget_old_texts(&mut self, current: &Current) {
        if let Some(sent) = &mut self.sent {
            self.has_pending |= !sent.forget_old_texts(current).is_empty();
        }
    }

    pub fn due_ms(&self, current: &Current) -> Option<Millis> {
        let news = self.has_pending || self.looked < current.change();
        let due_us = news.then_some(self.due_us);
        let soonest = due_us.into_iter().chain(self.retry_us).min();
        soonest.map(|us| us.div_ceil(1000))
    }

    /// The members to serve now: at the regular time all that lack something, between those that were not ready.
    pub fn due_members(
        &mut self,
        chosen: &RangeSet,
        members: &mut [Member],
        state: &TableState<'_>,
        ready: &mut dyn FnMut(SessionKey) -> bool,
    ) -> DueMembers {
        let now_us = state.now_ms * 1000;
        let news = self.has_pending || self.looked < state.current.change();
        let regular = news && self.due_us <= now_us;
        let again = self.retry_us.is_some_and(|again| again <= now_us);
        if !regular && !again {
            return DueMembers::default();
        }
        self.note_uncompared(members, state.current);
        if regular {
            self.look_for_changes(chosen, state);
        }
        let through = self.sent.as_ref().map_or(state.current.change(), |sent| sent.number);
        let mut due = DueMembers { members: Vec::new(), through };
        self.retry_us = None;
        for (at, member) in members.iter_mut().enumerate() {
            let behind = member.since < through || !member.owed.is_empty();
            if !behind || !(regular || member.lagging) {
                continue;
            }
            member.lagging = !ready(member.subscriber);
            if member.lagging {
                self.retry_us = Some(now_us + RETRY_US.min(self.period_us));
            } else {
                due.members.push(at);
            }
        }
        due
    }

    /// Looks for changes in the table, and sets the time of the next look: one period later, or sooner if there
    /// were no changes.
    fn look_for_changes(&mut self, chosen: &RangeSet, state: &TableState<'_>) {
        let now_us = state.now_ms * 1000;
        let since = self.looked;
        let mut quiet = !self.has_pending;
        match &mut self.sent {
            Some(sent) => {
                quiet &= !sent
                    .take_changed(state.current, chosen, since, false, state.names)
                    .any_changed;
            }
            None => changed(&state.current.columns, chosen, since, &mut |_, _| quiet = false),
        }
        let next_us = self.due_us + self.period_us;
        self.due_us = match quiet {
            true => now_us + RETRY_US.min(self.period_us),
            false if next_us > now_us => next_us,
            false => now_us + self.period_us,
        };
        self.looked = state.current.change();
        self.has_pending = false;
        self.newest_hops_before = self.newest_hops.take().or(self.newest_hops_before);
    }

    /// Sends to the members that are due. Members that lack the same changes share their packets.
    pub fn serve(
        &mut self,
        due: DueMembers,
        chosen: &RangeSet,
        recipients: &mut Recipients<'_, '_>,
        format: &PacketFormat,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
    ) {
        let context = FrameContext { newest_hops: self.newest_hops_before, ..*context };
        let mut left = due.members;
        scratch.packets.is_deferred = true;
        while let Some(first) = left.first() {
            let Member { since, ref owed, .. } = recipients.members[*first];
            let owed = owed.clone();
            self.write(since, &owed, chosen, format, &context, scratch);
            left.retain(|at| {
                let member = &mut recipients.members[*at];
                if member.since != since || member.owed != owed {
                    return true;
                }
                member.since = due.through;
                member.owed.clear();
                recipients.send_to(*at, &mut scratch.packets, PacketPosition::default());
                false
            });
            scratch.lost += scratch.packets.clear();
        }
        scratch.packets.is_deferred = false;
    }

    /// Makes the packets for a member that has everything up to `since`.
    fn write(
        &mut self,
        since: u64,
        owed: &RangeSet,
        chosen: &RangeSet,
        format: &PacketFormat,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
    ) {
        let columns = &context.state.current.columns;
        if let Some(sent) = &self.sent {
            scratch.write(&sent.columns, format, context, |add| sent.changed(since, add));
            return scratch.write(columns, format, context, |add| changed(columns, owed, 0, add));
        }
        scratch.write(columns, format, context, |add| {
            changed(columns, chosen, since, add);
            for range in owed {
                let old =
                    span(&range).filter(|at| columns.has(*at) && columns.changes[*at] <= since);
                old.for_each(|at| add(at..at + 1, at as u32));
            }
        });
    }
}
