//! A table with its newest values and groups, and the messages that each subscriber has received.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use slipring_core::table::{
    Choice, ClockReading, Current, Deliver, GroupLimits, Groups, Names, Narrowing, Needs,
    SelectionFilter, TableState,
};
use slipring_core::{ParameterIndex, SessionKey};
use slipring_wire::frame::{
    FrameBounds, FrameBuf, FrameView, Header, Hops, Kind, Quality, RangeSet, Sample, ValueView,
};
use slipring_wire::matches;

use crate::packets::{Heard, Received, read};

pub const BOUNDS: FrameBounds = FrameBounds { samples_max: 1 << 20, raw_bytes_max: 1 << 26 };
pub const TABLE: u32 = 77;

/// Limits that no test reaches.
pub const ROOM: GroupLimits =
    GroupLimits { gathered_bytes: usize::MAX, remembered_bytes: usize::MAX };

/// Frames of every sample, gathered for the broker's own beat of 20 ms.
pub const FRAME: Needs =
    Needs { deliver: Deliver::Frame, rate_mhz: None, deadband: None, change: false, beat_ms: None };

/// The parameters: names and kinds by index. A `u8` is an enumeration.
#[derive(Debug, Default)]
pub struct Table {
    pub names: Vec<(String, Kind)>,
    pub rates_hz: HashMap<u32, f64>,
}

impl Table {
    pub fn kind(&self, index: u32) -> Kind {
        self.names[index as usize].1
    }

    pub fn index_of(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|(known, _)| known == name).map(|at| at as u32)
    }

    pub fn matching(&self, filter: &str) -> RangeSet {
        let filter = SelectionFilter::unnamed(filter);
        if let Some(list) = filter.strip_prefix("$selection/") {
            return list.split('-').map(|index| index.parse::<u32>().unwrap()).collect();
        }
        let all = self.names.iter().zip(0u32..);
        all.filter(|((name, _), _)| matches(filter, name)).map(|(_, index)| index).collect()
    }
}

const STATES: [&str; 4] = ["state 0", "state 1", "state 2", "state 3"];

impl Names for Table {
    fn name(&self, index: ParameterIndex) -> Option<&str> {
        self.names.get(index.get() as usize).map(|(name, _)| name.as_str())
    }
    fn kind(&self, index: ParameterIndex) -> Option<Kind> {
        self.names.get(index.get() as usize).map(|(_, kind)| *kind)
    }
    fn is_enumeration(&self, index: ParameterIndex) -> bool {
        self.kind(index.get()) == Kind::U8
    }
    fn label(&self, index: ParameterIndex, value: u32) -> Option<&str> {
        self.is_enumeration(ParameterIndex::new(index.get()))
            .then(|| STATES.get(value as usize).copied())
            .flatten()
    }
    fn rate_hz(&self, index: ParameterIndex) -> Option<f64> {
        self.rates_hz.get(&index.get()).copied()
    }
}

/// How many bytes of missing first values a subscriber is sent at once.
const PORTION: usize = 256 << 10;

pub struct World {
    pub table: Table,
    pub current: Current,
    pub groups: Groups,
    pub now_ms: u64,
    pub heard: HashMap<u64, Vec<Heard>>,
    pub not_ready: Vec<u64>,
    /// Subscribers whose messages are dropped on their way, by the bits of a number, in turn.
    pub lossy: HashMap<u64, u32>,
    /// Subscribers that have lost messages and have not received the newest values since.
    pub missing: BTreeSet<u64>,
    /// Subscribers that have ever lost messages.
    pub losers: HashSet<u64>,
    /// How many bytes of texts that are no longer the newest groups may keep.
    pub left_text_bytes_max: usize,
}

/// The wall clock at a time of the monotonic clock.
pub fn wall_ns(now_ms: u64) -> i64 {
    1_700_000_000_000_000_000 + i64::try_from(now_ms).unwrap() * 1_000_000
}

macro_rules! state {
    ($world:expr) => {
        TableState {
            now_ms: $world.now_ms,
            now_ns: wall_ns($world.now_ms),
            names: &$world.table,
            current: &$world.current,
        }
    };
}

impl World {
    /// Parameters of these kinds, called `a/0`, `b/1`, `a/2`, `b/3` ...
    pub fn new(kinds: &[Kind]) -> Self {
        let mut world = Self {
            table: Table::default(),
            current: Current::default(),
            groups: Groups::new(TABLE, 20, ROOM),
            now_ms: 1000,
            heard: HashMap::new(),
            not_ready: Vec::new(),
            lossy: HashMap::new(),
            missing: BTreeSet::new(),
            losers: HashSet::new(),
            left_text_bytes_max: usize::MAX,
        };
        world.declare(kinds);
        world
    }

