//! What a broker has kept: a persistent session disconnects, resumes later, and counts what was queued for it.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use slipring_wire::{Packet, PacketSplit, QoS, Reason, Version, split_packet};

use crate::Result;
use crate::arguments::{KeepArguments, KeptArguments};
use crate::handshake::Handshake;
use crate::numbered::{MessageNumber, number_of};
use crate::receive_buffer::scratch;
use crate::run_report::RunReport;
use crate::topics::ALL;

const CLIENT_ID: &str = "load-keeper";
const DISCONNECT: [u8; 2] = [0xe0, 0];
const VERSION: Version = Version::V311;

/// Creates the session, and disconnects.
pub fn keep(arguments: &KeepArguments) -> Result<()> {
    let mut connection = BlockingConnection::new(arguments.address)?;
    let mut handshake = Handshake::persistent(CLIENT_ID).subscribe(&[ALL.into()], QoS::AtLeastOnce);
    while let Some(request) = handshake.next() {
        connection.stream.write_all(&request)?;
        connection.take(|packet| handshake.check_packet(&packet))?;
    }
    connection.stream.write_all(&DISCONNECT)?;
    RunReport::default().text("client", CLIENT_ID).print();
    Ok(())
}

/// Resumes the session, and counts until every acknowledged message has arrived, or no more arrive.
pub fn kept(arguments: &KeptArguments) -> Result<()> {
    let mut connection = BlockingConnection::new(arguments.address)?;
    connection.stream.set_read_timeout(Some(arguments.patience()))?;
    let mut handshake = Handshake::persistent(CLIENT_ID);
    connection.stream.write_all(&handshake.next().unwrap_or_default())?;
    let mut tally = LossTally::new(&arguments.acknowledged);
    let mut is_present = false;
    while tally.lost() > 0 {
        let mut answer = Vec::new();
        let is_more = connection.take(|packet| {
            match packet {
                Packet::ConnAck(connack) if connack.reason == Reason::Success => {
                    is_present = connack.session_present;
                }
                Packet::Publish(message) => {
                    tally.count(number_of(message.payload)?);
                    let id = message.packet_id.map_or(0, slipring_wire::PacketId::get);
                    answer = [&[0x40, 2], id.to_be_bytes().as_slice()].concat();
                }
                other => return Err(format!("a message was expected, not {other:?}").into()),
            }
            Ok(())
        })?;
        if !is_more {
            break;
        }
        connection.stream.write_all(&answer)?;
    }
    RunReport::default()
        .number("session_present", u64::from(is_present))
        .number("received", tally.received)
        .number("repeated", tally.repeated)
        .number("lost", tally.lost())
        .print();
    Ok(())
}

/// A blocking connection that reads one packet after the other.
struct BlockingConnection {
    stream: TcpStream,
    unread: Vec<u8>,
    used: usize,
    scratch: Vec<u8>,
}

impl BlockingConnection {
    fn new(address: std::net::SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, unread: Vec::new(), used: 0, scratch: scratch() })
    }

    /// Passes the next packet to `each`. Returns false if none arrives in time.
    fn take(&mut self, mut each: impl FnMut(Packet<'_>) -> Result<()>) -> Result<bool> {
        loop {
            let ahead = &self.unread[self.used..];
            if let PacketSplit::Whole(whole) = split_packet(ahead, usize::MAX)? {
                each(Packet::decode(&whole, VERSION)?)?;
                self.used += whole.length;
                return Ok(true);
            }
            self.unread.drain(..self.used);
            self.used = 0;
            match self.stream.read(&mut self.scratch) {
                Ok(0) => return Err("the broker closed the connection".into()),
                Ok(count) => self.unread.extend_from_slice(&self.scratch[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The acknowledged messages that have not arrived yet.
struct LossTally {
    acknowledged: Vec<u64>,
    missing: Vec<BTreeSet<u64>>,
    received: u64,
    repeated: u64,
}

impl LossTally {
    /// `acknowledged` says how many of each publisher's first messages were acknowledged.
    fn new(acknowledged: &[u64]) -> Self {
        let missing = acknowledged.iter().map(|count| (0..*count).collect()).collect();
        Self { acknowledged: acknowledged.to_vec(), missing, received: 0, repeated: 0 }
    }

    fn count(&mut self, message: MessageNumber) {
        self.received += 1;
        let publisher = message.publisher as usize;
        let Some(missing) = self.missing.get_mut(publisher) else { return };
        let is_again =
            !missing.remove(&message.number) && message.number < self.acknowledged[publisher];
        self.repeated += u64::from(is_again);
    }

    fn lost(&self) -> u64 {
        self.missing.iter().map(|numbers| numbers.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledged_message_that_does_not_arrive_is_lost() {
        let mut tally = LossTally::new(&[3, 1]);
        for (publisher, number) in [(0, 0), (0, 2), (0, 2), (0, 3), (1, 0), (9, 0)] {
            tally.count(MessageNumber { publisher, number });
        }
        assert_eq!((tally.lost(), tally.received, tally.repeated), (1, 6, 1));
    }
}
