//! A ring of PUBLISH packets of equal length, encoded in advance and sent again and again. Pure.

use slipring_wire::{Packet, PacketId, Properties, Publish, QoS, Version};

use crate::Result;
use crate::topics::topic;

/// The properties that all packets of a ring share.
#[derive(Clone, Copy)]
pub struct PacketShape {
    pub version: Version,
    pub qos: QoS,
    pub payload_bytes: usize,
}

/// The packets, one after the other.
pub struct PacketRing {
    bytes: Vec<u8>,
    packet_bytes: usize,
}

impl PacketRing {
    /// Packets for the topics in turn, beginning with `first`. There are at least `window` of them, so that the
    /// identifiers of all messages in flight differ.
    pub fn new(shape: PacketShape, first: u64, topics: u64, window: u64) -> Result<Self> {
        let packets = window.div_ceil(topics) * topics;
        let has_ids = shape.qos != QoS::AtMostOnce;
        if has_ids && packets > u64::from(u16::MAX) {
            return Err(format!("{packets} packet identifiers are needed, there are 65535").into());
        }
        let payload = vec![b'x'; shape.payload_bytes];
        let mut bytes = Vec::new();
        for number in 0..packets {
            let id = if has_ids { PacketId::new(number as u16 + 1) } else { None };
            publish(shape, &topic(first + number % topics), id, &payload, &mut bytes);
        }
        let packet_bytes = bytes.len() / packets as usize;
        Ok(Self { bytes, packet_bytes })
    }

    /// The bytes of one packet.
    pub fn packet_bytes(&self) -> usize {
        self.packet_bytes
    }

    /// The bytes from a position to the end of the ring.
    pub fn ahead(&self, position: usize) -> &[u8] {
        &self.bytes[position..]
    }

    /// The bytes of all packets.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
}

fn publish(
    shape: PacketShape,
    topic: &str,
    packet_id: Option<PacketId>,
    payload: &[u8],
    out: &mut Vec<u8>,
) {
    Packet::Publish(Publish {
        dup: false,
        qos: shape.qos,
        retain: false,
        topic,
        packet_id,
        properties: Properties::NONE,
        payload,
    })
    .encode(shape.version, out);
}

#[cfg(test)]
mod tests {
    use slipring_wire::{PacketSplit, split_packet};

    use super::*;

    fn shape(qos: QoS) -> PacketShape {
        PacketShape { version: Version::V311, qos, payload_bytes: 64 }
    }

    fn packets(ring: &PacketRing) -> Vec<(String, Option<u16>)> {
        let mut found = Vec::new();
        let mut rest = ring.ahead(0);
        while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
            let Ok(Packet::Publish(message)) = Packet::decode(&whole, Version::V311) else {
                panic!("not a message");
            };
            found.push((message.topic.into(), message.packet_id.map(PacketId::get)));
            assert_eq!(whole.length, ring.packet_bytes());
            rest = &rest[whole.length..];
        }
        found
    }

    #[test]
    fn topics_come_in_turn_and_the_belt_ends_with_the_last() {
        let ring = PacketRing::new(shape(QoS::AtMostOnce), 0, 3, 4).unwrap();
        let topics: Vec<_> = packets(&ring).into_iter().map(|(topic, _)| topic).collect();
        assert_eq!(topics, [0, 1, 2, 0, 1, 2].map(topic));
    }

    #[test]
    fn identifiers_differ_and_none_is_zero() {
        let ring = PacketRing::new(shape(QoS::AtLeastOnce), 0, 1, 5).unwrap();
        let ids: Vec<_> = packets(&ring).into_iter().map(|(_, id)| id).collect();
        assert_eq!(ids, (1..=5).map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn more_identifiers_than_there_are_is_refused() {
        assert!(PacketRing::new(shape(QoS::AtLeastOnce), 0, 1, 65_535).is_ok());
        assert!(PacketRing::new(shape(QoS::AtLeastOnce), 0, 1, 65_536).is_err());
        assert!(PacketRing::new(shape(QoS::AtMostOnce), 0, 100_000, 1).is_ok());
    }
}
