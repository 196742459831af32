//! The clients of the forwarder: what they send, and what is written to them.

use std::rc::Rc;

use mio::net::TcpStream;
use slipring_wire::{
    ConnAck, Framed, Packet, Properties, RawPacket, Reason, SubAck, Version, frame,
};

use super::routes::Routes;
use crate::Result;
use crate::inlet::Inlet;
use crate::outlet::Outlet;

/// The sockets to write to, by client.
#[derive(Default)]
pub struct Peers {
    peers: Vec<Option<(Rc<TcpStream>, Outlet)>>,
}

/// A client's socket to read from.
pub struct Reading {
    stream: Rc<TcpStream>,
    inlet: Inlet,
    version: Version,
}

impl Peers {
    pub fn admit(&mut self, number: usize, stream: TcpStream) -> Reading {
        let stream = Rc::new(stream);
        if number == self.peers.len() {
            self.peers.push(None);
        }
        self.peers[number] = Some((Rc::clone(&stream), Outlet::default()));
        Reading { stream, inlet: Inlet::default(), version: Version::V311 }
    }

    pub fn remove(&mut self, number: usize) {
        self.peers[number] = None;
    }

    pub fn flush(&mut self, number: usize) -> Result<()> {
        if let Some((stream, outlet)) = &mut self.peers[number] {
            outlet.flush(&mut &**stream)?;
        }
        Ok(())
    }

    /// A subscriber that has just gone gets nothing; its own socket tells that it has.
    fn send(&mut self, number: usize, bytes: &[u8]) {
        if let Some((stream, outlet)) = &mut self.peers[number] {
            let _ = outlet.send(bytes, &mut &**stream);
        }
    }
}

impl Reading {
    /// Serves all packets that have come; whether the client is still there.
    pub fn read(
        &mut self,
        number: usize,
        scratch: &mut [u8],
        peers: &mut Peers,
        routes: &mut Routes,
    ) -> Result<bool> {
        let Self { stream, inlet, version } = self;
        let mut answers = Vec::new();
        let is_open = inlet.read(&mut &**stream, scratch, |bytes| {
            let mut used = 0;
            while let Framed::Whole(packet) =
                frame(&bytes[used..], usize::MAX).map_err(|broken| broken.to_string())?
            {
                if packet.first >> 4 == 3 {
                    let topic = topic(packet.body)?;
                    let run = run(&bytes[used..], topic, &mut answers)?;
                    for &subscriber in routes.of(topic) {
                        peers.send(subscriber, &bytes[used..used + run]);
                    }
                    used += run;
                } else {
                    serve(&packet, version, number, routes, &mut answers)?;
                    used += packet.length;
                }
            }
            Ok(used)
        })?;
        peers.flush(number)?;
        if !answers.is_empty() {
            peers.send(number, &answers);
        }
        Ok(is_open)
    }
}

/// Answers everything that is not a message.
fn serve(
    packet: &RawPacket<'_>,
    version: &mut Version,
    number: usize,
    routes: &mut Routes,
    answers: &mut Vec<u8>,
) -> Result<()> {
    match Packet::decode(packet, *version).map_err(|broken| broken.to_string())? {
        Packet::Connect(connect) => {
            *version = connect.version;
            let (reason, properties) = (Reason::Success, Properties::NONE);
            Packet::ConnAck(ConnAck { session_present: false, reason, properties })
                .encode(*version, answers);
        }
        Packet::Subscribe(subscribe) => {
            for subscription in &subscribe.subscriptions {
                routes.add(subscription.filter.as_bytes(), number);
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

/// The bytes of all messages at the front that go to one topic; at QoS 1 they are acknowledged.
fn run(bytes: &[u8], topic: &[u8], answers: &mut Vec<u8>) -> Result<usize> {
    let mut length = 0;
    while let Ok(Framed::Whole(packet)) = frame(&bytes[length..], usize::MAX) {
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
    fn messages_to_one_topic_are_one_run_until_another_or_a_piece_comes() {
        let one = message("a/b", 0);
        let mut bytes = one.repeat(3);
        bytes.extend(message("a/c", 0));
        assert_eq!(run(&bytes, b"a/b", &mut Vec::new()).unwrap(), 3 * one.len());
        assert_eq!(
            run(&bytes[..2 * one.len() + 3], b"a/b", &mut Vec::new()).unwrap(),
            2 * one.len()
        );
    }

    #[test]
    fn a_run_at_qos_1_is_acknowledged_message_by_message() {
        let mut answers = Vec::new();
        let bytes = [message("a/b", 5), message("a/b", 6)].concat();
        assert_eq!(run(&bytes, b"a/b", &mut answers).unwrap(), bytes.len());
        assert_eq!(answers, [0x40, 2, 0, 5, 0x40, 2, 0, 6]);
    }
}
