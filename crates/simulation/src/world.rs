//! The broker, its disk and its clients, and what can happen to them.

use std::time::Duration;

use slipring_core::{JournalRule, Plan};
use slipring_engine::simulated::Simulated;
use slipring_journal::Options;
use slipring_journal::sim::{Crash, Sim};

use crate::claimer::Claimer;
use crate::leaver::{Leaver, Step};
use crate::line::Stay;
use crate::publisher::Publisher;
use crate::subscriber::Subscriber;
use crate::verdict::Verdict;

/// Small segments, so that histories cross many.
const SEGMENT_BYTES: u64 = 2 << 10;
/// Rounds after which clients must have everything.
const ROUNDS_MAX: usize = 2_000;

/// Everything there is.
pub struct World {
    pub disk: Sim,
    pub publishers: Vec<Publisher>,
    pub subscribers: Vec<Subscriber>,
    /// Its messages wait for a claimer.
    pub waiting: Publisher,
    pub claimer: Claimer,
    pub leaver: Leaver,
    pub crashes: usize,
    broker: Option<Simulated>,
}

impl World {
    /// A broker on an empty disk, with subscribers that have their SUBACK.
    pub fn new(seed: u64) -> Self {
        let mut world = Self {
            disk: Sim::new(seed),
            publishers: ["p1", "p2"].map(Publisher::new).into(),
            subscribers: ["s1", "s2"].map(Subscriber::new).into(),
            waiting: Publisher::waiting("w1"),
            claimer: Claimer::default(),
            leaver: Leaver::new(),
            crashes: 0,
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
        let options = Options {
            segment_bytes: SEGMENT_BYTES,
            sync_interval: Duration::MAX,
            ..Options::default()
        };
        let journal = JournalRule::new(vec!["#".into()]).expect("a filter");
        let plan = Plan { journal, ..Plan::default() };
        let (broker, _, recovered) =
            Simulated::open(Box::new(self.disk.clone()), options, plan).expect("it always starts");
        assert_eq!(recovered.flaws, Vec::<String>::new(), "what we wrote makes sense");
        self.broker = Some(broker);
    }

    /// The broker, which runs between crashes.
    pub fn broker(&mut self) -> &mut Simulated {
        self.broker.as_mut().expect("it runs between crashes")
    }

    /// The broker ends without warning, and comes up again with what that left on the disk.
    pub fn crash(&mut self, crash: Crash) {
        self.crashes += 1;
        self.broker = None;
        self.disk = self.disk.restart(crash);
        self.disk.heal();
        self.disk.set_capacity(None);
        self.publishers.iter_mut().for_each(Publisher::cut);
        self.subscribers.iter_mut().for_each(Subscriber::cut);
        self.waiting.cut();
        self.claimer.cut();
        self.leaver.cut();
        self.start();
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
        }
    }

    /// One turn of the publisher whose messages wait.
    pub fn publish_waiting(&mut self, further: usize) {
        if let Some(broker) = &self.broker {
            self.waiting.turn(broker, further);
        }
    }

    /// One turn of those who claim what waits.
    pub fn claim(&mut self) {
        if let Some(broker) = &self.broker {
            self.claimer.turn(broker);
        }
    }

    /// One turn of the client that ends its session.
    pub fn leave(&mut self, step: Step) {
        if let Some(broker) = &self.broker {
            let disk = &self.disk;
            self.leaver.turn(broker, step, || broker.has_failed() || disk.has_crashed());
        }
    }

    /// Everyone has a turn, and nothing goes wrong.
    fn round(&mut self) {
        self.publish_waiting(0);
        self.claim();
        self.leave(Step::Connect(Stay::Kept));
        (0..self.publishers.len()).for_each(|which| self.publish(which, 0));
        self.broker().commit();
        (0..self.subscribers.len()).for_each(|which| self.subscribe(which, false));
        self.broker().commit();
    }

    /// All is well again; when everything has arrived, the verdict.
    pub fn conclude(mut self) -> Verdict {
        let mut quiet = 0;
        let mut before = 0;
        for _ in 0..ROUNDS_MAX {
            self.round();
            let received: usize = self.subscribers.iter().map(|one| one.received.len()).sum();
            let received = received + self.claimer.received.len();
            let done = self.publishers.iter().all(Publisher::is_done) && self.waiting.is_done();
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
        verdict.hear_leaver(self.leaver);
        verdict
    }
}
