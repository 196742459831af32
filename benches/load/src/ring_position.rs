//! A publisher's position in the ring of packets, and how much of it is due. Pure.

use crate::packet_ring::PacketRing;

/// A publisher's position in the ring.
#[derive(Default)]
pub struct RingPosition {
    position: usize,
    due_bytes: usize,
}

impl RingPosition {
    /// Makes more messages due.
    pub fn add(&mut self, messages: u64, ring: &PacketRing) {
        self.due_bytes += messages as usize * ring.packet_bytes();
    }

    /// The next bytes to write; empty when nothing is due.
    pub fn next<'a>(&self, ring: &'a PacketRing) -> &'a [u8] {
        let ahead = ring.ahead(self.position);
        &ahead[..ahead.len().min(self.due_bytes)]
    }

    /// Moves on by the bytes that were written.
    pub fn advance(&mut self, bytes: usize, ring: &PacketRing) {
        self.due_bytes -= bytes;
        self.position = (self.position + bytes) % ring.len();
    }

    /// Whether the last packet was written completely, so that another one may follow.
    pub fn is_between_packets(&self, ring: &PacketRing) -> bool {
        self.position % ring.packet_bytes() == 0
    }
}

#[cfg(test)]
mod tests {
    use slipring_wire::{QoS, Version};

    use super::*;
    use crate::packet_ring::PacketShape;

    #[test]
    fn due_messages_are_sent_once_across_the_end_of_the_ring_and_with_any_cut_of_writes() {
        let shape = PacketShape { version: Version::V311, qos: QoS::AtLeastOnce, payload_bytes: 3 };
        let ring = PacketRing::new(shape, 0, 1, 4).unwrap();
        let expected: Vec<u8> =
            ring.ahead(0).iter().copied().cycle().take(10 * ring.packet_bytes()).collect();
        for write_max in [1, 7, ring.packet_bytes(), 1_000] {
            let (mut position, mut written) = (RingPosition::default(), Vec::new());
            position.add(6, &ring);
            position.add(4, &ring);
            while !position.next(&ring).is_empty() {
                let cut = position.next(&ring);
                let cut = &cut[..cut.len().min(write_max)];
                written.extend_from_slice(cut);
                position.advance(cut.len(), &ring);
            }
            assert_eq!(written, expected, "{write_max} bytes a write");
            assert!(position.is_between_packets(&ring));
        }
    }

    #[test]
    fn a_packet_cut_short_lets_nothing_in_between() {
        let shape = PacketShape { version: Version::V311, qos: QoS::AtMostOnce, payload_bytes: 3 };
        let ring = PacketRing::new(shape, 0, 1, 4).unwrap();
        let mut position = RingPosition::default();
        position.add(2, &ring);
        position.advance(ring.packet_bytes() + 1, &ring);
        assert!(!position.is_between_packets(&ring));
    }
}
