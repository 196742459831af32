//! Sending what is due, and what somebody missed: in turns, so that others run between them.

use std::collections::HashMap;

use super::{Groups, Scene, Send};
use crate::table::{Current, Millis};

/// What it costs to look at a group that has nothing to send, as bytes to copy.
const GROUP_WORK: usize = 512;

impl Groups {
    /// Something on its way to a subscriber was dropped: it may miss anything that it chose. False where
    /// it chose nothing.
    pub fn missed(&mut self, subscriber: u64) -> bool {
        let Some(chosen) = self.by_subscriber.get(&subscriber) else { return false };
        for (_, id) in chosen {
            self.all.get_mut(id).expect("a subscriber's group is there").missed(subscriber);
        }
        true
    }

    /// Whether text waits to be written for a subscriber.
    pub fn awaits_text(&self, subscriber: u64) -> bool {
        self.letters.is_waited_for(subscriber)
    }

    /// Sends a subscriber the newest of what it may have missed, at most about so many bytes; whether
    /// that was the rest of it. Text of it is sent by [`Self::tick`], after what waits already.
    pub fn mend(
        &mut self,
        subscriber: u64,
        mut room: usize,
        scene: &Scene<'_>,
        send: &mut Send<'_>,
    ) -> bool {
        if self.awaits_text(subscriber) {
            return false;
        }
        let stamp = self.stamp(scene);
        let Self { all, by_subscriber, tools, letters, .. } = self;
        for (_, id) in by_subscriber.get(&subscriber).into_iter().flatten() {
            let group = all.get_mut(id).expect("a subscriber's group is there");
            let (here, terms) = (room, group.text_terms(*id));
            let mut send = |subscriber, packets: &[u8], messages| {
                room = room.saturating_sub(packets.len());
                match terms {
                    Some(terms) => letters.add(terms, subscriber, packets),
                    None => send(subscriber, packets, messages),
                }
                letters.close();
            };
            if !group.mend(subscriber, here, &stamp, tools, &mut send) {
                return false;
            }
        }
        true
    }

    /// When [`Self::tick`] has something to do; it may be over already.
    pub fn next_due_ms(&self, current: &Current) -> Option<Millis> {
        if !self.letters.is_empty() {
            return Some(0);
        }
        self.groups_due_ms(current)
    }

    /// When a group has something to send; it may be over already.
    pub fn groups_due_ms(&self, current: &Current) -> Option<Millis> {
        self.all.values().filter_map(|group| group.due_ms(current)).min()
    }

    /// Sends what is due, group by group, until about so much work is done; the others are due next time,
    /// and are served first then. `ready` says whether a subscriber has taken what it was sent before; it is
    /// asked at most once for each.
    pub fn tick(
        &mut self,
        work_max: usize,
        scene: &Scene<'_>,
        ready: &mut dyn FnMut(u64) -> bool,
        send: &mut Send<'_>,
    ) {
        // Text has half of the turn at first: however much of it waits, frames are served in each turn.
        let work = self.letters.write(work_max.div_ceil(2), scene.names, send);
        let left = work_max.saturating_sub(work).max(work_max / 2);
        let work = work + self.serve(left, scene, ready, send);
        self.letters.write(work_max.saturating_sub(work), scene.names, send);
        self.make_up();
    }

    /// The same without writing text; how many bytes were copied, or as much work as that.
    pub fn tick_frames(
        &mut self,
        work_max: usize,
        scene: &Scene<'_>,
        ready: &mut dyn FnMut(u64) -> bool,
        send: &mut Send<'_>,
    ) -> usize {
        let work = self.serve(work_max, scene, ready, send);
        self.make_up();
        work
    }

    /// Who lost text that waited is to be mended.
    fn make_up(&mut self) {
        self.tools.lost += std::mem::take(&mut self.letters.lost);
        for (group, subscriber) in self.letters.take_dropped() {
            if let Some(group) = self.all.get_mut(&group) {
                group.missed(subscriber);
                self.tools.gathered.overrun.push(subscriber);
            }
        }
    }

    /// Sends frames that are due, and hands over those of which text is written; how much work it was.
    fn serve(
        &mut self,
        work_max: usize,
        scene: &Scene<'_>,
        ready: &mut dyn FnMut(u64) -> bool,
        send: &mut Send<'_>,
    ) -> usize {
        let stamp = self.stamp(scene);
        let mut work = 0;
        let Self { all, tools, served, letters, .. } = self;
        // Who waits for text has not taken what was for it before.
        let waiting = letters.subscribers();
        let mut asked: HashMap<u64, bool> = HashMap::new();
        let mut ready = |subscriber| {
            *asked
                .entry(subscriber)
                .or_insert_with(|| !waiting.contains(&subscriber) && ready(subscriber))
        };
        for groups in [*served + 1..u64::MAX, 0..*served + 1] {
            for (id, group) in all.range_mut(groups) {
                if work >= work_max {
                    return work;
                }
                let terms = group.text_terms(*id);
                let mut send = |subscriber, packets: &[u8], messages| {
                    work += packets.len();
                    match terms {
                        Some(terms) => letters.add(terms, subscriber, packets),
                        None => send(subscriber, packets, messages),
                    }
                };
                group.tick(&stamp, tools, &mut ready, &mut send);
                letters.close();
                work += GROUP_WORK;
                *served = *id;
            }
        }
        work
    }
}
