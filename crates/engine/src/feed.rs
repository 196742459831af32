//! The way of one publisher's messages: to the subscribers, the newest values and the journal.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::ledger::Record;
use slipring_core::{Durability, Limit, Message, Owner, SHARED_BYTES_MIN, Work};
use slipring_journal::{AppendError, Backlog, Batch, Flags};
use slipring_wire::{Publish, QoS, Reason, Version};

use crate::acknowledged::Promised;
use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;
use crate::gates::{Gate, wait_holding};
use crate::paths::Paths;
use crate::post::Post;
use crate::table::samples::is_frame;
use crate::traffic::Tally;
use crate::waiting::{Claimed, Unclaimed};

/// Bytes of a message that are copied to a subscriber in one step of work.
const COPIED_STEP: usize = 128;
/// Steps of sharing a payload with one subscriber, whatever its size.
const SHARED_STEPS: usize = 4;

/// Who publishes.
#[derive(Clone, Copy)]
pub(crate) struct Publisher<'a> {
    /// Its session.
    pub key: u64,
    /// Its client identifier, for the journal.
    pub name: &'a str,
    /// Whether the session outlives the broker: its QoS 2 identifiers are journaled.
    pub durable: bool,
    /// Whose quotas its messages are counted for.
    pub owner: &'a Owner,
}

impl<'a> Publisher<'a> {
    /// A client, whose messages are this owner's.
    pub fn of(client: &'a Client, owner: &'a Owner) -> Self {
        Self { key: client.key, name: &client.name, durable: client.is_durable(), owner }
    }

