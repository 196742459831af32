//! The broker that all connections share: parts that own their state, and the steps that need several parts.
//!
//! A lock is held briefly and never across an await. Code that needs two locks takes them in this order: the
//! registry of sessions, a client's state, the streams, the table, the requests, the routes, a client's outgoing messages;
//! then those of the other parts, one at a time.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use arc_swap::ArcSwap;
use slipring_core::{Options, Plan, TokenRules, memory};
use slipring_journal::{Journal, JournalOptions, RecoveryReceipt};
use slipring_wire::Reason;

use crate::StartError;
use crate::attempts::Attempts;
use crate::broker_journal::BrokerJournal;
use crate::client::Client;
use crate::clock::Clock;
use crate::flow::Flows;
use crate::gates::Gates;
use crate::history;
use crate::latch::Latch;
use crate::locks::lock;
use crate::monitor::Monitor;
use crate::notices;
use crate::open_connections::Connections;
use crate::passwords::Passwords;
use crate::post::Post;
use crate::questions::Questions;
use crate::recovery::{self, Recovered, Tables};
use crate::requests::SharedRequests;
use crate::sessions::SessionDirectory;
use crate::shared_desk::AnyDesk;
use crate::shortage::Shortage;
use crate::streams::SharedStreams;
use crate::table::SharedTable;
use crate::timers::Timers;
use crate::topics::Topics;

/// The parts of the broker.
pub(crate) struct Broker {
    pub plan: ArcSwap<Plan>,
    // A lock: held while the plan is replaced, so that no change of it is lost.
    applying: Mutex<()>,
    pub clock: Clock,
    pub timers: Timers,
    /// Set when the broker begins to stop.
    pub stopping: Latch,
    pub connections: Connections,
    pub passwords: Arc<Passwords>,
    pub questions: Questions,
    pub sessions: SessionDirectory,
    pub flows: Flows,
    pub attempts: Attempts,
    pub topics: Topics,
    pub table: SharedTable,
    pub streams: SharedStreams,
    pub requests: SharedRequests,
    pub journal: BrokerJournal,
    pub shortage: Shortage,
    pub monitor: Monitor,
}

impl Broker {
    /// Opens the journal, if there is one, and restores the state that it describes.
    pub fn open(
        plan: Plan,
        journal: Option<&Path>,
        options: JournalOptions,
    ) -> Result<(Self, Option<(RecoveryReceipt, Recovered)>), StartError> {
        let gates = Arc::new(Gates::default());
        let Some(folder) = journal else {
            let (clock, tables) = (Clock::start(), recovery::tables(None, &plan, 0));
            let journal = BrokerJournal::new(None, gates, clock.clone());
            return Ok((Self::new(plan, clock, journal, tables), None));
        };
        let told = Arc::clone(&gates);
        let begun = Clock::start();
        let (journal, receipt) =
            Journal::open(folder, options, move |progress| told.progress(&progress))?;
        let (broker, mut recovered) = Self::over(plan, Clock::start(), journal, gates)?;
        let _ = broker.journal.reading.folder.set(folder.to_owned());
        recovered.took = begun.uptime();
        Ok((broker, Some((receipt, recovered))))
    }

    /// Makes a broker from the state that a journal describes.
    pub fn over(
        plan: Plan,
        clock: Clock,
        journal: Journal,
        gates: Arc<Gates>,
    ) -> Result<(Self, Recovered), StartError> {
        let state = history::read(&journal)?;
        let journal = BrokerJournal::new(Some(journal), gates, clock.clone());
        journal.upkeep.begin(state.needed());
        let tables = recovery::tables(Some(&state), &plan, clock.now_ms());
        let broker = Self::new(plan, clock, journal, tables);
        let recovered = broker.recover(state);
        Ok((broker, recovered))
    }

    fn new(plan: Plan, clock: Clock, journal: BrokerJournal, tables: Tables) -> Self {
        memory::set_budget(plan.limits.memory_bytes);
        journal.follow(&plan);
        Self {
            plan: ArcSwap::from_pointee(plan),
            applying: Mutex::default(),
            timers: Timers::new(),
            stopping: Latch::default(),
            connections: Connections::default(),
            passwords: Arc::new(Passwords::new(clock.clone())),
            questions: Questions::default(),
            sessions: SessionDirectory::default(),
            flows: Flows::default(),
            attempts: Attempts::default(),
            topics: Topics::default(),
            table: tables.0,
            streams: tables.1,
            requests: SharedRequests::default(),
            journal,
            shortage: Shortage::default(),
            monitor: Monitor::new(clock.clone()),
            clock,
        }
    }

