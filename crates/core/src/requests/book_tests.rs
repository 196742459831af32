//! Random histories of askers, services and time, against what a book promises.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proptest::prelude::*;
use slipring_wire::Publish;

use super::*;
use crate::{ConnectionKey, Message, Millis, Owner, Priority, SessionKey};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Peer {
    session: SessionKey,
    is_here: AtomicBool,
    connections: AtomicU64,
}

impl Peer {
    pub(super) fn new(number: u64) -> Arc<Self> {
        let (session, connections) = (SessionKey::new(number), AtomicU64::new(1));
        Arc::new(Self { session, is_here: AtomicBool::new(true), connections })
    }

    /// It has lost its connection, and has another one.
    pub(super) fn reconnect(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn be_here(&self, is_here: bool) {
        self.is_here.store(is_here, Ordering::Relaxed);
    }
}

impl Participant for Peer {
    fn session(&self) -> SessionKey {
        self.session
    }

    fn is_here(&self) -> bool {
        self.is_here.load(Ordering::Relaxed)
    }

    fn connection_key(&self) -> Option<ConnectionKey> {
        let key = ConnectionKey::new(self.connections.load(Ordering::Relaxed));
        self.is_here().then_some(key)
    }

    fn room(&self) -> u16 {
        2
    }
}

/// A book, and what its requests and services should be.
struct World {
    book: RequestBook<Peer>,
    now_ms: Millis,
    generation: u64,
    askers: Vec<Arc<Peer>>,
    /// Services with the topic that each serves.
    services: BTreeMap<u64, (Arc<Peer>, &'static str)>,
    made: u64,
    /// Who has each request, by what the book said.
    with: BTreeMap<RequestKey, u64>,
    ended: BTreeSet<RequestKey>,
    asked: u64,
}

/// All looks that wait.
pub(super) fn look_all(
    book: &mut RequestBook<Peer>,
    around: &Surroundings<'_, Peer>,
) -> Looked<Peer> {
    let mut all = Looked { handings: Vec::new(), unserved: Vec::new() };
    while book.has_looks() {
        let mut looked = book.look(around);
        all.handings.append(&mut looked.handings);
        all.unserved.append(&mut looked.unserved);
    }
    all
}

const TOPICS: [&str; 2] = ["solve/a", "solve/b"];

pub(super) fn request(
    key: u64,
    asker: &Arc<Peer>,
    topic: &str,
    retries: u8,
    waits: bool,
) -> NewRequest<Peer> {
    let topic: Arc<str> = topic.into();
    NewRequest {
        key: RequestKey::new(key),
        asker: Arc::clone(asker),
        owner: Owner::unknown(None),
        message: Arc::new(Message::new(&Publish::new(&topic, b"x"), Arc::clone(&topic), 0)),
        answer_topic: "answers".into(),
        correlation: Some(key.to_le_bytes().into()),
        timeout_ms: 10 + key % 7,
        waits,
        priority: [Priority::Low, Priority::Normal, Priority::High][key as usize % 3],
        retries,
        balance: Balance::ALL[key as usize % 5],
        is_recorded: true,
    }
}

impl World {
    fn new() -> Self {
        Self {
            book: RequestBook::default(),
            now_ms: 1,
            generation: 1,
            askers: (1..4).map(Peer::new).collect(),
            services: BTreeMap::new(),
            made: 100,
            with: BTreeMap::new(),
            ended: BTreeSet::new(),
            asked: 0,
        }
    }

    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut RequestBook<Peer>, &Surroundings<'_, Peer>) -> T,
    ) -> T {
        let services = &self.services;
        let find = |topic: &str| {
            let serving = services.values().filter(|(_, served)| *served == topic);
            let candidate = |(client, _): &(Arc<Peer>, &str)| ServiceCandidate {
                client: Arc::clone(client),
                qos: slipring_wire::QoS::AtLeastOnce,
                identifiers: None,
                serve: 0,
                no_local: false,
                by_topic: false,
            };
            serving.map(candidate).collect::<Vec<_>>()
        };
        let (now_ms, generation) = (self.now_ms, self.generation);
        let wall = i64::try_from(now_ms).unwrap() * 1_000_000;
        work(&mut self.book, &Surroundings { now_ms, now_ns: wall, generation, find: &find })
    }

    fn handed(&mut self, handings: Vec<Handing<Peer>>) {
        for handing in handings {
            assert!(!self.ended.contains(&handing.key), "delivered after its end");
            assert!(handing.client.is_here(), "delivered to a client that is away");
            assert!(!handing.message.is_withdrawn());
            let earlier = self.with.insert(handing.key, handing.client.session.get());
            assert_eq!(earlier, None, "delivered to two services");
        }
    }

