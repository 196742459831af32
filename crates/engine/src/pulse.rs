//! Whether the engine answers: a question that goes through one of its threads and through the locks that all
//! traffic needs. One question at a time, so that an engine that is stuck does not collect them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use crate::broker::Broker;

/// The question that has no answer yet.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    // A lock: taken for a moment by who asks, and by the answer.
    asked: Mutex<Option<Instant>>,
}

impl Pulse {
    fn asked(&self) -> MutexGuard<'_, Option<Instant>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Broker {
    /// Asks the engine whether it answers, and tells how long it has not answered an earlier question. Never
    /// waits.
    pub fn silence(self: &Arc<Self>, engine: &Handle) -> Duration {
        let mut asked = self.pulse.asked();
        if let Some(at) = *asked {
            return at.elapsed();
        }
        *asked = Some(Instant::now());
        let broker = Arc::clone(self);
        engine.spawn(async move { broker.answer_pulse() });
        Duration::ZERO
    }

    /// Who holds one of these locks for long holds up the traffic.
    fn answer_pulse(&self) {
        drop(self.registry());
        drop(self.routes());
        drop(self.retained());
        if self.table.is_used() {
            drop(self.table.lock());
        }
        *self.pulse.asked() = None;
    }
}

#[cfg(test)]
mod tests {
    use slipring_core::Plan;
    use slipring_journal::Options;

    use super::*;

    fn broker() -> Arc<Broker> {
        Arc::new(Broker::open(Plan::default(), None, Options::default()).unwrap().0)
    }

    fn wait_until_answered(broker: &Arc<Broker>, engine: &Handle) {
        while broker.silence(engine) > Duration::ZERO || broker.pulse.asked().is_some() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_thread_that_does_not_come_to_it_is_silent_until_it_does() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let broker = broker();
        let (free, busy) = std::sync::mpsc::channel::<()>();
        let (begun, has_begun) = std::sync::mpsc::channel::<()>();
        runtime.spawn(async move {
            begun.send(()).unwrap();
            let _ = busy.recv(); // it works for one client and lets nobody else run
        });
        has_begun.recv().unwrap();
        assert_eq!(broker.silence(runtime.handle()), Duration::ZERO);
        let first = broker.silence(runtime.handle());
        assert!(first > Duration::ZERO);
        assert!(broker.silence(runtime.handle()) > first, "the same question");
        drop(free);
        wait_until_answered(&broker, runtime.handle());
    }

    #[test]
    fn a_lock_that_is_held_is_seen() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let broker = broker();
        let held = broker.retained();
        broker.silence(runtime.handle());
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        runtime.spawn(async move { done.send(()).unwrap() });
        assert!(is_done.recv_timeout(Duration::from_millis(50)).is_err(), "behind the question");
        assert!(broker.silence(runtime.handle()) > Duration::ZERO);
        drop(held);
        wait_until_answered(&broker, runtime.handle());
    }
}
