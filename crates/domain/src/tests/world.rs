//! Brokers, links and time: what has to happen happens in its order, and the laws are looked at while it does.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::broker::SimulatedBroker;
use super::history::Verdict;
use super::message::SimulatedMessage;
use super::network::{HOP_MS, SimulatedLink};
use super::random::Random;
use crate::control::DIFFERENCE;
use crate::{BrokerId, DomainEvent, Forwarding, MessageOrigin, NextHop};

/// How long an end of a cut link believes in it.
pub const SILENCE_MS: u64 = 200;

/// Something that happens at a time.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Happening {
    /// Bytes of one end arrive at the other.
    Arrive { link: usize, from_end: usize, connection: u64, carried: Carried },
    /// Both ends connect, if they can.
    Connect { link: usize },
    /// An end notices that its connection is gone.
    Notice { link: usize, end: usize, connection: u64 },
    /// A broker's driver has its turn.
    Turn { broker: usize },
    /// A broker that was down starts.
    Start { broker: usize },
    /// A message has had time to arrive.
    Judge { message: MessageOrigin },
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carried {
    Control(Vec<u8>),
    Message(MessageOrigin),
}

#[derive(Debug)]
pub struct World {
    pub random: Random,
    pub now_ms: u64,
    pub brokers: Vec<SimulatedBroker>,
    pub links: Vec<SimulatedLink>,
    pub links_of: Vec<BTreeMap<BrokerId, usize>>,
    /// When the last change of a link or a broker is noticed, as far as it is planned.
    pub disturbed_ms: u64,
    /// When a subscription began or ended last.
    pub interest_ms: u64,
    /// Whether interest is widened early.
    pub is_narrow: bool,
    pub verdict: Verdict,
    pub messages: BTreeMap<MessageOrigin, SimulatedMessage>,
    queue: BinaryHeap<Reverse<(u64, u64, Happening)>>,
    happened: u64,
}

impl World {
    pub fn new(
        random: Random,
        brokers: Vec<SimulatedBroker>,
        links: Vec<SimulatedLink>,
        is_narrow: bool,
    ) -> Self {
        let mut links_of = vec![BTreeMap::new(); brokers.len()];
        for (at, link) in links.iter().enumerate() {
            let [a, b] = link.ends;
            links_of[a].insert(brokers[b].id, at);
            links_of[b].insert(brokers[a].id, at);
        }
        Self {
            random,
            now_ms: 0,
            brokers,
            links,
            links_of,
            disturbed_ms: 0,
            interest_ms: 0,
            is_narrow,
            verdict: Verdict::default(),
            messages: BTreeMap::new(),
            queue: BinaryHeap::new(),
            happened: 0,
        }
    }

    /// How long it takes until all know what has changed.
    pub fn settling_ms(&self) -> u64 {
        HOP_MS * (2 * self.brokers.len() as u64 + 2)
    }

    /// Whether nothing has changed for so long that all brokers agree. An end that believes in a link learns from the
    /// other end's record that it is wrong; if no other way leads there, it never does.
    pub fn is_calm(&self) -> bool {
        self.now_ms >= self.disturbed_ms + self.settling_ms() && self.misled_ends().is_empty()
    }

    /// The ends that believe in a link which the other end has given up, with no other way there: link, end.
    pub fn misled_ends(&self) -> Vec<(usize, usize)> {
        let half = self.links.iter().enumerate().filter(|(_, link)| link.is_up[0] != link.is_up[1]);
        half.filter(|(_, link)| !self.part_of(link.ends[0]).contains(&link.ends[1]))
            .map(|(at, link)| (at, usize::from(link.is_up[1])))
            .collect()
    }

    pub fn after(&mut self, delay_ms: u64, happening: Happening) {
        use Happening::{Connect, Notice, Start};
        if matches!(happening, Connect { .. } | Notice { .. } | Start { .. }) {
            self.disturbed_ms = self.disturbed_ms.max(self.now_ms + delay_ms);
        }
        self.happened += 1;
        self.queue.push(Reverse((self.now_ms + delay_ms, self.happened, happening)));
    }

