//! The way of one publisher's messages: to the subscribers, the newest values and the journal.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::{
    Delivery, Dropped, Extras, Limit, Message, Millis, Pushed, Slot, encode, expiry,
};
use slipring_journal::{AppendError, Batch, Flags};
use slipring_wire::{Publish, QoS, Reason, Version};

use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;
use crate::routes::{Audience, Target};
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
}

/// Where the messages of one topic go, as of one generation of the subscriptions.
struct Route {
    topic: Arc<str>,
    audience: Audience,
    slot: Option<Arc<Slot>>,
    prefix: Arc<Prefix>,
    journaled: bool,
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
    post: Post,
    tally: Tally,
    messages: u64,
}

/// What delivering one message needs.
#[derive(Default)]
struct Post {
    /// The message being delivered, encoded at most once for each version and retain flag.
    encoded: [Vec<u8>; 4],
    /// The same for one subscriber alone, with its subscription identifiers.
    identified: Vec<u8>,
    /// The same message to be kept, made at most once.
    kept: Option<Arc<Message>>,
    expires_ms: Option<Millis>,
    /// Subscribers to wake at the end of the batch.
    woken: Vec<Arc<Client>>,
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

    /// Brings one message to everyone who wants it now, and into the batch for the journal. The
    /// answer is what an acknowledgement says.
    pub fn publish(
        &mut self,
        broker: &Broker,
        from: Publisher<'_>,
        message: &Publish<'_>,
        version: Version,
    ) -> Reason {
        self.messages += 1;
        if message.retain {
            let strict = version == Version::V5 && message.qos > QoS::AtMostOnce;
            if self.retain(broker, message).is_err() && strict {
                return Reason::QuotaExceeded;
            }
        }
        let at = self.route(broker, from, message.topic);
        let route = &self.routes[at];
        let deliveries = route.audience.len();
        if deliveries > 0 {
            self.post.begin(broker, message);
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
            if self.batch.is_empty() {
                self.batch.begin(from.name, self.receive_ns);
            }
            let flags = Flags::new(message.qos as u8, message.retain);
            self.batch.push(flags, message.topic, message.properties.encoded(), message.payload);
        }
        if deliveries > 0 { Reason::Success } else { Reason::NoMatchingSubscribers }
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
        let at = self.routes.len();
        self.routes.push(Route {
            audience: broker.audience(&topic, from.key),
            slot: if own { None } else { broker.slot(&topic) },
            prefix: broker.prefixes.of(&topic),
            journaled: broker.journal.is_some() && broker.plan.load().journal.covers(&topic),
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
        for client in self.post.woken.drain(..) {
            client.wake();
        }
        self.tally.flush();
        self.messages
    }

    /// Appends the batch to the journal, waiting while the journal is behind: the publisher is
    /// slowed down, nothing is lost.
    pub async fn journal(&mut self, broker: &Broker) {
        let Some(journal) = &broker.journal else { return };
        while !self.batch.is_empty() {
            let room = broker.journal_room.notified();
            match journal.append(&mut self.batch, false) {
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

impl Post {
    fn begin(&mut self, broker: &Broker, message: &Publish<'_>) {
        self.encoded.iter_mut().for_each(Vec::clear);
        self.kept = None;
        self.expires_ms = if message.properties.is_empty() {
            None
        } else {
            expiry(message.properties, broker.now_ms())
        };
    }

    #[inline]
    fn deliver(&mut self, broker: &Broker, to: &Target, message: &Publish<'_>, topic: &Arc<str>) {
        let retain = message.retain && to.retain_as_published; // MQTT-3.3.1-12, -13
        let qos = message.qos.min(to.qos); // MQTT-3.8.4-8
        let mut outgoing = to.client.outgoing();
        let pushed = if qos == QoS::AtMostOnce {
            let Some(version) = outgoing.version() else { return };
            let identifiers = to.identifiers.as_deref().unwrap_or_default();
            let expires_ms = self.expires_ms;
            outgoing.push_encoded(self.encode(message, version, retain, identifiers), expires_ms)
        } else {
            let keep = || Arc::new(Message::new(message, Arc::clone(topic), broker.now_ms()));
            let message = Arc::clone(self.kept.get_or_insert_with(keep));
            let identifiers = to.identifiers.clone();
            outgoing.push(Delivery { message, qos, retain, identifiers })
        };
        drop(outgoing);
        match pushed {
            Pushed::Quiet => {}
            Pushed::Wake => self.woken.push(Arc::clone(&to.client)),
            lost => self.lose(broker, &to.client, lost),
        }
    }

    /// A bound was reached on the way to a client.
    #[cold]
    fn lose(&mut self, broker: &Broker, client: &Arc<Client>, pushed: Pushed) {
        match pushed {
            Pushed::Held => broker.reached.count(Limit::Inflight),
            Pushed::Dropped(dropped) => {
                broker.count_dropped(client, dropped);
                if dropped.wake {
                    self.woken.push(Arc::clone(client));
                }
            }
            Pushed::Overflow(limit) => {
                let dropped = Dropped { limit: Some(limit), messages: 1, wake: false };
                broker.count_dropped(client, dropped);
                client.close(Reason::QuotaExceeded);
            }
            Pushed::Quiet | Pushed::Wake => {}
        }
    }

    fn encode(
        &mut self,
        message: &Publish<'_>,
        version: Version,
        retain: bool,
        identifiers: &[u32],
    ) -> &[u8] {
        let qos = QoS::AtMostOnce;
        let publish = Publish { dup: false, qos, packet_id: None, retain, ..*message };
        if !identifiers.is_empty() {
            self.identified.clear();
            encode(publish, &Extras::identified(identifiers), version, &mut self.identified);
            return &self.identified;
        }
        let out = &mut self.encoded[usize::from(version == Version::V5) * 2 + usize::from(retain)];
        if out.is_empty() {
            encode(publish, &Extras::default(), version, out);
        }
        out
    }
}
