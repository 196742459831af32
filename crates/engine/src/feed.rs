//! The way of one publisher's messages: to the subscribers, the newest values and the journal.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::ledger::Record;
use slipring_core::{Durability, Limit, Slot};
use slipring_journal::{AppendError, Batch, Flags};
use slipring_wire::{Publish, QoS, Reason, Version};

use crate::broker::Broker;
use crate::event::EventKind;
use crate::gates::Gate;
use crate::post::Post;
use crate::routes::Audience;
use crate::traffic::{Prefix, Tally};

/// Memory of the routes one publisher keeps at hand; beyond it all are forgotten and found again.
const ROUTES_BYTES_MAX: usize = 16 << 20;
/// Memory of the routes of all publishers; beyond it each keeps only a few.
const ROUTES_BYTES_ALL_MAX: usize = 256 << 20;
/// What a publisher may keep even then.
const ROUTES_BYTES_MIN: usize = 16 << 10;

/// Who publishes.
#[derive(Clone, Copy)]
pub(crate) struct Publisher<'a> {
    /// Its session.
    pub key: u64,
    /// Its client identifier, for the journal.
    pub name: &'a str,
    /// Whether the session outlives the broker: its QoS 2 identifiers are journaled.
    pub durable: bool,
}

/// Where the messages of one topic go, as of one generation of the subscriptions.
struct Route {
    topic: Arc<str>,
    audience: Audience,
    slot: Option<Arc<Slot>>,
    prefix: Arc<Prefix>,
    journaled: bool,
    /// What QoS 1 and 2 messages of the topic are promised.
    level: Durability,
}

impl Route {
    /// Memory it takes, about.
    fn bytes(&self) -> usize {
        2 * size_of::<Self>() + self.topic.len() + self.audience.bytes()
    }
}

/// One publisher's side of the broker. Messages arrive in batches: those of one read.
pub(crate) struct Feed {
    index: HashMap<Arc<str>, usize>,
    routes: Vec<Route>,
    /// The route of the last message; the next one often goes the same way.
    last: usize,
    routes_bytes: usize,
    generation: u64,
    receive_ns: i64,
    batch: Batch,
    /// What the acknowledgements of this batch promise.
    need: Durability,
    post: Post,
    tally: Tally,
    messages: u64,
}

impl Feed {
    pub fn new() -> Self {
        Self {
            index: HashMap::new(),
            routes: Vec::new(),
            last: 0,
            routes_bytes: 0,
            generation: 0,
            receive_ns: 0,
            batch: Batch::new(),
            need: Durability::Memory,
            post: Post::default(),
            tally: Tally::default(),
            messages: 0,
        }
    }

    /// Begins a batch of messages that were read together.
    pub fn begin(&mut self, broker: &Broker, receive_ns: i64) {
        self.check_generation(broker);
        self.receive_ns = receive_ns;
        self.messages = 0;
    }

    fn check_generation(&mut self, broker: &Broker) {
        let generation = broker.generation.load(Ordering::Acquire);
        if generation != self.generation || self.is_overfull(broker) {
            self.forget_routes(broker);
            self.generation = generation;
        }
    }

    fn is_overfull(&self, broker: &Broker) -> bool {
        self.routes_bytes > ROUTES_BYTES_MIN
            && (self.routes_bytes > ROUTES_BYTES_MAX
                || broker.routes_bytes.load(Ordering::Relaxed) > ROUTES_BYTES_ALL_MAX)
    }

    /// Forgets every route, so that the memory is there for others.
    pub fn forget_routes(&mut self, broker: &Broker) {
        self.routes.clear();
        self.index.clear();
        broker.routes_bytes.fetch_sub(self.routes_bytes, Ordering::Relaxed);
        self.routes_bytes = 0;
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
        let mut at = self.route(broker, from, message.topic);
        let level = self.routes[at].level_of(message.qos);
        if let Some(reason) = broker.gates.refusal(level) {
            return reason;
        }
        if message.retain {
            let strict = version == Version::V5 && message.qos > QoS::AtMostOnce;
            if self.retain(broker, message).is_err() && strict {
                return Reason::QuotaExceeded;
            }
            at = self.route(broker, from, message.topic);
        }
        let route = &self.routes[at];
        let place = (level > Durability::Memory).then_some(self.batch.len() as u32);
        let deliveries = route.audience.len();
        if deliveries > 0 {
            self.post.begin(broker, message, place, level);
            for target in &route.audience.targets {
                self.post.deliver(broker, target, message, &route.topic);
            }
            for group in &route.audience.groups {
                self.post.deliver(broker, group.choose(), message, &route.topic);
            }
        }
        if let Some(slot) = &route.slot {
            slot.set(message.payload, self.receive_ns);
        }
        self.tally.add(&route.prefix, message.payload.len(), deliveries);
        if route.journaled {
            self.write(broker, from, message, level);
        }
        if deliveries > 0 { Reason::Success } else { Reason::NoMatchingSubscribers }
    }

