//! Writing to one client: as many packets as wait with one system call, and none before its time.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use slipring_core::{Dropped, Durability, Limit, Taken};
use slipring_journal::{AppendError, Batch};
use tokio::io::AsyncWrite;

use crate::acknowledged::Promised;
use crate::broker::Broker;
use crate::client::{Client, Link};
use crate::event::now_ns;
use crate::gates::{Gate, Gates};

/// Write buffers above this are given back when they are empty.
const BYTES_KEPT: usize = 64 << 10;

/// Messages read from the journal at one time for a client that came back.
const LOADED_MAX: usize = 1_024;

/// What the socket has not taken yet.
#[derive(Default)]
pub(crate) struct Outlet {
    /// Answers that wait for the next write.
    pub control: Vec<u8>,
    /// Bytes that wait for the journal, in the order they go.
    held: VecDeque<Held>,
    held_bytes: usize,
    /// How many of them messages for the client must not overtake.
    blocking: usize,
    /// The gate that wakes us.
    awaited: Option<Gate>,
    /// Messages that were taken, and the records the journal must have before they go.
    unrecorded: Option<Unrecorded>,
    unsent: Vec<u8>,
    /// How much of `unsent` is sent.
    sent: usize,
    /// Something was written and not flushed.
    unflushed: bool,
}

/// Bytes that wait for the journal.
struct Held {
    gate: Gate,
    bytes: Vec<u8>,
    /// What they acknowledge.
    promised: Promised,
    /// Messages for the client go after it: it is one, or the SUBACK they are sent for.
    blocks: bool,
}

/// What is known of the answers of one batch.
#[derive(Clone, Copy)]
pub(crate) struct Answers {
    /// What they wait for.
    pub gate: Gate,
    /// What they acknowledge.
    pub promised: Promised,
    /// Messages for the client go after them.
    pub blocks: bool,
}

/// Messages for the client that go once the journal knows their identifiers.
struct Unrecorded {
    level: Durability,
    batch: Batch,
    bytes: Vec<u8>,
}

impl Outlet {
    /// Adds answers that go when a gate is open. What comes later does not overtake them.
    pub fn hold(&mut self, gates: &Gates, bytes: &mut Vec<u8>, answers: Answers) {
        let Answers { gate, promised, blocks } = answers;
        if self.held.is_empty() && gates.is_open(gate) {
            gates.acknowledged.count(promised);
            self.control.append(bytes);
        } else if !bytes.is_empty() {
            self.push(Held { gate, bytes: std::mem::take(bytes), promised, blocks });
        }
    }

    fn push(&mut self, held: Held) {
        self.held_bytes += held.bytes.len();
        self.blocking += usize::from(held.blocks);
        self.held.push_back(held);
    }

    /// Bytes of answers that wait, for the socket or for the journal.
    pub fn waiting_bytes(&self) -> usize {
        self.control.len() + self.held_bytes
    }