    fn taken(&mut self, key: RequestKey, asked: Asked<Peer>) {
        match asked {
            Asked::Handed(handing) => self.handed(vec![handing]),
            Asked::Stored => {}
            Asked::NoService => self.end(key, RequestEvent::NoService, None),
        }
    }

    fn ask(&mut self, asker: usize, topic: usize, retries: u8, waits: bool) {
        self.asked += 1;
        let new = request(self.asked, &self.askers[asker], TOPICS[topic], retries, waits);
        let key = new.key;
        let outcome = self.with(|book, around| book.ask(new, around));
        self.taken(key, outcome);
    }

    fn end(&mut self, key: RequestKey, event: RequestEvent, by: Option<u64>) {
        let by = by.map(SessionKey::new);
        let Some(ending) = self.book.announce(key, event, by) else { return };
        assert_eq!(self.book.announce(key, RequestEvent::TimeOut, None).map(drop), None);
        if key.get() % 11 == 0 && event == RequestEvent::Answer {
            self.book.undo(key); // the journal had no room: the service answers again
            assert!(self.book.announce(key, event, by).is_some());
        }
        assert!(self.ended.insert(key), "it ends twice");
        self.with.remove(&key);
        assert_eq!(ending.key, key);
        let handings = self.with(|book, around| book.finish(key, around));
        self.handed(handings);
    }

    fn give_back(&mut self, key: RequestKey) {
        match self.with(|book, around| book.give_back(key, around)) {
            GivenBack::Again(asked, handings) => {
                self.with.remove(&key);
                self.taken(key, asked);
                self.handed(handings);
            }
            GivenBack::Failed => self.end(key, RequestEvent::Fail, None),
            GivenBack::Over => {}
        }
    }

    fn serve(&mut self, topic: usize) {
        self.made += 1;
        let service = Peer::new(self.made);
        self.services.insert(self.made, (service, TOPICS[topic]));
        self.generation += 1;
        self.book.look_at_filter(TOPICS[topic]);
        let handings = self.with(look_all).handings;
        self.handed(handings);
    }

    fn lose_service(&mut self, number: u64) {
        self.services.remove(&number);
        self.generation += 1;
        let session = SessionKey::new(number);
        for key in self.book.service_gone(session) {
            // It has gone: what it had is nobody's now.
            self.give_back(key);
        }
        let Looked { handings, unserved } = self.with(look_all);
        self.handed(handings);
        for key in unserved {
            self.end(key, RequestEvent::NoService, None);
        }
    }

    /// An asker that is here leaves, and one that is away comes back.
    fn turn_asker(&mut self, which: usize) {
        let asker = Arc::clone(&self.askers[which]);
        asker.be_here(!asker.is_here());
        if asker.is_here() {
            self.book.asker_back(asker.session);
        }
    }

