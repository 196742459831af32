//! One publisher's batch of messages: it is appended to the journal, which gives it offsets, and then delivered.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use slipring_core::{Durability, Limit, Message, Offset, Owner, Work};
use slipring_journal::{AppendError, Backlog, Batch};
use slipring_wire::Reason;

use crate::acknowledged::Promised;
use crate::broker::Broker;
use crate::event::EventKind;
use crate::gates::{Gate, wait_holding};
use crate::paths::Paths;
use crate::post::Post;
use crate::requests::batch::RequestWork;
use crate::traffic::Tally;
use crate::waiting::{Claimed, Unclaimed};

/// One publisher's side of the broker. Messages arrive in batches: those of one read.
#[derive(Default)]
pub(crate) struct Feed {
    pub paths: Paths,
    pub receive_ns: i64,
    pub batch: Batch,
    /// The publisher's bytes that the journal has not written yet.
    backlog: Backlog,
    /// The durability that the acknowledgements of this batch promise.
    pub need: Durability,
    /// How many messages they acknowledge.
    pub promised: Promised,
    /// Messages of this batch that wait for their first subscriber.
    pub unclaimed: Vec<Unclaimed>,
    /// Messages that waited, and are for subscriptions of this batch.
    pub claimed: Vec<Claimed>,
    /// What this batch does with requests.
    pub requests: RequestWork,
    /// Retained messages of this batch, by their place in it.
    pub retained: Vec<(Arc<Message>, u32, Durability)>,
    pub post: Post,
    pub tally: Tally,
    /// The work that the publisher has made in its turn so far.
    pub work: Work,
    pub messages: u64,
    /// Samples of parameters that the table took from this batch.
    pub samples: u64,
    /// The quota that the last message reached.
    pub quota: Option<Limit>,
    /// The owner that the records of this batch have named last.
    pub owner: Option<Owner>,
    /// How many filters of a request that takes several turns were looked for.
    pub found: usize,
    /// A deflated frame, inflated.
    pub inflated: Vec<u8>,
    /// Why the last message was refused.
    pub refusal: Option<String>,
}

impl Feed {
    /// Begins a batch of messages that were read together.
    pub fn begin(&mut self, broker: &Broker, receive_ns: i64) {
        self.paths.check(broker);
        self.post.set_generation(self.paths.generation());
        self.receive_ns = receive_ns;
        self.post.is_told = broker.monitor.tells_messages();
        self.promised = Promised::default();
        self.messages = 0;
        self.samples = 0;
    }

    /// The records of the batch; its answers wait until they have this durability.
    pub fn records(&mut self, level: Durability) -> &mut Vec<u8> {
        self.need = self.need.max(level);
        self.batch.records()
    }

    /// Makes the answers of this batch wait until everything appended so far has this durability.
    pub fn wait_for(&mut self, level: Durability) {
        self.need = self.need.max(level);
    }

    /// Ends the batch and wakes the subscribers. Returns the number of messages.
    pub fn finish(&mut self) -> u64 {
        self.post.wake();
        self.tally.flush();
        self.messages
    }

    /// Appends the batch to the journal, which makes the publisher wait while it is behind. Then the messages go to
    /// their subscribers. The answers of the batch wait for the gate.
    pub async fn journal(&mut self, broker: &Broker) -> Result<Gate, Reason> {
        let need = std::mem::take(&mut self.need);
        self.owner = None;
        self.post.deliveries.write(self.batch.records());
        if self.batch.is_empty() && need == Durability::Memory {
            self.send(broker, Offset::default(), Gate::OPEN);
            return Ok(Gate::OPEN);
        }
        if !self.batch.has_messages() {
            self.batch.at(self.receive_ns);
        }
        loop {
            let moved = broker.journal.gates.moved.notified();
            // Read before the append: a journal that became full since may have room for this batch.
            let was_full = broker.journal.gates.is_full();
            match broker.journal.append_shared(&mut self.batch, need, &mut self.backlog) {
                Ok((first_offset, gate)) => {
                    self.place_retained(broker, first_offset);
                    self.send(broker, first_offset, gate);
                    return Ok(gate);
                }
                Err(AppendError::Full { .. }) if !was_full => {
                    wait_holding(self.batch.bytes(), moved).await;
                }
                Err(refused) => return self.give_up(broker, need, &refused),
            }
        }
    }

    /// Delivers the batch, which has its offsets now.
    fn send(&mut self, broker: &Broker, first_offset: Offset, gate: Gate) {
        self.post.look_at_rights(broker);
        self.send_claimed(broker);
        let Self { unclaimed, post, .. } = self;
        unclaimed.drain(..).for_each(|one| one.let_wait(broker, first_offset, post));
        self.place_requests(broker, first_offset);
        self.post.send(broker, first_offset, gate);
    }

    /// The journal refused the batch: messages of durability `memory` go on, the others are not acknowledged.
    #[cold]
    fn give_up(
        &mut self,
        broker: &Broker,
        need: Durability,
        refused: &AppendError,
    ) -> Result<Gate, Reason> {
        let earlier = broker.journal.not_journaled.fetch_add(self.batch.len() as u64, Relaxed);
        if earlier == 0 && matches!(refused, AppendError::TooLarge { .. }) {
            broker.monitor.report(EventKind::JournalTrouble, "journal", refused.to_string());
        }
        self.batch.clear();
        self.retained.clear();
        self.unclaimed.clear();
        self.give_up_claims(broker, need);
        self.give_up_requests(broker);
        self.post.send_unplaced(broker);
        match need {
            Durability::Memory => Ok(Gate::OPEN),
            _ => Err(broker.journal.gates.refusal(need).unwrap_or(Reason::QuotaExceeded)),
        }
    }
}
