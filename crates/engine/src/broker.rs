//! The tables all connections share. Each has one lock, held briefly and never across an await.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::time::Instant;

use arc_swap::ArcSwap;
use slipring_core::{
    Changed, Limit, Millis, Plan, Retained, Slot, Subscribed, Values, Waiting, memory,
};
use slipring_journal::{Journal, Options, Receipt};
use tokio::sync::Notify;

use crate::StartError;
use crate::client::{Client, Link};
use crate::event::{EventKind, Events};
use crate::gates::Gates;
use crate::history;
use crate::jumps::Jumps;
use crate::keeper::Keeper;
use crate::line::Line;
use crate::losses::Losing;
use crate::notices::Notices;
use crate::passwords::Passwords;
use crate::pulse::Pulse;
use crate::reading::Reading;
use crate::recovery::{self, Recovered, Tables};
use crate::registry::Registry;
use crate::routes::{Audience, Routes};
use crate::shortage::Relieved;
use crate::stored::Shelf;
use crate::streams::SharedStreams;
use crate::table::SharedTable;
use crate::traffic::{Prefixes, Reached, Traffic};
use crate::upkeep::Upkeep;

/// What the connections have in common.
pub(crate) struct Broker {
    pub plan: ArcSwap<Plan>,
    pub relieved: Relieved,
    pub events: Events,
    pub traffic: Traffic,
    pub prefixes: Prefixes,
    pub reached: Reached,
    pub losing: Losing,
    pub notices: Notices,
    pub journal: Option<Journal>,
    /// How far the journal has come, and who waits for it.
    pub gates: Arc<Gates>,
    /// Reads what waits in the journal.
    pub shelf: Shelf,
    pub upkeep: Upkeep,
    pub jumps: Jumps,
    /// Messages that a failed journal did not take.
    pub not_journaled: AtomicU64,
    /// Counts changes of the subscriptions and of the plan; kept routes of an older one are void.
    pub generation: AtomicU64,
    /// Memory of the routes that publishers keep at hand.
    pub routes_bytes: AtomicUsize,
    pub started: Instant,
    /// Connections, on their way in or served.
    pub connections: AtomicUsize,
    /// Clients let in since the start.
    pub let_in: AtomicU64,
    pub keeper: Keeper,
    pub passwords: Arc<Passwords>,
    pub reading: Reading,
    pub pulse: Pulse,
    /// Busy connections.
    pub line: Line,
    pub table: SharedTable,
    pub streams: SharedStreams,
    /// Why the engine cannot go on, once a task of its own was given up.
    pub failure: OnceLock<String>,
    pub stopping: AtomicBool,
    /// Told when stopping begins.
    pub stopping_told: Notify,
    /// Told when a connection ends.
    pub ended: Notify,
    keys: AtomicU64,
    random: RandomState,
    // Every connection, known client or not: taken when one begins or ends.
    links: Mutex<HashMap<u64, Arc<Link>>>,
    // The sessions by client identifier. Taken before any client's own locks.
    pub(crate) sessions: Mutex<Registry>,
    // Read by every publisher when it meets a topic, written when somebody subscribes.
    routes: RwLock<Routes>,
    // Taken for each message without a subscriber that asks to wait, and for each new subscription.
    pub(crate) waiting: Mutex<Waiting>,
    // Taken for each retained message, and for each new subscription.
    retained: Mutex<Retained>,
    values: Mutex<Values>,
}

/// What waits for the journal takes one part of so many of the memory budget.
const PENDING_SHARE: usize = 8;

/// The journal keeps to the plan's bounds.
fn follow(journal: &Journal, plan: &Plan) {
    journal.set_bytes_max(plan.journal_bytes_max);
    let budget = plan.limits.memory_bytes;
    journal.lower_pending_bytes_max((budget > 0).then_some(budget / PENDING_SHARE));
}

impl Broker {
    /// Opens the journal, if there is one, and takes up what it has.
    pub fn open(
        plan: Plan,
        journal: Option<&Path>,
        options: Options,
    ) -> Result<(Self, Option<(Receipt, Recovered)>), StartError> {
        let gates = Arc::new(Gates::default());
        let Some(folder) = journal else {
            let tables = recovery::tables(None, &plan);
            return Ok((Self::new(plan, None, gates, tables), None));
        };
        let told = Arc::clone(&gates);
        let begun = Instant::now();
        let (journal, receipt) =
            Journal::open(folder, options, move |progress| told.progress(&progress))?;
        let (broker, mut recovered) = Self::over(plan, journal, gates)?;
        broker.reading.set_folder(folder);
        recovered.took = begun.elapsed();
        Ok((broker, Some((receipt, recovered))))
    }

    /// Takes up what a journal has.
    pub fn over(
        plan: Plan,
        journal: Journal,
        gates: Arc<Gates>,
    ) -> Result<(Self, Recovered), StartError> {
        follow(&journal, &plan);
        let state = history::read(&journal)?;
        let tables = recovery::tables(Some(&state), &plan);
        let broker = Self::new(plan, Some(journal), gates, tables);
        broker.begin_upkeep(state.needed());
        let recovered = broker.recover(state);
        Ok((broker, recovered))
    }

