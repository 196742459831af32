//! What a broker has kept: a durable session that leaves, and comes back to count what waits for it.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use slipring_wire::{Framed, Packet, QoS, Reason, Version, frame};

use crate::Result;
use crate::arguments::{Keep, Kept};
use crate::dialogue::Dialogue;
use crate::inlet::scratch;
use crate::numbered::{Place, place_of};
use crate::report::Report;
use crate::topics::ALL;

const CLIENT_ID: &str = "load-keeper";
const DISCONNECT: [u8; 2] = [0xe0, 0];
const VERSION: Version = Version::V311;

/// Makes the session, and leaves.
pub fn keep(arguments: &Keep) -> Result<()> {
    let mut line = Line::new(arguments.address)?;
    let mut dialogue = Dialogue::lasting(CLIENT_ID).subscribe(&[ALL.into()], QoS::AtLeastOnce);
    while let Some(request) = dialogue.next() {
        line.stream.write_all(&request)?;
        line.take(|packet| dialogue.hear_packet(&packet))?;
    }
    line.stream.write_all(&DISCONNECT)?;
    Report::default().text("client", CLIENT_ID).print();
    Ok(())
}

/// Comes back, and counts until all that was acknowledged is there, or nothing comes any more.
pub fn kept(arguments: &Kept) -> Result<()> {
    let mut line = Line::new(arguments.address)?;
    line.stream.set_read_timeout(Some(arguments.patience()))?;
    let mut dialogue = Dialogue::lasting(CLIENT_ID);
    line.stream.write_all(&dialogue.next().unwrap_or_default())?;
    let mut tally = Tally::new(&arguments.acknowledged);
    let mut is_present = false;
    while tally.lost() > 0 {
        let mut answer = Vec::new();
        let is_more = line.take(|packet| {
            match packet {
                Packet::ConnAck(connack) if connack.reason == Reason::Success => {
                    is_present = connack.session_present;
                }
                Packet::Publish(message) => {
                    tally.count(place_of(message.payload)?);
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
        line.stream.write_all(&answer)?;
    }
    Report::default()
        .number("session_present", u64::from(is_present))
        .number("received", tally.received)
        .number("repeated", tally.repeated)
        .number("lost", tally.lost())
        .print();
    Ok(())
}

/// A connection that waits for one packet after the other.
struct Line {
    stream: TcpStream,
    unread: Vec<u8>,
    used: usize,
    scratch: Vec<u8>,
}

impl Line {
    fn new(address: std::net::SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, unread: Vec::new(), used: 0, scratch: scratch() })
    }

    /// Takes the next packet; whether there was one before patience ended.
    fn take(&mut self, mut each: impl FnMut(Packet<'_>) -> Result<()>) -> Result<bool> {
        loop {
            let ahead = &self.unread[self.used..];
            if let Framed::Whole(whole) =
                frame(ahead, usize::MAX).map_err(|broken| broken.to_string())?
            {
                each(Packet::decode(&whole, VERSION).map_err(|broken| broken.to_string())?)?;
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

/// What was acknowledged and has not come yet.
struct Tally {
    acknowledged: Vec<u64>,
    missing: Vec<BTreeSet<u64>>,
    received: u64,
    repeated: u64,
}

impl Tally {
    /// Of each publisher the first so many messages were acknowledged.
    fn new(acknowledged: &[u64]) -> Self {
        let missing = acknowledged.iter().map(|count| (0..*count).collect()).collect();
        Self { acknowledged: acknowledged.to_vec(), missing, received: 0, repeated: 0 }
    }

    fn count(&mut self, place: Place) {
        self.received += 1;
        let publisher = place.publisher as usize;
        let Some(missing) = self.missing.get_mut(publisher) else { return };
        let is_again =
            !missing.remove(&place.number) && place.number < self.acknowledged[publisher];
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
    fn what_was_acknowledged_and_did_not_come_is_lost() {
        let mut tally = Tally::new(&[3, 1]);
        for (publisher, number) in [(0, 0), (0, 2), (0, 2), (0, 3), (1, 0), (9, 0)] {
            tally.count(Place { publisher, number });
        }
        assert_eq!((tally.lost(), tally.received, tally.repeated), (1, 6, 1));
    }
}
