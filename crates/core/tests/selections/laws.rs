//! The laws of selections, for any order of publishing, selecting, delaying and ending.

use std::collections::HashSet;

use proptest::prelude::*;
use slipring_core::table::{Band, Deadband, Deliver, GroupLimits, Groups, Needs};
use slipring_core::{ParameterIndex, SessionKey};
use slipring_wire::frame::{Kind, Quality, QualityStatus, RangeSet, Sample, ValueView};

use crate::model::{Model, Watch};
use crate::packets::Received;
use crate::world::{FRAME, ROOM, TABLE, World, samples, wall_ns};

const KINDS: [Kind; 16] = {
    let mut kinds = [Kind::F64; 16];
    (kinds[5], kinds[6], kinds[7]) = (Kind::Bool, Kind::Bool, Kind::Bool);
    (kinds[8], kinds[9], kinds[10]) = (Kind::I16, Kind::I16, Kind::I16);
    (kinds[11], kinds[12]) = (Kind::Text, Kind::Text);
    (kinds[13], kinds[14]) = (Kind::U8, Kind::F32);
    kinds
};
const FILTERS: [&str; 3] = ["#", "a/#", "$selection/0-1-2-6-7-11-13"];

#[derive(Clone, Debug)]
struct Point {
    index: u32,
    time_ns: i64,
    quality: u8,
    value: i8,
}

#[derive(Clone, Debug)]
enum Step {
    Publish(Vec<Point>),
    /// A frame with all parameters from the first to the last, at one time.
    Row(u32, u32, Point),
    One(Point),
    Stale(u32, u32, u8),
    Pass(u64),
    Ready(u64, bool),
    Join(u64, usize, Needs, bool),
    Leave(u64, usize),
    LeaveAll(u64),
    /// Filters match other parameters: some are hidden, or shown again.
    Hide(u32, u32, bool),
    /// Messages to a subscriber are dropped by these bits from now on.
    Lose(u64, u32),
    /// A subscriber that is ready again gets the values it missed.
    Mend(u64, usize),
}

fn point() -> impl Strategy<Value = Point> {
    let quality = prop_oneof![8 => Just(0u8), 1 => Just(0x45), 1 => Just(0xa2)];
    (0..16u32, 0..20i64, quality, -6..6i8).prop_map(|(index, time_ns, quality, value)| Point {
        index,
        time_ns,
        quality,
        value,
    })
}

/// One of a few needs, so that subscribers often have equal ones.
fn needs() -> impl Strategy<Value = Needs> {
    let every = FRAME;
    let rate = |rate_mhz| Needs { rate_mhz: Some(rate_mhz), ..FRAME };
    let near = Band::new(1.0).map(Deadband::Absolute);
    let percent = Band::new(50.0).map(Deadband::Percent);
    proptest::sample::select(vec![
        every,
        Needs { beat_ms: Some(0), ..every },
        Needs { deliver: Deliver::Text, beat_ms: Some(100), ..every },
        Needs { deadband: near, ..every },
        Needs { change: true, ..every },
        rate(10_000),
        rate(1_000_000),
        Needs { deliver: Deliver::Text, ..rate(500) },
        Needs { deadband: near, ..rate(10_000) },
        Needs { deadband: percent, ..rate(1_000_000) },
        Needs { change: true, ..rate(500) },
    ])
}

fn step() -> impl Strategy<Value = Step> {
    let subscriber = || 1..5u64;
    prop_oneof![
        6 => proptest::collection::vec(point(), 1..12).prop_map(Step::Publish),
        4 => (0..16u32, 0..16u32, point())
            .prop_map(|(a, b, point)| Step::Row(a.min(b), a.max(b), point)),
        2 => point().prop_map(Step::One),
        1 => (0..16u32, 0..16u32, 1..3u8).prop_map(|(a, b, why)| Step::Stale(a.min(b), a.max(b), why)),
        8 => (0..150u64).prop_map(Step::Pass),
        3 => (subscriber(), any::<bool>()).prop_map(|(who, ready)| Step::Ready(who, ready)),
        5 => (subscriber(), 0..FILTERS.len(), needs(), any::<bool>())
            .prop_map(|(who, filter, needs, small)| Step::Join(who, filter, needs, small)),
        1 => (subscriber(), 0..FILTERS.len()).prop_map(|(who, filter)| Step::Leave(who, filter)),
        1 => subscriber().prop_map(Step::LeaveAll),
        3 => (0..16u32, 0..16u32, any::<bool>())
            .prop_map(|(a, b, hide)| Step::Hide(a.min(b), a.max(b), hide)),
    ]
}

