//! Writing one client's outbox to its socket: as many packets as wait with one system call.

use std::io::ErrorKind;

use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;

use crate::broker::Broker;
use crate::event::EventKind;
use crate::peer::Peer;

/// Write buffers above this are given back when they are empty.
const BYTES_KEPT: usize = 64 << 10;

/// The writing half of a socket, and what it has not taken yet.
pub(crate) struct Outlet {
    writer: OwnedWriteHalf,
    unsent: Vec<u8>,
    /// How much of `unsent` is sent.
    sent: usize,
}

impl Outlet {
    pub fn new(writer: OwnedWriteHalf) -> Self {
        Self { writer, unsent: Vec::new(), sent: 0 }
    }

    /// Whether the socket took less than there was.
    pub fn is_blocked(&self) -> bool {
        self.sent < self.unsent.len()
    }

    /// Waits until the socket takes more.
    pub async fn writable(&self) -> std::io::Result<()> {
        self.writer.writable().await
    }

    /// Writes what waits in the outbox until all is written or the socket takes no more.
    pub fn write(&mut self, peer: &Peer, broker: &Broker) -> std::io::Result<()> {
        loop {
            if !self.is_blocked() && !self.refill(peer, broker) {
                return Ok(());
            }
            match self.writer.try_write(&self.unsent[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes everything, however long the socket takes.
    pub async fn write_all(&mut self, peer: &Peer, broker: &Broker) -> std::io::Result<()> {
        self.write(peer, broker)?;
        while self.is_blocked() {
            self.writable().await?;
            self.write(peer, broker)?;
        }
        Ok(())
    }

    /// Tells the client that nothing more comes.
    pub async fn shut(&mut self) -> std::io::Result<()> {
        self.writer.shutdown().await
    }

    /// Takes over what waits in the outbox; false when nothing does.
    fn refill(&mut self, peer: &Peer, broker: &Broker) -> bool {
        self.sent = 0;
        self.unsent.clear();
        if self.unsent.capacity() > BYTES_KEPT {
            self.unsent = Vec::new();
        }
        let taken = peer.outbox().take(&mut self.unsent);
        let bytes = self.unsent.len() as u64;
        peer.traffic.sent(taken, bytes);
        broker.traffic.sent(taken, bytes);
        if taken.dropped > 0 {
            let detail = format!("{} messages: it reads too slowly", taken.dropped);
            broker.report(EventKind::Dropped, peer, detail);
        }
        bytes > 0
    }
}
