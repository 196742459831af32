//! Writing one client's outbox to its socket: as many packets as wait with one system call.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncWrite, AsyncWriteExt, WriteHalf};

use crate::broker::Broker;
use crate::event::EventKind;
use crate::peer::Peer;

/// Drops are told at most this often, and once more at the end.
const TELL_DROPPED: Duration = Duration::from_secs(1);
/// Write buffers above this are given back when they are empty.
const BYTES_KEPT: usize = 64 << 10;

/// The writing half of a socket, and what it has not taken yet.
pub(crate) struct Outlet<S> {
    writer: WriteHalf<S>,
    unsent: Vec<u8>,
    /// How much of `unsent` is sent.
    sent: usize,
    blocked: bool,
    /// Messages dropped and not told yet.
    dropped: u64,
    told: Option<Instant>,
}

impl<S: AsyncWrite + Unpin> Outlet<S> {
    pub fn new(writer: WriteHalf<S>) -> Self {
        Self { writer, unsent: Vec::new(), sent: 0, blocked: false, dropped: 0, told: None }
    }

    /// Whether the socket took less than there was.
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Writes what waits in the outbox until all is written or the socket takes no more.
    pub async fn write(&mut self, peer: &Peer, broker: &Broker) -> std::io::Result<()> {
        poll_fn(|cx| match self.poll_drain(cx, peer, broker) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => Poll::Ready(Ok(())),
        })
        .await
    }

    /// Writes everything, however long the socket takes.
    pub async fn write_all(&mut self, peer: &Peer, broker: &Broker) -> std::io::Result<()> {
        poll_fn(|cx| self.poll_drain(cx, peer, broker)).await
    }

    fn poll_drain(
        &mut self,
        cx: &mut Context<'_>,
        peer: &Peer,
        broker: &Broker,
    ) -> Poll<std::io::Result<()>> {
        self.blocked = true;
        while self.sent < self.unsent.len() || self.refill(peer, broker) {
            let unsent = &self.unsent[self.sent..];
            self.sent += ready!(Pin::new(&mut self.writer).poll_write(cx, unsent))?;
        }
        ready!(Pin::new(&mut self.writer).poll_flush(cx))?;
        self.blocked = false;
        Poll::Ready(Ok(()))
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
