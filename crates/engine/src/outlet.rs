//! Writing to one client: as many packets as wait with one system call, and none before its time.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use slipring_core::{Dropped, Durability, Limit, Packets, Replay, Taken, Work};
use slipring_journal::{AppendError, Batch};
use tokio::io::AsyncWrite;

use crate::acknowledged::Promised;
use crate::broker::Broker;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::gates::{Gate, Gates};
use crate::stored;

/// Pieces that one system call writes at most.
const SLICES_MAX: usize = 64;

/// Messages read from the journal at one time for a client that came back.
const LOADED_MAX: usize = 1_024;

/// What the socket has not taken yet.
#[derive(Default)]
pub(crate) struct Outlet {
    /// Answers that wait for the next write.
    pub control: Packets,
    /// Bytes that wait for the journal, in the order they go.
    held: VecDeque<Held>,
    held_bytes: usize,
    /// How many of them messages for the client must not overtake.
    blocking: usize,
    /// The gate that wakes us.
    awaited: Option<Gate>,
    /// Messages that were taken, and the records the journal must have before they go.
    unrecorded: Option<Unrecorded>,
    unsent: Packets,
    /// Something was written and not flushed.
    unflushed: bool,
    /// The last words are among the answers: nothing follows them (MQTT-3.14.4-1).
    pub is_last: bool,
}

/// Bytes that wait for the journal.
struct Held {
    gate: Gate,
    packets: Packets,
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

/// Who is written to, and the work that it makes.
pub(crate) struct Writing<'a> {
    pub broker: &'a Arc<Broker>,
    pub connection: &'a Arc<ConnectionHandle>,
    pub client: Option<&'a Arc<Client>>,
    pub work: &'a mut Work,
}

/// Messages for the client that go once the journal knows their identifiers.
struct Unrecorded {
    level: Durability,
    batch: Batch,
    packets: Packets,
}

impl Outlet {
    /// Adds answers that go when a gate is open. What comes later does not overtake them.
    pub fn hold(&mut self, gates: &Gates, bytes: &mut Vec<u8>, answers: Answers) {
        let Answers { gate, promised, blocks } = answers;
        if self.held.is_empty() && gates.is_open(gate) {
            gates.acknowledged.count(promised);
            self.control.tail().append(bytes);
        } else if !bytes.is_empty() || blocks {
            let packets = Packets::from(std::mem::take(bytes));
            self.push(Held { gate, packets, promised, blocks });
        }
    }

    fn push(&mut self, held: Held) {
        self.held_bytes += held.packets.len();
        self.blocking += usize::from(held.blocks);
        self.held.push_back(held);
    }

    /// Bytes of answers that wait, for the socket or for the journal.
    pub fn waiting_bytes(&self) -> usize {
        self.control.len() + self.held_bytes
    }

    /// Whether it holds memory that nothing needs now.
    pub fn is_grown(&self) -> bool {
        self.unsent.is_grown() || self.control.is_grown()
    }

    /// The client was quiet for a while: gives that memory back.
    pub fn rest(&mut self) {
        self.unsent.rest();
        self.control.rest();
    }

