//! A connected client of the loop: its socket, the messages it publishes, and the acknowledgements it sends.

use mio::net::TcpStream;

use crate::Result;
use crate::delivery::ReceivedPackets;
use crate::packet_ring::PacketRing;
use crate::receive_buffer::{ReceiveBuffer, each_packet};
use crate::ring_position::RingPosition;
use crate::send_buffer::{SendBuffer, write_some};

/// A connected client. One that only subscribes never has messages due.
pub struct LoadClient {
    stream: TcpStream,
    received: ReceiveBuffer,
    answers: SendBuffer,
    pub position: RingPosition,
}

impl LoadClient {
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            received: ReceiveBuffer::default(),
            answers: SendBuffer::default(),
            position: RingPosition::default(),
        }
    }

    /// Reads everything that has arrived, and queues the answers.
    pub fn read(&mut self, scratch: &mut [u8]) -> Result<ReceivedPackets> {
        let (mut taken, answers) = (ReceivedPackets::default(), self.answers.bytes());
        self.received.read(&mut self.stream, scratch, |bytes| {
            each_packet(bytes, |packet| taken.take(packet, answers))
        })?;
        Ok(taken)
    }

    /// Writes answers, then the messages that are due. Answers are written between packets only.
    pub fn write(&mut self, ring: &PacketRing) -> Result<()> {
        if self.position.is_between_packets(ring) && !self.answers.flush(&mut self.stream)? {
            return Ok(());
        }
        loop {
            let due = self.position.next(ring);
            if due.is_empty() {
                self.answers.flush(&mut self.stream)?;
                return Ok(());
            }
            let written = write_some(due, &mut self.stream)?;
            let is_full = written < due.len();
            self.position.advance(written, ring);
            if is_full {
                return Ok(());
            }
        }
    }
}
