//! Sends due samples, and the newest values to subscribers that missed some, in turns of bounded work.

use std::collections::HashMap;

use super::{Groups, SendPackets, TableState};
use crate::SessionKey;
use crate::table::{Current, Millis};

/// The work of looking at a group that has nothing to send, in bytes copied.
const GROUP_WORK: usize = 512;

impl Groups {
    /// Messages to a subscriber were dropped, so any of its selections may lack samples. False if it has no
    /// selection.
    pub fn missed(&mut self, subscriber: SessionKey) -> bool {
        let Some(chosen) = self.by_subscriber.get(&subscriber) else { return false };
        for (_, id) in chosen {
            self.all.get_mut(id).expect("a subscriber's group is there").missed(subscriber);
        }
        true
    }

    /// Whether samples for a subscriber wait to be written as text.
    pub fn awaits_text(&self, subscriber: SessionKey) -> bool {
        self.text_backlog.is_waited_for(subscriber)
    }

    /// Sends a subscriber the newest values it may have missed, about `room` bytes at most; returns whether
    /// that was all. Values as text join the backlog, which [`Self::tick`] sends.
    pub fn mend(
        &mut self,
        subscriber: SessionKey,
        mut room: usize,
        state: &TableState<'_>,
        send: &mut SendPackets<'_>,
    ) -> bool {
        if self.awaits_text(subscriber) {
            return false;
        }
        let context = self.context(state);
        let Self { all, by_subscriber, scratch, text_backlog, .. } = self;
        for (_, id) in by_subscriber.get(&subscriber).into_iter().flatten() {
            let group = all.get_mut(id).expect("a subscriber's group is there");
            let (here, terms) = (room, group.format.text_terms(*id));
            let mut send = |subscriber, packets: &[u8], messages| {
                room = room.saturating_sub(packets.len());
                match terms {
                    Some(terms) => text_backlog.add(terms, subscriber, packets),
                    None => send(subscriber, packets, messages),
                }
                text_backlog.close();
            };
            if !group.mend(subscriber, here, &context, scratch, &mut send) {
                return false;
            }
        }
        true
    }

    /// When [`Self::tick`] has something to do. The time can be in the past.
    pub fn next_due_ms(&self, current: &Current) -> Option<Millis> {
        if !self.text_backlog.is_empty() {
            return Some(0);
        }
        self.groups_due_ms(current)
    }

    /// When a group has something to send. The time can be in the past.
    pub fn groups_due_ms(&self, current: &Current) -> Option<Millis> {
        self.all.values().filter_map(|group| group.due_ms(current)).min()
    }

    /// Serves due groups until about `work_max` is done; the next turn begins with the group after the last one
    /// served. `ready` says whether a subscriber has taken what it was sent before; it is called at most once for
    /// each subscriber.
    pub fn tick(
        &mut self,
        work_max: usize,
        state: &TableState<'_>,
        ready: &mut dyn FnMut(SessionKey) -> bool,
        send: &mut SendPackets<'_>,
    ) {
        // Text takes at most half of the turn before frames are served, however long the backlog is.
        let work = self.text_backlog.write(work_max.div_ceil(2), state.names, send);
        let left = work_max.saturating_sub(work).max(work_max / 2);
        let work = work + self.tick_frames(left, state, ready, send);
        self.text_backlog.write(work_max.saturating_sub(work), state.names, send);
        self.note_dropped_text();
    }

    /// Notes subscribers whose waiting text was dropped, so that they get newest values.
    fn note_dropped_text(&mut self) {
        self.scratch.lost += std::mem::take(&mut self.text_backlog.lost);
        for (group, subscriber) in self.text_backlog.take_dropped() {
            if let Some(group) = self.all.get_mut(&group) {
                group.missed(subscriber);
                self.scratch.gathered.overrun.push(subscriber);
            }
        }
    }

    /// The same without writing text: frames that become text join the backlog. Returns the work in bytes copied.
    pub fn tick_frames(
        &mut self,
        work_max: usize,
        state: &TableState<'_>,
        ready: &mut dyn FnMut(SessionKey) -> bool,
        send: &mut SendPackets<'_>,
    ) -> usize {
        let context = self.context(state);
        let mut work = 0;
        let Self { all, scratch, served, text_backlog, .. } = self;
        // A subscriber with waiting text has not taken what it was to be sent before.
        let waiting = text_backlog.subscribers();
        let mut asked: HashMap<SessionKey, bool> = HashMap::new();
        let mut ready = |subscriber| {
            *asked
                .entry(subscriber)
                .or_insert_with(|| !waiting.contains(&subscriber) && ready(subscriber))
        };
        'turn: for groups in [*served + 1..u64::MAX, 0..*served + 1] {
            for (id, group) in all.range_mut(groups) {
                if work >= work_max {
                    break 'turn;
                }
                let terms = group.format.text_terms(*id);
                let mut send = |subscriber, packets: &[u8], messages| {
                    work += packets.len();
                    match terms {
                        Some(terms) => text_backlog.add(terms, subscriber, packets),
                        None => send(subscriber, packets, messages),
                    }
                };
                group.tick(&context, scratch, &mut ready, &mut send);
                text_backlog.close();
                work += GROUP_WORK;
                *served = *id;
            }
        }
        self.note_dropped_text();
        work
    }
}
