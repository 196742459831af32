//! A client that publishes at QoS 2 to a broker that crashes: the broker takes each message exactly once.

use std::collections::VecDeque;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use slipring_core::ledger::{DeliveryRecord, Record};
use slipring_core::{Limits, Session};
use slipring_wire::{PacketId, QoS, Version};

use crate::disk::{Disk, SESSION};

/// A bug in the broker, to show that the law finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// PUBREC does not wait until the message and its identifier are synced.
    ReceivedTooSoon,
    /// PUBCOMP does not wait until the release of the identifier is synced.
    CompletedTooSoon,
    /// The identifier is not recorded with the message.
    Unwritten,
}

#[derive(Clone, Debug)]
enum Step {
    /// The client publishes another message.
    Begin,
    /// One packet of the client reaches the broker.
    Reach,
    /// Answers whose records are synced reach the client.
    Answer,
    Sync,
    /// The connection is lost, and the client comes back.
    Lose,
    /// The broker crashes and recovers.
    Crash {
        kept: prop::sample::Index,
        snapshot: prop::sample::Index,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        3 => Just(Step::Begin),
        5 => Just(Step::Reach),
        5 => Just(Step::Answer),
        2 => Just(Step::Sync),
        1 => Just(Step::Lose),
        1 => (index(), index()).prop_map(|(kept, snapshot)| Step::Crash { kept, snapshot }),
    ]
}

/// Packets of QoS 2, in both directions.
#[derive(Clone, Copy, Debug)]
enum Packet {
    Publish(PacketId, u32),
    Received(PacketId),
    Release(PacketId),
    Completed(PacketId),
}

/// A packet that the client sends again until it is answered.
#[derive(Clone, Copy, Debug)]
enum Sending {
    Publish(PacketId, u32),
    Release(PacketId),
}

struct World {
    bug: Bug,
    disk: Disk,
    session: Session,
    sending: Vec<Sending>,
    begun: u32,
    to_broker: VecDeque<Packet>,
    /// Each with the number of batches that must be synced before.
    to_client: VecDeque<(Packet, usize)>,
}

impl World {
    fn new(bug: Bug) -> Self {
        Self {
            bug,
            disk: Disk::new(),
            session: Session::default(),
            sending: Vec::new(),
            begun: 0,
            to_broker: VecDeque::new(),
            to_client: VecDeque::new(),
        }
    }

    fn begin(&mut self) {
        let used = |number: u16| {
            self.sending.iter().any(|sending| match sending {
                Sending::Publish(id, _) | Sending::Release(id) => id.get() == number,
            })
        };
        let Some(number) = (1..=3).find(|number| !used(*number)) else { return };
        let id = PacketId::new(number).expect("not 0");
        self.sending.push(Sending::Publish(id, self.begun));
        self.to_broker.push_back(Packet::Publish(id, self.begun));
        self.begun += 1;
    }

    fn reach(&mut self) -> Result<(), TestCaseError> {
        match self.to_broker.pop_front() {
            Some(Packet::Publish(id, number)) => {
                let new = self.session.receive(id, &Limits::default(), Version::V5);
                if new.expect("within its limits") {
                    let record = [Record::Delivery(DeliveryRecord::Incoming {
                        session: SESSION,
                        packet_id: id,
                    })];
                    let records = if self.bug == Bug::Unwritten { &[][..] } else { &record };
                    self.disk.append(Some((QoS::ExactlyOnce, number)), records);
                }
                self.hold(Packet::Received(id), Bug::ReceivedTooSoon);
            }
            Some(Packet::Release(id)) => {
                self.session.release(id);
                self.disk.append(
                    None,
                    &[Record::Delivery(DeliveryRecord::Released {
                        session: SESSION,
                        packet_id: id,
                    })],
                );
                self.hold(Packet::Completed(id), Bug::CompletedTooSoon);
            }
            Some(other) => prop_assert!(false, "not for a broker: {other:?}"),
            None => {}
        }
        Ok(())
    }

    /// An answer waits until its records are synced.
    fn hold(&mut self, answer: Packet, bug: Bug) {
        let gate = if self.bug == bug { 0 } else { self.disk.len() };
        self.to_client.push_back((answer, gate));
    }

    fn answer(&mut self) {
        while self.to_client.front().is_some_and(|(_, gate)| *gate <= self.disk.synced) {
            let (packet, _) = self.to_client.pop_front().expect("there is one");
            match packet {
                Packet::Received(id) => self.received(id),
                Packet::Completed(id) => self.sending.retain(
                    |sending| !matches!(sending, Sending::Release(released) if *released == id),
                ),
                Packet::Publish(..) | Packet::Release(_) => {}
            }
        }
    }

    fn received(&mut self, id: PacketId) {
        for sending in &mut self.sending {
            match sending {
                Sending::Publish(sent, _) if *sent == id => {
                    *sending = Sending::Release(id);
                    self.to_broker.push_back(Packet::Release(id));
                }
                _ => {}
            }
        }
    }

    fn lose(&mut self) {
        self.to_client.clear();
        self.to_broker = self
            .sending
            .iter()
            .map(|sending| match *sending {
                Sending::Publish(id, number) => Packet::Publish(id, number),
                Sending::Release(id) => Packet::Release(id),
            })
            .collect();
    }

    fn run(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Begin => self.begin(),
            Step::Reach => self.reach()?,
            Step::Answer => self.answer(),
            Step::Sync => self.disk.sync(),
            Step::Lose => self.lose(),
            Step::Crash { kept, snapshot } => {
                self.disk.crash(*kept);
                let ledger = self.disk.recover(snapshot.index(self.disk.len() + 1));
                self.session = Session::restore(ledger.session(SESSION).expect("it was opened"));
                self.lose();
            }
        }
        Ok(())
    }
}

fn holds(bug: Bug, history: &[Step]) -> Result<(), TestCaseError> {
    let mut world = World::new(bug);
    for step in history {
        world.run(step)?;
    }
    while !world.sending.is_empty() {
        for step in [Step::Lose, Step::Reach, Step::Reach, Step::Reach, Step::Sync, Step::Answer] {
            world.run(&step)?;
        }
    }
    prop_assert_eq!(world.session.unreleased(), 0);
    let mut taken: Vec<u32> = world.disk.numbers().collect();
    taken.sort_unstable();
    prop_assert_eq!(taken, (0..world.begun).collect::<Vec<_>>());
    Ok(())
}

fn histories() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..80)
}

proptest! {
    #[test]
    fn a_message_is_taken_exactly_once_whenever_the_broker_crashes(history in histories()) {
        holds(Bug::None, &history)?;
    }
}

#[test]
fn the_law_finds_a_broker_that_answers_too_soon() {
    for bug in [Bug::ReceivedTooSoon, Bug::CompletedTooSoon, Bug::Unwritten] {
        let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let found = runner.run(&histories(), |history| holds(bug, &history));
        assert!(found.is_err(), "{bug:?} is not found");
    }
}
