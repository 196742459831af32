//! Random histories of lost connections and acknowledgements against a small model of the standard.
//!
//! The model is a client that does what the standard asks of a receiver. Its connection may be lost with bytes in both
//! directions. In every history QoS 1 messages arrive at least once, QoS 2 messages exactly once.

mod crashes;
mod disk;
mod receiver;
mod sender;

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use receiver::{Answer, Receiver};
use slipring_core::{
    ConnectionKey, Delivery, Limits, Message, Outgoing, Packets, Pushed, RetainedPage, Session,
    Terms,
};
use slipring_wire::{Packet, PacketId, PacketSplit, Publish, QoS, Version, split_packet};

#[derive(Clone, Debug)]
enum Step {
    Publish(bool),
    /// The broker writes; the bytes arrive, or are lost.
    Write(bool),
    /// This number of answers reach the broker.
    Answer(usize),
    /// The connection is lost, and the client comes back with this receive maximum.
    Lose(u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<bool>().prop_map(Step::Publish),
        3 => prop::bool::weighted(0.9).prop_map(Step::Write),
        4 => (1usize..5).prop_map(Step::Answer),
        1 => (1u16..6).prop_map(Step::Lose),
    ]
}

struct World {
    outgoing: Outgoing,
    receiver: Receiver,
    receive_max: u16,
    connections: u64,
    published: Vec<(QoS, u32)>,
}

fn terms(receive_max: u16) -> Terms {
    Terms { version: Version::V5, receive_max, packet_bytes: u32::MAX, topic_aliases: 3 }
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            outgoing: Outgoing::new(&Limits::default()),
            receiver: Receiver::default(),
            receive_max: 3,
            connections: 0,
            published: Vec::new(),
        };
        world.connect(3);
        world
    }

    fn connect(&mut self, receive_max: u16) {
        self.receive_max = receive_max;
        self.connections += 1;
        self.outgoing.attach(
            ConnectionKey::new(self.connections),
            terms(receive_max),
            &Limits::default(),
        );
    }

    fn lose(&mut self, receive_max: u16) {
        self.outgoing.detach(ConnectionKey::new(self.connections));
        self.receiver.lose();
        self.connect(receive_max);
    }

    fn publish(&mut self, exactly: bool) {
        let qos = if exactly { QoS::ExactlyOnce } else { QoS::AtLeastOnce };
        let number = self.published.len() as u32;
        let payload = number.to_be_bytes();
        let publish = Publish { qos, ..Publish::new("t", &payload) };
        let message = Arc::new(Message::new(&publish, "t".into(), 0));
        let delivery = Delivery::plain(message, qos);
        assert!(matches!(self.outgoing.push(delivery), Pushed::Quiet | Pushed::Wake));
        self.published.push((qos, number));
    }

    fn write(&mut self, arrives: bool) -> Result<(), TestCaseError> {
        let mut packets = Packets::default();
        self.outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut packets);
        let bytes = packets.to_vec();
        if arrives {
            return self.receiver.receive(&bytes, self.receive_max);
        }
        let sent = publishes(&bytes);
        self.receiver.earlier.extend(sent);
        self.lose(self.receive_max);
        Ok(())
    }

    fn answer(&mut self) -> bool {
        let Some(answer) = self.receiver.answers.pop_front() else { return false };
        match answer {
            Answer::Ack(id) => {
                self.outgoing.acked(id);
                self.settle(id);
            }
            Answer::Received(id) => {
                self.outgoing.received(id, false);
                // The broker answers PUBREL at once.
                self.receiver.unreleased.remove(&id);
                self.receiver.answers.push_back(Answer::Completed(id));
            }
            Answer::Completed(id) => {
                self.outgoing.completed(id);
                self.settle(id);
            }
        }
        true
    }

    fn settle(&mut self, id: PacketId) {
        self.receiver.outstanding.remove(&id);
        self.receiver.earlier.remove(&id);
    }

    fn run(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Publish(exactly) => self.publish(*exactly),
            Step::Write(arrives) => self.write(*arrives)?,
            Step::Answer(count) => {
                for _ in 0..*count {
                    self.answer();
                }
            }
            Step::Lose(receive_max) => self.lose(*receive_max),
        }
        Ok(())
    }

    /// Delivers everything.
    fn drain(&mut self) -> Result<(), TestCaseError> {
        loop {
            self.write(true)?;
            if !self.answer() && !self.outgoing.has_work() {
                return Ok(());
            }
        }
    }
}

fn publishes(bytes: &[u8]) -> Vec<PacketId> {
    let (mut rest, mut ids) = (bytes, Vec::new());
    while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
        if let Ok(Packet::Publish(publish)) = Packet::decode(&whole, Version::V5) {
            ids.extend(publish.packet_id);
        }
        rest = &rest[whole.length..];
    }
    ids
}

#[test]
fn a_session_that_is_over_holds_no_messages() {
    let mut world = World::new();
    (0..10).for_each(|number| world.publish(number % 2 == 0));
    world.write(true).unwrap();
    assert_eq!(world.outgoing.waiting(), (10, 50), "three in flight, seven in the queue");
    world.outgoing.end();
    assert_eq!(world.outgoing.waiting(), (0, 0));
    assert!(!world.outgoing.has_work());
}

proptest! {
    #[test]
    fn no_message_is_lost_and_qos_2_arrives_once_whichever_packets_are_lost(
        history in prop::collection::vec(step(), 0..120),
    ) {
        let mut world = World::new();
        for step in &history {
            world.run(step)?;
        }
        world.drain()?;
        prop_assert_eq!(world.outgoing.waiting(), (0, 0), "every message is settled");
        let of = |list: &[(QoS, u32)], wanted| -> Vec<u32> {
            list.iter().filter(|(qos, _)| *qos == wanted).map(|(_, number)| *number).collect()
        };
        let delivered = &world.receiver.delivered;
        let exactly = QoS::ExactlyOnce;
        prop_assert_eq!(of(delivered, exactly), of(&world.published, exactly), "MQTT-4.3.3, MQTT-4.6.0-6");
        let mut seen = HashSet::new();
        let at_least = of(delivered, QoS::AtLeastOnce);
        let first: Vec<u32> = at_least.into_iter().filter(|number| seen.insert(*number)).collect();
        prop_assert_eq!(first, of(&world.published, QoS::AtLeastOnce), "MQTT-4.3.2, MQTT-4.6.0-6");
    }

    #[test]
    fn a_qos_2_message_from_a_client_is_taken_once_however_often_it_is_sent(
        history in prop::collection::vec((1u16..6, any::<bool>()), 0..80),
    ) {
        let mut session = Session::default();
        let mut model: HashSet<u16> = HashSet::new();
        for (number, publish) in history {
            let id = PacketId::new(number).unwrap();
            if publish {
                let new = session.receive(id, &Limits::default(), Version::V5).unwrap();
                prop_assert_eq!(new, model.insert(number), "MQTT-4.3.3-10");
            } else {
                prop_assert_eq!(session.release(id), model.remove(&number), "MQTT-4.3.3-11");
            }
            prop_assert_eq!(session.unreleased(), model.len());
        }
    }
}
