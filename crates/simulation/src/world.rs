//! The broker, its disk and its clients, and everything that can happen to them.

use std::time::Duration;

use slipring_core::{JournalRule, Plan};
use slipring_engine::simulated::Simulated;
use slipring_journal::JournalOptions;
use slipring_journal::sim::{Crash, SimulatedDisk};

use crate::absentee::{Absentee, EXPIRY_S};
use crate::claimer::Claimer;
use crate::leaver::{Leaver, Step};
use crate::line::Stay;
use crate::publisher::Publisher;
use crate::server::{Deed, Server};
use crate::subscriber::Subscriber;
use crate::verdict::Verdict;

/// Small segments, so that histories cross many.
const SEGMENT_BYTES: u64 = 2 << 10;
/// When histories begin, by the wall clock.
const BEGINNING_NS: i64 = 1_700_000_000_000_000_000;
/// How long the broker is down after a crash: so many milliseconds, from none to seven times.
const DOWN_MS: u64 = 700;
/// Milliseconds in which the journal has to keep up.
const PASS_MS: u64 = 400;
/// Turns of the journal and the broker until what was due is delivered.
const SETTLING: usize = 4;
/// Rounds after which clients must have everything.
const ROUNDS_MAX: usize = 2_000;

/// The broker, its disk and its clients.
pub struct World {
    pub disk: SimulatedDisk,
    pub publishers: Vec<Publisher>,
    pub subscribers: Vec<Subscriber>,
    /// A publisher whose messages wait for a claimer.
    pub waiting: Publisher,
    pub claimer: Claimer,
    /// A publisher whose messages are requests, and the services that get them.
    pub asker: Publisher,
    pub servers: Vec<Server>,
    pub leaver: Leaver,
    pub absentee: Absentee,
    pub crashes: usize,
    /// The broker does not learn how long it was down.
    pub forgets_time: bool,
    /// Milliseconds since the history began.
    now_ms: u64,
    /// What the wall clock showed when the broker started last.
    wall_ns: i64,
    broker: Option<Simulated>,
}

impl World {
    /// A broker on an empty disk, with subscribers that have their SUBACK.
    pub fn new(seed: u64) -> Self {
        let mut world = Self {
            disk: SimulatedDisk::new(seed),
            publishers: ["p1", "p2"].map(Publisher::new).into(),
            subscribers: ["s1", "s2"].map(Subscriber::new).into(),
            waiting: Publisher::waiting("w1"),
            claimer: Claimer::default(),
            asker: Publisher::asking("a1"),
            servers: vec![Server::new("kept", true), Server::new("passing", false)],
            leaver: Leaver::new(),
            absentee: Absentee::default(),
            crashes: 0,
            forgets_time: false,
            now_ms: 0,
            wall_ns: BEGINNING_NS,
            broker: None,
        };
        world.start();
        for _ in 0..ROUNDS_MAX {
            if world.subscribers.iter().all(|subscriber| subscriber.subscribed) {
                break;
            }
            world.round();
        }
        world
    }

    fn start(&mut self) {
        let options = JournalOptions {
            segment_bytes: SEGMENT_BYTES,
            sync_interval: Duration::MAX,
            ..JournalOptions::default()
        };
        let journal = JournalRule::new(vec!["#".into()]).expect("a filter");
        let plan = Plan { journal, ..Plan::default() };
        let (broker, _, recovered) =
            Simulated::open(Box::new(self.disk.clone()), options, plan, self.wall_ns)
                .expect("it always starts");
        assert_eq!(recovered.flaws, Vec::<String>::new(), "what we wrote makes sense");
        self.broker = Some(broker);
    }

    /// The running broker.
    pub fn broker(&mut self) -> &mut Simulated {
        self.broker.as_mut().expect("it runs between crashes")
    }

    /// Crashes the broker, and starts it again with what is left on the disk.
    pub fn crash(&mut self, crash: Crash) {
        self.crashes += 1;
        let down = Duration::from_millis(DOWN_MS) * (self.crashes as u32 % 8);
        self.wall_ns = self.broker().now_ns() + down.as_nanos() as i64;
        if self.forgets_time {
            self.wall_ns = BEGINNING_NS;
        }
        let ended_ms = self.now_ms;
        self.now_ms += down.as_millis() as u64;
        self.broker = None;
        self.disk = self.disk.restart(crash);
        self.disk.heal();
        self.disk.set_capacity(None);
        self.publishers.iter_mut().for_each(Publisher::cut);
        self.subscribers.iter_mut().for_each(Subscriber::cut);
        self.waiting.cut();
        self.claimer.cut();
        self.asker.cut();
        self.servers.iter_mut().for_each(Server::cut);
        self.leaver.cut();
        self.absentee.restarted(ended_ms, self.now_ms);
        self.start();
    }

