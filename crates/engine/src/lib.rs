//! Sockets, timers and threads; drives `core` and `journal`.
//!
//! `core` decides what a packet means, who is let in, which connection takes a session over, what a quota allows,
//! which member of a shared subscription gets a message, and whom a message goes to. The engine asks `core` and
//! carries that out. It decides only what depends on the running process: which connection works next (`turns`,
//! `line`, `passwords`, `listener`), which client gives memory back when it is short (`shortage`), when the
//! journal is shortened (`upkeep`), and how many requests and notices one client may send at once (`reading`,
//! `notices`).

#![warn(clippy::disallowed_methods)]

mod acknowledged;
mod admission;
mod asking;
mod attempts;
mod audit;
mod broker;
mod broker_journal;
mod budget;
mod client;
mod clock;
mod connection;
mod connection_end;
mod connection_handle;
mod control;
mod core_dumps;
mod definitions;
mod descriptors;
mod desk_reports;
mod encoded;
mod ends;
mod event;
mod event_queue;
mod farewell;
mod feed;
mod flow;
mod gates;
mod history;
mod inlet;
mod journal_rights;
mod jumps;
mod latch;
mod line;
mod listener;
mod locks;
mod login;
mod losses;
mod message_events;
mod monitor;
mod notices;
mod open_connections;
mod opening_records;
mod operating;
mod origin;
mod outlet;
mod parameter_status;
mod party;
mod passwords;
mod paths;
mod ping;
mod post;
mod proving;
mod publishing;
mod pulse;
mod questions;
mod read_refusals;
mod reading;
mod receipt;
mod recovery;
mod requests;
mod retaining;
mod returning;
mod rights;
mod routes;
mod sampled;
mod session_life;
mod sessions;
mod shared_desk;
mod shortage;
#[cfg(feature = "sim")]
pub mod simulated;
mod starting;
mod status;
mod stored;
mod streams;
mod subscribing;
mod supervision;
mod sys;
mod table;
#[cfg(test)]
mod test_peer;
mod threads;
mod timers;
mod topic_status;
mod topics;
mod traffic;
mod turns;
mod upkeep;
mod victims;
mod waiting;
mod waking;
mod wills;

use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use slipring_core::{Plan, ValueChanges};
use slipring_journal::{JournalFailure, JournalOptions};
use tokio::runtime::Handle;

use audit::Audit;
use broker::Broker;
use listener::TlsTrust;
use locks::lock;
use threads::Threads;

pub use audit::{AuditRecord, AuditSettings, AuditStatus};
pub use core_dumps::forbid_core_dumps;
pub use definitions::JournalDefinitions;
pub use descriptors::Descriptors;
pub use event::{Event, EventKind};
pub use event_queue::FetchedEvents;
pub use history::{JournalTable, journal_table};
pub use listener::{
    BoundAddress, ClientCertificates, ClientName, LISTEN_PREFIXES, ListenerSettings, TlsError,
    TlsFault, TlsFiles,
};
pub use login::PasswordCheck;
pub use operating::{OwnerShare, SessionQuery, SessionState, SessionStatus, Sessions};
pub use parameter_status::{PublisherStatus, SelectorStatus};
pub use questions::{Answer, Login, Question, QuestionKind};
pub use receipt::{DamagedRange, StartReceipt};
pub use requests::watching::{
    RequestQuery, RequestStatus, RequestsStatus, ServiceStatus, TopicRequests,
};
pub use sampled::{Sampled, sampled};
pub use starting::{Settings, StartError};
pub use status::{
    Acknowledged, Amount, AwayStatus, BrokerStatus, ClientStatus, JournalStatus, MemoryParts,
    MemoryUse, NoticeCounts, PrefixTraffic, StreamsStatus, TableStatus, Totals, TrafficCounts,
    VictimCounts,
};
pub use topic_status::{SubscriberStatus, TopicStatus, WaitingTopic};

/// A running broker.
pub struct Engine {
    broker: Arc<Broker>,
    addresses: Vec<BoundAddress>,
    listener_names: Vec<String>,
    /// What each listener trusts; None for one without TLS.
    trusts: Vec<Option<Arc<TlsTrust>>>,
    receipt: Option<StartReceipt>,
    plans_applied: AtomicU64,
    /// None once stopped. The lock lets `stop` be called twice and from any thread.
    threads: Mutex<Option<Threads>>,
}

impl Engine {
    /// Opens the journal, listens, and serves until [`Engine::stop`].
    pub fn start(settings: &Settings, plan: Plan) -> Result<Self, StartError> {
        Descriptors::raise(settings.console_connections);
        let threads = Threads::new(settings.threads).map_err(StartError::Threads)?;
        let inside = threads.lane.enter();
        let listeners = listener::bind_all(&settings.listeners)?;
        let addresses = listeners.iter().map(|listener| listener.address.clone()).collect();
        let trusts = listeners.iter().map(|listener| listener.tls.clone()).collect();
        drop(inside);
        let options =
            JournalOptions { segment_bytes: settings.segment_bytes, ..JournalOptions::default() };
        let (broker, found) = Broker::open(plan, settings.journal.as_deref(), options)?;
        let receipt = found.map(|(journal, recovered)| StartReceipt::new(&journal, recovered));
        let listener_names: Vec<String> =
            settings.listeners.iter().map(|one| one.name.clone()).collect();
        let broker = Arc::new(broker);
        Audit::begin(&broker, settings.audit.clone(), Vec::clone(&listener_names))?;
        threads.begin(&broker, listeners, settings.segment_bytes);
        let (plans_applied, threads) = (AtomicU64::new(0), Mutex::new(Some(threads)));
        Ok(Self { broker, addresses, listener_names, trusts, receipt, plans_applied, threads })
    }

