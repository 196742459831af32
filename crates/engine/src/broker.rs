//! The tables all connections share. Each has one lock, held briefly and never across an await.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use arc_swap::ArcSwap;
use slipring_core::{Change, Changed, Plan, Slot, Tree, Values};
use slipring_journal::{Journal, OpenError, Options, Receipt};
use slipring_wire::Reason;
use tokio::sync::Notify;

use crate::event::{EventKind, Events};
use crate::peer::{Peer, Subscriber, Traffic};

/// What the connections have in common.
pub(crate) struct Broker {
    pub plan: ArcSwap<Plan>,
    pub events: Events,
    pub traffic: Traffic,
    pub journal: Option<Journal>,
    /// Told whenever the journal has written, so that there is room again.
    pub journal_room: Arc<Notify>,
    /// Messages that a failed journal did not take.
    pub not_journaled: AtomicU64,
    /// Counts changes of the topic tree and of the plan; kept routes of an older one are void.
    pub generation: AtomicU64,
    pub started: Instant,
    /// Connections, known clients or not.
    pub connections: AtomicUsize,
    /// Clients let in since the start.
    pub let_in: AtomicU64,
    stopping: AtomicBool,
    /// Told when stopping begins.
    pub stopping_told: Notify,
    /// Told when a connection ends.
    pub ended: Notify,
    keys: AtomicU64,
    random: RandomState,
    // Read by every publisher when it meets a topic, written when somebody subscribes.
    tree: RwLock<Tree<Subscriber>>,
    clients: Mutex<HashMap<String, Arc<Peer>>>,
    values: Mutex<Values>,
}

impl Broker {
    /// Opens the journal, if there is one.
    pub fn open(
        plan: Plan,
        journal: Option<&Path>,
        options: Options,
    ) -> Result<(Self, Option<Receipt>), OpenError> {
        let room = Arc::new(Notify::new());
        let opened = match journal {
            None => None,
            Some(folder) => {
                let room = Arc::clone(&room);
                Some(Journal::open(folder, options, move |_| room.notify_waiters())?)
            }
        };
        let (journal, receipt) = opened.unzip();
        let broker = Self {
            plan: ArcSwap::from_pointee(plan),
            events: Events::default(),
            traffic: Traffic::default(),
            journal,
            journal_room: room,
            not_journaled: AtomicU64::new(0),
            generation: AtomicU64::new(1),
            started: Instant::now(),
            connections: AtomicUsize::new(0),
            let_in: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            stopping_told: Notify::new(),
            ended: Notify::new(),
            keys: AtomicU64::new(0),
            random: RandomState::new(),
            tree: RwLock::default(),
            clients: Mutex::default(),
            values: Mutex::default(),
        };
        Ok((broker, receipt))
    }

    /// Swaps the plan.
    pub fn apply(&self, plan: Plan) {
        self.plan.store(Arc::new(plan));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// A number no other connection has had.
    pub fn next_key(&self) -> u64 {
        self.keys.fetch_add(1, Ordering::Relaxed)
    }

    /// An identifier that nobody can guess, for a client that brings none.
    pub fn client_id_for(&self, key: u64) -> String {
        format!("auto-{:016x}", self.random.hash_one(key))
    }

    /// Lets a client in; one with the same identifier has to go (MQTT-3.1.4-3).
    pub fn register(&self, client_id: &str, peer: &Arc<Peer>) -> Result<(), Reason> {
        let mut clients = self.registry();
        let full = clients.len() >= self.plan.load().limits.connections;
        if full && !clients.contains_key(client_id) {
            return Err(Reason::ServerBusy);
        }
        if let Some(earlier) = clients.insert(client_id.into(), Arc::clone(peer)) {
            earlier.close(Reason::SessionTakenOver);
        }
        self.let_in.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Forgets a client, unless another connection has taken its place.
    pub fn unregister(&self, client_id: &str, peer: &Peer) {
        let mut clients = self.registry();
        if clients.get(client_id).is_some_and(|current| current.key == peer.key) {
            clients.remove(client_id);
        }
    }

    /// Enters subscriptions, replacing those of the same filter.
    pub fn subscribe(&self, peer: &Arc<Peer>, changes: &[Change]) {
        let subscriber = |no_local| Subscriber { peer: Arc::clone(peer), no_local };
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            if let Some(no_local) = change.replaces {
                tree.remove(&change.filter, &subscriber(no_local));
            }
            tree.insert(&change.filter, subscriber(change.no_local));
        }
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Removes subscriptions.
    pub fn unsubscribe<'a>(
        &self,
        peer: &Arc<Peer>,
        filters: impl Iterator<Item = (&'a str, bool)>,
    ) {
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        for (filter, no_local) in filters {
            tree.remove(filter, &Subscriber { peer: Arc::clone(peer), no_local });
        }
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Who receives a topic; in order of their keys.
    pub fn subscribers(&self, topic: &str) -> Vec<Subscriber> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner).subscribers(topic)
    }

    /// The place of a topic's newest value, if there is room.
    pub fn slot(&self, topic: &str) -> Option<Arc<Slot>> {
        let topics_max = self.plan.load().limits.values;
        self.value_table().slot(topic, topics_max)
    }

    /// Values that changed after a change.
    pub fn values_changed_after(&self, change: u64, most: usize) -> Changed {
        self.value_table().changed_after(change, most)
    }

    pub fn topics(&self) -> usize {
        self.value_table().len()
    }

    /// The clients by identifier, locked.
    pub fn registry(&self) -> MutexGuard<'_, HashMap<String, Arc<Peer>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn value_table(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Tells every client, and waits until the last connection has ended.
    pub async fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.stopping_told.notify_waiters();
        for peer in self.registry().values() {
            peer.close(Reason::ServerShuttingDown);
        }
        loop {
            let ended = self.ended.notified();
            if self.connections.load(Ordering::Acquire) == 0 {
                return;
            }
            ended.await;
        }
    }

    /// Reports what happened to a client.
    pub fn report(&self, kind: EventKind, peer: &Peer, detail: impl Into<String>) {
        self.events.report(kind, &peer.name(), detail.into());
    }
}
