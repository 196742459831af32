//! A receiver as the standard describes it, with its answers to the broker.

use std::collections::{HashSet, VecDeque};

use proptest::prelude::*;
use slipring_wire::{Packet, PacketId, PacketSplit, Publish, QoS, Version, split_packet};

/// An answer of the receiver.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    Ack(PacketId),
    Received(PacketId),
    Completed(PacketId),
}

/// A receiver as the standard describes it (MQTT-4.3.2, MQTT-4.3.3).
#[derive(Default)]
pub struct Receiver {
    /// Given to the application, in order.
    pub delivered: Vec<(QoS, u32)>,
    /// QoS 2 identifiers between PUBLISH and PUBREL; they outlive connections.
    pub unreleased: HashSet<PacketId>,
    /// Answers that have not reached the broker; lost with the connection.
    pub answers: VecDeque<Answer>,
    /// Unanswered PUBLISH packets of this connection.
    pub outstanding: HashSet<PacketId>,
    /// Identifiers seen on an earlier connection without being settled.
    pub earlier: HashSet<PacketId>,
    /// Whether the broker may crash: then it cannot know whether it sent a message before, and DUP is not checked.
    pub forgetful_broker: bool,
}

impl Receiver {
    pub fn receive(&mut self, bytes: &[u8], receive_max: u16) -> Result<(), TestCaseError> {
        let mut rest = bytes;
        while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
            match Packet::decode(&whole, Version::V5) {
                Ok(Packet::Publish(publish)) => self.publish(&publish)?,
                Ok(Packet::PubRel(ack)) => {
                    self.unreleased.remove(&ack.packet_id);
                    self.answers.push_back(Answer::Completed(ack.packet_id));
                }
                other => prop_assert!(false, "not for a receiver: {other:?}"),
            }
            rest = &rest[whole.length..];
        }
        prop_assert!(rest.is_empty(), "half a packet");
        prop_assert!(self.outstanding.len() <= usize::from(receive_max), "MQTT-3.3.4-9");
        Ok(())
    }

    fn publish(&mut self, publish: &Publish<'_>) -> Result<(), TestCaseError> {
        let id = publish.packet_id.expect("QoS 1 or 2");
        let number = u32::from_be_bytes(publish.payload.try_into().expect("four bytes"));
        prop_assert!(self.outstanding.insert(id), "MQTT-2.2.1-4: {id:?} is in use");
        if !self.forgetful_broker {
            prop_assert_eq!(publish.dup, self.earlier.contains(&id), "MQTT-3.3.1-1");
        }
        if publish.qos == QoS::AtLeastOnce {
            self.delivered.push((QoS::AtLeastOnce, number));
            self.answers.push_back(Answer::Ack(id));
        } else {
            if self.unreleased.insert(id) {
                self.delivered.push((QoS::ExactlyOnce, number));
            }
            self.answers.push_back(Answer::Received(id));
        }
        Ok(())
    }

    pub fn lose(&mut self) {
        self.answers.clear();
        self.earlier.extend(self.outstanding.drain());
    }
}
