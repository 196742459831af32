//! The packets that wait for one client: each goes once the journal has made safe what it promises.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_core::access::Right;
use slipring_core::{Dropped, Durability, Limit, Packets, Replay, Taken, Work};
use slipring_journal::{AppendError, Batch};

use crate::acknowledged::Promised;
use crate::broker::Broker;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::event::EventKind;
use crate::gates::{Gate, Gates};
use crate::stored;

/// Messages read from the journal at one time for a client that came back.
const LOADED_MAX: usize = 1_024;

/// Packets that the carrier has not sent yet.
#[derive(Default)]
pub(crate) struct Outlet {
    /// Answers that wait for the next write.
    pub control: Packets,
    /// Bytes that wait for the journal, in the order they go.
    held: VecDeque<Held>,
    held_bytes: usize,
    /// How many of `held` must go before messages for the client.
    blocking: usize,
    /// The gate that will wake the connection.
    awaited: Option<Gate>,
    /// Messages that were taken from the queue, and the records that the journal must have before they go.
    unrecorded: Option<Unrecorded>,
    /// Packets that go with the next write.
    pub unsent: Packets,
    /// A carrier with a buffer has written packets and not flushed them.
    pub is_unflushed: bool,
    /// DISCONNECT is among the answers: nothing follows it (MQTT-3.14.4-1).
    pub is_last: bool,
}

/// Bytes that wait for the journal.
struct Held {
    packets: Packets,
    answers: Answers,
}

/// How the answers of one batch go.
#[derive(Clone, Copy)]
pub(crate) struct Answers {
    /// The gate that they wait for.
    pub gate: Gate,
    /// The messages that they acknowledge.
    pub promised: Promised,
    /// Messages for the client go after them: they are a message, or the SUBACK of its subscription.
    pub blocks: bool,
}

