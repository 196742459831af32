//! The routes that one publisher has found and keeps: for each topic its kind and its subscribers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::access::{Grant, Right};
use slipring_core::memory::Counted;
use slipring_core::requests::{Balance, RequestRule};
use slipring_core::{
    Durability, Limit, ParameterIndex, Principal, Priority, Slot, StreamIndex, memory,
};
use slipring_wire::QoS;

use crate::broker::Broker;
use crate::routes::Audience;
use crate::traffic::Prefix;

/// Memory of the routes of one publisher. When they take more, it forgets them all and finds them again.
const ROUTES_BYTES_MAX: usize = 16 << 20;
/// Memory of the routes of all publishers. When they take more, each keeps only a few.
const ROUTES_BYTES_ALL_MAX: usize = 256 << 20;
/// Memory of routes that a publisher may always keep.
const ROUTES_BYTES_MIN: usize = 16 << 10;
/// The parts of the memory budget that the routes of all publishers, and of one, may take.
const ROUTES_ALL_SHARE: usize = 16;
const ROUTES_SHARE: usize = 64;

/// What a topic is, which decides where its newest message is kept.
pub(crate) enum TopicKind {
    /// A topic that nobody declared. The slot is for its newest value; None if there was no room.
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
    /// What the publisher may do on it.
    pub grant: Grant,
    /// What publishing to it is: `stream` if it is a stream, else `publish`, or `replay` on a connection that replays.
    pub publishing: Right,
    pub is_journaled: bool,
    /// The durability of QoS 1 and 2 messages of the topic.
    pub level: Durability,
    /// The priority of messages that name none, to subscriptions that name none.
    pub priority: Priority,
    /// Set if messages with a Response Topic are requests.
    pub request: Option<RequestRule>,
    /// How a service, or a member of a shared subscription, is chosen.
    pub balance: Balance,
}

impl Route {
    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        2 * size_of::<Self>() + self.topic.len() + self.audience.bytes()
    }

    /// The durability of a message with this QoS.
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
    counted: Counted,
    generation: u64,
}

impl Paths {
    /// Forgets the routes if subscriptions or the plan have changed, or if they take too much memory.
    pub fn check(&mut self, broker: &Broker) {
        let generation = broker.topics.generation();
        if generation != self.generation || self.is_overfull(broker) {
            self.forget(broker);
            self.generation = generation;
        }
    }

    fn is_overfull(&self, broker: &Broker) -> bool {
        let own_max = ROUTES_BYTES_MAX.min(memory::part(ROUTES_SHARE));
        let all_max = ROUTES_BYTES_ALL_MAX.min(memory::part(ROUTES_ALL_SHARE));
        self.bytes > ROUTES_BYTES_MIN
            && (self.bytes > own_max
                || broker.topics.routes_bytes.load(Ordering::Relaxed) > all_max)
    }

    /// Forgets every route.
    pub fn forget(&mut self, broker: &Broker) {
        if self.bytes > ROUTES_BYTES_MIN {
            (self.routes, self.index) = (Vec::new(), HashMap::new());
        }
        self.routes.clear();
        self.index.clear();
        self.counted.set(0);
        broker.topics.routes_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = 0;
    }

    /// The number of the last change that the routes follow.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Finds the route of a topic. All routes belong to the same principal.
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

    /// The route that was found last. Panics if all were forgotten since.
    #[inline]
    pub fn found(&self) -> &Route {
        &self.routes[self.last]
    }

    fn explore(&mut self, broker: &Broker, from: &Principal<'_>, topic: &str) -> usize {
        let own = topic.starts_with('$');
        let topic: Arc<str> = topic.into();
        let plan = broker.plan.load();
        let is_journaled = !own && broker.journal.exists() && plan.journal.covers(&topic);
        let at = self.routes.len();
        let kind = match (broker.streams.index_of(&topic), broker.table.index_of(&topic)) {
            (Some(stream), _) => TopicKind::Stream(stream),
            (None, Some(parameter)) => TopicKind::Parameter(parameter),
            (None, None) => TopicKind::Plain(None),
        };
        let publishing = match kind {
            TopicKind::Stream(_) => Right::Stream,
            TopicKind::Plain(_) | TopicKind::Parameter(_) => from.way.publishing(),
        };
        let grant = plan.grant(from, &topic);
        // Whoever may not publish there takes no room by it, and learns nothing by how long it takes.
        let is_open = grant.allows_any(&[publishing, Right::Request]);
        let kind = match kind {
            TopicKind::Plain(_) if is_open && !own => TopicKind::Plain(slot(broker, &topic)),
            kind => kind,
        };
        let (audience, prefix) = if is_open {
            let audience = broker.topics.audience(&topic, from.session, &plan.access);
            (audience, broker.monitor.prefixes.of(&topic))
        } else {
            (Audience::default(), broker.monitor.prefixes.other())
        };
        self.routes.push(Route {
            publishing,
            audience,
            kind,
            grant,
            prefix,
            is_journaled,
            level: if is_journaled { plan.durability.of(&topic) } else { Durability::Memory },
            priority: plan.priority.of(&topic),
            request: plan.requests.of(&topic),
            balance: plan.requests.balance(&topic),
            topic: Arc::clone(&topic),
        });
        let bytes = self.routes[at].bytes();
        self.bytes += bytes;
        self.counted.set(self.bytes);
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
