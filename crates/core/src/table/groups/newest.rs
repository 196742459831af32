//! The newest values at a rate. Whoever is not ready is passed over and later gets one frame with
//! everything that changed meanwhile: frames grow, they do not queue.

use slipring_wire::frame::RangeSet;

use super::Scene;
use super::audience::{Audience, Member};
use super::group::{Tools, changed};
use super::outlet::{Mark, Origin, Outlet, Stamp};
use super::remembered::Remembered;
use super::sent::Sent;
use crate::table::{Current, Millis};

/// How soon a subscriber that was not ready is asked again, and how soon a quiet group looks again;
/// sooner where its rate is higher.
const AGAIN_US: u64 = 20_000;

#[derive(Debug)]
pub(super) struct Newest {
    period_us: u64,
    due_us: u64,
    /// When those who lag are asked again.
    again_us: Option<u64>,
    /// The newest change of the table that was looked at.
    looked: u64,
    /// The same, of parameters that are not remembered.
    owed: u64,
    /// Something else than a sample is to be sent.
    stirred: bool,
    /// Of what came since the last frame, and before.
    origin: Option<Origin>,
    origin_before: Option<Origin>,
    pub sent: Option<Sent>,
}

/// Who is served now, and how far.
#[derive(Debug, Default)]
pub(super) struct Turn {
    members: Vec<usize>,
    through: u64,
}

impl Newest {
    pub fn new(rate_mhz: u32, sent: Option<Sent>) -> Self {
        Self {
            period_us: 1_000_000_000 / u64::from(rate_mhz),
            due_us: 0,
            again_us: None,
            looked: 0,
            owed: 0,
            stirred: false,
            origin: None,
            origin_before: None,
            sent,
        }
    }

    /// Somebody contributed to the next frame.
    pub fn note(&mut self, origin: Option<Origin>) {
        self.origin = Origin::newer(self.origin, origin);
    }

    /// For the new one the newest values are what was sent last, so the others get them too.
    /// Returns the change up to which it has everything.
    pub fn before_join(
        &mut self,
        chosen: &RangeSet,
        members: &mut [Member],
        scene: &Scene<'_>,
    ) -> u64 {
        if self.due_us == 0 {
            self.due_us = scene.now_ms * 1000 + self.period_us;
        }
        self.owe(members, scene.current);
        let Some(sent) = &mut self.sent else { return scene.current.change() };
        let settled = sent.settle(scene.current, chosen, 0, true, scene.names);
        self.stirred |= !settled.taken.is_empty();
        self.looked = scene.current.change();
        sent.number()
    }

    /// What is not remembered and has changed since is owed to all.
    fn owe(&mut self, members: &mut [Member], current: &Current) {
        let since = std::mem::replace(&mut self.owed, current.change());
        let Some(sent) = self.sent.as_ref().filter(|sent| !sent.left.is_empty()) else { return };
        let mut new = RangeSet::new();
        changed(&current.columns, &sent.left, since, &mut |span, index| {
            new.insert(index..index + span.len() as u32);
        });
        if !new.is_empty() {
            self.stirred = true;
            for member in members {
                member.owed = member.owed.union(&new);
            }
        }
    }

    /// Other parameters are chosen now; `new` are those of them that have a value.
    pub fn rechoose(
        &mut self,
        chosen: &RangeSet,
        new: &RangeSet,
        members: &mut [Member],
        scene: &Scene<'_>,
        room: &mut Remembered,
    ) {
        self.owe(members, scene.current);
        self.stirred |= !new.is_empty();
        let owed = match &mut self.sent {
            Some(sent) => {
                sent.rechoose(chosen, scene.current, room);
                sent.settle(scene.current, new, 0, true, scene.names);
                &sent.left
            }
            None => chosen,
        };
        for member in members {
            member.owed = member.owed.union(new).intersect(owed);
        }
    }

    /// Knows no text as sent that is newest no more. What differs is sent at the next turn.
    pub fn let_go(&mut self, current: &Current) {
        if let Some(sent) = &mut self.sent {
            self.stirred |= !sent.let_go(current).is_empty();
        }
    }