/// The client that is written to, and the work that writing makes.
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
    /// Adds answers that go when their gate is open. Later answers do not overtake them.
    pub fn hold(&mut self, gates: &Gates, bytes: &mut Vec<u8>, answers: Answers) {
        if self.held.is_empty() && gates.is_open(answers.gate) {
            gates.acknowledged.count(answers.promised);
            self.control.tail().append(bytes);
        } else if !bytes.is_empty() || answers.blocks {
            self.push(Held { packets: Packets::from(std::mem::take(bytes)), answers });
        }
    }

    fn push(&mut self, held: Held) {
        self.held_bytes += held.packets.len();
        self.blocking += usize::from(held.answers.blocks);
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

    /// The gate of the last bytes that wait for the journal.
    pub fn last_gate(&self) -> Option<Gate> {
        self.held.back().map(|held| held.answers.gate)
    }

    /// Forgets the answers that wait for the journal. Messages that were to go after them never go.
    pub fn forget_held(&mut self) {
        self.held.clear();
        self.held_bytes = 0;
    }

    /// Forgets every answer: the client has gone.
    pub fn forget_answers(&mut self) {
        self.control.clear();
        self.forget_held();
    }

    /// Moves answers that the journal has made safe to `control`, and asks to be woken for the others.
    fn release(&mut self, writing: &Writing<'_>) {
        self.record(writing);
        let Writing { broker, connection, .. } = *writing;
        while let Some(held) = self.held.front_mut() {
            let Answers { gate, promised, blocks } = held.answers;
            if !broker.journal.gates.is_open(gate) {
                if self.awaited != Some(gate) {
                    self.awaited = Some(gate);
                    broker.journal.gates.wait(gate, connection);
                }
                return;
            }
            self.held_bytes -= held.packets.len();
            self.blocking -= usize::from(blocks);
            broker.journal.gates.acknowledged.count(promised);
            held.packets.append_to(&mut self.control);
            self.held.pop_front();
        }
        self.awaited = None;
    }

    /// Hands the records of taken messages to the journal; the messages then wait for it.
    fn record(&mut self, writing: &Writing<'_>) {
        let Writing { broker, connection, .. } = *writing;
        let Some(mut unrecorded) = self.unrecorded.take() else { return };
        match broker.journal.append(&mut unrecorded.batch, unrecorded.level) {
            Ok((_, gate)) if unrecorded.level > Durability::Memory => {
                let answers = Answers { gate, promised: Promised::default(), blocks: true };
                self.push(Held { packets: unrecorded.packets, answers });
            }
            Err(AppendError::Full { .. }) => {
                let mark = broker.journal.gates.written() + 1; // the next write reaches it
                broker.journal.gates.wait(Gate { level: Durability::Process, mark }, connection);
                self.unrecorded = Some(unrecorded);
            }
            // There were only records; or the journal failed, and the connection ends.
            Ok(_) | Err(_) => {}
        }
    }

    /// Hands records that still wait to the journal when the connection ends.
    pub fn record_rest(&mut self, broker: &Broker) {
        if let Some(mut unrecorded) = self.unrecorded.take() {
            broker.journal.note_all(unrecorded.batch.records());
        }
    }

    /// Puts the answers and messages that may go now into `unsent`; false if there are none.
    pub fn refill(&mut self, writing: &mut Writing<'_>) -> bool {
        self.unsent.clear();
        if self.is_holding() {
            self.release(writing);
        }
        if !self.control.is_empty() {
            self.control.append_to(&mut self.unsent);
        }
        let taken = match writing.client {
            Some(client) if !self.is_last => {
                writing.broker.streams.catch_up(writing.broker, client);
                self.take(client, writing)
            }
            _ => Taken::default(),
        };
        if taken == Taken::default() && self.unsent.is_empty() {
            return false;
        }
        let Writing { broker, client, work, .. } = writing;
        work.add(taken.encoded as usize * Work::ENCODED);
        self.unsent.recount();
        let bytes = self.unsent.len() as u64;
        if taken.looks || (taken.encoded > 0 && bytes == 0) {
            work.end(); // others run before the next search
        }
        broker.monitor.traffic.sent(taken, bytes);
        if let Some(client) = client {
            client.traffic.sent(taken, bytes);
            count_bounds(broker, client, taken);
        }
        bytes > 0
    }

    fn take(&mut self, client: &Arc<Client>, writing: &Writing<'_>) -> Taken {
        let Writing { broker, connection, .. } = *writing;
        let mut outgoing = client.outgoing();
        if self.blocking > 0 || !outgoing.is_attached(connection.key) || !outgoing.has_work() {
            return Taken::default();
        }
        let mut find = |asked: &Replay, after: Option<&str>| {
            let mut page = broker.topics.retained().page(&asked.filter, after, asked.until);
            let policy = &broker.plan.load().access;
            if policy.is_enforced() {
                page.messages.retain(|kept| client.may(policy, Right::Subscribe, kept.topic()));
            }
            page
        };
        if !outgoing.is_durable() {
            return outgoing.take(broker.clock.now_ms(), &mut find, &mut self.unsent);
        }
        if self.unrecorded.is_some() {
            return Taken::default(); // the messages taken before go first
        }
        let mut packets = Packets::default();
        let taken = outgoing.take(broker.clock.now_ms(), &mut find, &mut packets);
        let mut batch = Batch::new();
        batch.at(broker.clock.now_ns());
        let level = outgoing.take_records(batch.records());
        // Only those needed next are read: the others stay in the journal.
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
            self.release(writing);
            self.control.append_to(&mut self.unsent);
        }
        taken
    }
}

fn count_bounds(broker: &Broker, client: &Arc<Client>, taken: Taken) {
    if taken.expired > 0 {
        let detail = format!("{} expired before they could be sent", taken.expired);
        let (kind, monitor) = (EventKind::MessageNotDelivered, &broker.monitor);
        monitor.tell_message(kind, &client.name, "", &detail);
    }
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
