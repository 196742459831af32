//! One group: subscribers that chose the same with the same needs.

use slipring_wire::frame::{FrameBuf, RangeSet, RunView};

use super::audience::{Audience, Member};
use super::every::Every;
use super::gathered::Gathered;
use super::key::Key;
use super::letters::TextTerms;
use super::newest::Newest;
use super::outlet::{Mark, Outlet, Packets, Stamp};
use super::remembered::Remembered;
use super::sent::Sent;
use super::{First, Room, Send};
use crate::table::columns::Columns;
use crate::table::rows::Rows;
use crate::table::spill::Spill;
use crate::table::{Current, Millis};

/// What a new subscriber is sent at once of the values it gets first, at most about; the rest comes in
/// portions. Below a millisecond.
const FIRST_BYTES_MAX: usize = 2 << 20;

/// Scratch memory that groups use in turn, and what they count together.
#[derive(Debug)]
pub(super) struct Tools {
    pub buf: FrameBuf,
    pub packets: Packets,
    pub rows: Rows,
    pub lost: u64,
    pub gathered: Gathered,
    pub remembered: Remembered,
}

impl Tools {
    pub fn new(room: Room) -> Self {
        let (buf, packets, rows) = (FrameBuf::new(), Packets::default(), Rows::default());
        let gathered = Gathered::new(room.gathered_bytes);
        let remembered = Remembered::new(room.remembered_bytes);
        Self { buf, packets, rows, lost: 0, gathered, remembered }
    }

    /// Writes places of columns and makes packets of them; `each` adds the spans that are meant,
    /// with the index of the first of each.
    pub fn write(
        &mut self,
        columns: &Columns,
        outlet: &Outlet,
        stamp: &Stamp<'_>,
        each: impl FnOnce(&mut dyn FnMut(std::ops::Range<usize>, u32)),
    ) {
        let Self { buf, packets, rows, .. } = self;
        let mut full = |buf: &mut FrameBuf| packets.seal(buf, outlet, stamp);
        let mut spill = Spill::new(buf, outlet.body_max, &mut full);
        each(&mut |span, index| rows.add(columns, span, index, &mut spill));
        rows.finish(columns, &mut spill);
        spill.pass_on();
    }

    /// Takes the packets as what a new subscriber gets first.
    pub fn first(&mut self, member: &mut Member) -> First {
        let mut first = First::default();
        self.packets.give(Mark::default(), &mut member.cover, &mut |packets, messages| {
            first.packets.extend_from_slice(packets);
            first.messages += messages;
        });
        self.lost += self.packets.clear();
        first
    }
}

/// Which samples a group gets.
#[derive(Debug)]
enum Flow {
    Every(Box<Every>),
    Newest(Box<Newest>),
}

#[derive(Debug)]
pub(super) struct Group {
    pub key: Key,
    pub chosen: RangeSet,
    outlet: Outlet,
    members: Vec<Member>,
    flow: Flow,
}

impl Group {
    pub fn new(
        key: Key,
        chosen: RangeSet,
        beat_ms: u16,
        current: &Current,
        room: &mut Remembered,
    ) -> Self {
        let (needs, outlet) = (key.needs, Outlet::new(&key));
        let sent = needs.compares().then(|| Sent::new(&chosen, &needs, current, room));
        let flow = match needs.rate_mhz {
            Some(rate_mhz) => Flow::Newest(Box::new(Newest::new(rate_mhz, sent))),
            None => Flow::Every(Box::new(Every::new(&needs, beat_ms, sent))),
        };
        Self { key, chosen, outlet, members: Vec::new(), flow }
    }

    pub fn join(&mut self, mut member: Member, stamp: &Stamp<'_>, tools: &mut Tools) -> First {
        let chosen = &self.chosen;
        self.outlet.head_bytes = member.cover.head.len().max(self.outlet.head_bytes);
        let outlet = &self.outlet;
        match &mut self.flow {
            Flow::Every(every) => {
                let alone = self.members.is_empty();
                member.from = every.before_join(alone, chosen, outlet, stamp, tools);
            }
            Flow::Newest(newest) => {
                member.since = newest.before_join(chosen, &mut self.members, &stamp.scene);
            }
        }
        let scene = &stamp.scene;
        let columns = &scene.current.columns;
        let rest = self.outlet.first_beyond(chosen, FIRST_BYTES_MAX, scene);
        let end = rest.unwrap_or(u32::MAX);
        let now = chosen.intersect(&std::iter::once(0..end).collect());
        tools.write(columns, outlet, stamp, |add| changed(columns, &now, 0, add));
        let mut first = tools.first(&mut member);
        first.is_whole = rest.is_none();
        member.missing_from = rest;
        self.members.push(member);
        self.bound(stamp.scene.now_ms, tools);
        first
    }