    /// Every desk, by its NAME in the topics `$slipring/NAME/...` of its requests.
    pub fn desks(&self) -> [(&'static str, &dyn AnyDesk); 2] {
        [("table", &self.table), ("streams", &self.streams)]
    }

    pub fn desk(&self, name: &str) -> Option<&dyn AnyDesk> {
        self.desks().into_iter().find(|(known, _)| *known == name).map(|(_, desk)| desk)
    }

    /// Replaces the plan.
    pub fn apply(&self, plan: Plan) {
        let _one_at_a_time = lock(&self.applying);
        self.replace_plan(plan);
    }

    /// Replaces the plan except for which tokens are accepted.
    pub fn apply_keeping_tokens(&self, mut plan: Plan) {
        let _one_at_a_time = lock(&self.applying);
        plan.authentication.tokens = Arc::clone(&self.plan.load().authentication.tokens);
        self.replace_plan(plan);
    }

    /// Replaces which tokens are accepted, and leaves the rest of the plan as it is.
    pub fn apply_tokens(&self, tokens: Arc<TokenRules>) {
        let _one_at_a_time = lock(&self.applying);
        let mut plan = Plan::clone(&self.plan.load());
        plan.authentication.tokens = tokens;
        let plan = Arc::new(plan);
        let before = self.plan.swap(Arc::clone(&plan));
        self.follow_rights(&before, &plan); // no route depends on a token
    }

    /// Sets the memory budget, until the next plan.
    pub fn set_budget(&self, bytes: usize) {
        let _one_at_a_time = lock(&self.applying);
        let mut plan = Plan::clone(&self.plan.load());
        plan.limits.memory_bytes = bytes;
        self.replace_plan(plan);
    }

    fn replace_plan(&self, plan: Plan) {
        self.journal.follow(&plan);
        self.monitor.audit.follow(&plan);
        memory::set_budget(plan.limits.memory_bytes);
        self.table.follow(&plan);
        let plan = Arc::new(plan);
        let before = self.plan.swap(Arc::clone(&plan));
        self.topics.changed();
        self.follow_rights(&before, &plan);
        self.follow_quotas(&before, &plan);
        self.shortage.relieve_now(self);
        // Rules by the hundred thousand take longer to free than to compare, and nobody waits for that.
        let _ = thread::Builder::new().name("old plan".into()).spawn(move || drop(before));
    }

    /// Disconnects every client, and waits until the last connection has ended.
    pub async fn stop(&self) {
        self.stopping.set();
        notices::tell_shutdown(self);
        self.connections.close_all(Reason::ServerShuttingDown).await;
    }

    /// Enters a client's selection of parameters or of streams. What they have now is sent first.
    pub fn select(&self, client: &Arc<Client>, filter: &str, options: Options, post: &mut Post) {
        if options.needs.is_some() {
            client.outgoing().select(options.priority);
        }
        self.streams.follow(self, client, filter, options, post);
        self.table.select(self, client, filter, options, post);
    }

    /// Enters a client's subscriptions. Returns the steps of work that the table made.
    pub fn subscribe<'a>(
        &self,
        client: &Arc<Client>,
        subscriptions: impl Iterator<Item = (&'a str, Options)> + Clone,
    ) -> usize {
        if subscriptions.clone().next().is_none() {
            return 0;
        }
        self.topics.enter(client, subscriptions.clone());
        self.table.read(self, client, subscriptions)
    }

    /// Removes a client's subscriptions. Returns the steps of work that the table made.
    pub fn unsubscribe<'a>(
        &self,
        client: &Client,
        filters: impl Iterator<Item = &'a str>,
    ) -> usize {
        let filters: Vec<&str> = filters.collect();
        if filters.is_empty() {
            return 0;
        }
        self.topics.leave(client, &filters);
        self.table.stop_reading(&self.topics, client, &filters)
    }
}