    /// The broker itself.
    pub fn broker() -> Self {
        Self { key: 0, name: "", durable: false, owner: Owner::broker() }
    }
}

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
    messages: u64,
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

    /// Brings one message to everyone who wants it, and into the batch for the journal. The answer
    /// is what an acknowledgement says.
    ///
    /// QoS 0 goes at once; the rest when the batch has its offsets, see [`Feed::journal`].
    pub fn publish(
        &mut self,
        broker: &Broker,
        from: Publisher<'_>,
        message: &Publish<'_>,
        version: Version,
    ) -> Reason {
        self.messages += 1;
        if is_frame(message) {
            return self.publish_frame(broker, from, message);
        }
        let mut sample_of = None;
        let is_declared = self.paths.find(broker, from.key, message.topic).is_declared();
        if is_declared || message.retain {
            match self.take_special(broker, from, message, version) {
                Ok(parameter) => sample_of = parameter,
                Err(reason) => return reason,
            }
        }
        let route = self.paths.found();
        let level = route.level_of(message.qos);
        if let Some(reason) = broker.gates.refusal(level) {
            return reason;
        }
        let place = (level > Durability::Memory).then_some(self.batch.len() as u32);
        let deliveries = route.audience.len();
        if deliveries > 0 {
            let is_shared = message.payload.len() >= SHARED_BYTES_MIN;
            let passed_on =
                if is_shared { SHARED_STEPS } else { message.payload.len() / COPIED_STEP };
            self.work.add(deliveries * (Work::DELIVERY + passed_on));
            self.post.begin(broker, message, place, level, deliveries);
            for target in &route.audience.targets {
                self.post.deliver(broker, target, message, &route.topic);
            }
            for group in &route.audience.groups {
                let (target, looked) = group.choose();
                self.work.add(looked);
                self.post.deliver(broker, target, message, &route.topic);
            }
        }
        if let Some(slot) = &route.slot {
            slot.set(message.payload, self.receive_ns);
        }
        self.tally.add(&route.prefix, message.payload.len(), deliveries);
        let (journaled, is_chunk) = (route.journaled, route.stream.is_some());
        if deliveries == 0 && !message.properties.is_empty() {
            let place = journaled.then_some((self.batch.len() as u32, level));
            if let Err(limit) = self.let_wait(broker, from, message, place) {
                if !message.retain {
                    return self.refuse_to_keep(broker, limit);
                }
                // It goes on: what was noted of it as a retained message names its place in the batch.
                broker.reached.count(limit);
            }
        }
        if journaled {
            if let Some(parameter) = sample_of {
                let index = self.batch.len() as u32;
                Record::Sampled { index, parameter }.encode(self.batch.records());
            }
            self.write(from, message, level);
        }
        if message.qos > QoS::AtMostOnce {
            self.promised.add(level);
        }
        if deliveries > 0 || is_chunk { Reason::Success } else { Reason::NoMatchingSubscribers }
    }

    /// A sample, a chunk or a retained message is kept first; its route is found again then. The parameter
    /// that it is a sample of is returned.
    fn take_special(
        &mut self,
        broker: &Broker,
        from: Publisher<'_>,
        message: &Publish<'_>,
        version: Version,
    ) -> Result<Option<u32>, Reason> {
        let declared = self.paths.found().is_declared();
        let sample_of = if declared { self.take_declared(broker, from, message)? } else { None };
        if message.retain {
            self.retain(broker, from, message, version)?;
        }
        self.paths.find(broker, from.key, message.topic);
        Ok(sample_of)
    }

    /// A message that has no subscriber waits for one, if it asks to.
    fn let_wait(
        &mut self,
        broker: &Broker,
        from: Publisher<'_>,
        message: &Publish<'_>,
        place: Option<(u32, Durability)>,
    ) -> Result<(), Limit> {
        let Some(unclaimed) = Unclaimed::new(broker, message, place, from)? else {
            return Ok(());
        };
        if let Some(record) = unclaimed.record(broker, self.receive_ns) {
            self.own(from.owner);
            record.encode(self.batch.records());
        }
        self.unclaimed.push(unclaimed);
        Ok(())
    }

    /// The messages that the answers of the batch acknowledge.
    pub fn take_promised(&mut self) -> Promised {
        std::mem::take(&mut self.promised)
    }

    /// Adds a message to the batch.
    pub fn write(&mut self, from: Publisher<'_>, message: &Publish<'_>, level: Durability) {
        if !self.batch.has_messages() {
            self.batch.begin(from.name, self.receive_ns);
        }
        let flags = Flags::new(message.qos as u8, message.retain);
        self.batch.push(flags, message.topic, message.properties.encoded(), message.payload);
        self.need = self.need.max(level);
        if let (QoS::ExactlyOnce, true, Some(id)) = (message.qos, from.durable, message.packet_id) {
            if level > Durability::Memory {
                self.record(&Record::Incoming { session: from.key, packet_id: id }, level);
            }
        }
    }

    /// Adds a record to the batch; what is answered then waits for it.
    pub fn record(&mut self, record: &Record<'_>, level: Durability) {
        record.encode(self.batch.records());
        self.need = self.need.max(level);
    }

    /// Adds records that somebody else has written.
    pub fn records(&mut self, level: Durability) -> &mut Vec<u8> {
        self.need = self.need.max(level);
        self.batch.records()
    }

    /// What is answered in this batch waits for all that is in the journal so far.
    pub fn wait_for(&mut self, level: Durability) {
        self.need = self.need.max(level);
    }

    /// What a QoS 1 or 2 message of a topic is promised.
    pub fn level(&mut self, broker: &Broker, from: Publisher<'_>, topic: &str) -> Durability {
        self.paths.find(broker, from.key, topic).level
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
            self.send(broker, 0, Gate::OPEN);
            return Ok(Gate::OPEN);
        }
        if !self.batch.has_messages() {
            self.batch.at(self.receive_ns);
        }
        loop {
            let moved = broker.gates.moved.notified();
            // Before the append: a journal that has become full since has more room for what was promised.
            let was_full = broker.gates.is_full();
            match broker.append_shared(&mut self.batch, need, &mut self.backlog) {
                Ok((offsets, gate)) => {
                    self.place_retained(broker, offsets.start);
                    self.send(broker, offsets.start, gate);
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
    fn send(&mut self, broker: &Broker, first_offset: u64, gate: Gate) {
        self.send_claimed(broker);
        let Self { unclaimed, post, .. } = self;
        unclaimed.drain(..).for_each(|one| broker.let_wait(one, first_offset, post));
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
        let earlier = broker.not_journaled.fetch_add(self.batch.len() as u64, Ordering::Relaxed);
        if earlier == 0 && matches!(refused, AppendError::TooLarge { .. }) {
            broker.report(EventKind::JournalTrouble, "journal", refused.to_string());
        }
        self.batch.clear();
        self.retained.clear();
        self.unclaimed.clear();
        self.give_up_claims(broker, need);
        self.post.send_unplaced(broker);
        match need {
            Durability::Memory => Ok(Gate::OPEN),
            _ => Err(broker.gates.refusal(need).unwrap_or(Reason::QuotaExceeded)),
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