    /// Whether something waits for the journal.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty() || self.unrecorded.is_some()
    }

    /// What all that waits for the journal waits for.
    pub fn last_gate(&self) -> Option<Gate> {
        self.held.back().map(|held| held.gate)
    }

    /// Forgets what the journal will never make safe.
    pub fn forget_held(&mut self) {
        self.held.clear();
        self.held_bytes = 0;
        self.blocking = 0;
    }

    /// Lets go what the journal has made safe, and asks to be woken for the rest.
    pub fn release(&mut self, broker: &Arc<Broker>, link: &Arc<Link>) {
        self.record(broker, link);
        while let Some(held) = self.held.front_mut() {
            let gate = held.gate;
            if !broker.gates.is_open(gate) {
                if self.awaited != Some(gate) {
                    self.awaited = Some(gate);
                    broker.gates.wait(gate, link);
                }
                return;
            }
            self.held_bytes -= held.bytes.len();
            self.blocking -= usize::from(held.blocks);
            broker.gates.acknowledged.count(held.promised);
            self.control.append(&mut held.bytes);
            self.held.pop_front();
        }
        self.awaited = None;
    }

    /// Hands the records of taken messages to the journal; the messages then wait for it.
    fn record(&mut self, broker: &Arc<Broker>, link: &Arc<Link>) {
        let Some(mut unrecorded) = self.unrecorded.take() else { return };
        match broker.append(&mut unrecorded.batch, unrecorded.level) {
            Ok((_, gate)) if unrecorded.level > Durability::Memory => {
                let promised = Promised::default();
                self.push(Held { gate, bytes: unrecorded.bytes, promised, blocks: true });
            }
            Err(AppendError::Full { .. }) => {
                let mark = broker.gates.next_write();
                broker.gates.wait(Gate { level: Durability::Process, mark }, link);
                self.unrecorded = Some(unrecorded);
            }
            // The records alone; or the journal failed, and the connection ends.
            Ok(_) | Err(_) => {}
        }
    }

    /// The connection is over: its records are kept all the same.
    pub fn record_rest(&mut self, broker: &Broker) {
        if let Some(mut unrecorded) = self.unrecorded.take() {
            broker.note_all(unrecorded.batch.records());
        }
    }

    /// Writes what waits until all is written, or the socket takes no more (pending).
    pub fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut S,
        broker: &Arc<Broker>,
        link: &Arc<Link>,
        client: Option<&Arc<Client>>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.sent == self.unsent.len() && !self.refill(broker, link, client) {
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
    fn refill(
        &mut self,
        broker: &Arc<Broker>,
        link: &Arc<Link>,
        client: Option<&Arc<Client>>,
    ) -> bool {
        self.sent = 0;
        self.unsent.clear();
        if self.unsent.capacity() > BYTES_KEPT {
            self.unsent = Vec::new();
        }
        if self.is_holding() {
            self.release(broker, link);
        }
        self.unsent.append(&mut self.control);
        let taken = match client {
            Some(client) => {
                broker.catch_up(client);
                self.take(broker, client, link)
            }
            None => Taken::default(),
        };
        if taken == Taken::default() && self.unsent.is_empty() {
            return false;
        }
        let bytes = self.unsent.len() as u64;
        broker.traffic.sent(taken, bytes);
        if let Some(client) = client {
            client.traffic.sent(taken, bytes);
            count_bounds(broker, client, taken);
        }
        bytes > 0
    }

    fn take(&mut self, broker: &Arc<Broker>, client: &Arc<Client>, link: &Arc<Link>) -> Taken {
        let mut outgoing = client.outgoing();
        if self.blocking > 0 || !outgoing.is_linked(link.key) || !outgoing.has_work() {
            return Taken::default();
        }
        let mut find = |filter: &str| broker.retained().matching(filter);
        if !outgoing.is_durable() {
            return outgoing.take(broker.now_ms(), &mut find, &mut self.unsent);
        }
        if self.unrecorded.is_some() {
            return Taken::default(); // what was taken before goes first
        }
        let start = self.unsent.len();
        let taken = outgoing.take(broker.now_ms(), &mut find, &mut self.unsent);
        let mut batch = Batch::new();
        batch.at(now_ns());
        let level = outgoing.take_records(batch.records());
        // Only when it is needed next: the rest stays in the journal.
        let wanted = if taken.wants { outgoing.wanted(LOADED_MAX) } else { Vec::new() };
        drop(outgoing);
        if !wanted.is_empty() {
            broker.load(client, wanted);
        }
        if batch.is_empty() && level.is_none() {
            return taken;
        }
        let level = level.unwrap_or(Durability::Memory);
        let bytes =
            if level > Durability::Memory { self.unsent.split_off(start) } else { Vec::new() };
        self.unrecorded = Some(Unrecorded { level, batch, bytes });
        self.release(broker, link);
        self.unsent.append(&mut self.control);
        taken
    }
}

fn count_bounds(broker: &Broker, client: &Arc<Client>, taken: Taken) {
    if taken.held {
        broker.reached.count(Limit::Inflight);
    }
    let gone = taken.dropped + taken.lost;
    if gone > 0 {
        let messages = u32::try_from(gone).unwrap_or(u32::MAX);
        broker.count_dropped(client, Dropped { limit: None, messages, wake: false });
    }
}
