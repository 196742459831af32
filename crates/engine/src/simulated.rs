//! The engine without sockets, threads and a disk of its own, for simulations: nothing happens in it
//! but what its owner asks for.

use std::sync::Arc;

use slipring_core::Plan;
use slipring_journal::{Committer, Journal, Options, Receipt, Storage};
use tokio::io::DuplexStream;
use tokio::runtime::Runtime;
use tokio::task::yield_now;

use crate::StartError;
use crate::broker::Broker;
use crate::connection::{self, Heard};
use crate::event::now_ns;
use crate::gates::Gates;
use crate::history;
use crate::origin::Origin;
use crate::recovery::Recovered;

/// Bytes on their way between a client and the broker, each way.
const PIPE_BYTES: usize = 1 << 16;
/// How often every connection is let run when it is their turn.
const TURNS: usize = 32;

/// A broker that runs when it is told to. Dropping it is the crash.
pub struct Simulated {
    broker: Arc<Broker>,
    committer: Committer,
    runtime: Runtime,
}

impl Simulated {
    /// Recovers what is in the storage.
    pub fn open(
        storage: Box<dyn Storage>,
        options: Options,
        plan: Plan,
    ) -> Result<(Self, Receipt, Recovered), StartError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(StartError::Threads)?;
        let gates = Arc::new(Gates::default());
        let told = Arc::clone(&gates);
        let (journal, committer, receipt) =
            Journal::over(storage, options, move |progress| told.progress(&progress))?;
        let (broker, recovered) = Broker::over(plan, journal, gates)?;
        let broker = Arc::new(broker);
        Ok((Self { broker, committer, runtime }, receipt, recovered))
    }

    /// The client's end of a new connection.
    pub fn connect(&self) -> DuplexStream {
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        let origin = Origin { address: "simulated".into(), listener: 0, user: None };
        let (heard, broker) = (Heard::nothing(), Arc::clone(&self.broker));
        self.runtime.spawn(connection::serve(far, heard, origin, broker));
        near
    }

    /// Lets every connection run for a while, with a future of the clients' own.
    pub fn run<T>(&self, clients: impl Future<Output = T>) -> T {
        self.runtime.block_on(async {
            for _ in 0..TURNS {
                yield_now().await;
            }
            clients.await
        })
    }

    /// One step of the journal: writes what waits, and syncs if that was asked for.
    pub fn commit(&mut self) -> bool {
        self.committer.step()
    }

    /// Writes a snapshot, as a running broker does now and then.
    pub fn snapshot(&mut self) {
        let Some(journal) = &self.broker.journal else { return };
        let Ok(mut state) = history::read(journal) else { return };
        let asked = journal.append(&mut slipring_journal::Batch::new(), true);
        while self.committer.step() {}
        if asked.is_ok() && !self.broker.gates.has_failed() {
            let (position, bytes) = state.snapshot(now_ns());
            let _ = journal.put_snapshot(position, &bytes); // the disk may fail here, too
        }
    }

    /// Whether the journal has failed: nothing more is acknowledged.
    pub fn has_failed(&self) -> bool {
        self.broker.gates.has_failed()
    }

    /// The topics and payloads of all messages in the journal.
    pub fn journaled(&self) -> Vec<(String, Vec<u8>)> {
        let Some(journal) = &self.broker.journal else { return Vec::new() };
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