    /// Whether something waits for the journal.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty() || self.unrecorded.is_some()
    }

    /// What all that waits for the journal waits for.
    pub fn last_gate(&self) -> Option<Gate> {
        self.held.back().map(|held| held.gate)
    }

    /// Forgets what the journal will never make safe. Messages that go after it never go.
    pub fn forget_held(&mut self) {
        self.held.clear();
        self.held_bytes = 0;
    }

    /// Forgets every answer: nobody is there to read it.
    pub fn forget_answers(&mut self) {
        self.control.clear();
        self.forget_held();
    }

    /// Lets go what the journal has made safe, and asks to be woken for the rest.
    pub fn release(&mut self, broker: &Arc<Broker>, connection: &Arc<ConnectionHandle>) {
        self.record(broker, connection);
        while let Some(held) = self.held.front_mut() {
            let gate = held.gate;
            if !broker.journal.gates.is_open(gate) {
                if self.awaited != Some(gate) {
                    self.awaited = Some(gate);
                    broker.journal.gates.wait(gate, connection);
                }
                return;
            }
            self.held_bytes -= held.packets.len();
            self.blocking -= usize::from(held.blocks);
            broker.journal.gates.acknowledged.count(held.promised);
            held.packets.append_to(&mut self.control);
            self.held.pop_front();
        }
        self.awaited = None;
    }

    /// Hands the records of taken messages to the journal; the messages then wait for it.
    fn record(&mut self, broker: &Arc<Broker>, connection: &Arc<ConnectionHandle>) {
        let Some(mut unrecorded) = self.unrecorded.take() else { return };
        match broker.journal.append(&mut unrecorded.batch, unrecorded.level) {
            Ok((_, gate)) if unrecorded.level > Durability::Memory => {
                let promised = Promised::default();
                self.push(Held { gate, packets: unrecorded.packets, promised, blocks: true });
            }
            Err(AppendError::Full { .. }) => {
                let mark = broker.journal.gates.next_write();
                broker.journal.gates.wait(Gate { level: Durability::Process, mark }, connection);
                self.unrecorded = Some(unrecorded);
            }
            // The records alone; or the journal failed, and the connection ends.
            Ok(_) | Err(_) => {}
        }
    }

    /// The connection is over: its records are kept all the same.
    pub fn record_rest(&mut self, broker: &Broker) {
        if let Some(mut unrecorded) = self.unrecorded.take() {
            broker.journal.note_all(unrecorded.batch.records());
        }
    }

    /// Writes what waits until all is written, or the turn is over; pending when the socket takes no
    /// more.
    pub fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut S,
        writing: Writing<'_>,
    ) -> Poll<io::Result<()>> {
        let Writing { broker, connection, client, work } = writing;
        while !work.is_over() {
            if self.unsent.is_empty() && !self.refill(broker, connection, client, work) {
                if self.unflushed {
                    ready!(Pin::new(&mut *stream).poll_flush(cx))?;
                    self.unflushed = false;
                }
                return Poll::Ready(Ok(()));
            }
            if work.is_short_for(self.unsent.len()) {
                work.end();
                break;
            }
            let stream = Pin::new(&mut *stream);
            let count = ready!(match self.unsent.as_slice() {
                Some(bytes) => stream.poll_write(cx, bytes),
                None => poll_write_pieces(cx, stream, &self.unsent),
            })?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unflushed = true;
            self.unsent.advance(count);
            work.add(Work::CALL);
            work.add_bytes(count);
        }
        Poll::Ready(Ok(()))
    }

    /// Takes over what waits; false when nothing does.
    fn refill(
        &mut self,
        broker: &Arc<Broker>,
        connection: &Arc<ConnectionHandle>,
        client: Option<&Arc<Client>>,
        work: &mut Work,
    ) -> bool {
        self.unsent.clear();
        if self.is_holding() {
            self.release(broker, connection);
        }
        if !self.control.is_empty() {
            self.control.append_to(&mut self.unsent);
        }
        let taken = match client {
            Some(client) if !self.is_last => {
                broker.streams.catch_up(broker, client);
                self.take(broker, client, connection)
            }
            _ => Taken::default(),
        };
        if taken == Taken::default() && self.unsent.is_empty() {
            return false;
        }
        work.add(taken.encoded as usize * Work::ENCODED);
        self.unsent.recount();
        let bytes = self.unsent.len() as u64;
        if taken.looks || (taken.encoded > 0 && bytes == 0) {
            work.end(); // others run before more is looked for
        }
        broker.monitor.traffic.sent(taken, bytes);
        if let Some(client) = client {
            client.traffic.sent(taken, bytes);
            count_bounds(broker, client, taken);
        }
        bytes > 0
    }

    fn take(
        &mut self,
        broker: &Arc<Broker>,
        client: &Arc<Client>,
        connection: &Arc<ConnectionHandle>,
    ) -> Taken {
        let mut outgoing = client.outgoing();
        if self.blocking > 0 || !outgoing.is_attached(connection.key) || !outgoing.has_work() {
            return Taken::default();
        }
        let mut find = |asked: &Replay, after: Option<&str>| {
            broker.topics.retained().page(&asked.filter, after, asked.until)
        };
        if !outgoing.is_durable() {
            return outgoing.take(broker.clock.now_ms(), &mut find, &mut self.unsent);
        }
        if self.unrecorded.is_some() {
            return Taken::default(); // what was taken before goes first
        }
        let mut packets = Packets::default();
        let taken = outgoing.take(broker.clock.now_ms(), &mut find, &mut packets);
        let mut batch = Batch::new();
        batch.at(broker.clock.now_ns());
        let level = outgoing.take_records(batch.records());
        // Only when it is needed next: the rest stays in the journal.
        let wanted = if taken.wants { outgoing.wanted(LOADED_MAX) } else { Vec::new() };
        drop(outgoing);
        if !wanted.is_empty() {
            stored::load(broker, client, wanted);
        }
        let level = level.unwrap_or(Durability::Memory);
        if level == Durability::Memory {
            packets.append_to(&mut self.unsent);
        }
        if !batch.is_empty() || level > Durability::Memory {
            self.unrecorded = Some(Unrecorded { level, batch, packets });
            self.release(broker, connection);
            self.control.append_to(&mut self.unsent);
        }
        taken
    }
}

fn poll_write_pieces<S: AsyncWrite + Unpin>(
    cx: &mut Context<'_>,
    stream: Pin<&mut S>,
    packets: &Packets,
) -> Poll<io::Result<usize>> {
    let mut slices = [IoSlice::new(&[]); SLICES_MAX];
    let count = packets.slices(&mut slices);
    stream.poll_write_vectored(cx, &slices[..count])
}

fn count_bounds(broker: &Broker, client: &Arc<Client>, taken: Taken) {
    if taken.held {
        broker.monitor.reached.count(Limit::Inflight);
    }
    let gone = taken.dropped + taken.lost;
    if gone > 0 {
        let messages = u32::try_from(gone).unwrap_or(u32::MAX);
        broker.monitor.count_dropped(client, Dropped { limit: None, messages, wake: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_wait_behind_a_part_of_a_subscription_that_has_no_answer_yet() {
        let (mut outlet, gates) = (Outlet::default(), Gates::default());
        let gate = Gate { level: Durability::Disk, mark: 10 };
        let answers = Answers { gate, promised: Promised::default(), blocks: true };
        outlet.hold(&gates, &mut Vec::new(), answers);
        assert_eq!((outlet.blocking, outlet.last_gate()), (1, Some(gate)));
    }
}
