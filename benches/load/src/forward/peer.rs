//! The clients of the forwarder: reads what they send, and writes to their sockets.

use std::rc::Rc;

use mio::net::TcpStream;
use slipring_wire::{
    ConnAck, Packet, PacketSplit, Properties, RawPacket, Reason, SubAck, Version, split_packet,
};

use super::subscribers::TopicSubscribers;
use crate::Result;
use crate::receive_buffer::ReceiveBuffer;
use crate::send_buffer::SendBuffer;

/// The sockets to write to, by client.
#[derive(Default)]
pub struct PeerSockets {
    peers: Vec<Option<(Rc<TcpStream>, SendBuffer)>>,
}

/// A client's socket to read from.
pub struct PeerReader {
    stream: Rc<TcpStream>,
    received: ReceiveBuffer,
    version: Version,
}

impl PeerSockets {
    pub fn admit(&mut self, number: usize, stream: TcpStream) -> PeerReader {
        let stream = Rc::new(stream);
        if number == self.peers.len() {
            self.peers.push(None);
        }
        self.peers[number] = Some((Rc::clone(&stream), SendBuffer::default()));
        PeerReader { stream, received: ReceiveBuffer::default(), version: Version::V311 }
    }

    pub fn remove(&mut self, number: usize) {
        self.peers[number] = None;
    }

    pub fn flush(&mut self, number: usize) -> Result<()> {
        if let Some((stream, unsent)) = &mut self.peers[number] {
            unsent.flush(&mut &**stream)?;
        }
        Ok(())
    }

    /// Ignores a subscriber that has just disconnected: its own socket reports that.
    fn send(&mut self, number: usize, bytes: &[u8]) {
        if let Some((stream, unsent)) = &mut self.peers[number] {
            let _ = unsent.send(bytes, &mut &**stream);
        }
    }
}

impl PeerReader {
    /// Handles all packets that have arrived.
    pub fn read(
        &mut self,
        number: usize,
        scratch: &mut [u8],
        peers: &mut PeerSockets,
        subscribers: &mut TopicSubscribers,
    ) -> Result<()> {
        let Self { stream, received, version } = self;
        let mut answers = Vec::new();
        received.read(&mut &**stream, scratch, |bytes| {
            let mut used = 0;
            while let PacketSplit::Whole(packet) = split_packet(&bytes[used..], usize::MAX)? {
                if packet.first >> 4 == 3 {
                    let topic = topic(packet.body)?;
                    let length = same_topic_bytes(&bytes[used..], topic, &mut answers)?;
                    for &subscriber in subscribers.of(topic) {
                        peers.send(subscriber, &bytes[used..used + length]);
                    }
                    used += length;
                } else {
                    serve(&packet, version, number, subscribers, &mut answers)?;
                    used += packet.length;
                }
            }
            Ok(used)
        })?;
        peers.flush(number)?;
        if !answers.is_empty() {
            peers.send(number, &answers);
        }
        Ok(())
    }
}

/// Handles every packet but PUBLISH.
fn serve(
    packet: &RawPacket<'_>,
    version: &mut Version,
    number: usize,
    subscribers: &mut TopicSubscribers,
    answers: &mut Vec<u8>,
) -> Result<()> {
    match Packet::decode(packet, *version)? {
        Packet::Connect(connect) => {
            *version = connect.version;
            let (reason, properties) = (Reason::Success, Properties::NONE);
            Packet::ConnAck(ConnAck { session_present: false, reason, properties })
                .encode(*version, answers);
        }
        Packet::Subscribe(subscribe) => {
            for subscription in &subscribe.subscriptions {
                subscribers.add(subscription.filter.as_bytes(), number);
            }
            let reasons = subscribe.subscriptions.iter().map(|subscription| {
                Reason::from_code(subscription.qos as u8).expect("a granted QoS is a reason")
            });
            Packet::SubAck(SubAck {
                packet_id: subscribe.packet_id,
                properties: Properties::NONE,
                reasons: reasons.collect(),
            })
            .encode(*version, answers);
        }
        Packet::PubAck(_) | Packet::Disconnect(_) => {}
        other => return Err(format!("the forwarder knows no {other:?}").into()),
    }
    Ok(())
}

/// Counts the bytes of the first messages to one topic, up to another topic or an incomplete packet. Acknowledges
/// them at QoS 1.
fn same_topic_bytes(bytes: &[u8], topic: &[u8], answers: &mut Vec<u8>) -> Result<usize> {
    let mut length = 0;
    while let Ok(PacketSplit::Whole(packet)) = split_packet(&bytes[length..], usize::MAX) {
        if packet.first >> 4 != 3 || self::topic(packet.body)? != topic {
            break;
        }
        match (packet.first >> 1) & 3 {
            0 => {}
            1 => acknowledge(&packet.body[2 + topic.len()..], answers)?,
            _ => return Err("the forwarder knows no QoS 2".into()),
        }
        length += packet.length;
    }
    Ok(length)
}

fn acknowledge(behind_topic: &[u8], answers: &mut Vec<u8>) -> Result<()> {
    let id: [u8; 2] = *behind_topic.first_chunk().ok_or("a message without its identifier")?;
    answers.extend_from_slice(&[0x40, 2, id[0], id[1]]);
    Ok(())
}

fn topic(body: &[u8]) -> Result<&[u8]> {
    let (length, rest) = body.split_first_chunk().ok_or("a message without its topic")?;
    let length = usize::from(u16::from_be_bytes(*length));
    rest.get(..length).ok_or_else(|| "a message without its topic".into())
}

#[cfg(test)]
mod tests {
    use slipring_wire::{PacketId, Publish, QoS};

    use super::*;

    fn message(topic: &str, id: u16) -> Vec<u8> {
        let qos = if id == 0 { QoS::AtMostOnce } else { QoS::AtLeastOnce };
        let mut bytes = Vec::new();
        let packet_id = PacketId::new(id);
        Packet::Publish(Publish { qos, packet_id, ..Publish::new(topic, b"payload") })
            .encode(Version::V311, &mut bytes);
        bytes
    }

    #[test]
    fn messages_to_one_topic_are_taken_together_until_another_or_a_piece_comes() {
        let one = message("a/b", 0);
        let mut bytes = one.repeat(3);
        bytes.extend(message("a/c", 0));
        assert_eq!(same_topic_bytes(&bytes, b"a/b", &mut Vec::new()).unwrap(), 3 * one.len());
        assert_eq!(
            same_topic_bytes(&bytes[..2 * one.len() + 3], b"a/b", &mut Vec::new()).unwrap(),
            2 * one.len()
        );
    }

    #[test]
    fn messages_at_qos_1_are_acknowledged_one_by_one() {
        let mut answers = Vec::new();
        let bytes = [message("a/b", 5), message("a/b", 6)].concat();
        assert_eq!(same_topic_bytes(&bytes, b"a/b", &mut answers).unwrap(), bytes.len());
        assert_eq!(answers, [0x40, 2, 0, 5, 0x40, 2, 0, 6]);
    }
}