    fn check(&mut self) {
        let states = self.book.states();
        assert_eq!(states.iter().sum::<usize>(), self.book.len());
        assert_eq!(states[RequestState::Delivered as usize], self.with.len());
        for (number, (service, _)) in &self.services {
            let held = self.with.values().filter(|holder| *holder == number).count();
            assert!(held <= 2, "{service:?} has {held}");
        }
        let mut walked = [0; RequestState::ALL.len()];
        let (mut all, mut page) = (Vec::new(), RequestPage::Start);
        while page != RequestPage::End {
            page = self.book.page(page, &|_| true, &mut all);
        }
        for request in &all {
            walked[request.state as usize] += 1;
        }
        assert_eq!(walked, states, "what is counted is what is there");
        for (topic, count) in self.book.busiest_topics(usize::MAX) {
            let open = all.iter().filter(|request| request.topic == topic);
            let stored = open.clone().filter(|request| request.state == RequestState::Stored);
            assert_eq!((open.count(), stored.count()), (count.open, count.stored));
        }
        for request in all.iter().filter(|request| request.state == RequestState::Stored) {
            let free = self.services.iter().filter(|(number, (service, topic))| {
                let held = self.with.values().filter(|holder| holder == number).count();
                *topic == &*request.topic && service.is_here() && held < 2
            });
            assert_eq!(free.count(), 0, "{:?} waits beside a free service", request.key);
        }
    }
}

fn step(world: &mut World, (what, number): (u8, u64)) {
    let held: Vec<(RequestKey, u64)> = world.with.iter().map(|(key, by)| (*key, *by)).collect();
    let services: Vec<u64> = world.services.keys().copied().collect();
    let pick = |count: usize| (count > 0).then(|| number as usize % count);
    match what {
        0..=3 => world.ask(
            number as usize % 3,
            number as usize / 3 % 2,
            (number % 3) as u8,
            number % 4 > 0,
        ),
        4..=6 => {
            if let Some((key, by)) = pick(held.len()).map(|at| held[at]) {
                let event = if number % 5 == 0 { RequestEvent::Fail } else { RequestEvent::Answer };
                assert!(world.book.announce(key, event, Some(SessionKey::new(9_999))).is_none());
                world.end(key, event, Some(by));
            }
        }
        7 => world.serve(number as usize % 2),
        8 => {
            if let Some(number) = pick(services.len()).map(|at| services[at]) {
                world.lose_service(number);
            }
        }
        9 => {
            world.now_ms += number % 5;
            for key in world.book.due(world.now_ms, usize::MAX) {
                world.end(key, RequestEvent::TimeOut, None);
            }
        }
        10 => {
            let (asker, key) = (number as usize % 3, number % (world.asked + 1));
            let session = world.askers[asker].session;
            let keys: Vec<_> = world.book.asked_with(session, &key.to_le_bytes()).collect();
            assert!(keys.len() <= 1);
            for key in keys {
                world.end(key, RequestEvent::Cancel, None);
            }
        }
        11 => world.turn_asker(number as usize % 3),
        12 => {
            let session = world.askers[number as usize % 3].session;
            for key in world.book.asker_gone(session) {
                world.end(key, RequestEvent::AskerGone, None);
            }
        }
        _ => {
            if let Some(number) = pick(services.len()).map(|at| services[at]) {
                let (service, topic) = world.services[&number].clone();
                service.be_here(!service.is_here());
                if service.is_here() {
                    world.book.look_at_filter(topic);
                    let handings = world.with(look_all).handings;
                    world.handed(handings);
                }
            }
        }
    }
    world.check();
}

proptest! {
    #[test]
    fn each_request_ends_once_and_none_waits_beside_a_free_service(
        steps in prop::collection::vec((0u8..14, any::<u64>()), 1..200),
    ) {
        let mut world = World::new();
        for one in steps {
            step(&mut world, one);
        }
        world.now_ms += 100;
        world.askers.iter().for_each(|asker| asker.be_here(true));
        for key in world.book.due(world.now_ms, usize::MAX) {
            world.end(key, RequestEvent::TimeOut, None);
        }
        for asker in 0..3 {
            world.book.asker_back(world.askers[asker].session);
        }
        prop_assert!(world.book.is_empty(), "{:?}", world.book.states());
        prop_assert_eq!(world.ended.len() as u64, world.asked);
        prop_assert_eq!(world.book.counts.ends.iter().sum::<u64>(), world.asked);
        prop_assert!(world.book.askers.is_empty() && world.book.deadlines.is_empty());
        prop_assert_eq!(world.book.shares.total(), 0);
        let held: usize = world.book.services(usize::MAX).iter().map(|service| service.busy).sum();
        prop_assert_eq!(held, 0);
    }
}

#[test]
fn a_higher_priority_goes_first_and_the_lowest_does_not_wait_for_ever() {
    let mut world = World::new();
    world.serve(0);
    let service = *world.services.keys().next().unwrap();
    (0..90).for_each(|_| world.ask(0, 0, 0, true));
    let mut order = Vec::new();
    while let Some((key, _)) = world.with.iter().next().map(|(key, by)| (*key, *by)) {
        let before: BTreeSet<RequestKey> = world.with.keys().copied().collect();
        world.end(key, RequestEvent::Answer, Some(service));
        order
            .extend(world.with.keys().filter(|key| !before.contains(key)).map(|key| key.get() % 3));
    }
    let highs = order.iter().position(|level| *level == 1).unwrap();
    assert!(order[..15].iter().all(|level| *level == 2), "{order:?}");
    assert!(order[..32].contains(&0), "one of the lowest among 16: {order:?}");
    assert!(highs > 15 && order.len() == 88);
}

#[test]
fn cancelled_requests_do_not_add_up_behind_one_that_waits() {
    let mut world = World::new();
    world.ask(0, 0, 0, true);
    for _ in 0..10_000 {
        world.ask(0, 0, 0, true);
        world.end(RequestKey::new(world.asked), RequestEvent::Cancel, None);
    }
    let pool = &world.book.pools["solve/a"];
    assert!(pool.stored_len() < 100, "{}", pool.stored_len());
    assert_eq!(world.book.len(), 1);
}

#[test]
fn pools_of_topics_that_nobody_asks_any_more_are_forgotten() {
    let mut world = World::new();
    for number in 0..20_000u64 {
        let asker = Arc::clone(&world.askers[0]);
        let new = request(number, &asker, &format!("t/{number}"), 0, false);
        let key = new.key;
        let outcome = world.with(|book, around| book.ask(new, around));
        assert!(matches!(outcome, Asked::NoService));
        assert!(world.book.announce(key, RequestEvent::NoService, None).is_some());
        world.with(|book, around| book.finish(key, around));
    }
    assert!(world.book.is_empty() && world.book.pools.len() <= 4_097);
}