    /// Lets everything happen up to a time.
    pub fn pass(&mut self, ms: u64) {
        let end_ms = self.now_ms + ms;
        while let Some(Reverse((at_ms, _, _))) = self.queue.peek() {
            if *at_ms > end_ms {
                break;
            }
            let Some(Reverse((at_ms, _, happening))) = self.queue.pop() else { break };
            self.now_ms = at_ms;
            self.happen(happening);
        }
        self.now_ms = end_ms;
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Arrive { link, from_end, connection, carried } => {
                self.arrive(link, from_end, connection, carried);
            }
            Happening::Connect { link } => self.connect(link),
            Happening::Notice { link, end, connection } => {
                if self.links[link].connection == connection && self.links[link].is_up[end] {
                    self.links[link].is_up[end] = false;
                    self.link_down(link, end);
                }
            }
            Happening::Turn { broker } => self.turn(broker),
            Happening::Start { broker } => {
                self.brokers[broker].start();
                let links: Vec<usize> = self.links_of[broker].values().copied().collect();
                for link in links {
                    self.connect(link);
                }
            }
            Happening::Judge { message } => self.judge(message),
        }
    }

    fn connect(&mut self, at: usize) {
        let link = &mut self.links[at];
        let can_connect = link.ends.iter().all(|end| self.brokers[*end].domain.is_some());
        if link.carries != [true; 2] || !can_connect {
            return;
        }
        link.connect();
        let (ends, cost) = (link.ends, link.cost);
        for end in [0, 1] {
            let neighbour = self.brokers[ends[1 - end]].id;
            if let Some(domain) = &mut self.brokers[ends[end]].domain {
                domain.link_up(neighbour, cost, self.now_ms).expect("there is room");
            }
            self.wake(ends[end]);
        }
    }

    fn link_down(&mut self, link: usize, end: usize) {
        let ends = self.links[link].ends;
        let neighbour = self.brokers[ends[1 - end]].id;
        if let Some(domain) = &mut self.brokers[ends[end]].domain {
            domain.link_down(neighbour, self.now_ms);
        }
        self.wake(ends[end]);
    }

    fn arrive(&mut self, link: usize, from_end: usize, connection: u64, carried: Carried) {
        let found = &self.links[link];
        let is_there = found.carries[from_end] && found.is_up[1 - from_end];
        if found.connection != connection || found.is_dead || !is_there {
            return;
        }
        let (from, to) = (found.ends[from_end], found.ends[1 - from_end]);
        let from_id = self.brokers[from].id;
        match carried {
            Carried::Message(message) => self.forward(from_id, to, message),
            Carried::Control(bytes) => {
                self.verdict.differences += usize::from(bytes[0] == DIFFERENCE);
                let Some(domain) = &mut self.brokers[to].domain else { return };
                if let Err(error) = domain.receive(from_id, &bytes, self.now_ms) {
                    self.verdict.broken.push(format!("{to} refused what {from} sent: {error}"));
                }
                self.wake(to);
            }
        }
    }

    fn forward(&mut self, from: BrokerId, at: usize, id: MessageOrigin) {
        let broker = &mut self.brokers[at];
        let life = broker.start;
        let (Some(domain), Some(message)) = (&mut broker.domain, self.messages.get_mut(&id)) else {
            return;
        };
        match domain.forward(from, id, message.topic) {
            Forwarding::Taken(hops) => {
                self.verdict.broken.extend(message.take(at, life));
                self.send(at, id, &hops);
            }
            Forwarding::Repeated => self.verdict.repeated += 1,
            Forwarding::TooLate | Forwarding::Unknown => {}
        }
    }

    /// Sends a message over links.
    pub fn send(&mut self, at: usize, id: MessageOrigin, hops: &[NextHop]) {
        for hop in hops {
            let link = self.links_of[at][&hop.neighbour];
            let life = self.brokers[at].start;
            if let Some(message) = self.messages.get_mut(&id) {
                self.verdict.broken.extend(message.cross(link, at, life));
            }
            self.carry(at, link, Carried::Message(id));
        }
    }

    fn carry(&mut self, at: usize, link: usize, carried: Carried) {
        let found = &mut self.links[link];
        let lane = usize::from(matches!(carried, Carried::Control(_)));
        let (from_end, connection) = (found.end_of(at), found.connection);
        let arrival_ms = found.arrival_ms(from_end, lane, self.now_ms, &mut self.random);
        let arrive = Happening::Arrive { link, from_end, connection, carried };
        self.after(arrival_ms - self.now_ms, arrive);
    }

    /// Gives a broker's driver a turn soon.
    pub fn wake(&mut self, broker: usize) {
        let at_ms = self.now_ms + self.random.within(0..3);
        self.turn_at(broker, at_ms);
    }

    fn turn_at(&mut self, broker: usize, at_ms: u64) {
        let turn_ms = &mut self.brokers[broker].turn_ms;
        if turn_ms.is_none_or(|turn_ms| at_ms < turn_ms) {
            *turn_ms = Some(at_ms);
            self.after(at_ms - self.now_ms, Happening::Turn { broker });
        }
    }

    fn turn(&mut self, at: usize) {
        let broker = &mut self.brokers[at];
        if broker.turn_ms != Some(self.now_ms) {
            return; // An earlier turn replaced it.
        }
        broker.turn_ms = None;
        let Some(domain) = &mut broker.domain else { return };
        domain.handle_timeout(self.now_ms);
        let events: Vec<DomainEvent> = std::iter::from_fn(|| domain.poll_event()).collect();
        let neighbours: Vec<BrokerId> = domain.to_send().collect();
        let next_ms = domain.next_timeout_ms();
        for neighbour in neighbours {
            let link = self.links_of[at][&neighbour];
            while let Some(bytes) = self.next_bytes(at, neighbour) {
                self.carry(at, link, Carried::Control(bytes));
            }
        }
        for event in &events {
            self.hear(at, event);
        }
        if let Some(next_ms) = next_ms {
            self.turn_at(at, next_ms.max(self.now_ms + 1));
        }
    }

    fn next_bytes(&mut self, at: usize, neighbour: BrokerId) -> Option<Vec<u8>> {
        self.brokers[at].domain.as_mut()?.poll_transmit(neighbour)
    }
}
