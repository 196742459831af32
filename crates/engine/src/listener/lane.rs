//! The lane of arrivals: threads of lower priority that accept clients, do their handshakes and read their first
//! packet. The engine's threads then take the clients over, a few at a time, so that traffic waits for a few and
//! never for a whole burst.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustix::process::nice;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The niceness of the lane: on a busy machine it gets about a tenth of what the engine gets.
const NICE: i32 = 10;
/// Connections that may be on their way from the lane to each thread of the engine: traffic waits for at most so
/// many.
const HANDOVERS_MAX: usize = 8;

/// The threads of the lane.
pub(crate) fn runtime(engine_threads: usize) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads((engine_threads / 2).max(1))
        .thread_name("slipring-lane")
        .on_thread_start(give_way)
        .enable_all()
        .build()
}

/// Lowers the priority of this thread, if the system allows it.
fn give_way() {
    let _ = nice(NICE); // for this thread alone, see sched(7)
}

/// The way from the lane to the engine.
#[derive(Clone)]
pub(crate) struct Handover {
    engine: Handle,
    /// Taken by a connection until the engine has served it for the first time.
    turns: Arc<Semaphore>,
}

impl Handover {
    pub fn to(engine: &Handle) -> Self {
        let turns = HANDOVERS_MAX * engine.metrics().num_workers();
        Self { engine: engine.clone(), turns: Arc::new(Semaphore::new(turns)) }
    }

    pub fn engine(&self) -> &Handle {
        &self.engine
    }

    /// Waits until the engine has served enough of the earlier connections; None when it ends.
    pub async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }

    /// Serves a connection on the engine; the turn is over when it first waits for something.
    pub fn serve(
        &self,
        turn: OwnedSemaphorePermit,
        connection: impl Future<Output = ()> + Send + 'static,
    ) {
        self.engine.spawn(FirstTurn { connection: Box::pin(connection), turn: Some(turn) });
    }
}

/// A future that gives a turn back once it was polled.
struct FirstTurn<F> {
    connection: Pin<Box<F>>,
    turn: Option<OwnedSemaphorePermit>,
}

impl<F: Future> Future for FirstTurn<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let polled = self.connection.as_mut().poll(cx);
        self.turn = None;
        polled
    }
}
