//! The engine without sockets, threads and a disk, for simulations: it runs only when its owner lets it, and time
//! passes only when its owner says so.

use std::sync::Arc;
use std::time::Duration;

use slipring_core::Plan;
use slipring_journal::{Committer, Journal, JournalOptions, RecoveryReceipt, Storage};
use tokio::io::DuplexStream;
use tokio::runtime::Runtime;
use tokio::task::yield_now;

use crate::StartError;
use crate::broker::Broker;
use crate::clock::Clock;
use crate::connection::{self, FirstBytes};
use crate::gates::Gates;
use crate::history;
use crate::origin::Origin;
use crate::recovery::Recovered;
use crate::requests::keeper;
use crate::table::{beat, readers};
use crate::timers;

/// Bytes that a pipe between a client and the broker holds, in each direction.
const PIPE_BYTES: usize = 1 << 16;
/// How often every task may run in one call of [`Simulated::run`].
const TURNS: usize = 32;

/// A broker that runs only inside the calls below. Dropping it is the crash.
pub struct Simulated {
    broker: Arc<Broker>,
    committer: Committer,
    runtime: Runtime,
}

impl Simulated {
    /// Starts a broker with the journal in the storage; the wall clock shows `wall_ns`.
    pub fn open(
        storage: Box<dyn Storage>,
        options: JournalOptions,
        plan: Plan,
        wall_ns: i64,
    ) -> Result<(Self, RecoveryReceipt, Recovered), StartError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .map_err(StartError::Threads)?;
        let inside = runtime.enter(); // the broker's clock reads the time of this runtime
        let gates = Arc::new(Gates::default());
        let told = Arc::clone(&gates);
        let (journal, committer, receipt) =
            Journal::over(storage, options, move |progress| told.progress(&progress))?;
        let (broker, recovered) = Broker::over(plan, Clock::simulated(wall_ns), journal, gates)?;
        let broker = Arc::new(broker);
        runtime.spawn(timers::run(Arc::clone(&broker)));
        runtime.spawn(keeper::run(Arc::clone(&broker)));
        runtime.spawn(beat::run(Arc::clone(&broker)));
        runtime.spawn(readers::run(Arc::clone(&broker)));
        drop(inside);
        Ok((Self { broker, committer, runtime }, receipt, recovered))
    }

    /// Nanoseconds since 1970 by the broker's wall clock.
    pub fn now_ns(&self) -> i64 {
        let _inside = self.runtime.enter();
        self.broker.clock.now_ns()
    }

    /// Lets time pass; everything that is due meanwhile happens in its order.
    pub fn pass(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }

    /// Moves the broker's wall clock, forward or back.
    pub fn jump(&self, by_ns: i64) {
        self.broker.clock.jump(by_ns);
    }

    /// The client's end of a new connection.
    pub fn connect(&self) -> DuplexStream {
        let _inside = self.runtime.enter();
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        let origin =
            Origin { address: "simulated".into(), listener: 0, user: None, certificates: None };
        let (heard, broker) = (FirstBytes::nothing(&self.broker), Arc::clone(&self.broker));
        self.runtime.spawn(connection::serve(far, heard, origin, broker));
        near
    }

    /// Lets the broker's tasks run for a while, then a future of the clients.
    pub fn run<T>(&self, clients: impl Future<Output = T>) -> T {
        self.runtime.block_on(async {
            for _ in 0..TURNS {
                yield_now().await;
            }
            clients.await
        })
    }

    /// One step of the journal: writes what waits, and syncs if somebody asked for it.
    pub fn commit(&mut self) -> bool {
        self.committer.step()
    }

    /// Writes a snapshot, as a running broker does now and then.
    pub fn snapshot(&mut self) {
        let Some(journal) = self.broker.journal.get() else { return };
        let Ok(mut state) = history::read(journal) else { return };
        let asked = journal.append(&mut slipring_journal::Batch::new(), true);
        while self.committer.step() {}
        if asked.is_ok() && !self.broker.journal.gates.has_failed() {
            let (position, bytes) = state.snapshot(self.now_ns());
            let _ = journal.put_snapshot(position, &bytes); // a failing disk fails here, too
        }
    }

    /// Whether the journal has failed, so that the broker acknowledges nothing more.
    pub fn has_failed(&self) -> bool {
        self.broker.journal.gates.has_failed()
    }

    /// The topics and payloads of all messages in the journal.
    pub fn journaled(&self) -> Vec<(String, Vec<u8>)> {
        let Some(journal) = self.broker.journal.get() else { return Vec::new() };
        let mut reader = journal.reader();
        let (first, end) = (reader.first_offset(), reader.end_offset().unwrap_or_default());
        let (mut at, mut found) = (first, Vec::new());
        while at < end {
            let Ok(columns) = reader.read(at..end, usize::MAX) else { break };
            found.extend((0..columns.len()).map(|row| {
                let topic = String::from_utf8_lossy(columns.topic.get(row)).into_owned();
                (topic, columns.payload.get(row).to_vec())
            }));
            at = columns.end;
        }
        found
    }
}
