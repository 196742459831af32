//! The ends of requests that an asker has been told of.

use std::collections::{BTreeMap, BTreeSet};

use slipring_wire::{Packet, PacketId, PropertyId, QoS, Value};

use crate::line::Line;

#[derive(Default)]
pub struct Ends {
    unreleased: BTreeSet<PacketId>,
    /// The ends of each request, by number.
    pub told: BTreeMap<u64, Vec<String>>,
}

impl Ends {
    /// Notes an end, and acknowledges it.
    pub fn take(&mut self, line: &mut Line, packet: &Packet<'_>) {
        match packet {
            Packet::Publish(publish) => {
                let Some(id) = publish.packet_id else { return };
                let number = match publish.properties.get(PropertyId::CorrelationData) {
                    Some(Value::Binary(data)) => {
                        <[u8; 8]>::try_from(data).map_or(u64::MAX, u64::from_be_bytes)
                    }
                    _ => u64::MAX,
                };
                let status = publish.properties.iter().find_map(|(_, value)| match value {
                    Value::Pair("slipring-status", text) => Some(text.to_owned()),
                    _ => None,
                });
                if publish.qos != QoS::ExactlyOnce || self.unreleased.insert(id) {
                    self.told.entry(number).or_default().push(status.unwrap_or_default());
                }
                let is_once = publish.qos == QoS::ExactlyOnce;
                line.answer(if is_once { Packet::PubRec } else { Packet::PubAck }, id);
            }
            Packet::PubRel(ack) => {
                self.unreleased.remove(&ack.packet_id);
                line.answer(Packet::PubComp, ack.packet_id);
            }
            _ => {}
        }
    }
}
