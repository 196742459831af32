//! Writing one client's outbox to its socket: as many packets as wait with one system call.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;

use crate::broker::Broker;
use crate::event::EventKind;
use crate::peer::Peer;

/// Drops are told at most this often, and once more at the end.
const TELL_DROPPED: Duration = Duration::from_secs(1);
/// Write buffers above this are given back when they are empty.
const BYTES_KEPT: usize = 64 << 10;

/// The writing half of a socket, and what it has not taken yet.
pub(crate) struct Outlet {
    writer: OwnedWriteHalf,
    unsent: Vec<u8>,
    /// How much of `unsent` is sent.
    sent: usize,
    /// Messages dropped and not told yet.
    dropped: u64,
    told: Option<Instant>,
}

impl Outlet {
    pub fn new(writer: OwnedWriteHalf) -> Self {
        Self { writer, unsent: Vec::new(), sent: 0, dropped: 0, told: None }
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
        self.dropped += taken.dropped;
        if self.told.is_none_or(|told| told.elapsed() >= TELL_DROPPED) {
            self.tell_dropped(peer, broker);
        }
        bytes > 0
    }

    /// Tells how many messages were dropped since the last time, if any.
    pub fn tell_dropped(&mut self, peer: &Peer, broker: &Broker) {
        if self.dropped > 0 {
            let detail = format!("{} messages: it reads too slowly", self.dropped);
            broker.report(EventKind::Dropped, peer, detail);
            self.dropped = 0;
            self.told = Some(Instant::now());
        }
    }
}
