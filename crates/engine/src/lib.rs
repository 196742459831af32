//! Sockets, timers and threads; drives `core` and `journal`. Decides nothing itself.

mod acknowledged;
mod admission;
mod asking;
mod broker;
mod client;
mod connection;
mod descriptors;
mod encoded;
mod ends;
mod event;
mod farewell;
mod feed;
mod gates;
mod history;
mod inlet;
mod jumps;
mod keeper;
mod line;
mod listener;
mod losses;
mod notices;
mod operating;
mod origin;
mod outlet;
mod party;
mod passwords;
mod paths;
mod ping;
mod post;
mod pulse;
mod reading;
mod recording;
mod recovery;
mod registry;
mod retaining;
mod returning;
mod room;
mod routes;
mod sampled;
mod shortage;
#[cfg(feature = "sim")]
pub mod simulated;
mod status;
mod stopping;
mod stored;
mod streams;
mod subscribing;
mod supervision;
mod sys;
mod table;
mod threads;
mod traffic;
mod turns;
mod upkeep;
mod waiting;
mod waking;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use slipring_core::{Changed, Plan};
use slipring_journal::{Failure, Options, Receipt};
use tokio::runtime::Handle;

use broker::Broker;
use threads::Threads;

pub use descriptors::Descriptors;
pub use event::{Event, EventKind};
pub use history::{JournalTable, journal_table};
pub use listener::{
    Bind, BoundAddress, ClientCertificates, ListenerSettings, TlsError, TlsFault, TlsFiles,
};
pub use operating::{OwnerShare, SessionQuery, SessionStatus, Sessions};
pub use recovery::Recovered;
pub use sampled::{Sampled, sampled};
pub use status::{
    Acknowledged, AwayStatus, ClientStatus, JournalStatus, NoticeCounts, PrefixTraffic, Status,
    StreamsStatus, TableStatus, Totals,
};

/// What an engine needs to start, and keeps until it stops.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where clients connect: one or more, each with a name of its own.
    pub listeners: Vec<ListenerSettings>,
    /// The folder of the journal; without one nothing is journaled.
    pub journal: Option<PathBuf>,
    /// Bytes of a journal segment.
    pub segment_bytes: u64,
    /// Threads that serve connections.
    pub threads: usize,
    /// Connections to the console, for which descriptors are kept.
    pub console_connections: usize,
}