    /// Counts what was gathered. Where all groups hold too much it is due at once, or is dropped.
    fn bound(&mut self, now_ms: Millis, tools: &mut Tools) {
        let Flow::Every(every) = &mut self.flow else { return };
        every.count(&mut tools.gathered);
        if tools.gathered.is_much() {
            every.hurry(now_ms);
        }
        if tools.gathered.is_too_much() {
            for member in &mut self.members {
                let dropped = every.pass_over(member);
                if dropped > 0 {
                    tools.lost += dropped;
                    member.missing_from = Some(0);
                    tools.gathered.overrun.push(member.subscriber);
                }
            }
            every.free(&mut tools.gathered);
        }
    }

    /// How its messages look where they are text: what it sends are frames of which text is written.
    pub fn text_terms(&self, group: u64) -> Option<TextTerms> {
        self.outlet.text_terms(group)
    }

    /// The broker's own beat is another one.
    pub fn set_beat_ms(&mut self, beat_ms: u16) {
        if let (Flow::Every(every), None) = (&mut self.flow, self.key.needs.beat_ms) {
            every.set_beat_ms(beat_ms.into());
        }
    }

    /// Takes a subscriber out; returns how many are left.
    pub fn part(&mut self, subscriber: u64, filter: &str, tools: &mut Tools) -> usize {
        self.members.retain(|member| member.subscriber != subscriber || *member.filter != *filter);
        let heads = self.members.iter().map(|member| member.cover.head.len());
        self.outlet.head_bytes = heads.max().unwrap_or_default();
        if self.members.is_empty() {
            tools.remembered.recount(self.sent_bytes(), 0);
            if let Flow::Every(every) = &mut self.flow {
                every.free(&mut tools.gathered);
            }
        }
        self.members.len()
    }

    /// Those that share it, the first to join first.
    pub fn subscribers(&self) -> impl Iterator<Item = u64> {
        self.members.iter().map(|member| member.subscriber)
    }

    /// What it takes to know what was sent last.
    pub fn sent_bytes(&self) -> usize {
        let sent = match &self.flow {
            Flow::Every(every) => &every.sent,
            Flow::Newest(newest) => &newest.sent,
        };
        sent.as_ref().map_or(0, |sent| sent.bytes)
    }

    /// What would be given back if one subscriber left.
    pub fn bytes_of_last(&self) -> usize {
        if self.members.len() == 1 { self.sent_bytes() } else { 0 }
    }

    pub fn offer(&mut self, run: &RunView<'_>, stamp: &Stamp<'_>, tools: &mut Tools) {
        if !run.ranges().any(|range| self.chosen.overlaps(&range)) {
            return;
        }
        match &mut self.flow {
            Flow::Every(every) => {
                every.gather(run, &self.chosen, &self.outlet, stamp);
                self.bound(stamp.scene.now_ms, tools);
            }
            Flow::Newest(newest) => newest.note(stamp.origin),
        }
    }

    pub fn offer_newest(&mut self, changed: &RangeSet, stamp: &Stamp<'_>, tools: &mut Tools) {
        if !changed.iter().any(|range| self.chosen.overlaps(&range)) {
            return;
        }
        match &mut self.flow {
            Flow::Every(every) => {
                let changed = changed.intersect(&self.chosen);
                every.gather_newest(&changed, &self.outlet, stamp, tools);
                self.bound(stamp.scene.now_ms, tools);
            }
            Flow::Newest(newest) => newest.note(stamp.origin),
        }
    }

    /// Other parameters are chosen now.
    pub fn rechoose(&mut self, chosen: RangeSet, stamp: &Stamp<'_>, tools: &mut Tools) {
        let new = stamp.scene.current.known(&chosen.difference(&self.chosen));
        let room = &mut tools.remembered;
        match &mut self.flow {
            Flow::Every(every) => {
                if let Some(sent) = &mut every.sent {
                    sent.rechoose(&chosen, stamp.scene.current, room);
                }
                every.gather_newest(&new, &self.outlet, stamp, tools);
            }
            Flow::Newest(newest) => {
                newest.rechoose(&chosen, &new, &mut self.members, &stamp.scene, room);
            }
        }
        self.chosen = chosen;
        self.bound(stamp.scene.now_ms, tools);
    }

