//! Where a publisher stands on the belt, and how much of it is due. Pure.

use crate::belt::Belt;

/// A publisher's place on the belt.
#[derive(Default)]
pub struct Supply {
    position: usize,
    due_bytes: usize,
}

impl Supply {
    /// So many more messages are to be sent.
    pub fn add(&mut self, messages: u64, belt: &Belt) {
        self.due_bytes += messages as usize * belt.packet_bytes();
    }

    /// The next bytes to write; empty when nothing is due.
    pub fn next<'a>(&self, belt: &'a Belt) -> &'a [u8] {
        let ahead = belt.ahead(self.position);
        &ahead[..ahead.len().min(self.due_bytes)]
    }

    /// So many bytes were written.
    pub fn advance(&mut self, bytes: usize, belt: &Belt) {
        self.due_bytes -= bytes;
        self.position = (self.position + bytes) % belt.len();
    }

    /// Whether another packet may follow here: the last one was written whole.
    pub fn is_between_packets(&self, belt: &Belt) -> bool {
        self.position % belt.packet_bytes() == 0
    }
}

#[cfg(test)]
mod tests {
    use slipring_wire::{QoS, Version};

    use super::*;
    use crate::belt::Shape;

    #[test]
    fn what_is_due_is_sent_once_round_the_end_of_the_belt_and_however_writes_are_cut() {
        let shape = Shape { version: Version::V311, qos: QoS::AtLeastOnce, payload_bytes: 3 };
        let belt = Belt::new(shape, 0, 1, 4).unwrap();
        let expected: Vec<u8> =
            belt.ahead(0).iter().copied().cycle().take(10 * belt.packet_bytes()).collect();
        for write_max in [1, 7, belt.packet_bytes(), 1_000] {
            let (mut supply, mut written) = (Supply::default(), Vec::new());
            supply.add(6, &belt);
            supply.add(4, &belt);
            while !supply.next(&belt).is_empty() {
                let cut = supply.next(&belt);
                let cut = &cut[..cut.len().min(write_max)];
                written.extend_from_slice(cut);
                supply.advance(cut.len(), &belt);
            }
            assert_eq!(written, expected, "{write_max} bytes a write");
            assert!(supply.is_between_packets(&belt));
        }
    }

    #[test]
    fn a_packet_cut_short_lets_nothing_in_between() {
        let shape = Shape { version: Version::V311, qos: QoS::AtMostOnce, payload_bytes: 3 };
        let belt = Belt::new(shape, 0, 1, 4).unwrap();
        let mut supply = Supply::default();
        supply.add(2, &belt);
        supply.advance(belt.packet_bytes() + 1, &belt);
        assert!(!supply.is_between_packets(&belt));
    }
}
