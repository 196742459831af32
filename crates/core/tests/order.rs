//! The order of one client's messages: whenever it disconnects, comes back or subscribes again, it gets the messages of
//! a topic in the order of publishing (MQTT-4.6.0-6), and none after a retained copy of a newer one.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use slipring_core::{
    ConnectionKey, Delivery, Limits, Message, Outgoing, Packets, Replay, Retained, Terms,
};
use slipring_wire::{Packet, PacketSplit, Publish, QoS, Version, split_packet};

const TOPICS: [&str; 3] = ["a", "a/b", "c"];

#[derive(Clone, Debug)]
enum Step {
    Publish {
        topic: usize,
        retain: bool,
    },
    Subscribe,
    /// The broker sends what the client's window allows, and the client acknowledges some of it.
    Take {
        answers: usize,
    },
    Lose,
    ComeBack,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..TOPICS.len(), any::<bool>())
            .prop_map(|(topic, retain)| Step::Publish { topic, retain }),
        2 => Just(Step::Subscribe),
        4 => (0usize..4).prop_map(|answers| Step::Take { answers }),
        1 => Just(Step::Lose),
        1 => Just(Step::ComeBack),
    ]
}

/// A message that the client gets for the first time.
#[derive(Clone, Copy, Debug)]
struct Got {
    number: u32,
    retain: bool,
}

struct World {
    limits: Limits,
    retained: Retained,
    outgoing: Outgoing,
    connections: u64,
    connected: bool,
    published: BTreeMap<&'static str, Vec<u32>>,
    made: u32,
    unanswered: Vec<slipring_wire::PacketId>,
    got: BTreeMap<String, Vec<Got>>,
}

impl World {
    fn new() -> Self {
        let limits = Limits::default();
        let mut world = Self {
            limits,
            retained: Retained::default(),
            outgoing: Outgoing::new(&limits),
            connections: 0,
            connected: false,
            published: BTreeMap::new(),
            made: 0,
            unanswered: Vec::new(),
            got: BTreeMap::new(),
        };
        world.come_back();
        world
    }

    fn come_back(&mut self) {
        if self.connected {
            return;
        }
        self.connections += 1;
        self.connected = true;
        let (version, packet_bytes) = (Version::V5, u32::MAX);
        let terms = Terms { version, receive_max: 2, packet_bytes, topic_aliases: 0 };
        self.outgoing.attach(ConnectionKey::new(self.connections), terms, &self.limits);
        self.outgoing.restart_replays(self.retained.newest());
    }

    fn lose(&mut self) {
        self.outgoing.detach(ConnectionKey::new(self.connections));
        self.unanswered.clear();
        self.connected = false;
    }

    fn publish(&mut self, topic: &'static str, retain: bool) {
        let number = self.made;
        self.made += 1;
        let payload = number.to_be_bytes();
        let qos = QoS::AtLeastOnce;
        let publish = Publish { qos, retain, ..Publish::new(topic, &payload) };
        let message = Arc::new(Message::new(&publish, topic.into(), 0));
        if retain {
            self.retained
                .set(Arc::clone(&message), slipring_core::Owner::broker(), &self.limits)
                .expect("there is room");
        }
        self.outgoing.push(Delivery::plain(message, qos));
        self.published.entry(topic).or_default().push(number);
    }

    fn subscribe(&mut self) {
        if self.connected {
            let until = self.retained.newest();
            let (filter, qos) = ("#".into(), QoS::AtLeastOnce);
            self.outgoing.push_replay(Replay { filter, qos, identifiers: None, until });
        }
    }

    fn take(&mut self, answers: usize) {
        let (mut packets, retained) = (Packets::default(), &self.retained);
        let mut find =
            |asked: &Replay, after: Option<&str>| retained.page(&asked.filter, after, asked.until);
        self.outgoing.take(0, &mut find, &mut packets);
        let bytes = packets.to_vec();
        let mut rest = &bytes[..];
        while let Ok(PacketSplit::Whole(found)) = split_packet(rest, usize::MAX) {
            let Ok(Packet::Publish(publish)) = Packet::decode(&found, Version::V5) else {
                panic!("only messages are sent");
            };
            self.unanswered.extend(publish.packet_id);
            if !publish.dup {
                let number = u32::from_be_bytes(publish.payload.try_into().expect("four bytes"));
                let got = Got { number, retain: publish.retain };
                self.got.entry(publish.topic.to_owned()).or_default().push(got);
            }
            rest = &rest[found.length..];
        }
        let count = answers.min(self.unanswered.len());
        for id in self.unanswered.drain(..count) {
            self.outgoing.acked(id);
        }
    }

    fn run(&mut self, step: &Step) {
        match *step {
            Step::Publish { topic, retain } => self.publish(TOPICS[topic], retain),
            Step::Subscribe => self.subscribe(),
            Step::Take { answers } => self.take(answers),
            Step::Lose => self.lose(),
            Step::ComeBack => self.come_back(),
        }
    }

    /// Delivers everything.
    fn drain(&mut self) {
        self.come_back();
        loop {
            self.take(usize::MAX);
            if !self.outgoing.has_work() && self.outgoing.inflight() == 0 {
                return;
            }
        }
    }

    fn retained_copies(&self, topic: &str) -> Vec<u32> {
        let got = self.got.get(topic).into_iter().flatten();
        got.filter(|got| got.retain).map(|got| got.number).collect()
    }
}

proptest! {
    #[test]
    fn no_message_comes_after_a_newer_one_or_its_retained_copy(
        history in prop::collection::vec(step(), 0..60),
    ) {
        let mut world = World::new();
        for step in &history {
            world.run(step);
        }
        world.come_back();
        world.subscribe();
        world.drain();
        for (topic, got) in &world.got {
            let mut newest = 0;
            for one in got {
                // A retained copy may be older than messages that were published later without the retain flag.
                prop_assert!(one.retain || one.number >= newest, "{}: {:?}", topic, got);
                newest = newest.max(one.number);
            }
        }
        for (topic, published) in &world.published {
            let got = world.got.get(*topic).into_iter().flatten().filter(|got| !got.retain);
            let live: Vec<u32> = got.map(|got| got.number).collect();
            prop_assert_eq!(&live, published, "every message arrives once");
            let kept = world.retained.get(topic);
            let kept = kept.map(|kept| u32::from_be_bytes(kept.payload().try_into().unwrap()));
            prop_assert_eq!(world.retained_copies(topic).last().copied(), kept, "and the retained message");
        }
    }
}

#[test]
fn a_retained_copy_comes_after_messages_that_were_queued_while_the_client_was_away() {
    let mut world = World::new();
    world.lose();
    (0..3).for_each(|_| world.publish("a", true));
    world.come_back();
    world.subscribe();
    world.drain();
    let numbers: Vec<u32> = world.got["a"].iter().map(|got| got.number).collect();
    assert_eq!(numbers, [0, 1, 2, 2], "not 2, 0, 1, 2");
    assert_eq!(world.retained_copies("a"), [2]);
}

#[test]
fn a_client_that_subscribes_twice_before_anything_is_sent_gets_one_copy() {
    let mut world = World::new();
    world.publish("a", true);
    world.subscribe();
    world.lose();
    world.come_back();
    world.subscribe();
    world.drain();
    assert_eq!(world.retained_copies("a"), [0]);
}
