//! Checks that the engine answers: a question passes through one of its threads and through the locks that all
//! traffic needs. There is one question at a time, so that a stuck engine does not collect them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::broker::Broker;
use crate::locks::lock;

/// The question that has no answer yet.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    // A lock: taken for a moment to ask and to answer.
    asked: Mutex<Option<Instant>>,
}

/// Asks the engine a question, or returns how long it has not answered the earlier one. Never waits.
pub(crate) fn silence(broker: &Arc<Broker>, engine: &Handle) -> Duration {
    let mut asked = lock(&broker.monitor.pulse.asked);
    if let Some(at) = *asked {
        return broker.clock.now().duration_since(at);
    }
    *asked = Some(broker.clock.now());
    let broker = Arc::clone(broker);
    engine.spawn(async move { answer(&broker) });
    Duration::ZERO
}

/// A task that holds one of these locks for long holds up the traffic, and this answer.
fn answer(broker: &Broker) {
    drop(broker.sessions.registry());
    drop(broker.topics.routes());
    drop(broker.topics.retained());
    if broker.table.is_used() {
        drop(broker.table.lock());
    }
    *lock(&broker.monitor.pulse.asked) = None;
}

#[cfg(test)]
mod tests {
    use slipring_core::Plan;
    use slipring_journal::JournalOptions;

    use super::*;

    fn broker() -> Arc<Broker> {
        Arc::new(Broker::open(Plan::default(), None, JournalOptions::default()).unwrap().0)
    }

    fn wait_until_answered(broker: &Arc<Broker>, engine: &Handle) {
        while silence(broker, engine) > Duration::ZERO
            || lock(&broker.monitor.pulse.asked).is_some()
        {
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
        assert_eq!(silence(&broker, runtime.handle()), Duration::ZERO);
        let first = silence(&broker, runtime.handle());
        assert!(first > Duration::ZERO);
        assert!(silence(&broker, runtime.handle()) > first, "the same question");
        drop(free);
        wait_until_answered(&broker, runtime.handle());
    }

    #[test]
    fn a_lock_that_is_held_is_seen() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let broker = broker();
        let held = broker.topics.retained();
        silence(&broker, runtime.handle());
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        runtime.spawn(async move { done.send(()).unwrap() });
        assert!(is_done.recv_timeout(Duration::from_millis(50)).is_err(), "behind the question");
        assert!(silence(&broker, runtime.handle()) > Duration::ZERO);
        drop(held);
        wait_until_answered(&broker, runtime.handle());
    }
}