    /// Adds a message to the batch.
    fn write(
        &mut self,
        broker: &Broker,
        from: Publisher<'_>,
        message: &Publish<'_>,
        level: Durability,
    ) {
        if level == Durability::Memory && broker.gates.is_full() {
            broker.not_journaled.fetch_add(1, Ordering::Relaxed); // nothing was promised
            return;
        }
        if self.batch.len() == 0 {
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
        let at = self.route(broker, from, topic);
        self.routes[at].level
    }

    fn retain(&mut self, broker: &Broker, message: &Publish<'_>) -> Result<(), Limit> {
        let kept = broker.retain(message);
        if let Err(limit) = kept {
            broker.reached.count(limit);
        }
        // Whoever subscribed before the message was kept must get it live.
        self.check_generation(broker);
        kept
    }

    #[inline]
    fn route(&mut self, broker: &Broker, from: Publisher<'_>, topic: &str) -> usize {
        if self.routes.get(self.last).is_none_or(|route| *route.topic != *topic) {
            self.last = match self.index.get(topic) {
                Some(at) => *at,
                None => self.find(broker, from, topic),
            };
        }
        self.last
    }

    fn find(&mut self, broker: &Broker, from: Publisher<'_>, topic: &str) -> usize {
        let own = topic.starts_with('$');
        let topic: Arc<str> = topic.into();
        let plan = broker.plan.load();
        let journaled = broker.journal.is_some() && plan.journal.covers(&topic);
        let at = self.routes.len();
        self.routes.push(Route {
            audience: broker.audience(&topic, from.key),
            slot: if own { None } else { broker.slot(&topic) },
            prefix: broker.prefixes.of(&topic),
            journaled,
            level: if journaled { plan.durability.of(&topic) } else { Durability::Memory },
            topic: Arc::clone(&topic),
        });
        let bytes = self.routes[at].bytes();
        self.routes_bytes += bytes;
        broker.routes_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.index.insert(topic, at);
        at
    }

    /// Ends the batch: wakes the subscribers. Gives the number of messages.
    pub fn finish(&mut self) -> u64 {
        self.post.wake();
        self.tally.flush();
        self.messages
    }

    /// Appends the batch to the journal, waiting while the journal is behind: the publisher is
    /// slowed down, nothing is lost. Then the messages go to their subscribers. The answers of the
    /// batch wait for the gate.
    pub async fn journal(&mut self, broker: &Broker) -> Result<Gate, Reason> {
        let need = std::mem::take(&mut self.need);
        self.post.write_deliveries(self.batch.records());
        if self.batch.is_empty() && need == Durability::Memory {
            self.post.send(broker, 0, Gate::OPEN);
            return Ok(Gate::OPEN);
        }
        if self.batch.len() == 0 {
            self.batch.at(self.receive_ns);
        }
        loop {
            let moved = broker.gates.moved.notified();
            match broker.append(&mut self.batch, need) {
                Ok((offsets, gate)) => {
                    self.post.send(broker, offsets.start, gate);
                    return Ok(gate);
                }
                Err(AppendError::Full { .. }) if !broker.gates.is_full() => moved.await,
                Err(refused) => return self.give_up(broker, need, &refused),
            }
        }
    }

    /// The journal takes nothing: what was promised nothing goes on, the rest is not acknowledged.
    #[cold]
    fn give_up(
        &mut self,
        broker: &Broker,
        need: Durability,
        refused: &AppendError,
    ) -> Result<Gate, Reason> {
        let count = self.batch.len() as u64;
        if broker.not_journaled.fetch_add(count, Ordering::Relaxed) == 0 {
            broker.events.report(EventKind::JournalFailed, "journal", refused.to_string());
        }
        self.batch.clear();
        self.post.send_unplaced(broker);
        match need {
            Durability::Memory => Ok(Gate::OPEN),
            _ => Err(broker.gates.refusal(need).unwrap_or(Reason::QuotaExceeded)),
        }
    }

    /// Sends what the journal has made safe since.
    pub fn release(&mut self, broker: &Broker) {
        self.post.release(broker);
    }

    /// Sends everything without waiting for the journal: nobody sends it again after a crash.
    pub fn send_all(&mut self, broker: &Broker) {
        self.post.send_all(broker);
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

impl Route {
    /// What a message of this quality is promised.
    fn level_of(&self, qos: QoS) -> Durability {
        if qos == QoS::AtMostOnce { Durability::Memory } else { self.level }
    }
}
