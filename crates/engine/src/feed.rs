//! The way of one publisher's messages: to the subscribers, the newest values and the journal.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::Slot;
use slipring_journal::{AppendError, Batch, Flags};
use slipring_wire::{Packet, Publish, Version};

use crate::broker::Broker;
use crate::event::EventKind;
use crate::peer::Peer;

/// Topics whose route a publisher keeps at hand; when full, all are forgotten and found again.
const ROUTES_MAX: usize = 20_000;

/// Where the messages of one topic go, as of one generation of the topic tree.
struct Route {
    subscribers: Box<[Arc<Peer>]>,
    slot: Option<Arc<Slot>>,
    journaled: bool,
}

/// One publisher's side of the broker. Messages arrive in batches: those of one read.
pub(crate) struct Feed {
    routes: HashMap<Box<str>, Route>,
    generation: u64,
    receive_ns: i64,
    batch: Batch,
    /// The message being delivered, encoded at most once for each version.
    v311: Vec<u8>,
    v5: Vec<u8>,
    /// Subscribers to wake at the end of the batch.
    woken: Vec<Arc<Peer>>,
    messages: u64,
}

impl Feed {
    pub fn new() -> Self {
        Self {
            routes: HashMap::new(),
            generation: 0,
            receive_ns: 0,
            batch: Batch::new(),
            v311: Vec::new(),
            v5: Vec::new(),
            woken: Vec::new(),
            messages: 0,
        }
    }

    /// Begins a batch of messages that were read together.
    pub fn begin(&mut self, broker: &Broker, receive_ns: i64) {
        let generation = broker.generation.load(Ordering::Acquire);
        if generation != self.generation || self.routes.len() > ROUTES_MAX {
            self.routes.clear();
            self.generation = generation;
        }
        self.receive_ns = receive_ns;
        self.messages = 0;
    }

    /// Brings one message to everyone who wants it now, and into the batch for the journal.
    pub fn publish(&mut self, broker: &Broker, publisher: &Peer, message: &Publish<'_>) {
        if !self.routes.contains_key(message.topic) {
            let route = find(broker, publisher, message.topic);
            self.routes.insert(message.topic.into(), route);
        }
        let route = &self.routes[message.topic];
        self.v311.clear();
        self.v5.clear();
        for peer in &route.subscribers {
            let encoded = match peer.identity.get().map_or(Version::V5, |id| id.version) {
                Version::V311 => encode_once(message, Version::V311, &mut self.v311),
                Version::V5 => encode_once(message, Version::V5, &mut self.v5),
            };
            if peer.outbox().push(encoded) {
                self.woken.push(Arc::clone(peer));
            }
        }
        if let Some(slot) = &route.slot {
            slot.set(message.payload, self.receive_ns);
        }
        if route.journaled {
            if self.batch.is_empty() {
                self.batch.begin(&publisher.name(), self.receive_ns);
            }
            let flags = Flags::new(message.qos as u8, message.retain);
            self.batch.push(flags, message.topic, message.properties.encoded(), message.payload);
        }
        self.messages += 1;
    }

    /// Ends the batch: wakes the subscribers and counts.
    pub fn finish(&mut self, broker: &Broker, publisher: &Peer, bytes: u64) {
        for peer in self.woken.drain(..) {
            peer.wake.notify_one();
        }
        publisher.traffic.received(self.messages, bytes);
        broker.traffic.received(self.messages, bytes);
    }

    /// Appends the batch to the journal, waiting while the journal is behind: the publisher is
    /// slowed down, nothing is lost.
    pub async fn journal(&mut self, broker: &Broker) {
        let Some(journal) = &broker.journal else { return };
        while !self.batch.is_empty() {
            let room = broker.journal_room.notified();
            match journal.append(&mut self.batch) {
                Ok(_) => {}
                Err(AppendError::Full { .. }) => room.await,
                Err(failed) => self.give_up(broker, &failed),
            }
        }
    }

    fn give_up(&mut self, broker: &Broker, failed: &AppendError) {
        let count = self.batch.len() as u64;
        if broker.not_journaled.fetch_add(count, Ordering::Relaxed) == 0 {
            broker.events.report(EventKind::JournalFailed, "journal", failed.to_string());
        }
        self.batch.clear();
    }
}

fn find(broker: &Broker, publisher: &Peer, topic: &str) -> Route {
    let mut subscribers = broker.subscribers(topic);
    subscribers.retain(|subscriber| !(subscriber.no_local && subscriber.peer.key == publisher.key));
    subscribers.dedup_by_key(|subscriber| subscriber.peer.key);
    Route {
        subscribers: subscribers.into_iter().map(|subscriber| subscriber.peer).collect(),
        slot: broker.slot(topic),
        journaled: broker.journal.is_some() && broker.plan.load().journal.covers(topic),
    }
}

fn encode_once<'a>(message: &Publish<'_>, version: Version, out: &'a mut Vec<u8>) -> &'a [u8] {
    if out.is_empty() {
        Packet::Publish(*message).encode(version, out);
    }
    out
}
