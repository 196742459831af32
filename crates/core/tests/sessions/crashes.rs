//! A durable session under crashes: the broker loses everything but the synced records.
//!
//! In every history acknowledged messages arrive, in order within each priority: QoS 1 at least once, QoS 2 exactly once.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use slipring_core::ledger::{DeliveryRecord, Record, RecordedSubscription, SessionRecord};
use slipring_core::{
    ConnectionKey, Delivery, Durability, Limits, Message, Offset, Options, Outgoing, Packets,
    Replay, RetainedPage, Terms,
};
use slipring_wire::{Ack, Packet, PacketId, Properties, QoS, Reason, Version};

use crate::disk::{Disk, SESSION, message, priority};
use crate::receiver::{Answer, Receiver};

/// A bug in the broker, to show that the law finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// PUBLISH does not wait until its identifier is safe.
    SentTooSoon,
    /// PUBREL does not wait until PUBREC is safe.
    ReleasedTooSoon,
    /// Identifiers of messages that are only in memory are not recorded.
    Unwritten,
}

#[derive(Clone, Debug)]
enum Step {
    Publish(QoS),
    /// A message that is only in memory: it need not survive.
    PublishInMemory(QoS),
    /// The client subscribes, and gets retained messages.
    Subscribe(QoS),
    /// The broker takes the packets that it can send.
    Take,
    /// Packets whose records are synced arrive.
    Send,
    /// Wanted messages are loaded.
    Load,
    /// This number of answers reach the broker.
    Answer(usize),
    Sync,
    /// The connection is lost, and the client comes back with this receive maximum.
    Lose(u16),
    /// The broker crashes and recovers, and the client comes back.
    Crash {
        kept: prop::sample::Index,
        snapshot: prop::sample::Index,
        receive_max: u16,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let qos = || prop_oneof![Just(QoS::AtLeastOnce), Just(QoS::ExactlyOnce)];
    let index = any::<prop::sample::Index>;
    prop_oneof![
        6 => qos().prop_map(Step::Publish),
        1 => qos().prop_map(Step::PublishInMemory),
        1 => qos().prop_map(Step::Subscribe),
        6 => Just(Step::Take),
        6 => Just(Step::Send),
        3 => Just(Step::Load),
        6 => (1usize..5).prop_map(Step::Answer),
        3 => Just(Step::Sync),
        1 => (1u16..6).prop_map(Step::Lose),
        2 => (index(), index(), 1u16..6)
            .prop_map(|(kept, snapshot, receive_max)| Step::Crash { kept, snapshot, receive_max }),
    ]
}

/// The number of retained messages of each filter, and the number of filters.
const RETAINED: u32 = 3;
const FILTERS: u32 = 6;
/// Numbers of messages that are only in memory begin here.
const IN_MEMORY: u32 = 1_000_000;

struct World {
    bug: Bug,
    limits: Limits,
    disk: Disk,
    outgoing: Outgoing,
    receiver: Receiver,
    receive_max: u16,
    connections: u64,
    /// Bytes that wait, each with the number of batches that must be synced before.
    held: VecDeque<(Vec<u8>, usize)>,
    /// Offsets that are being loaded.
    loading: Option<Vec<Offset>>,
    /// By filter.
    retained: Vec<Vec<Arc<Message>>>,
    subscribed: u32,
    published: Vec<(QoS, u32)>,
    messages: u32,
    in_memory: u32,
}

impl World {
    fn new(bug: Bug) -> Self {
        let limits = Limits { inflight: 4, ..Limits::default() };
        let mut disk = Disk::new();
        let retained = (0..FILTERS).map(|filter| {
            (0..RETAINED).map(|at| disk.retain(10_000 + filter * RETAINED + at)).collect()
        });
        let retained = retained.collect();
        disk.sync();
        let mut world = Self {
            bug,
            limits,
            disk,
            outgoing: Outgoing::durable(&limits, SESSION, Durability::Disk),
            receiver: Receiver { forgetful_broker: true, ..Receiver::default() },
            receive_max: 3,
            connections: 0,
            held: VecDeque::new(),
            loading: None,
            retained,
            subscribed: 0,
            published: Vec::new(),
            messages: 0,
            in_memory: IN_MEMORY,
        };
        world.connect(3);
        world
    }

    fn connect(&mut self, receive_max: u16) {
        self.receive_max = receive_max;
        self.connections += 1;
        let terms =
            Terms { version: Version::V5, receive_max, packet_bytes: u32::MAX, topic_aliases: 0 };
        self.outgoing.attach(ConnectionKey::new(self.connections), terms, &self.limits);
    }

    fn lose(&mut self, receive_max: u16) {
        self.held.clear();
        self.receiver.lose();
        self.outgoing.detach(ConnectionKey::new(self.connections));
        self.loading = None;
        self.connect(receive_max);
    }

