//! Writing to one client: as many packets as wait with one system call.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use slipring_core::{Dropped, Limit, Taken};
use tokio::io::AsyncWrite;

use crate::broker::Broker;
use crate::client::{Client, Link};

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
}

impl Outlet {
    /// Writes what waits until all is written, or the socket takes no more (pending).
    pub fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut S,
        broker: &Broker,
        client: Option<(&Arc<Client>, &Link)>,
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
    fn refill(&mut self, broker: &Broker, client: Option<(&Arc<Client>, &Link)>) -> bool {
        self.sent = 0;
        self.unsent.clear();
        if self.unsent.capacity() > BYTES_KEPT {
            self.unsent = Vec::new();
        }
        self.unsent.append(&mut self.control);
        let taken = match client {
            Some((client, link)) => self.take(broker, client, link),
            None => Taken::default(),
        };
        if taken == Taken::default() && self.unsent.is_empty() {
            return false;
        }
        let bytes = self.unsent.len() as u64;
        broker.traffic.sent(taken, bytes);
        if let Some((client, _)) = client {
            client.traffic.sent(taken, bytes);
            count_bounds(broker, client, taken);
        }
        bytes > 0
    }

    fn take(&mut self, broker: &Broker, client: &Client, link: &Link) -> Taken {
        let mut outgoing = client.outgoing();
        if !outgoing.is_linked(link.key) || !outgoing.has_work() {
            return Taken::default();
        }
        let mut find = |filter: &str| broker.retained().matching(filter);
        outgoing.take(broker.now_ms(), &mut find, &mut self.unsent)
    }
}

fn count_bounds(broker: &Broker, client: &Arc<Client>, taken: Taken) {
    if taken.held {
        broker.reached.count(Limit::Inflight);
    }
    if taken.dropped > 0 {
        let messages = u32::try_from(taken.dropped).unwrap_or(u32::MAX);
        broker.count_dropped(client, Dropped { limit: None, messages, wake: false });
    }
}