    /// Lets time pass while the journal keeps up. The disk has room: the broker would give up an answer that waits
    /// for it longer than half a second.
    pub fn pass(&mut self, seconds: usize, crash: Crash) {
        self.disk.set_capacity(None);
        for _ in 0..seconds * 1_000 / PASS_MS as usize {
            while self.broker().commit() {}
            if self.is_broken() {
                return;
            }
            self.broker().pass(Duration::from_millis(PASS_MS));
            self.now_ms += PASS_MS;
        }
        for _ in 0..SETTLING {
            while self.broker().commit() {}
            self.broker().run(std::future::ready(()));
        }
        if !self.is_broken() {
            self.absentee.settled(self.now_ms, crash == Crash::Kill);
        }
    }

    /// Moves the wall clock.
    pub fn jump(&mut self, by_ns: i64) {
        self.broker().jump(by_ns);
        self.absentee.jumped();
    }

    /// Connects the absentee.
    pub fn come(&mut self) {
        let Self { absentee, broker, now_ms, .. } = self;
        absentee.come(broker.as_mut().expect("it runs between crashes"), *now_ms);
    }

    /// Cuts the connection of the absentee.
    pub fn absentee_leaves(&mut self) {
        self.absentee.lose(self.now_ms);
        self.broker().run(std::future::ready(()));
    }

    /// Whether the broker has to be started again.
    pub fn is_broken(&self) -> bool {
        self.disk.has_crashed() || self.broker.as_ref().is_some_and(Simulated::has_failed)
    }

    /// One turn of a publisher.
    pub fn publish(&mut self, which: usize, further: usize) {
        if let Some(broker) = &self.broker {
            self.publishers[which].turn(broker, further);
        }
    }

    /// One turn of a subscriber.
    pub fn subscribe(&mut self, which: usize, slow: bool) {
        if let Some(broker) = &self.broker {
            self.subscribers[which].turn(broker, slow);
            self.absentee.look_at(&self.subscribers[which], self.now_ms);
        }
    }

    /// One turn of the publisher whose messages wait.
    pub fn publish_waiting(&mut self, further: usize) {
        if let Some(broker) = &self.broker {
            self.waiting.turn(broker, further);
        }
    }

    /// One turn of the asker.
    pub fn ask(&mut self, further: usize) {
        if let Some(broker) = &self.broker {
            self.asker.turn(broker, further);
        }
    }

    /// One turn of a service.
    pub fn serve(&mut self, which: usize, deed: Deed) {
        if let Some(broker) = &self.broker {
            self.servers[which].turn(broker, deed);
        }
    }

    /// Whether the asker knows how each of its requests ended.
    fn knows_all_ends(&self) -> bool {
        let told = self.asker.ends.as_ref().map(|ends| &ends.told);
        self.asker.is_done()
            && told.is_some_and(|told| {
                self.asker.acknowledged.iter().all(|number| told.contains_key(number))
            })
    }

    /// One turn of the claimer.
    pub fn claim(&mut self) {
        if let Some(broker) = &self.broker {
            self.claimer.turn(broker);
        }
    }

    /// One turn of the leaver.
    pub fn leave(&mut self, step: Step) {
        if let Some(broker) = &self.broker {
            let disk = &self.disk;
            self.leaver.turn(broker, step, || broker.has_failed() || disk.has_crashed());
        }
    }

    /// One turn of every client, without faults.
    fn round(&mut self) {
        self.publish_waiting(0);
        self.ask(0);
        (0..self.servers.len()).for_each(|which| self.serve(which, Deed::Answer));
        self.claim();
        self.leave(Step::Connect(Stay::Kept));
        (0..self.publishers.len()).for_each(|which| self.publish(which, 0));
        self.broker().commit();
        (0..self.subscribers.len()).for_each(|which| self.subscribe(which, false));
        self.broker().commit();
    }

    /// Runs without faults until everything has arrived, then judges.
    pub fn conclude(mut self, crash: Crash) -> Verdict {
        // Too short for an expiry that the last start began anew.
        self.pass(EXPIRY_S as usize - 1, crash);
        self.come();
        let mut quiet = 0;
        let mut before = 0;
        for _ in 0..ROUNDS_MAX {
            self.round();
            let counts = self.subscribers.iter().map(|one| one.received.messages.len());
            let received = counts.sum::<usize>() + self.claimer.received.messages.len();
            let done = self.publishers.iter().all(Publisher::is_done)
                && self.waiting.is_done()
                && self.knows_all_ends();
            if !done {
                self.broker().pass(Duration::from_millis(PASS_MS)); // an end may wait for its time
            }
            quiet = if done && received == before { quiet + 1 } else { 0 };
            before = received;
            if quiet > 10 {
                break;
            }
        }
        let journaled = self.broker().journaled();
        let mut verdict =
            Verdict::on(&self.publishers, &self.subscribers, &journaled, self.crashes);
        verdict.hear_claimers(&self.claimer);
        verdict.hear_asker(&self.asker, &self.servers);
        verdict.hear_leaver(self.leaver);
        self.subscribers.iter().for_each(|subscriber| self.absentee.judge(subscriber));
        verdict.hear_absentee(self.absentee);
        verdict
    }
}