    pub fn due_ms(&self, current: &Current) -> Option<Millis> {
        let news = self.stirred || self.looked < current.change();
        let due_us = news.then_some(self.due_us);
        let soonest = due_us.into_iter().chain(self.again_us).min();
        soonest.map(|us| us.div_ceil(1000))
    }

    /// Whose turn it is.
    pub fn turn(
        &mut self,
        chosen: &RangeSet,
        members: &mut [Member],
        scene: &Scene<'_>,
        ready: &mut dyn FnMut(u64) -> bool,
    ) -> Turn {
        let now_us = scene.now_ms * 1000;
        let news = self.stirred || self.looked < scene.current.change();
        let regular = news && self.due_us <= now_us;
        let again = self.again_us.is_some_and(|again| again <= now_us);
        if !regular && !again {
            return Turn::default();
        }
        self.owe(members, scene.current);
        if regular {
            self.look(chosen, scene);
        }
        let through = self.sent.as_ref().map_or(scene.current.change(), Sent::number);
        let mut turn = Turn { members: Vec::new(), through };
        self.again_us = None;
        for (at, member) in members.iter_mut().enumerate() {
            let behind = member.since < through || !member.owed.is_empty();
            if !behind || !(regular || member.lagging) {
                continue;
            }
            member.lagging = !ready(member.subscriber);
            if member.lagging {
                self.again_us = Some(now_us + AGAIN_US.min(self.period_us));
            } else {
                turn.members.push(at);
            }
        }
        turn
    }

    /// Looks at what changed in the table; the next time is a period later, sooner if it was quiet.
    fn look(&mut self, chosen: &RangeSet, scene: &Scene<'_>) {
        let now_us = scene.now_ms * 1000;
        let since = self.looked;
        let mut quiet = !self.stirred;
        match &mut self.sent {
            Some(sent) => {
                quiet &= !sent.settle(scene.current, chosen, since, false, scene.names).looked;
            }
            None => changed(&scene.current.columns, chosen, since, &mut |_, _| quiet = false),
        }
        let next_us = self.due_us + self.period_us;
        self.due_us = match quiet {
            true => now_us + AGAIN_US.min(self.period_us),
            false if next_us > now_us => next_us,
            false => now_us + self.period_us,
        };
        self.looked = scene.current.change();
        self.stirred = false;
        self.origin_before = self.origin.take().or(self.origin_before);
    }

    /// Sends to those whose turn it is; those who are equally far share their packets.
    pub fn serve(
        &mut self,
        turn: Turn,
        chosen: &RangeSet,
        audience: &mut Audience<'_, '_>,
        outlet: &Outlet,
        stamp: &Stamp<'_>,
        tools: &mut Tools,
    ) {
        let stamp = Stamp { origin: self.origin_before, ..*stamp };
        let mut left = turn.members;
        tools.packets.is_deferred = true;
        while let Some(first) = left.first() {
            let Member { since, ref owed, .. } = audience.members[*first];
            let owed = owed.clone();
            self.write(since, &owed, chosen, outlet, &stamp, tools);
            left.retain(|at| {
                let member = &mut audience.members[*at];
                if member.since != since || member.owed != owed {
                    return true;
                }
                member.since = turn.through;
                member.owed.clear();
                audience.give(*at, &mut tools.packets, Mark::default());
                false
            });
            tools.lost += tools.packets.clear();
        }
        tools.packets.is_deferred = false;
    }

    /// Makes the packets of somebody who has everything up to `since`.
    fn write(
        &mut self,
        since: u64,
        owed: &RangeSet,
        chosen: &RangeSet,
        outlet: &Outlet,
        stamp: &Stamp<'_>,
        tools: &mut Tools,
    ) {
        let columns = &stamp.scene.current.columns;
        if let Some(sent) = &self.sent {
            tools.write(sent.columns(), outlet, stamp, |add| sent.changed(since, add));
            return tools.write(columns, outlet, stamp, |add| changed(columns, owed, 0, add));
        }
        tools.write(columns, outlet, stamp, |add| {
            changed(columns, chosen, since, add);
            for range in owed {
                let old = (range.start as usize..range.end as usize)
                    .filter(|at| columns.has(*at) && columns.changes[*at] <= since);
                old.for_each(|at| add(at..at + 1, at as u32));
            }
        });
    }
}
