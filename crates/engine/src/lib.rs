//! Sockets, timers and threads; drives `core` and `journal`. Decides nothing itself.

mod admission;
mod broker;
mod client;
mod connection;
mod event;
mod feed;
mod inlet;
mod keeper;
mod listener;
mod origin;
mod outlet;
mod party;
mod passwords;
mod registry;
mod routes;
mod status;
mod sys;
mod traffic;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use slipring_core::{Changed, Plan};
use slipring_journal::{Failure, Options, Receipt};
use tokio::runtime::Runtime;

use broker::Broker;
pub use event::{Event, EventKind};
pub use status::{ClientStatus, JournalStatus, PrefixTraffic, Status, Totals};

/// How long a stopping engine waits for its connections to end.
const STOP_MAX: Duration = Duration::from_secs(5);

/// What an engine needs to start, and keeps until it stops.
#[derive(Clone, Debug)]
pub struct Settings {
    /// HOST:PORT for MQTT over TCP; port 0 picks a free one.
    pub listen: String,
    /// The folder of the journal; without one nothing is journaled.
    pub journal: Option<PathBuf>,
    /// Bytes of a journal segment.
    pub segment_bytes: u64,
    /// Threads that serve connections.
    pub threads: usize,
}

/// Why an engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is not one, is taken, or is not ours.
    #[error("cannot listen on {listen}: {source}")]
    Listen {
        /// The address asked for.
        listen: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The journal cannot be opened.
    #[error(transparent)]
    Journal(#[from] slipring_journal::OpenError),
    /// No threads to be had.
    #[error("cannot start the engine's threads: {0}")]
    Threads(std::io::Error),
}

/// A running broker.
pub struct Engine {
    broker: Arc<Broker>,
    address: SocketAddr,
    receipt: Option<Receipt>,
    /// Gone once stopped. The lock lets `stop` be called twice and from any thread.
    runtime: Mutex<Option<Runtime>>,
}

impl Engine {
    /// Opens the journal, listens, and serves until [`Engine::stop`].
    pub fn start(settings: &Settings, plan: Plan) -> Result<Self, StartError> {
        let listener = listener::bind(&settings.listen)
            .map_err(|source| StartError::Listen { listen: settings.listen.clone(), source })?;
        let address = listener.local_addr().map_err(StartError::Threads)?;
        let options = Options { segment_bytes: settings.segment_bytes, ..Options::default() };
        let (broker, receipt) = Broker::open(plan, settings.journal.as_deref(), options)?;
        let broker = Arc::new(broker);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(settings.threads.max(1))
            .thread_name("slipring-engine")
            .enable_all()
            .build()
            .map_err(StartError::Threads)?;
        runtime.spawn(listener::accept(listener, Arc::clone(&broker)));
        runtime.spawn(keeper::keep(Arc::clone(&broker)));
        Ok(Self { broker, address, receipt, runtime: Mutex::new(Some(runtime)) })
    }

    /// Where MQTT clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the journal found when it was opened.
    pub fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }

    /// Swaps the plan, whole. It rules what comes after; limits of open connections stay.
    pub fn apply(&self, plan: Plan) {
        self.broker.apply(plan);
    }

    /// The events since the last call, and how many were lost because nobody fetched them.
    pub fn take_events(&self) -> (Vec<Event>, u64) {
        self.broker.events.take()
    }

    /// Totals and the state of the journal.
    pub fn status(&self) -> Status {
        self.broker.status()
    }

    /// Up to `most` connected clients, longest connected first.
    pub fn clients(&self, most: usize) -> Vec<ClientStatus> {
        self.broker.clients(most)
    }

    /// Traffic by topic prefix since the start, the busiest first.
    pub fn prefixes(&self, most: usize) -> Vec<PrefixTraffic> {
        self.broker.prefix_traffic(most)
    }

    /// Up to `most` values that changed after a change; see [`slipring_core::Values::changed_after`].
    pub fn values(&self, after: u64, most: usize) -> Changed {
        self.broker.values_changed_after(after, most)
    }

    /// Reads what has arrived, says goodbye to every client, and brings the journal to disk.
    pub fn stop(&self) -> Result<(), Failure> {
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runtime) = runtime {
            runtime.block_on(async {
                let ended = self.broker.stop();
                let _ = tokio::time::timeout(STOP_MAX, ended).await;
            });
            runtime.shutdown_timeout(STOP_MAX);
        }
        self.broker.journal.as_ref().map_or(Ok(()), slipring_journal::Journal::close)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
