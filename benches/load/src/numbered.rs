//! QoS 1 messages whose payload holds the publisher's number and the message's number. Pure.

use slipring_wire::{Packet, PacketId, Publish, QoS, Version};

use crate::Result;
use crate::topics::topic;

/// Bytes of a payload that both numbers take.
pub const NUMBER_BYTES: usize = 12;

/// Which message it is: its publisher, and how many messages that one sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageNumber {
    pub publisher: u32,
    pub number: u64,
}

/// One publisher's packet, in which only the numbers change.
pub struct Template {
    bytes: Vec<u8>,
    id_at: usize,
    payload_at: usize,
}

impl Template {
    pub fn new(version: Version, publisher: u32, payload_bytes: usize) -> Self {
        let mut payload = vec![b'x'; payload_bytes.max(NUMBER_BYTES)];
        payload[..4].copy_from_slice(&publisher.to_be_bytes());
        let topic = topic(u64::from(publisher));
        let (mut bytes, qos, packet_id) = (Vec::new(), QoS::AtLeastOnce, PacketId::new(1));
        let message = Publish { qos, packet_id, ..Publish::new(&topic, &payload) };
        Packet::Publish(message).encode(version, &mut bytes);
        let payload_at = bytes.len() - payload.len();
        // MQTT 5 has the length of the properties, one zero byte, between identifier and payload.
        let id_at = payload_at - 2 - usize::from(version == Version::V5);
        Self { bytes, id_at, payload_at }
    }

    /// Appends the message with this number.
    pub fn append(&mut self, number: u64, out: &mut Vec<u8>) {
        self.bytes[self.id_at..self.id_at + 2].copy_from_slice(&id_of(number).to_be_bytes());
        self.bytes[self.payload_at + 4..self.payload_at + NUMBER_BYTES]
            .copy_from_slice(&number.to_be_bytes());
        out.extend_from_slice(&self.bytes);
    }
}

/// The packet identifier of a message; after 65,535 comes 1 again.
pub fn id_of(number: u64) -> u16 {
    (number % u64::from(u16::MAX)) as u16 + 1
}

/// Reads the numbers in a payload.
pub fn number_of(payload: &[u8]) -> Result<MessageNumber> {
    let numbers: &[u8; NUMBER_BYTES] = payload.first_chunk().ok_or("a message without numbers")?;
    let (publisher, number) = numbers.split_at(4);
    Ok(MessageNumber {
        publisher: u32::from_be_bytes(publisher.try_into().expect("four bytes")),
        number: u64::from_be_bytes(number.try_into().expect("eight bytes")),
    })
}

#[cfg(test)]
mod tests {
    use slipring_wire::{PacketSplit, split_packet};

    use super::*;

    #[test]
    fn a_message_says_whose_and_which_it_is() {
        for version in [Version::V311, Version::V5] {
            let (mut template, mut bytes) = (Template::new(version, 7, 64), Vec::new());
            for number in [0, 1, 65_534, 65_535, 1 << 40] {
                bytes.clear();
                template.append(number, &mut bytes);
                let Ok(PacketSplit::Whole(whole)) = split_packet(&bytes, usize::MAX) else {
                    panic!()
                };
                let Ok(Packet::Publish(message)) = Packet::decode(&whole, version) else {
                    panic!()
                };
                assert_eq!(message.packet_id.map(PacketId::get), Some(id_of(number)));
                assert_eq!(
                    number_of(message.payload).unwrap(),
                    MessageNumber { publisher: 7, number }
                );
                assert_eq!(message.payload.len(), 64);
            }
        }
    }

    #[test]
    fn identifiers_go_round_and_none_is_zero() {
        assert_eq!([id_of(0), id_of(65_534), id_of(65_535)], [1, 65_535, 1]);
    }

    #[test]
    fn a_message_of_somebody_else_is_refused() {
        assert!(number_of(b"short").is_err());
    }
}