    /// The addresses of the listeners, in the order of the settings.
    pub fn addresses(&self) -> &[BoundAddress] {
        &self.addresses
    }

    /// The address of the first listener on TCP; panics if there is none.
    pub fn address(&self) -> SocketAddr {
        self.addresses.iter().find_map(BoundAddress::port).expect("a listener on TCP")
    }

    /// What the start found in the journal.
    pub fn receipt(&self) -> Option<&StartReceipt> {
        self.receipt.as_ref()
    }

    /// Sets the kinds of events for each message or request that are made, and how many of each kind are kept
    /// between two calls of [`Engine::take_events`]. All other kinds are always made.
    pub fn want_events(&self, kinds: impl IntoIterator<Item = EventKind>, each_max: u32) {
        self.broker.monitor.events.want(kinds, each_max);
    }

    /// The events since the last call.
    pub fn take_events(&self) -> FetchedEvents {
        self.broker.monitor.take_events(self.broker.clock.now_ms())
    }

    /// How long the engine's threads have left a question unanswered; zero while they answer. Asks the next
    /// question, and never waits.
    pub fn silence(&self) -> Duration {
        self.engine_handle().map_or(Duration::ZERO, |engine| pulse::silence(&self.broker, &engine))
    }

    /// The engine's threads, until it is stopped.
    fn engine_handle(&self) -> Option<Handle> {
        let threads = lock(&self.threads);
        threads.as_ref().map(|threads| threads.engine.handle().clone())
    }

    /// Why the engine cannot go on, if it cannot: its owner must end the process.
    pub fn failure(&self) -> Option<&str> {
        self.broker.monitor.failed()
    }

    /// Totals and the state of the journal.
    pub fn status(&self) -> BrokerStatus {
        self.broker.status()
    }

    /// Up to `most` connected clients, longest connected first.
    pub fn clients(&self, most: usize) -> Vec<ClientStatus> {
        self.broker.clients(&self.listener_names, most)
    }

    /// Up to `most` sessions whose client is away, those with the most waiting messages first.
    pub fn away(&self, most: usize) -> Vec<AwayStatus> {
        self.broker.away(most)
    }

    /// Sessions, connected or away, those that cost most first.
    pub fn sessions(&self, query: &SessionQuery) -> Sessions {
        self.broker.list_sessions(query)
    }

    /// For each limit that is divided among users and addresses, the `most` owners that hold most of it.
    pub fn owners(&self, most: usize) -> Vec<OwnerShare> {
        self.broker.owners(most)
    }

    /// Ends the connection of a client (0x98); false if it is not connected. Its session stays.
    pub fn disconnect(&self, client_id: &str) -> bool {
        self.broker.disconnect(client_id)
    }

    /// Ends a session, and the connection of its client (0x98); false if there is none. When this
    /// returns, no restart brings the session back.
    pub fn end_session(&self, client_id: &str) -> Result<bool, JournalFailure> {
        let Some(engine) = self.engine_handle() else { return Ok(false) };
        let is_ended = engine.block_on(self.broker.end_by_operator(client_id));
        if is_ended {
            self.broker.journal.sync()?;
        }
        Ok(is_ended)
    }

    /// Sets the memory budget, until the next plan. The text is a size, such as `512MB`; the error says what is wrong with
    /// it. Returns the memory in use.
    pub fn set_memory(&self, size: &str) -> Result<MemoryUse, String> {
        self.broker.change_budget(size, "an operator", None)?;
        Ok(self.broker.memory_use())
    }

    /// Traffic by topic prefix since the start, the busiest first.
    pub fn prefixes(&self, most: usize) -> Vec<PrefixTraffic> {
        self.broker.monitor.prefixes.busiest(most)
    }

    /// Up to `most` values that changed after a change; see [`slipring_core::Values::changed_after`].
    pub fn values(&self, after: u64, most: usize) -> ValueChanges {
        self.broker.topics.values().changed_after(after, most)
    }

    /// Answers a request that changes nothing, as JSON: `find`, `list` or `values` to the desk `table` (see
    /// `docs/table.md`), `list` to `streams` (`docs/streams.md`). Panics if there is no such desk.
    pub fn ask(&self, desk: &str, name: &str, body: &[u8]) -> Vec<u8> {
        let desk = self.broker.desk(desk).expect("the name of a desk");
        desk.question(&self.broker.plan.load().limits, name, body)
    }

    /// Takes the packets that have arrived, disconnects every client, and syncs the journal.
    pub fn stop(&self) -> Result<(), JournalFailure> {
        let threads = lock(&self.threads).take();
        if let Some(threads) = threads {
            threads.stop(&self.broker);
        }
        self.broker.monitor.audit.stop();
        self.broker.journal.close()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
