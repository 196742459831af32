//! The messages that a client has received. A QoS 2 message counts once by its identifier, as MQTT demands.

use std::collections::{BTreeMap, BTreeSet};

use slipring_wire::{Packet, PacketId, QoS};

use crate::line::Line;

#[derive(Default)]
pub struct Received {
    /// QoS 2 identifiers that were not released.
    unreleased: BTreeSet<PacketId>,
    /// How often each message was delivered, by topic and number.
    pub messages: BTreeMap<(String, u64), u32>,
}

impl Received {
    /// Forgets identifiers: the session that they belong to is over.
    pub fn end_session(&mut self) {
        self.unreleased.clear();
    }

    /// Whether a message has been delivered.
    pub fn has(&self, topic: &str, number: u64) -> bool {
        self.messages.contains_key(&(topic.to_owned(), number))
    }

    /// Notes a message, and answers at QoS 2. Returns the identifier of a message at QoS 1, to be acknowledged.
    pub fn take(&mut self, line: &mut Line, packet: &Packet<'_>) -> Option<PacketId> {
        match packet {
            Packet::Publish(publish) => {
                let number = <[u8; 8]>::try_from(publish.payload).map_or(0, u64::from_be_bytes);
                let id = publish.packet_id?;
                if publish.qos != QoS::ExactlyOnce || self.unreleased.insert(id) {
                    *self.messages.entry((publish.topic.to_owned(), number)).or_default() += 1;
                }
                if publish.qos == QoS::AtLeastOnce {
                    return Some(id);
                }
                line.answer(Packet::PubRec, id);
            }
            Packet::PubRel(ack) => {
                self.unreleased.remove(&ack.packet_id);
                line.answer(Packet::PubComp, ack.packet_id);
            }
            _ => {}
        }
        None
    }
}