    fn crash(&mut self, kept: prop::sample::Index, snapshot: prop::sample::Index) {
        self.disk.crash(kept);
        let there: HashSet<u32> = self.disk.numbers().collect();
        self.published.retain(|(_, number)| there.contains(number) || *number >= 10_000);
        let ledger = self.disk.recover(snapshot.index(self.disk.len() + 1));
        let kept = ledger.session(SESSION).expect("it was opened");
        self.outgoing = Outgoing::restore(&self.limits, SESSION, Durability::Disk, kept);
        let subscribed = |filter: u32| kept.subscriptions.contains_key(&*format!("f/{filter}"));
        while self.subscribed > 0 && !subscribed(self.subscribed - 1) {
            self.subscribed -= 1;
            let first = 10_000 + self.subscribed * RETAINED;
            self.published.retain(|(_, number)| !(first..first + RETAINED).contains(number));
        }
    }

    fn publish(&mut self, qos: QoS) {
        let number = self.messages;
        self.messages += 1;
        let message = self.disk.deliver(qos, number);
        self.published.push((qos, number));
        self.push(message);
    }

    fn push(&mut self, message: Arc<Message>) {
        let qos = message.qos;
        let number = u32::from_be_bytes(message.payload().try_into().expect("its number"));
        let priority = priority(number);
        self.outgoing.push(Delivery { priority, ..Delivery::plain(message, qos) });
    }

    fn subscribe(&mut self, qos: QoS) {
        if self.subscribed == FILTERS {
            return;
        }
        let filter = format!("f/{}", self.subscribed);
        let (no_local, retain_as_published, identifier) = (false, false, 0);
        let (needs, serve, priority) = (None, 0, None);
        let options =
            Options { qos, no_local, retain_as_published, identifier, needs, serve, priority };
        let subscription =
            RecordedSubscription { filter: &filter, options, replay: true, list: None };
        let record = Record::Session(SessionRecord::Subscribed { session: SESSION, subscription });
        self.disk.append(None, &[record]);
        let replay = Replay { filter: filter.as_str().into(), qos, identifiers: None, until: 0 };
        self.outgoing.push_replay(replay);
        let first = 10_000 + self.subscribed * RETAINED;
        self.published.extend((first..first + RETAINED).map(|number| (qos, number)));
        self.subscribed += 1;
    }

    fn take(&mut self) {
        let (mut packets, retained) = (Packets::default(), &self.retained);
        let mut find = |asked: &Replay, after: Option<&str>| {
            let number: usize = asked.filter[2..].parse().expect("one of our filters");
            let mut messages = retained[number].clone();
            messages.retain(|message| after.is_none_or(|after| **message.topic() > *after));
            RetainedPage { messages, next: None }
        };
        let taken = self.outgoing.take(0, &mut find, &mut packets);
        self.write_down(packets.to_vec(), Bug::SentTooSoon);
        if taken.wants {
            self.loading = Some(self.outgoing.wanted(3));
        }
    }

    /// Appends the records; the bytes wait until they are synced.
    fn write_down(&mut self, bytes: Vec<u8>, bug: Bug) {
        let mut records = Vec::new();
        let gate = self.outgoing.take_records(&mut records);
        if self.bug == Bug::Unwritten {
            records = without_memory(&records);
        }
        if !records.is_empty() {
            self.disk.append_encoded(None, records);
        }
        let gate = gate.filter(|_| self.bug != bug);
        self.held.push_back((bytes, gate.map_or(0, |_| self.disk.len())));
    }

    fn send(&mut self) -> Result<(), TestCaseError> {
        while self.held.front().is_some_and(|(_, gate)| *gate <= self.disk.synced) {
            let (bytes, _) = self.held.pop_front().expect("there is one");
            self.receiver.receive(&bytes, self.receive_max)?;
        }
        Ok(())
    }

    fn load(&mut self) {
        if let Some(offsets) = self.loading.take() {
            let load = |offset| (offset, Some(self.disk.load(offset)));
            let loaded: Vec<_> = offsets.into_iter().map(load).collect();
            self.outgoing.fill(&loaded);
        }
    }

    fn answer(&mut self) -> bool {
        let Some(answer) = self.receiver.answers.pop_front() else { return false };
        let mut reply = Vec::new();
        match answer {
            Answer::Ack(id) => {
                self.outgoing.acked(id);
                self.receiver.outstanding.remove(&id);
            }
            Answer::Received(id) => {
                self.outgoing.received(id, false);
                release(id, &mut reply);
            }
            Answer::Completed(id) => {
                self.outgoing.completed(id);
                self.receiver.outstanding.remove(&id);
            }
        }
        self.write_down(reply, Bug::ReleasedTooSoon);
        true
    }

