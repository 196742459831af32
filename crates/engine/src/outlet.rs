//! Writing to one client: as many packets as wait with one system call.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::AsyncWrite;

use crate::broker::Broker;
use crate::client::{Client, Link};
use crate::event::EventKind;

/// Drops are told at most this often, and once more at the end.
const TELL_DROPPED: Duration = Duration::from_secs(1);
/// Write buffers above this are given back when they are empty.
const BYTES_KEPT: usize = 64 << 10;

/// What the socket has not taken yet.
#[derive(Default)]
pub(crate) struct Outlet {
    /// Answers that wait for the next write.
    pub control: Vec<u8>,
    unsent: Vec<u8>,
    /// How much of `unsent` is sent.
    sent: usize,
    /// Something was written and not flushed.
    unflushed: bool,
    /// Messages dropped and not told yet.
    dropped: u64,
    told: Option<Instant>,
}

impl Outlet {
    /// Writes what waits until all is written, or the socket takes no more (pending).
    pub fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut S,
        broker: &Broker,
        client: Option<(&Client, &Link)>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.sent == self.unsent.len() && !self.refill(broker, client) {
                if self.unflushed {
                    ready!(Pin::new(&mut *stream).poll_flush(cx))?;
                    self.unflushed = false;
                }
                return Poll::Ready(Ok(()));
            }
            let count = ready!(Pin::new(&mut *stream).poll_write(cx, &self.unsent[self.sent..]))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unflushed = true;
            self.sent += count;
        }
    }

    /// Takes over what waits; false when nothing does.
    fn refill(&mut self, broker: &Broker, client: Option<(&Client, &Link)>) -> bool {
        self.sent = 0;
        self.unsent.clear();
        if self.unsent.capacity() > BYTES_KEPT {
            self.unsent = Vec::new();
        }
        self.unsent.append(&mut self.control);
        if let Some((client, link)) = client {
            self.take(broker, client, link);
        }
        !self.unsent.is_empty()
    }

    fn take(&mut self, broker: &Broker, client: &Client, link: &Link) {
        let mut outgoing = client.outgoing();
        if !outgoing.is_linked(link.key) || !outgoing.has_work() {
            return;
        }
        let mut find = |filter: &str| broker.retained().matching(filter);
        let taken = outgoing.take(broker.now_ms(), &mut find, &mut self.unsent);
        drop(outgoing);
        let bytes = self.unsent.len() as u64;
        client.traffic.sent(taken, bytes);
        broker.traffic.sent(taken, bytes);
        self.dropped += taken.dropped;
        if self.dropped > 0 && self.told.is_none_or(|told| told.elapsed() >= TELL_DROPPED) {
            self.tell_dropped(broker, client);
        }
    }

    /// Tells how many messages were dropped since the last time, if any.
    pub fn tell_dropped(&mut self, broker: &Broker, client: &Client) {
        if self.dropped > 0 {
            let detail = format!("{} messages: it reads too slowly", self.dropped);
            broker.report(EventKind::Dropped, &client.name, detail);
            self.dropped = 0;
            self.told = Some(Instant::now());
        }
    }
}
