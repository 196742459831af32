//! One history: a seed decides what happens when, and what goes wrong.

use slipring_journal::sim::Crash;

use crate::leaver::Step;
use crate::line::Stay;
use crate::random::Random;
use crate::server::Deed;
use crate::verdict::Verdict;
use crate::world::World;

/// What goes wrong in a history, besides clients that lose their connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The broker is killed, at any moment and in the middle of writes.
    Kills,
    /// The power is cut: what was not synced may be gone, in part.
    PowerCuts,
    /// Writes and syncs fail, and the power is cut.
    Failures,
    /// The disk is full for a while, and the broker is killed.
    FullDisk,
    /// The wall clock is moved forward and back, and the broker is killed.
    ClockJumps,
    /// The disk reports syncs that it has not done. The verdict must find this planted fault.
    Lies,
    /// The broker is killed, and does not learn how long it was down. The verdict must find this planted fault.
    ForgottenTime,
}

impl Fault {
    /// The faults that a broker must survive.
    pub const REAL: [Self; 5] =
        [Self::Kills, Self::PowerCuts, Self::Failures, Self::FullDisk, Self::ClockJumps];

    fn crash(self) -> Crash {
        match self {
            Self::Kills | Self::FullDisk | Self::ClockJumps | Self::ForgottenTime => Crash::Kill,
            Self::PowerCuts | Self::Failures | Self::Lies => Crash::PowerCut,
        }
    }
}

/// A history to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct History {
    /// Decides everything.
    pub seed: u64,
    /// What goes wrong.
    pub fault: Fault,
    /// How much happens.
    pub steps: usize,
}

/// Plays a history to its end, lets everything arrive, and judges.
pub fn play(history: &History) -> Verdict {
    let mut random = Random::new(history.seed);
    let mut world = World::new(history.seed);
    if history.fault == Fault::Lies {
        world.disk.lie_about_syncs();
    }
    world.forgets_time = history.fault == Fault::ForgottenTime;
    for _ in 0..history.steps {
        step(&mut world, &mut random, history.fault);
        if world.is_broken() {
            world.crash(history.fault.crash());
        }
    }
    world.disk.crash_after(usize::MAX);
    world.disk.set_capacity(None);
    world.disk.heal();
    world.crash(history.fault.crash());
    world.conclude(history.fault.crash())
}

fn step(world: &mut World, random: &mut Random, fault: Fault) {
    match random.below(30) {
        24..=26 => world.ask(random.below(4)),
        27..=29 => serve(world, random),
        20 | 21 => world.pass(1 + random.below(8), fault.crash()),
        22 | 23 if random.one_in(2) => world.come(),
        22 | 23 => world.absentee_leaves(),
        16 | 17 => match random.below(5) {
            0 | 1 => world.publish_waiting(1 + random.below(3)),
            2 => world.claimer.cut(),
            _ => world.claim(),
        },
        18 | 19 => world.leave(leaving(random)),
        0..=5 => world.publish(random.below(2), random.below(4)),
        6..=9 => world.subscribe(random.below(2), random.one_in(3)),
        10..=12 => drop(world.broker().commit()),
        13 => match random.below(4) {
            0 | 1 => world.publishers[random.below(2)].cut(),
            2 => world.subscribers[random.below(2)].cut(),
            _ => world.broker().snapshot(),
        },
        _ => go_wrong(world, random, fault),
    }
}

fn serve(world: &mut World, random: &mut Random) {
    let which = random.below(2);
    match random.below(8) {
        0 => world.servers[which].cut(),
        1 => world.asker.cut(),
        2 => world.serve(which, Deed::Fail),
        3 | 4 => world.serve(which, Deed::Compute),
        _ => world.serve(which, Deed::Answer),
    }
}

fn leaving(random: &mut Random) -> Step {
    match random.below(10) {
        0..=2 => Step::Connect(Stay::Kept),
        3 => Step::Connect(Stay::WithConnection),
        4 => Step::Connect(Stay::LastTime),
        5 | 6 => Step::Goodbye,
        7 => Step::Lose,
        _ => Step::Listen,
    }
}

fn go_wrong(world: &mut World, random: &mut Random, fault: Fault) {
    match (fault, random.below(6)) {
        (_, 0) => world.crash(fault.crash()),
        (_, 1) => world.disk.crash_after(random.below(600)),
        (Fault::Failures, 2) => world.disk.fail_sync_after(random.below(4)),
        (Fault::Failures, 3) => world.disk.fail_write_after(random.below(4)),
        (Fault::FullDisk, 2) => {
            let room = random.below(800) as u64;
            world.disk.set_capacity(Some(world.disk.bytes() + room));
        }
        (Fault::ClockJumps, 2..=4) => {
            let jump_ns = [-3_600, -60, -5, 5, 60, 3_600][random.below(6)] * 1_000_000_000;
            world.jump(jump_ns);
        }
        (Fault::FullDisk, 3) => world.disk.set_capacity(None),
        _ => {}
    }
}