/// The same, with messages that are dropped on their way.
fn lossy_step() -> impl Strategy<Value = Step> {
    let bits = prop_oneof![Just(0), Just(u32::MAX), any::<u32>()];
    prop_oneof![
        10 => step(),
        3 => (1..5u64, bits).prop_map(|(who, bits)| Step::Lose(who, bits)),
        2 => (1..5u64, 0..2_000usize).prop_map(|(who, room)| Step::Mend(who, room)),
    ]
}

/// The value of a point, in the kind of its parameter.
fn value(index: u32, value: i8) -> ValueView<'static> {
    match KINDS[index as usize] {
        Kind::Bool => ValueView::Bool(value > 0),
        Kind::I16 => ValueView::I16(value.into()),
        Kind::U8 => ValueView::U8(value.unsigned_abs()),
        Kind::F32 => ValueView::F32(f32::from(value) / 2.0),
        Kind::Text => {
            ValueView::Text(["", "on", "off", "half"][usize::from(value.unsigned_abs() % 4)])
        }
        _ => ValueView::F64(f64::from(value) / 2.0),
    }
}

/// An identifier of the subscriber's own, of one to three bytes.
fn identifier(who: u64, filter: usize) -> u32 {
    [0, 20, 20, 200, 20_000][who as usize] + filter as u32 + 1
}

fn sample(point: &Point) -> Sample<'static> {
    let Point { index, time_ns, quality, value: number } = *point;
    Sample { index, time_ns, quality: Quality(quality), value: value(index, number) }
}

fn received(sample: &Sample<'_>) -> Received {
    let mut text = Vec::new();
    slipring_wire::frame::write_text(&sample.value, &mut text);
    let Sample { index, time_ns, quality, .. } = *sample;
    Received { index, time_ns, quality, value: String::from_utf8(text).unwrap() }
}

struct Play {
    world: World,
    model: Model,
    hidden: HashSet<u32>,
}

impl Play {
    fn chosen(&self, filter: &str) -> Vec<u32> {
        let chosen = self.world.table.matching(filter);
        let list = filter.starts_with('$');
        chosen.indices().filter(|index| list || !self.hidden.contains(index)).collect()
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Publish(points) => {
                self.publish(&points.iter().map(sample).collect::<Vec<_>>());
            }
            Step::Row(first, last, like) => {
                let points = (*first..=*last).map(|index| Point { index, ..like.clone() });
                self.publish(&points.map(|point| sample(&point)).collect::<Vec<_>>());
            }
            Step::One(point) => {
                self.world.publish_one(&sample(point));
                self.model.sample(&received(&sample(point)));
            }
            Step::Stale(first, last, why) => self.stale(*first..*last + 1, *why),
            Step::Pass(ms) => self.world.pass(*ms),
            Step::Ready(who, ready) => {
                self.world.not_ready.retain(|other| other != who);
                self.world.not_ready.extend((!ready).then_some(who));
            }
            Step::Join(who, filter, needs, small) => self.join(*who, *filter, *needs, *small),
            Step::Leave(who, filter) => {
                self.world.groups.leave(SessionKey::new(*who), FILTERS[*filter]);
                self.end(*who, Some(*filter));
            }
            Step::LeaveAll(who) => {
                self.world.groups.leave_all(SessionKey::new(*who));
                self.end(*who, None);
            }
            Step::Hide(first, last, hide) => self.hide(*first..*last + 1, *hide),
            Step::Lose(who, bits) => drop(self.world.lossy.insert(*who, *bits)),
            Step::Mend(who, room) => self.world.mend(*who, *room),
        }
    }

    fn publish(&mut self, samples: &[Sample<'_>]) {
        self.world.publish(samples);
        for sample in samples {
            self.model.sample(&received(sample));
        }
    }

    fn stale(&mut self, indices: std::ops::Range<u32>, why: u8) {
        let set: RangeSet = std::iter::once(indices.clone()).collect();
        let arrival = self.world.arrival();
        let marked = self.world.current.mark_stale(&set, why, arrival);
        self.world.offer_newest(&marked);
        self.model.stale(
            indices,
            Quality::new(QualityStatus::Stale, why),
            wall_ns(self.world.now_ms),
        );
    }

    /// Forgets what an ended selection has received; it must receive nothing later.
    fn end(&mut self, who: u64, filter: Option<usize>) {
        let ended = |watch: &Watch| {
            watch.subscriber == who && filter.is_none_or(|at| watch.filter == FILTERS[at])
        };
        self.model.watches.retain(|watch| !ended(watch));
        if let Some(heard) = self.world.heard.get_mut(&who) {
            heard.retain(|heard| filter.is_some_and(|at| heard.identifier != identifier(who, at)));
        }
    }

    fn join(&mut self, who: u64, filter: usize, needs: Needs, small: bool) {
        self.end(who, Some(filter));
        let identifier = identifier(who, filter);
        let packet_bytes_max = if small { 190 } else { 1 << 20 };
        let filter = FILTERS[filter];
        let chosen = self.chosen(filter);
        let set: RangeSet = chosen.iter().copied().collect();
        let first = self.world.join_chosen(who, filter, set, identifier, needs, packet_bytes_max);
        let mut first = samples(&first);
        first.sort_by_key(|sample| sample.index);
        let due = self.model.join(Watch {
            subscriber: who,
            filter: filter.to_owned(),
            identifier,
            needs,
            packet_bytes_max,
            chosen,
            due: std::collections::HashMap::new(),
        });
        assert_eq!(first, due, "the newest values come first, each once");
    }

    fn hide(&mut self, indices: std::ops::Range<u32>, hide: bool) {
        self.hidden.retain(|index| !indices.contains(index));
        self.hidden.extend(indices.filter(|_| hide));
        let (table, hidden) = (&self.world.table, &self.hidden);
        let choose = |filter: &str| -> Vec<u32> {
            let list = filter.starts_with('$');
            let chosen = table.matching(filter);
            chosen.indices().filter(|index| list || !hidden.contains(index)).collect()
        };
        self.model.choose(choose);
        let hidden = self.hidden.clone();
        self.world.choose_again(&hidden);
    }

    fn finish(mut self) {
        self.world.not_ready.clear();
        self.world.lossy.clear();
        self.world.run(10_000);
        while let Some(who) = self.world.missing.first().copied() {
            self.world.mend(who, 300);
        }
        assert_eq!(self.world.groups.next_due_ms(&self.world.current), None, "nothing waits");
        assert_eq!(self.world.groups.take_lost(), 0);
        for (index, newest) in &self.model.newest {
            let view = self.world.current.get(ParameterIndex::new(*index)).expect("a newest value");
            let (time_ns, quality) = (view.time_ns, view.quality);
            let kept = Sample { index: *index, time_ns, quality, value: view.value };
            assert_eq!(received(&kept), *newest);
        }
        for watch in &self.model.watches {
            let heard = self.world.heard.get(&watch.subscriber).map_or(&[][..], Vec::as_slice);
            let lost = self.world.losers.contains(&watch.subscriber);
            watch.check(heard, &self.model.newest, lost);
        }
        for (who, heard) in &self.world.heard {
            let live = |identifier| {
                let mut watches = self.model.watches.iter();
                watches.any(|watch| watch.subscriber == *who && watch.identifier == identifier)
            };
            assert!(heard.iter().all(|heard| live(heard.identifier)), "heard after the end");
        }
    }
}

