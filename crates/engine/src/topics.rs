//! What the broker knows of topics: who subscribes to them, what is retained, what waits for its first
//! subscriber, and the newest values. Parameters and streams are the table's and the streams' own.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use slipring_core::{
    Limit, Limits, Message, Millis, Options, Owner, Retained, SessionKey, Values, Waiting, memory,
};
use slipring_wire::Publish;

use crate::client::Client;
use crate::routes::{Audience, Routes};

/// None of its locks is taken while another of them is held.
#[derive(Default)]
pub(crate) struct Topics {
    // A lock: read by every publisher when it meets a topic, written when somebody subscribes. Taken after a
    // client's state and after the table's lock.
    routes: RwLock<Routes>,
    // A lock: taken for each message without a subscriber that asks to wait, and for each new subscription.
    waiting: Mutex<Waiting>,
    // A lock: taken for each retained message, and for each new subscription. Taken after a client's own locks.
    retained: Mutex<Retained>,
    // A lock: taken when a publisher meets a topic, and when somebody looks at the values.
    values: Mutex<Values>,
    /// Counts changes of the subscriptions and of the plan; kept routes of an older one are void.
    generation: AtomicU64,
    /// Memory of the routes that publishers keep at hand.
    pub routes_bytes: AtomicUsize,
}

impl Topics {
    /// The number of the last change.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The routes that publishers keep are void.
    pub fn changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Enters a client's subscriptions into the tree. Those that choose parameters are the table's.
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

    /// The subscriptions, to look at.
    pub fn routes(&self) -> RwLockReadGuard<'_, Routes> {
        self.routes.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who gets what a session publishes to a topic.
    pub fn audience(&self, topic: &str, publisher: SessionKey) -> Audience {
        self.routes().audience(topic, publisher)
    }

    /// The retained messages, locked.
    pub fn retained(&self) -> MutexGuard<'_, Retained> {
        self.retained.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a retained message, or forgets the topic's with an empty one (MQTT-3.3.1-6).
    pub fn retain(
        &self,
        message: &Publish<'_>,
        owner: &Owner,
        limits: &Limits,
        now_ms: Millis,
    ) -> Result<Option<Arc<Message>>, Limit> {
        let mut retained = self.retained();
        if message.payload.is_empty() {
            retained.remove(message.topic);
            return Ok(None);
        }
        if memory::is_short() {
            return Err(Limit::MemoryBytes);
        }
        let kept = Arc::new(Message::new(message, message.topic.into(), now_ms));
        retained.set(Arc::clone(&kept), owner, limits)?;
        Ok(Some(kept))
    }

    /// The messages that wait for their first subscriber, locked.
    pub fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest values, locked.
    pub fn values(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