    fn run(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Publish(qos) => self.publish(*qos),
            Step::PublishInMemory(qos) => {
                self.in_memory += 1;
                self.push(Arc::new(message(*qos, self.in_memory)));
            }
            Step::Subscribe(qos) => self.subscribe(*qos),
            Step::Take => self.take(),
            Step::Send => self.send()?,
            Step::Load => self.load(),
            Step::Answer(count) => {
                for _ in 0..*count {
                    self.answer();
                }
            }
            Step::Sync => self.disk.sync(),
            Step::Lose(receive_max) => self.lose(*receive_max),
            Step::Crash { kept, snapshot, receive_max } => {
                self.crash(*kept, *snapshot);
                self.lose(*receive_max);
            }
        }
        Ok(())
    }

    /// Delivers everything.
    fn drain(&mut self) -> Result<(), TestCaseError> {
        loop {
            self.take();
            self.disk.sync();
            self.load();
            self.send()?;
            if !self.answer() && self.held.is_empty() && !self.outgoing.has_work() {
                return Ok(());
            }
        }
    }
}

fn release(packet_id: PacketId, out: &mut Vec<u8>) {
    let (reason, properties) = (Reason::Success, Properties::NONE);
    Packet::PubRel(Ack { packet_id, reason, properties }).encode(Version::V5, out);
}

/// The records without those of messages that are only in memory.
fn without_memory(records: &[u8]) -> Vec<u8> {
    let mut left = Vec::new();
    for record in slipring_core::ledger::Records::new(records).map(Result::unwrap) {
        if !matches!(record, Record::Delivery(DeliveryRecord::Sent { offset: None, .. })) {
            record.encode(&mut left);
        }
    }
    left
}

fn of(list: &[(QoS, u32)], wanted: QoS, numbers: std::ops::Range<u32>) -> Vec<u32> {
    let found = list.iter().filter(|(qos, number)| *qos == wanted && numbers.contains(number));
    found.map(|(_, number)| *number).collect()
}

/// Order holds within each priority.
fn by_level(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_by_key(|number| priority(*number));
    numbers
}

fn check(world: &World) -> Result<(), TestCaseError> {
    let (published, delivered) = (&world.published, &world.receiver.delivered);
    let (live, retained) = (0..10_000, 10_000..IN_MEMORY);
    let exactly = QoS::ExactlyOnce;
    let sent = by_level(of(delivered, exactly, live.clone()));
    prop_assert_eq!(sent, by_level(of(published, exactly, live.clone())));
    let mut once = of(delivered, exactly, retained.clone());
    once.sort_unstable();
    prop_assert_eq!(once, of(published, exactly, retained.clone()), "retained");
    let at_least = QoS::AtLeastOnce;
    let acknowledged: HashSet<u32> = of(published, at_least, 0..IN_MEMORY).into_iter().collect();
    let mut seen = HashSet::new();
    let mut first = of(delivered, at_least, live.clone());
    first.retain(|number| acknowledged.contains(number) && seen.insert(*number));
    prop_assert_eq!(by_level(first), by_level(of(published, at_least, live)));
    let some: HashSet<u32> = of(delivered, at_least, retained.clone()).into_iter().collect();
    prop_assert!(of(published, at_least, retained).iter().all(|number| some.contains(number)));
    let mut in_memory = of(delivered, exactly, IN_MEMORY..u32::MAX);
    let count = in_memory.len();
    in_memory.sort_unstable();
    in_memory.dedup();
    prop_assert_eq!(in_memory.len(), count, "they may be lost, but never arrive twice");
    Ok(())
}

fn holds(bug: Bug, history: &[Step]) -> Result<(), TestCaseError> {
    let mut world = World::new(bug);
    for step in history {
        world.run(step)?;
    }
    world.drain()?;
    prop_assert_eq!(world.outgoing.waiting(), (0, 0), "every message is settled");
    let left = world.disk.recover(0);
    prop_assert_eq!(left.needed(), None, "and recorded as settled");
    check(&world)
}

fn histories() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..150)
}

proptest! {
    #[test]
    fn acknowledged_messages_arrive_whenever_the_broker_crashes(history in histories()) {
        holds(Bug::None, &history)?;
    }
}

#[test]
fn the_law_finds_a_broker_that_does_not_wait_for_its_records() {
    for bug in [Bug::SentTooSoon, Bug::ReleasedTooSoon, Bug::Unwritten] {
        let config = Config {
            cases: 5_000,
            failure_persistence: None,
            max_shrink_iters: 0,
            ..Config::default()
        };
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let found = runner.run(&histories(), |history| holds(bug, &history));
        assert!(found.is_err(), "{bug:?} is not found");
    }
}
