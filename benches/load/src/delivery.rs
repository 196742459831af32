//! A client's side of delivery at every QoS: counts messages and acknowledgements, and answers them. Pure.

use slipring_wire::RawPacket;

use crate::Result;

const PUBLISH: u8 = 3;
const PUBACK: u8 = 4;
const PUBREC: u8 = 5;
const PUBREL: u8 = 6;
const PUBCOMP: u8 = 7;
const DISCONNECT: u8 = 14;

/// What was received.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReceivedPackets {
    /// Messages delivered to this client.
    pub messages: u64,
    /// Messages of this client that the broker has acknowledged finally.
    pub acknowledged: u64,
}

impl ReceivedPackets {
    /// Counts a packet, and appends the answer that the broker expects.
    pub fn take(&mut self, packet: &RawPacket<'_>, answers: &mut Vec<u8>) -> Result<()> {
        if packet.first >> 4 == PUBLISH {
            self.messages += 1;
            answer_message(packet, answers)
        } else {
            self.acknowledged += u64::from(take_answer(packet, answers)?);
            Ok(())
        }
    }
}

#[inline]
fn answer_message(packet: &RawPacket<'_>, answers: &mut Vec<u8>) -> Result<()> {
    match (packet.first >> 1) & 3 {
        0 => {}
        1 => answer(0x40, message_id(packet.body)?, answers),
        _ => answer(0x50, message_id(packet.body)?, answers),
    }
    Ok(())
}

/// Handles an acknowledgement. Says whether it is the last one for a message of ours.
fn take_answer(packet: &RawPacket<'_>, answers: &mut Vec<u8>) -> Result<bool> {
    let kind = packet.first >> 4;
    if matches!(kind, PUBACK..=PUBCOMP) {
        refuse_failure(packet.body)?;
    }
    match kind {
        PUBREC => answer(0x62, first_two(packet.body)?, answers),
        PUBREL => answer(0x70, first_two(packet.body)?, answers),
        DISCONNECT => {
            let reason = packet.body.first().copied().unwrap_or(0);
            return Err(format!("the broker said goodbye: {reason:#04x}").into());
        }
        _ => {}
    }
    Ok(matches!(kind, PUBACK | PUBCOMP))
}

/// In MQTT 5 a reason code may follow the identifier.
fn refuse_failure(body: &[u8]) -> Result<()> {
    match body.get(2) {
        Some(&reason) if reason >= 0x80 => {
            Err(format!("the broker refused a message: {reason:#04x}").into())
        }
        _ => Ok(()),
    }
}

fn answer(first: u8, id: [u8; 2], answers: &mut Vec<u8>) {
    answers.extend_from_slice(&[first, 2, id[0], id[1]]);
}

/// The packet identifier, which follows the topic.
fn message_id(body: &[u8]) -> Result<[u8; 2]> {
    let topic_bytes = usize::from(u16::from_be_bytes(first_two(body)?));
    first_two(body.get(2 + topic_bytes..).unwrap_or_default())
}

fn first_two(bytes: &[u8]) -> Result<[u8; 2]> {
    bytes.first_chunk().copied().ok_or_else(|| "a packet without its identifier".into())
}

#[cfg(test)]
mod tests {
    use slipring_wire::{Ack, Packet, PacketId, Properties, Publish, QoS, Reason, Version};

    use super::*;
    use crate::receive_buffer::each_packet;

    fn message(qos: QoS, id: u16) -> Vec<u8> {
        let packet_id = PacketId::new(id);
        encoded(&Packet::Publish(Publish { qos, packet_id, ..Publish::new("a/b", b"payload") }))
    }

    fn ack(id: u16) -> Ack<'static> {
        let packet_id = PacketId::new(id).unwrap();
        Ack { packet_id, reason: Reason::Success, properties: Properties::NONE }
    }

    fn encoded(packet: &Packet<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        packet.encode(Version::V311, &mut bytes);
        bytes
    }

    fn take(bytes: &[u8]) -> Result<(ReceivedPackets, Vec<u8>, usize)> {
        let (mut taken, mut answers) = (ReceivedPackets::default(), Vec::new());
        let used = each_packet(bytes, |packet| taken.take(packet, &mut answers))?;
        Ok((taken, answers, used))
    }

    fn answers_to(bytes: &[u8]) -> (ReceivedPackets, Vec<u8>) {
        let (taken, answers, _) = take(bytes).unwrap();
        (taken, answers)
    }

    #[test]
    fn messages_are_counted_and_the_beginning_of_the_next_is_left() {
        let whole = message(QoS::AtMostOnce, 0).repeat(3);
        let mut cut = whole.clone();
        cut.extend_from_slice(&whole[..5]);
        let (taken, answers, used) = take(&cut).unwrap();
        assert_eq!(taken, ReceivedPackets { messages: 3, acknowledged: 0 });
        assert_eq!(used, whole.len());
        assert!(answers.is_empty());
    }

    #[test]
    fn a_message_at_qos_1_is_answered_with_its_identifier() {
        let (_, answers) = answers_to(&message(QoS::AtLeastOnce, 258));
        assert_eq!(answers, encoded(&Packet::PubAck(ack(258))));
    }

    #[test]
    fn both_sides_of_qos_2_answer_each_step() {
        let (_, received) = answers_to(&message(QoS::ExactlyOnce, 7));
        assert_eq!(received, encoded(&Packet::PubRec(ack(7))));
        let (taken, released) = answers_to(&received);
        assert_eq!(released, encoded(&Packet::PubRel(ack(7))));
        assert_eq!(taken.acknowledged, 0);
        let (_, completed) = answers_to(&released);
        assert_eq!(completed, encoded(&Packet::PubComp(ack(7))));
        let (taken, nothing) = answers_to(&completed);
        assert_eq!((taken.acknowledged, nothing.len()), (1, 0));
    }

    #[test]
    fn an_acknowledgement_finishes_a_message() {
        let (taken, _) = answers_to(&encoded(&Packet::PubAck(ack(9))));
        assert_eq!((taken.messages, taken.acknowledged), (0, 1));
    }

    #[test]
    fn a_refused_message_and_a_goodbye_end_the_run() {
        assert!(take(&[0x40, 3, 0, 9, 0x97]).is_err());
        assert!(take(&[0xe0, 1, 0x8b]).is_err());
    }
}