    fn new(plan: Plan, journal: Option<Journal>, gates: Arc<Gates>, tables: Tables) -> Self {
        memory::set_budget(plan.limits.memory_bytes);
        Self {
            relieved: Relieved::default(),
            plan: ArcSwap::from_pointee(plan),
            events: Events::default(),
            traffic: Traffic::default(),
            prefixes: Prefixes::default(),
            reached: Reached::default(),
            losing: Losing::default(),
            notices: Notices::default(),
            journal,
            gates,
            shelf: Shelf::default(),
            upkeep: Upkeep::default(),
            jumps: Jumps::new(),
            not_journaled: AtomicU64::new(0),
            generation: AtomicU64::new(1),
            routes_bytes: AtomicUsize::new(0),
            started: Instant::now(),
            connections: AtomicUsize::new(0),
            let_in: AtomicU64::new(0),
            keeper: Keeper::default(),
            passwords: Arc::new(Passwords::new()),
            reading: Reading::default(),
            pulse: Pulse::default(),
            line: Line::default(),
            table: tables.0,
            streams: tables.1,
            failure: OnceLock::new(),
            stopping: AtomicBool::new(false),
            stopping_told: Notify::new(),
            ended: Notify::new(),
            keys: AtomicU64::new(1),
            random: RandomState::new(),
            links: Mutex::default(),
            sessions: Mutex::default(),
            routes: RwLock::default(),
            waiting: Mutex::default(),
            retained: Mutex::default(),
            values: Mutex::default(),
        }
    }

    /// Swaps the plan.
    pub fn apply(&self, plan: Plan) {
        if let Some(journal) = &self.journal {
            follow(journal, &plan);
        }
        memory::set_budget(plan.limits.memory_bytes);
        self.table.follow(&plan);
        self.plan.store(Arc::new(plan));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Milliseconds since the start, by a clock that never goes back.
    pub fn now_ms(&self) -> Millis {
        self.started.elapsed().as_millis() as Millis
    }

    /// A number no other connection or session has had.
    pub fn next_key(&self) -> u64 {
        self.keys.fetch_add(1, Ordering::Relaxed)
    }

    /// The next number comes after this one.
    pub fn skip_keys(&self, highest: u64) {
        self.keys.fetch_max(highest + 1, Ordering::Relaxed);
    }

    /// An identifier that nobody can guess, for a client that brings none.
    pub fn client_id_for(&self, key: u64) -> String {
        format!("auto-{:016x}", self.random.hash_one(key))
    }

    /// Enters a connection.
    pub fn enter(&self, link: &Arc<Link>) {
        self.links().insert(link.key, Arc::clone(link));
    }

    /// A connection has ended.
    pub fn exit(&self, link: &Link) {
        self.links().remove(&link.key);
    }

    pub fn links(&self) -> MutexGuard<'_, HashMap<u64, Arc<Link>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sessions, locked.
    pub fn registry(&self) -> MutexGuard<'_, Registry> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters subscriptions into the tree. How many steps of work it was beyond that.
    pub fn subscribe(&self, client: &Arc<Client>, subscribed: &Subscribed) -> usize {
        if subscribed.changes.is_empty() {
            return 0;
        }
        let changes = subscribed.changes.iter().map(|change| (&*change.filter, change.options));
        self.enter_routes(client, changes)
    }

    /// Enters a client's subscriptions into the tree. Those that choose parameters are the table's.
    pub fn enter_routes<'a>(
        &self,
        client: &Arc<Client>,
        subscriptions: impl Iterator<Item = (&'a str, slipring_core::Options)> + Clone,
    ) -> usize {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        subscriptions.clone().for_each(|(filter, options)| match options.needs {
            None => routes.insert(client, filter, options),
            Some(_) => routes.remove(client, filter),
        });
        drop(routes);
        self.generation.fetch_add(1, Ordering::Release);
        self.read(client, subscriptions)
    }

    /// Removes subscriptions from the tree. How many steps of work it was beyond that.
    pub fn unsubscribe<'a>(
        &self,
        client: &Client,
        filters: impl Iterator<Item = &'a str>,
    ) -> usize {
        let filters: Vec<&str> = filters.collect();
        if filters.is_empty() {
            return 0;
        }
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        for filter in &filters {
            routes.remove(client, filter);
        }
        drop(routes);
        self.generation.fetch_add(1, Ordering::Release);
        self.stop_reading(client, &filters)
    }

    /// The subscriptions, to look at.
    pub fn routes(&self) -> RwLockReadGuard<'_, Routes> {
        self.routes.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many subscriptions there are.
    pub fn subscriptions(&self) -> usize {
        self.routes().len()
    }

    /// Who gets what a session publishes to a topic.
    pub fn audience(&self, topic: &str, publisher: u64) -> Audience {
        self.routes().audience(topic, publisher)
    }

    /// The retained messages, locked.
    pub fn retained(&self) -> MutexGuard<'_, Retained> {
        self.retained.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a topic's newest value, if there is room.
    pub fn slot(&self, topic: &str) -> Option<Arc<Slot>> {
        let topics_max = self.plan.load().limits.values;
        let slot = self.value_table().slot(topic, topics_max);
        if slot.is_none() {
            self.reached.count(Limit::Values);
        }
        slot
    }

    /// Values that changed after a change.
    pub fn values_changed_after(&self, change: u64, most: usize) -> Changed {
        self.value_table().changed_after(change, most)
    }

    pub fn topics(&self) -> usize {
        self.value_table().len()
    }

    fn value_table(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports what happened to a client.
    pub fn report(&self, kind: EventKind, client: &str, detail: impl AsRef<str>) {
        self.events.report(kind, client, detail);
    }
}