/// Plays all steps with these limits of all groups together.
fn play_in(room: GroupLimits, steps: &[Step]) {
    let groups = Groups::new(TABLE, 20, room);
    let mut world = World { groups, ..World::new(&[]) };
    world.declare(&KINDS);
    let mut play = Play { world, model: Model::default(), hidden: HashSet::new() };
    for step in steps {
        play.step(step);
    }
    play.finish();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 5000 }))]

    #[test]
    fn every_subscriber_gets_the_samples_it_selected_in_the_form_it_needs(
        steps in proptest::collection::vec(step(), 1..80),
    ) {
        let world = World::new(&KINDS);
        let mut play = Play { world, model: Model::default(), hidden: HashSet::new() };
        for step in &steps {
            play.step(step);
        }
        play.finish();
    }

    #[test]
    fn the_laws_hold_when_only_the_newest_texts_are_remembered(
        steps in proptest::collection::vec(lossy_step(), 1..80),
        left_text_bytes_max in prop_oneof![Just(0), 0..400usize],
    ) {
        let world = World { left_text_bytes_max, ..World::new(&KINDS) };
        let mut play = Play { world, model: Model::default(), hidden: HashSet::new() };
        for step in &steps {
            play.step(step);
        }
        play.finish();
    }

    #[test]
    fn the_laws_hold_when_there_is_little_room_to_gather(
        steps in proptest::collection::vec(lossy_step(), 1..80),
        gathered_bytes in 0..2_000usize,
    ) {
        play_in(GroupLimits { gathered_bytes, ..ROOM }, &steps);
    }

    #[test]
    fn the_laws_hold_when_there_is_little_room_to_remember_what_was_sent(
        steps in proptest::collection::vec(prop_oneof![1 => lossy_step(), 9 => step()], 1..80),
        remembered_bytes in prop_oneof![Just(0), 0..2_000usize],
    ) {
        play_in(GroupLimits { remembered_bytes, ..ROOM }, &steps);
    }

    #[test]
    fn a_subscriber_that_lost_messages_ends_with_the_newest_values_and_never_sees_an_older_one(
        steps in proptest::collection::vec(lossy_step(), 1..80),
    ) {
        let world = World::new(&KINDS);
        let mut play = Play { world, model: Model::default(), hidden: HashSet::new() };
        for step in &steps {
            play.step(step);
        }
        play.finish();
    }
}
