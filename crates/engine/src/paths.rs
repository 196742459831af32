//! Where the messages of each topic go: what one publisher has found out and keeps at hand.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::{Durability, Limit, ParameterIndex, Principal, Right, Slot, StreamIndex};
use slipring_wire::QoS;

use crate::broker::Broker;
use crate::routes::Audience;
use crate::traffic::Prefix;

/// Memory of the routes one publisher keeps at hand; beyond it all are forgotten and found again.
const ROUTES_BYTES_MAX: usize = 16 << 20;
/// Memory of the routes of all publishers; beyond it each keeps only a few.
const ROUTES_BYTES_ALL_MAX: usize = 256 << 20;
/// What a publisher may keep even then.
const ROUTES_BYTES_MIN: usize = 16 << 10;

/// What a topic is, and so where its newest message is kept.
pub(crate) enum TopicKind {
    /// A topic that nobody declared; its newest value has a slot, if there was room for one.
    Plain(Option<Arc<Slot>>),
    /// A parameter: its newest value is in the table.
    Parameter(ParameterIndex),
    /// A stream: its last chunks are in their buffer.
    Stream(StreamIndex),
}

/// Where the messages of one topic go, as of one generation of the subscriptions.
pub(crate) struct Route {
    pub topic: Arc<str>,
    pub audience: Audience,
    pub kind: TopicKind,
    pub prefix: Arc<Prefix>,
    /// Whether the publisher may publish to it.
    pub is_allowed: bool,
    pub journaled: bool,
    /// What QoS 1 and 2 messages of the topic are promised.
    pub level: Durability,
}

impl Route {
    /// Memory it takes, about.
    fn bytes(&self) -> usize {
        2 * size_of::<Self>() + self.topic.len() + self.audience.bytes()
    }

    /// What a message of this quality is promised.
    pub fn level_of(&self, qos: QoS) -> Durability {
        if qos == QoS::AtMostOnce { Durability::Memory } else { self.level }
    }
}

/// The routes of the topics one publisher uses.
#[derive(Default)]
pub(crate) struct Paths {
    index: HashMap<Arc<str>, usize>,
    routes: Vec<Route>,
    /// The route of the last message; the next one often goes the same way.
    last: usize,
    bytes: usize,
    generation: u64,
}

impl Paths {
    /// Forgets what is not true any more, or takes too much memory.
    pub fn check(&mut self, broker: &Broker) {
        let generation = broker.topics.generation();
        if generation != self.generation || self.is_overfull(broker) {
            self.forget(broker);
            self.generation = generation;
        }
    }

    fn is_overfull(&self, broker: &Broker) -> bool {
        self.bytes > ROUTES_BYTES_MIN
            && (self.bytes > ROUTES_BYTES_MAX
                || broker.topics.routes_bytes.load(Ordering::Relaxed) > ROUTES_BYTES_ALL_MAX)
    }

    /// Forgets every route, so that the memory is there for others.
    pub fn forget(&mut self, broker: &Broker) {
        self.routes.clear();
        self.index.clear();
        broker.topics.routes_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = 0;
    }

    /// The route of a topic that somebody publishes to. All routes here are the same principal's.
    #[inline]
    pub fn find(&mut self, broker: &Broker, from: &Principal<'_>, topic: &str) -> &Route {
        if self.routes.get(self.last).is_none_or(|route| *route.topic != *topic) {
            self.last = match self.index.get(topic) {
                Some(at) => *at,
                None => self.explore(broker, from, topic),
            };
        }
        &self.routes[self.last]
    }

    /// The route that was found last; there is one until all are forgotten.
    #[inline]
    pub fn found(&self) -> &Route {
        &self.routes[self.last]
    }

    fn explore(&mut self, broker: &Broker, from: &Principal<'_>, topic: &str) -> usize {
        let own = topic.starts_with('$');
        let topic: Arc<str> = topic.into();
        let plan = broker.plan.load();
        let journaled = !own && broker.journal.exists() && plan.journal.covers(&topic);
        let at = self.routes.len();
        let kind = match (broker.streams.index_of(&topic), broker.table.index_of(&topic)) {
            (Some(stream), _) => TopicKind::Stream(stream),
            (None, Some(parameter)) => TopicKind::Parameter(parameter),
            (None, None) => TopicKind::Plain(if own { None } else { slot(broker, &topic) }),
        };
        self.routes.push(Route {
            audience: broker.topics.audience(&topic, from.session),
            kind,
            is_allowed: plan.allows(from, Right::Publish(&topic)),
            prefix: broker.monitor.prefixes.of(&topic),
            journaled,
            level: if journaled { plan.durability.of(&topic) } else { Durability::Memory },
            topic: Arc::clone(&topic),
        });
        let bytes = self.routes[at].bytes();
        self.bytes += bytes;
        broker.topics.routes_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.index.insert(topic, at);
        at
    }
}

/// The slot of a topic's newest value, if there is room.
fn slot(broker: &Broker, topic: &str) -> Option<Arc<Slot>> {
    let topics_max = broker.plan.load().limits.values;
    let slot = broker.topics.values().slot(topic, topics_max);
    if slot.is_none() {
        broker.monitor.reached.count(Limit::Values);
    }
    slot
}