    /// Knows no text as sent that is newest no more.
    pub fn let_go(&mut self, stamp: &Stamp<'_>, tools: &mut Tools) {
        match &mut self.flow {
            Flow::Every(every) => every.let_go(&self.outlet, stamp, tools),
            Flow::Newest(newest) => newest.let_go(stamp.scene.current),
        }
        self.bound(stamp.scene.now_ms, tools);
    }

    /// Something on its way to a subscriber was dropped.
    pub fn missed(&mut self, subscriber: u64) {
        let of_subscriber = |member: &&mut Member| member.subscriber == subscriber;
        for member in self.members.iter_mut().filter(of_subscriber) {
            member.missing_from = Some(0);
        }
    }

    /// Sends a subscriber the newest of what it may have missed, as far as there is room; whether that
    /// was the rest of it.
    pub fn mend(
        &mut self,
        subscriber: u64,
        room: usize,
        stamp: &Stamp<'_>,
        tools: &mut Tools,
        send: &mut Send<'_>,
    ) -> bool {
        let missing = |(at, member): (usize, &Member)| {
            Some((at, member.missing_from.filter(|_| member.subscriber == subscriber)?))
        };
        let found = self.members.iter().enumerate().find_map(missing);
        let Some((at, from)) = found else { return true };
        let missing = self.chosen.intersect(&std::iter::once(from..u32::MAX).collect());
        let missing = stamp.scene.current.known(&missing);
        let some = self.outlet.portion(&missing, room, &stamp.scene);
        let rest = missing.difference(&some).iter().next();
        self.members[at].missing_from = rest.as_ref().map(|range| range.start);
        let mut audience = Audience { members: &mut self.members, send };
        let compared = match &mut self.flow {
            Flow::Every(every) => {
                every.hand_over(at, &mut audience, &self.outlet, stamp);
                every.sent.as_mut()
            }
            Flow::Newest(newest) => newest.sent.as_mut(),
        };
        tools.packets.is_deferred = true;
        let mut uncompared = some;
        if let Some(known) = compared {
            let places = known.places(&uncompared);
            tools.write(known.columns(), &self.outlet, stamp, |add| {
                for (span, index) in places {
                    add(span, index);
                }
            });
            uncompared = uncompared.intersect(&known.left);
        }
        let columns = &stamp.scene.current.columns;
        tools.write(columns, &self.outlet, stamp, |add| changed(columns, &uncompared, 0, add));
        audience.give(at, &mut tools.packets, Mark::default());
        tools.lost += tools.packets.clear();
        tools.packets.is_deferred = false;
        rest.is_none()
    }

    pub fn due_ms(&self, current: &Current) -> Option<Millis> {
        match &self.flow {
            Flow::Every(every) => every.due_ms(),
            Flow::Newest(newest) => newest.due_ms(current),
        }
    }

    pub fn tick(
        &mut self,
        stamp: &Stamp<'_>,
        tools: &mut Tools,
        ready: &mut dyn FnMut(u64) -> bool,
        send: &mut Send<'_>,
    ) {
        let mut audience = Audience { members: &mut self.members, send };
        let (chosen, outlet) = (&self.chosen, &self.outlet);
        match &mut self.flow {
            Flow::Every(every) => {
                if every.due_ms().is_some_and(|due| due <= stamp.scene.now_ms) {
                    tools.lost += every.flush(&mut audience, outlet, stamp);
                    every.rest(&mut tools.gathered);
                }
            }
            Flow::Newest(newest) => {
                let turn = newest.turn(chosen, audience.members, &stamp.scene, ready);
                newest.serve(turn, chosen, &mut audience, outlet, stamp, tools);
            }
        }
    }
}

/// Shows the spans of chosen parameters that changed since, where place and index are the same.
pub(super) fn changed(
    columns: &Columns,
    chosen: &RangeSet,
    since: u64,
    add: &mut dyn FnMut(std::ops::Range<usize>, u32),
) {
    for range in chosen {
        let span = range.start as usize..range.end as usize;
        columns.changed(span, since, |span| add(span.clone(), span.start as u32));
    }
}
