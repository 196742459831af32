//! Selections, shared: subscribers that chose the same with the same needs are one group, and each
//! of its frames is encoded once (G8, P4). What comes before a frame, name and identifier, is each one's
//! own.
//!
//! Every change of the newest values is offered here right after it was made. Never reads a clock
//! and never waits; packets come out encoded.

mod audience;
mod choice;
mod every;
mod front;
mod gathered;
mod group;
mod key;
mod letters;
mod newest;
mod outlet;
mod payers;
mod remembered;
mod sending;
mod sent;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use slipring_wire::frame::{Hops, RangeSet, RunView};

pub use choice::{Choice, First};
pub use outlet::frame_topic;

use self::audience::Member;
use self::group::{Group, Tools};
use self::key::Key;
use self::letters::Letters;
use self::outlet::{Cover, Origin, Stamp};
use self::payers::Payers;
use self::remembered::bytes_of;
use super::{Aim, Current, Millis, Names};

/// The moment, and what is known at it.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// By the clock that never goes back.
    pub now_ms: Millis,
    /// By the broker's clock, nanoseconds since 1970.
    pub now_ns: i64,
    /// The table.
    pub names: &'a dyn Names,
    /// The newest values.
    pub current: &'a Current,
}

/// What all groups may hold together.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Of what they gather; from half of it on nothing waits.
    pub gathered_bytes: usize,
    /// Of what they remember to tell what changed, without texts.
    pub remembered_bytes: usize,
}

/// What a filter chooses now, by what it chose before.
pub type Choose<'a> = dyn FnMut(&str, &RangeSet) -> RangeSet + 'a;

/// Takes packets for a subscriber: one after the other in the bytes, so many messages.
pub type Send<'a> = dyn FnMut(u64, &[u8], u32) + 'a;

/// All selections.
#[derive(Debug)]
pub struct Groups {
    table: u32,
    /// How long samples are gathered where a subscriber does not say.
    beat_ms: u16,
    all: BTreeMap<u64, Group>,
    /// The group that was served last when a turn was over.
    served: u64,
    by_key: HashMap<Key, u64>,
    /// The filters of each, as it wrote them, and their groups.
    by_subscriber: HashMap<u64, Vec<(Arc<str>, u64)>>,
    next: u64,
    tools: Tools,
    letters: Letters,
    payers: Payers,
}

impl Groups {
    /// None yet; `beat_ms` is how long samples are gathered where a subscriber does not say.
    pub fn new(table: u32, beat_ms: u16, room: Room) -> Self {
        Self {
            table,
            beat_ms,
            all: BTreeMap::new(),
            served: 0,
            by_key: HashMap::new(),
            by_subscriber: HashMap::new(),
            next: 0,
            tools: Tools::new(room),
            letters: Letters::default(),
            payers: Payers::default(),
        }
    }

    /// Samples are gathered for another time from now on where a subscriber does not say; what waits
    /// already, too.
    pub fn set_beat_ms(&mut self, beat_ms: u16) {
        self.beat_ms = beat_ms;
        self.all.values_mut().for_each(|group| group.set_beat_ms(beat_ms));
    }

    /// Groups remember so much from now on; those that remember more already go on.
    pub fn set_remembered_bytes_max(&mut self, bytes_max: usize) {
        self.tools.remembered.bytes_max = bytes_max;
    }

    /// What a choice would make groups remember more, instead of what the subscriber chose by the same
    /// filter before.
    pub fn growth(&self, subscriber: u64, choice: &Choice, current: &Current) -> usize {
        let key = Key::of(choice, &Cover::new(choice));
        if !choice.needs.compares() || self.by_key.contains_key(&key) {
            return 0;
        }
        let mut chosen = self.by_subscriber.get(&subscriber).into_iter().flatten();
        let before = chosen.find(|(filter, _)| *filter == choice.filter);
        let before = before.map_or(0, |(_, id)| self.all[id].bytes_of_last());
        bytes_of(&choice.chosen, current).saturating_sub(before)
    }

    /// Whether groups may remember so much more.
    pub fn has_room(&self, growth: usize) -> bool {
        self.tools.remembered.has_room(growth)
    }

