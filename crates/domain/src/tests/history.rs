//! One history: a seed decides which brokers there are, what happens, and what goes wrong.

use super::broker::SimulatedBroker;
use super::graph;
use super::network::SimulatedLink;
use super::random::Random;
use super::world::{Happening, SILENCE_MS, World};
use crate::bounds::FOREIGN_BYTES_MAX;
use crate::{DomainSettings, InterestBounds, WantedRate};

const STEPS: usize = 20;
const MESSAGES_IN_DISAGREEMENT: usize = 6;
/// How long a subscription waits in a history: longer than calm brokers ever need.
pub const ANSWER_MS: u64 = 500;
/// Longer than messages are on their way; often so short that brokers forget one another.
const FORGET_MS: [u64; 2] = [600, 3_600_000];
/// A small one, which histories cross.
const ARRIVAL_WINDOW: usize = 64;
/// Room for a few filters, where interest is widened early.
const FOREIGN_BYTES: usize = 4_000;
/// Filters with a topic that each of them matches.
const FILTERS: [(&str, &str); 8] = [
    ("a/b", "a/b"),
    ("a/+", "a/c"),
    ("a/#", "a/b/c"),
    ("+/b", "c/b"),
    ("#", "d"),
    ("b/c", "b/c"),
    ("$share/g/b/#", "b/c"),
    ("$x/+", "$x/y"),
];

pub fn topic_of(filter: &str) -> &'static str {
    let found = FILTERS.iter().find(|(known, _)| *known == filter);
    found.map_or("a/b", |(_, topic)| topic)
}

/// What became of a history.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Every broken law, in words.
    pub broken: Vec<String>,
    /// Messages taken by brokers.
    pub delivered: usize,
    /// How many of these had to be, because nothing was disturbed.
    pub promised: usize,
    /// Messages that arrived a second time, and were thrown away.
    pub repeated: usize,
    /// Differences of records that arrived.
    pub differences: usize,
}

impl Verdict {
    pub fn add(&mut self, other: Self) {
        self.broken.extend(other.broken);
        self.delivered += other.delivered;
        self.promised += other.promised;
        self.repeated += other.repeated;
        self.differences += other.differences;
    }
}

pub fn play(seed: u64) -> Verdict {
    let mut world = world(seed);
    for at in 0..world.brokers.len() {
        subscribe(&mut world, at);
    }
    settle(&mut world);
    for _ in 0..STEPS {
        step(&mut world);
        if world.random.one_in(5) {
            settle(&mut world);
        } else {
            let pause_ms = world.random.within(0..12);
            world.pass(pause_ms);
        }
    }
    settle(&mut world);
    for (link, end) in world.misled_ends() {
        let connection = world.links[link].connection;
        world.after(0, Happening::Notice { link, end, connection });
    }
    settle(&mut world);
    world.judge_agreement();
    for at in 0..world.brokers.len() {
        let (_, topic) = world.random.of(&FILTERS);
        world.publish(at, topic);
    }
    settle(&mut world);
    world.verdict
}

fn world(seed: u64) -> World {
    let mut random = Random::new(seed);
    let most = random.of(&[5, 6, 7, 13]);
    let brokers = random.within(3..most) as usize;
    let links = graph::links(brokers, &mut random);
    let links: Vec<_> =
        links.into_iter().map(|ends| SimulatedLink::new(ends, &mut random)).collect();
    let is_narrow = random.one_in(4);
    let filters_max = if is_narrow { 2 } else { 100 };
    let settings = DomainSettings {
        answer_ms: ANSWER_MS,
        forget_ms: random.of(&FORGET_MS),
        arrival_window: ARRIVAL_WINDOW,
        start_step_max: STEPS as u64,
        foreign_bytes_max: if is_narrow { FOREIGN_BYTES } else { FOREIGN_BYTES_MAX },
        interest: InterestBounds { filters_max, bytes_max: 1_000 },
    };
    let brokers = (0..brokers).map(|number| SimulatedBroker::new(number, settings)).collect();
    let mut world = World::new(random, brokers, links, is_narrow);
    for link in 0..world.links.len() {
        world.after(0, Happening::Connect { link });
    }
    world
}

/// Nothing happens until all know what has changed, and whoever waits has an answer.
fn settle(world: &mut World) {
    let ms = 2 * SILENCE_MS + world.settling_ms();
    world.pass(ms);
}