/// Why an engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no way in.
    #[error("the broker has nothing to listen on")]
    NoListener,
    /// Names tell listeners apart.
    #[error("two listeners are named '{name}'")]
    SameName {
        /// The name.
        name: String,
    },
    /// A file of a listener's certificates cannot be used.
    #[error("listener '{name}': {source}")]
    Tls {
        /// The listener.
        name: String,
        /// Which file, and what is wrong with it.
        source: TlsError,
    },
    /// The address is not one, is taken, or is not ours.
    #[error("listener '{name}' cannot listen on {listen}: {source}")]
    Listen {
        /// The listener.
        name: String,
        /// The address asked for.
        listen: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The journal cannot be opened.
    #[error(transparent)]
    Journal(#[from] slipring_journal::OpenError),
    /// The journal cannot be read.
    #[error(transparent)]
    Recovery(#[from] slipring_journal::ReadError),
    /// No threads to be had.
    #[error("cannot start the engine's threads: {0}")]
    Threads(std::io::Error),
}

/// A running broker.
pub struct Engine {
    broker: Arc<Broker>,
    addresses: Vec<BoundAddress>,
    receipt: Option<Receipt>,
    recovered: Option<Recovered>,
    /// Gone once stopped. The lock lets `stop` be called twice and from any thread.
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
        drop(inside);
        let options = Options { segment_bytes: settings.segment_bytes, ..Options::default() };
        let (broker, found) = Broker::open(plan, settings.journal.as_deref(), options)?;
        let (receipt, recovered) = found.unzip();
        let broker = Arc::new(broker);
        threads.begin(&broker, listeners, settings.segment_bytes);
        Ok(Self { broker, addresses, receipt, recovered, threads: Mutex::new(Some(threads)) })
    }

    /// Where clients connect, in the order of the settings.
    pub fn addresses(&self) -> &[BoundAddress] {
        &self.addresses
    }

    /// Where the first listener on TCP is; panics where there is none.
    pub fn address(&self) -> SocketAddr {
        let tcp = self.addresses.iter().find_map(|address| match address {
            BoundAddress::Tcp(address) => Some(*address),
            BoundAddress::Unix(_) => None,
        });
        tcp.expect("a listener on TCP")
    }

    /// What the journal found when it was opened.
    pub fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }

    /// What came back from the journal at the start.
    pub fn recovered(&self) -> Option<&Recovered> {
        self.recovered.as_ref()
    }

    /// Swaps the plan, whole. It rules what comes after; limits of open connections stay.
    pub fn apply(&self, plan: Plan) {
        self.broker.apply(plan);
    }

    /// The events since the last call, and how many were lost because nobody fetched them.
    pub fn take_events(&self) -> (Vec<Event>, u64) {
        self.broker.tell_losses();
        self.broker.events.take()
    }

    /// How long the engine has not answered a question to one of its threads; zero while it answers. Asks
    /// anew, and never waits.
    pub fn silence(&self) -> Duration {
        self.engine_handle().map_or(Duration::ZERO, |engine| self.broker.silence(&engine))
    }

    /// The engine's threads, until it is stopped.
    fn engine_handle(&self) -> Option<Handle> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.as_ref().map(|threads| threads.engine.handle().clone())
    }

    /// Why the engine cannot go on, once that is so: its owner is to end the process.
    pub fn failure(&self) -> Option<&str> {
        self.broker.failed()
    }

    /// Totals and the state of the journal.
    pub fn status(&self) -> Status {
        self.broker.status()
    }

    /// Up to `most` connected clients, longest connected first.
    pub fn clients(&self, most: usize) -> Vec<ClientStatus> {
        self.broker.clients(most)
    }

    /// Up to `most` sessions whose client is away, those with the most waiting messages first.
    pub fn away(&self, most: usize) -> Vec<AwayStatus> {
        self.broker.away(most)
    }

    /// Sessions, connected or away, those that cost most first.
    pub fn sessions(&self, query: &SessionQuery) -> Sessions {
        self.broker.list_sessions(query)
    }

    /// Who holds most of each limit that is divided among users and addresses: so many of each.
    pub fn owners(&self, most: usize) -> Vec<OwnerShare> {
        self.broker.owners(most)
    }

    /// Ends the connection of a client (0x98); false if it is not connected. Its session stays.
    pub fn disconnect(&self, client_id: &str) -> bool {
        self.broker.disconnect(client_id)
    }

    /// Ends a session, and the connection of its client (0x98); false if there is none. When this
    /// returns, no restart brings the session back.
    pub fn end_session(&self, client_id: &str) -> Result<bool, Failure> {
        let Some(engine) = self.engine_handle() else { return Ok(false) };
        let is_ended = engine.block_on(self.broker.end_by_operator(client_id));
        if let (true, Some(journal)) = (is_ended, &self.broker.journal) {
            journal.sync()?;
        }
        Ok(is_ended)
    }

    /// Traffic by topic prefix since the start, the busiest first.
    pub fn prefixes(&self, most: usize) -> Vec<PrefixTraffic> {
        self.broker.prefix_traffic(most)
    }

    /// Up to `most` values that changed after a change; see [`slipring_core::Values::changed_after`].
    pub fn values(&self, after: u64, most: usize) -> Changed {
        self.broker.values_changed_after(after, most)
    }

    /// Answers a question about the table: `find`, `list` or `values`, as JSON; see `docs/table.md`.
    pub fn ask_table(&self, name: &str, body: &[u8]) -> Vec<u8> {
        self.broker.ask_table(name, body)
    }

    /// Answers `list` about the streams, as JSON; see `docs/streams.md`.
    pub fn ask_streams(&self, name: &str, body: &[u8]) -> Vec<u8> {
        self.broker.ask_streams(name, body)
    }

    /// Reads what has arrived, says goodbye to every client, and brings the journal to disk.
    pub fn stop(&self) -> Result<(), Failure> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(threads) = threads {
            threads.stop(&self.broker);
        }
        self.broker.journal.as_ref().map_or(Ok(()), slipring_journal::Journal::close)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