    /// Declares further parameters.
    pub fn declare(&mut self, kinds: &[Kind]) {
        let start = self.table.names.len() as u32;
        for (kind, index) in kinds.iter().zip(start..) {
            let name = format!("{}/{index}", if index % 2 == 0 { "a" } else { "b" });
            self.table.names.push((name, *kind));
        }
        let added: RangeSet = std::iter::once(start..self.table.names.len() as u32).collect();
        self.current.define(&added, &self.table);
        self.choose_again(&HashSet::new());
    }

    /// Matches all filters again; they do not find the hidden parameters.
    pub fn choose_again(&mut self, hidden: &HashSet<u32>) {
        let table = &self.table;
        let mut choose = |filter: &str, _: &RangeSet, _: Narrowing<'_>| {
            let matching = table.matching(filter);
            matching.indices().filter(|index| !hidden.contains(index)).collect()
        };
        self.groups.table_changed(&mut choose, &state!(self));
        self.note_overrun();
    }

    pub fn arrival(&self) -> ClockReading {
        ClockReading { now_ms: self.now_ms, now_ns: wall_ns(self.now_ms) }
    }

    /// Publishes a frame with these samples, in runs by kind.
    pub fn publish(&mut self, samples: &[Sample<'_>]) {
        let mut buf = FrameBuf::new();
        for kind in Kind::ALL {
            let of_kind = samples.iter().filter(|sample| sample.value.kind() == kind);
            buf.push_samples(kind, &mut of_kind.copied().collect::<Vec<_>>()).unwrap();
        }
        self.publish_frame(buf, None);
    }

    pub fn publish_frame(&mut self, mut buf: FrameBuf, hops: Option<Hops>) {
        let (mut frame, mut inflated) = (Vec::new(), Vec::new());
        buf.finish(&Header::default(), false, &mut frame);
        let view = FrameView::decode(&frame, &mut inflated, &BOUNDS).unwrap();
        for run in view.runs() {
            self.current.check(&run).unwrap();
            self.current.apply(&run, self.arrival());
            self.groups.offer(&run, hops, &state!(self));
            self.bound_texts();
        }
    }

    fn bound_texts(&mut self) {
        self.groups.bound_texts(self.left_text_bytes_max, &state!(self));
        assert!(self.current.left_text_bytes() <= self.left_text_bytes_max);
        self.note_overrun();
    }

    /// Publishes one sample, as a plain message does.
    pub fn publish_one(&mut self, sample: &Sample<'_>) {
        assert!(self.current.set(sample, self.arrival()));
        self.offer_newest(&std::iter::once(sample.index).collect());
    }

    pub fn offer_newest(&mut self, changed: &RangeSet) {
        self.groups.offer_newest(changed, &state!(self));
        self.bound_texts();
    }

    /// Subscribes; the identifier tells a subscriber's selections apart. Returns the first values.
    pub fn join(
        &mut self,
        subscriber: u64,
        filter: &str,
        identifier: u32,
        needs: Needs,
    ) -> Vec<Heard> {
        self.join_within(subscriber, filter, identifier, needs, 1 << 20)
    }

    pub fn join_within(
        &mut self,
        subscriber: u64,
        filter: &str,
        identifier: u32,
        needs: Needs,
        packet_bytes_max: usize,
    ) -> Vec<Heard> {
        let chosen = self.table.matching(filter);
        self.join_chosen(subscriber, filter, chosen, identifier, needs, packet_bytes_max)
    }

    pub fn join_chosen(
        &mut self,
        subscriber: u64,
        filter: &str,
        chosen: RangeSet,
        identifier: u32,
        needs: Needs,
        packet_bytes_max: usize,
    ) -> Vec<Heard> {
        let choice = Choice {
            filter: Arc::from(filter),
            chosen,
            identifier,
            needs,
            packet_bytes_max,
            rights: None,
        };
        let first = self.groups.join(SessionKey::new(subscriber), choice, &state!(self));
        let heard = read(&first.packets, &self.table);
        assert_eq!(heard.len(), first.messages as usize);
        self.hear(subscriber, heard.clone());
        self.note_overrun();
        if !first.is_whole {
            self.missing.insert(subscriber);
            while self.missing.contains(&subscriber) {
                self.mend(subscriber, PORTION);
            }
        }
        heard
    }

    /// Delivers messages to a subscriber, except those that are dropped on their way.
    fn hear(&mut self, subscriber: u64, mut sent: Vec<Heard>) {
        let count = sent.len();
        if let Some(bits) = self.lossy.get_mut(&subscriber) {
            sent.retain(|_| {
                *bits = bits.rotate_left(1);
                *bits & 1 == 0
            });
        }
        if sent.len() < count {
            self.losers.insert(subscriber);
            if self.groups.missed(SessionKey::new(subscriber)) {
                self.missing.insert(subscriber);
            }
        }
        self.heard.entry(subscriber).or_default().extend(sent);
    }

    /// Notes subscribers whose gathered samples were dropped for lack of room.
    fn note_overrun(&mut self) {
        let overrun = self.groups.take_overrun();
        if !overrun.is_empty() {
            assert!(self.groups.take_lost() > 0, "it is counted");
        }
        self.losers.extend(overrun.iter().map(|one| one.get()));
        self.missing.extend(overrun.iter().map(|one| one.get()));
    }

    /// Sends a subscriber the newest values it has missed, in portions of about so many bytes.
    pub fn mend(&mut self, subscriber: u64, room: usize) {
        if !self.missing.remove(&subscriber) {
            return;
        }
        let mut sent = Vec::new();
        let all = self.groups.mend(
            SessionKey::new(subscriber),
            room,
            &state!(self),
            &mut |to, packets, messages| {
                assert_eq!(to, SessionKey::new(subscriber));
                let new = read(packets, &self.table);
                assert_eq!(new.len(), messages as usize);
                sent.extend(new);
            },
        );
        if !all {
            self.missing.insert(subscriber);
        }
        self.hear(subscriber, sent);
        if self.groups.next_due_ms(&self.current) == Some(0) {
            self.tick(); // text of it is written
        }
    }

    /// Lets time pass and sends the samples that are due then.
    pub fn pass(&mut self, ms: u64) {
        self.now_ms += ms;
        self.tick();
    }

    pub fn tick(&mut self) {
        let mut sent = Vec::new();
        let Self { groups, not_ready, table, .. } = self;
        let state = TableState {
            now_ms: self.now_ms,
            now_ns: wall_ns(self.now_ms),
            names: &*table,
            current: &self.current,
        };
        groups.tick(
            usize::MAX,
            &state,
            &mut |subscriber| !not_ready.contains(&subscriber.get()),
            &mut |subscriber, packets, messages| {
                let new = read(packets, table);
                assert_eq!(new.len(), messages as usize);
                sent.push((subscriber, new));
            },
        );
        for (subscriber, new) in sent {
            self.hear(subscriber.get(), new);
        }
    }

    /// Sends the samples that are due, and passes on their bytes.
    pub fn tick_raw(&mut self, mut see: impl FnMut(&[u8])) {
        self.groups
            .tick(usize::MAX, &state!(self), &mut |_| true, &mut |_, packets, _| see(packets));
    }

    /// Ticks whenever samples are due, for so many milliseconds.
    pub fn run(&mut self, ms: u64) {
        let end = self.now_ms + ms;
        while let Some(due) = self.groups.next_due_ms(&self.current).filter(|due| *due <= end) {
            self.now_ms = self.now_ms.max(due);
            self.tick();
        }
        self.now_ms = end;
    }

    /// Takes the messages that a subscriber has received.
    pub fn take(&mut self, subscriber: u64) -> Vec<Heard> {
        self.heard.remove(&subscriber).unwrap_or_default()
    }

    /// Takes the samples that a subscriber has received: index and value.
    pub fn take_values(&mut self, subscriber: u64) -> Vec<(u32, String)> {
        values(&self.take(subscriber))
    }
}

pub fn samples(heard: &[Heard]) -> Vec<Received> {
    heard.iter().flat_map(|heard| heard.samples.iter().cloned()).collect()
}

pub fn values(heard: &[Heard]) -> Vec<(u32, String)> {
    samples(heard).into_iter().map(|sample| (sample.index, sample.value)).collect()
}

/// A sample of good quality.
pub fn good(index: u32, time_ns: i64, value: ValueView<'_>) -> Sample<'_> {
    Sample { index, time_ns, quality: Quality::GOOD, value }
}

pub fn f64_at(index: u32, time_ns: i64, value: f64) -> Sample<'static> {
    good(index, time_ns, ValueView::F64(value))
}