fn step(world: &mut World) {
    let at = world.random.below(world.brokers.len());
    match world.random.below(20) {
        0..=5 => subscribe(world, at),
        6 | 7 => {
            let choice = world.random.below(world.brokers[at].subscriptions().max(1));
            world.brokers[at].unsubscribe(choice, world.now_ms);
            world.interest_ms = world.now_ms;
            world.wake(at);
        }
        8..=13 => publish(world, at),
        14..=16 => disturb_link(world),
        17 => heal(world),
        18 => partition(world),
        _ => restart(world, at),
    }
}

fn subscribe(world: &mut World, at: usize) {
    let (filter, _) = world.random.of(&FILTERS);
    let rates = [WantedRate::EVERY_SAMPLE, WantedRate::from_wire(1_000).expect("it is above 0")];
    let rate = world.random.of(&rates);
    world.brokers[at].subscribe(filter, rate, world.now_ms);
    world.interest_ms = world.now_ms;
    world.wake(at);
}

fn publish(world: &mut World, at: usize) {
    let (_, topic) = world.random.of(&FILTERS);
    world.publish(at, topic);
}

/// Cuts a link or heals it, and publishes while brokers disagree about it.
fn disturb_link(world: &mut World) {
    let link = world.random.below(world.links.len());
    if world.links[link].is_whole() {
        cut(world, link);
    } else {
        mend(world, link);
    }
    for _ in 0..MESSAGES_IN_DISAGREEMENT {
        let pause_ms = world.random.within(0..12);
        world.pass(pause_ms);
        let at = world.random.below(world.brokers.len());
        publish(world, at);
    }
}

fn cut(world: &mut World, link: usize) {
    let connection = world.links[link].connection;
    let end = world.random.below(2);
    match world.random.below(3) {
        // Told: a closed socket.
        0 => {
            world.links[link].carries = [false; 2];
            for end in [0, 1] {
                let told_ms = world.random.within(0..4);
                world.after(told_ms, Happening::Notice { link, end, connection });
            }
        }
        // Silent: each end finds out by itself.
        1 => {
            world.links[link].carries = [false; 2];
            for end in [0, 1] {
                let noticed_ms = world.random.within(20..SILENCE_MS);
                world.after(noticed_ms, Happening::Notice { link, end, connection });
            }
        }
        // One way: who hears nothing finds out and falls silent; then the other end does, or believes on.
        _ => {
            world.links[link].carries[end] = false;
            let noticed_ms = world.random.within(20..SILENCE_MS);
            world.after(noticed_ms, Happening::Notice { link, end: 1 - end, connection });
            if world.random.one_in(2) {
                let later_ms = noticed_ms + world.random.within(0..SILENCE_MS);
                world.after(later_ms, Happening::Notice { link, end, connection });
            }
        }
    }
}

fn mend(world: &mut World, link: usize) {
    world.links[link].carries = [true; 2];
    world.links[link].is_dead = true;
    let connected_ms = world.random.within(1..20);
    world.after(connected_ms, Happening::Connect { link });
}

fn heal(world: &mut World) {
    for link in 0..world.links.len() {
        if !world.links[link].is_whole() {
            mend(world, link);
        }
    }
}

fn partition(world: &mut World) {
    let sides: Vec<bool> = world.brokers.iter().map(|_| world.random.one_in(2)).collect();
    for link in 0..world.links.len() {
        let [a, b] = world.links[link].ends;
        if sides[a] != sides[b] && world.links[link].is_whole() {
            cut(world, link);
        }
    }
}

/// A broker stops, loses what it knew, and starts again.
fn restart(world: &mut World, at: usize) {
    if world.brokers[at].domain.is_none() {
        return;
    }
    world.interest_ms = world.now_ms;
    world.brokers[at].stop();
    let links: Vec<usize> = world.links_of[at].values().copied().collect();
    let is_silent = world.random.one_in(3);
    for link in links {
        let (end, connection) = (world.links[link].end_of(at), world.links[link].connection);
        world.links[link].is_up[end] = false;
        let noticed_ms = world.random.within(if is_silent { 20..SILENCE_MS } else { 0..4 });
        world.after(noticed_ms, Happening::Notice { link, end: 1 - end, connection });
    }
    let down_ms = world.random.within(5..SILENCE_MS);
    world.after(down_ms, Happening::Start { broker: at });
}
