//! One publisher's batch of messages, and what becomes of it: its offsets in the journal, then its deliveries.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use slipring_core::ledger::DeliveryRecord;
use slipring_core::{Durability, Message, Offset, Owner, Principal, Work};
use slipring_journal::{AppendError, Backlog, Batch, MessageFlags};
use slipring_wire::{Publish, QoS, Reason};

use crate::acknowledged::Promised;
use crate::broker::Broker;
use crate::event::EventKind;
use crate::gates::{Gate, wait_holding};
use crate::paths::Paths;
use crate::post::Post;
use crate::traffic::Tally;
use crate::waiting::{Claimed, Unclaimed};

/// One publisher's side of the broker. Messages arrive in batches: those of one read.
pub(crate) struct Feed {
    pub paths: Paths,
    pub receive_ns: i64,
    pub batch: Batch,
    /// What of it the journal has not written yet.
    backlog: Backlog,
    /// What the acknowledgements of this batch promise.
    pub need: Durability,
    /// How many of them there are.
    pub promised: Promised,
    /// Messages of this batch that wait for their first subscriber.
    pub unclaimed: Vec<Unclaimed>,
    /// Messages that waited, for subscriptions of this batch.
    pub claimed: Vec<Claimed>,
    /// Retained messages of this batch, by their place in it.
    pub retained: Vec<(Arc<Message>, u32, Durability)>,
    pub post: Post,
    pub tally: Tally,
    /// What the publisher has made the broker do in its turn so far.
    pub work: Work,
    pub messages: u64,
    /// Whom the records of this batch have named as owner.
    pub owner: Option<Owner>,
    /// Of a request that takes several turns: filters that were looked for.
    pub found: usize,
    /// A deflated frame, inflated.
    pub inflated: Vec<u8>,
    /// The words for the last message that was refused.
    pub refusal: Option<String>,
}

impl Feed {
    pub fn new() -> Self {
        Self {
            paths: Paths::default(),
            receive_ns: 0,
            batch: Batch::new(),
            backlog: Backlog::default(),
            need: Durability::Memory,
            promised: Promised::default(),
            unclaimed: Vec::new(),
            claimed: Vec::new(),
            retained: Vec::new(),
            post: Post::default(),
            tally: Tally::default(),
            work: Work::default(),
            messages: 0,
            owner: None,
            found: 0,
            inflated: Vec::new(),
            refusal: None,
        }
    }

    /// Begins a batch of messages that were read together.
    pub fn begin(&mut self, broker: &Broker, receive_ns: i64) {
        self.paths.check(broker);
        self.receive_ns = receive_ns;
        self.promised = Promised::default();
        self.messages = 0;
    }

    /// The messages that the answers of the batch acknowledge.
    pub fn take_promised(&mut self) -> Promised {
        std::mem::take(&mut self.promised)
    }

    /// Adds a message to the batch.
    pub fn write(&mut self, from: &Principal<'_>, message: &Publish<'_>, level: Durability) {
        if !self.batch.has_messages() {
            self.batch.begin(from.client_id, self.receive_ns);
        }
        let flags = MessageFlags::new(message.qos as u8, message.retain);
        self.batch.push(flags, message.topic, message.properties.encoded(), message.payload);
        self.need = self.need.max(level);
        if let (QoS::ExactlyOnce, true, Some(id)) =
            (message.qos, from.is_durable, message.packet_id)
        {
            if level > Durability::Memory {
                let (session, packet_id) = (from.session, id);
                DeliveryRecord::Incoming { session, packet_id }.encode(self.records(level));
            }
        }
    }

    /// Where the records of the batch go; what is answered then waits for them.
    pub fn records(&mut self, level: Durability) -> &mut Vec<u8> {
        self.need = self.need.max(level);
        self.batch.records()
    }

    /// What is answered in this batch waits for all that is in the journal so far.
    pub fn wait_for(&mut self, level: Durability) {
        self.need = self.need.max(level);
    }

    /// What a QoS 1 or 2 message of a topic is promised.
    pub fn level(&mut self, broker: &Broker, from: &Principal<'_>, topic: &str) -> Durability {
        self.paths.find(broker, from, topic).level
    }

    /// Ends the batch: wakes the subscribers. Gives the number of messages.
    pub fn finish(&mut self) -> u64 {
        self.post.wake();
        self.tally.flush();
        self.messages
    }

    /// Appends the batch to the journal; while the journal is behind, the publisher is slowed down. Then
    /// the messages go to their subscribers. The answers of the batch wait for the gate.
    pub async fn journal(&mut self, broker: &Broker) -> Result<Gate, Reason> {
        let need = std::mem::take(&mut self.need);
        self.owner = None;
        self.post.write_deliveries(self.batch.records());
        if self.batch.is_empty() && need == Durability::Memory {
            self.send(broker, Offset::default(), Gate::OPEN);
            return Ok(Gate::OPEN);
        }
        if !self.batch.has_messages() {
            self.batch.at(self.receive_ns);
        }
        loop {
            let moved = broker.journal.gates.moved.notified();
            // Before the append: a journal that has become full since has more room for what was promised.
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

    /// The batch has its offsets.
    fn send(&mut self, broker: &Broker, first_offset: Offset, gate: Gate) {
        self.send_claimed(broker);
        let Self { unclaimed, post, .. } = self;
        unclaimed.drain(..).for_each(|one| one.let_wait(broker, first_offset, post));
        post.send(broker, first_offset, gate);
    }

    /// The journal takes nothing: what was promised nothing goes on, the rest is not acknowledged.
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
        self.post.send_unplaced(broker);
        match need {
            Durability::Memory => Ok(Gate::OPEN),
            _ => Err(broker.journal.gates.refusal(need).unwrap_or(Reason::QuotaExceeded)),
        }
    }

    /// Whether so much waits for the journal that the publisher has to wait too.
    pub fn is_behind(&self) -> bool {
        self.post.is_behind()
    }

    /// What still waits for the journal, for when there is no publisher any more.
    pub fn take_later(&mut self) -> Option<Post> {
        self.post.take_later()
    }
}
