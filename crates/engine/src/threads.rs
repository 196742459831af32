//! The threads of the engine, and the tasks that run as long as the broker.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::broker::Broker;
use crate::listener::lane::{self, Handover};
use crate::listener::{self, Door, Listener};
use crate::requests::keeper;
use crate::supervision::supervise;
use crate::table::{beat, readers};
use crate::{timers, upkeep, victims};

/// Turns of tasks after which a thread looks at its sockets, even while other tasks wait to run, so that bytes that
/// have arrived do not wait long.
const EVENT_INTERVAL: u32 = 4;
/// How long a stopping engine waits for its connections to end.
const STOP_MAX: Duration = Duration::from_secs(5);

/// The threads of the engine.
pub(crate) struct Threads {
    /// The threads that serve connections.
    pub engine: Runtime,
    /// The threads where clients arrive.
    pub lane: Runtime,
}

impl Threads {
    /// Starts threads; `count` of them, at least one, serve connections.
    pub fn new(count: usize) -> io::Result<Self> {
        let engine = Builder::new_multi_thread()
            .worker_threads(count.max(1))
            .thread_name("slipring-engine")
            .event_interval(EVENT_INTERVAL)
            .enable_all()
            .build()?;
        Ok(Self { engine, lane: lane::runtime(count)? })
    }

    /// Starts the tasks that run as long as the broker.
    pub fn begin(&self, broker: &Arc<Broker>, listeners: Vec<Listener>, segment_bytes: u64) {
        let _ = broker.passwords.lane.set(self.lane.handle().clone());
        broker.connections.line.add_threads(self.engine.metrics().num_workers() - 1);
        let handover = Handover::to(self.engine.handle());
        for listener in listeners {
            let name = format!("listener {}", listener.address);
            let (broker, handover) = (Arc::clone(broker), handover.clone());
            let door = Door::new(listener, Arc::clone(&broker), handover, self.lane.handle());
            let accept = move || listener::accept(Arc::clone(&door));
            self.lane.spawn(supervise(broker, name, accept));
        }
        self.run(broker, "timers", timers::run);
        self.run(broker, "requests", keeper::run);
        self.run(broker, "beat", beat::run);
        self.run(broker, "readers", readers::run);
        self.run(broker, "victims", victims::run);
        self.run(broker, "upkeep", move |broker| upkeep::keep(broker, segment_bytes));
    }

    /// Runs a task on the engine's threads until the broker stops.
    fn run<F>(
        &self,
        broker: &Arc<Broker>,
        name: &str,
        task: impl Fn(Arc<Broker>) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let given = Arc::clone(broker);
        let again = move || task(Arc::clone(&given));
        self.engine.spawn(supervise(Arc::clone(broker), name.into(), again));
    }

    /// Waits for every connection to end, and for the last snapshot.
    pub fn stop(self, broker: &Arc<Broker>) {
        self.engine.block_on(async {
            let _ = timeout(STOP_MAX, broker.stop()).await;
            let broker = Arc::clone(broker);
            let _ = tokio::task::spawn_blocking(move || broker.journal.end_upkeep(&broker.monitor))
                .await;
        });
        self.lane.shutdown_timeout(STOP_MAX);
        self.engine.shutdown_timeout(STOP_MAX);
    }
}
