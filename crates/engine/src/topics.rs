//! The broker's state by topic: subscriptions, retained messages, messages that wait for their first subscriber, and
//! newest values. Parameters are in the table, and streams in the streams.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use slipring_core::access::AccessPolicy;
use slipring_core::{
    Limit, Message, Millis, Options, Plan, Principal, Retained, SessionKey, Values, Waiting, Way,
};
use slipring_wire::Publish;

use crate::client::Client;
use crate::locks::lock;
use crate::routes::{Audience, Routes};
use crate::waiting::can_keep;

/// None of its locks is taken while another of them is held.
#[derive(Default)]
pub(crate) struct Topics {
    // A lock: read by every publisher that meets a new topic, written when a client subscribes. Taken after a
    // client's state and after the table's lock.
    routes: RwLock<Routes>,
    // A lock: taken for each message without a subscriber that asks to wait, and for each new subscription.
    waiting: Mutex<Waiting>,
    // A lock: taken for each retained message, and for each new subscription. Taken after a client's own locks.
    retained: Mutex<Retained>,
    // A lock: taken when a publisher meets a new topic, and to read the values.
    values: Mutex<Values>,
    /// Counts changes of the subscriptions and of the plan; routes from before the last change are void.
    generation: AtomicU64,
    /// Memory of the routes that publishers keep.
    pub routes_bytes: AtomicUsize,
}

impl Topics {
    /// The number of the last change.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Makes the routes void that publishers keep.
    pub fn changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Enters a client's plain subscriptions into the tree; selections are the table's.
    pub fn enter<'a>(
        &self,
        client: &Arc<Client>,
        subscriptions: impl Iterator<Item = (&'a str, Options)>,
    ) {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        subscriptions.for_each(|(filter, options)| match options.needs {
            None => routes.insert(client, filter, options),
            Some(_) => routes.remove(client, filter),
        });
        drop(routes);
        self.changed();
    }

    /// Removes a client's subscriptions from the tree.
    pub fn leave(&self, client: &Client, filters: &[&str]) {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        for filter in filters {
            routes.remove(client, filter);
        }
        drop(routes);
        self.changed();
    }

    /// The subscriptions, locked for reading.
    pub fn routes(&self) -> RwLockReadGuard<'_, Routes> {
        self.routes.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The subscribers that get what a session publishes to a topic: those that may have it.
    pub fn audience(
        &self,
        topic: &str,
        publisher: SessionKey,
        policy: &Arc<AccessPolicy>,
    ) -> Audience {
        self.routes().audience(topic, publisher, policy)
    }

    /// The retained messages, locked.
    pub fn retained(&self) -> MutexGuard<'_, Retained> {
        lock(&self.retained)
    }

    /// Keeps a retained message; an empty one removes the topic's retained message (MQTT-3.3.1-6).
    pub fn retain(
        &self,
        message: &Publish<'_>,
        from: &Principal<'_>,
        plan: &Plan,
        now_ms: Millis,
    ) -> Result<Option<Arc<Message>>, Limit> {
        let mut retained = self.retained();
        if message.payload.is_empty() {
            retained.remove(message.topic);
            return Ok(None);
        }
        let kept = Message::new(message, message.topic.into(), now_ms).by(from.session);
        let earlier = retained.get(message.topic).map_or(0, |earlier| earlier.bytes());
        let more = kept.bytes().saturating_sub(earlier);
        let priority = kept.priority(plan.priority.of(message.topic));
        if more > 0 && from.way != Way::Broker && !can_keep(more, priority) {
            return Err(Limit::MemoryBytes);
        }
        let kept = Arc::new(kept);
        retained.set(Arc::clone(&kept), from.owner, &plan.limits_for(from.subject()))?;
        Ok(Some(kept))
    }

    /// The messages that wait for their first subscriber, locked.
    pub fn waiting(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }

    /// The newest values, locked.
    pub fn values(&self) -> MutexGuard<'_, Values> {
        lock(&self.values)
    }
}