    /// How often parameters found no room to be remembered, since this was last asked: each of their
    /// samples counts as a change.
    pub fn take_uncompared(&mut self) -> u64 {
        std::mem::take(&mut self.tools.remembered.uncompared)
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether nobody chose anything.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Samples that were too large for a packet of their subscriber, since this was last asked.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.tools.lost)
    }

    /// Subscribers for whom what was gathered found no room and was dropped, since this was last asked:
    /// they are to be mended.
    pub fn take_overrun(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.tools.gathered.overrun)
    }

    /// Adds a subscriber, instead of what it chose by the same filter before. What comes back is to
    /// reach it before anything else of this selection. Where there is no room to remember what was
    /// sent, every sample counts as a change.
    pub fn join(&mut self, subscriber: u64, choice: Choice, scene: &Scene<'_>) -> First {
        self.leave(subscriber, &choice.filter);
        let cover = Cover::new(&choice);
        let key = Key::of(&choice, &cover);
        let known = self.by_key.get(&key).copied();
        let id = known.unwrap_or_else(|| self.found(key, choice.chosen, scene.current));
        let filter = choice.filter;
        self.by_subscriber.entry(subscriber).or_default().push((Arc::clone(&filter), id));
        let member = Member { subscriber, filter, cover, ..Member::default() };
        let stamp = self.stamp(scene);
        let group = self.all.get_mut(&id).expect("found or known");
        let first = group.join(member, &stamp, &mut self.tools);
        self.settle(id);
        first
    }

    fn stamp<'a>(&self, scene: &Scene<'a>) -> Stamp<'a> {
        Stamp { table: self.table, origin: None, scene: *scene }
    }

    fn found(&mut self, key: Key, chosen: RangeSet, current: &Current) -> u64 {
        self.next += 1;
        let room = &mut self.tools.remembered;
        let group = Group::new(key.clone(), chosen, self.beat_ms, current, room);
        self.all.insert(self.next, group);
        self.by_key.insert(key, self.next);
        self.next
    }

    /// Ends what a subscriber chose by this filter; false if it did not.
    pub fn leave(&mut self, subscriber: u64, filter: &str) -> bool {
        let Some(chosen) = self.by_subscriber.get_mut(&subscriber) else { return false };
        let of_filter = |(other, _): &(Arc<str>, u64)| &**other == filter;
        let Some(at) = chosen.iter().position(of_filter) else { return false };
        let (_, id) = chosen.swap_remove(at);
        if chosen.is_empty() {
            self.by_subscriber.remove(&subscriber);
        }
        self.part(subscriber, filter, id);
        true
    }

    /// Ends all that a subscriber chose.
    pub fn leave_all(&mut self, subscriber: u64) {
        for (filter, id) in self.by_subscriber.remove(&subscriber).unwrap_or_default() {
            self.part(subscriber, &filter, id);
        }
        self.payers.forget(subscriber);
    }

    fn part(&mut self, subscriber: u64, filter: &str, id: u64) {
        let group = self.all.get_mut(&id).expect("a subscriber's group is there");
        let has_waited = self.letters.forget(id, subscriber);
        if group.part(subscriber, filter, &mut self.tools) == 0 {
            self.by_key.remove(&group.key);
            self.all.remove(&id);
        } else if has_waited && group.subscribers().any(|other| other == subscriber) {
            // It has an equal selection under another name, whose text went too.
            group.missed(subscriber);
            self.tools.gathered.overrun.push(subscriber);
        }
        self.settle(id);
    }

    /// Tells the groups of a run that the newest values have taken over.
    pub fn offer(&mut self, run: &RunView<'_>, hops: Option<Hops>, scene: &Scene<'_>) {
        let origin = hops.map(|hops| Origin { time_ns: run.newest_ns(), hops });
        let stamp = Stamp { origin, ..self.stamp(scene) };
        for group in self.all.values_mut() {
            group.offer(run, &stamp, &mut self.tools);
        }
    }

    /// Tells the groups that these parameters have a newer value, or another quality, by the broker's
    /// own clock: each one's newest is a sample.
    pub fn offer_newest(&mut self, changed: &RangeSet, scene: &Scene<'_>) {
        let times = &scene.current.columns.times;
        let newest = changed.indices().filter_map(|index| times.get(index as usize)).max();
        let hops = Hops { published_ns: scene.now_ns, received_ns: scene.now_ns, skew_ns: 0 };
        let origin = newest.map(|time_ns| Origin { time_ns: *time_ns, hops });
        let stamp = Stamp { origin, ..self.stamp(scene) };
        for group in self.all.values_mut() {
            group.offer_newest(changed, &stamp, &mut self.tools);
        }
    }

    /// Bounds what groups keep of texts only to tell what changed. Where those that are newest no more
    /// cost more than this, each group goes over to the newest, sooner than by its rate: it may send one
    /// that it need not have sent, and leaves out none.
    pub fn bound_texts(&mut self, bytes_max: usize, scene: &Scene<'_>) {
        if scene.current.left_text_bytes() <= bytes_max {
            return;
        }
        let stamp = self.stamp(scene);
        self.all.values_mut().for_each(|group| group.let_go(&stamp, &mut self.tools));
    }

    /// The table has other parameters now: filters choose again. Of what is newly chosen the values
    /// are sent. Lists stay as they are.
    pub fn table_changed(&mut self, choose: &mut Choose<'_>, scene: &Scene<'_>) {
        let stamp = self.stamp(scene);
        let mut known: HashMap<Arc<str>, RangeSet> = HashMap::new();
        let mut changed = Vec::new();
        for (id, group) in &mut self.all {
            let key = Arc::clone(&group.key.filter);
            let Some(filter) = Aim::parse(&key).and_then(Aim::filter) else { continue };
            let chosen =
                known.entry(Arc::clone(&key)).or_insert_with(|| choose(filter, &group.chosen));
            if *chosen != group.chosen {
                group.rechoose(chosen.clone(), &stamp, &mut self.tools);
                changed.push(*id);
            }
        }
        for id in changed {
            self.settle(id);
        }
    }
}
