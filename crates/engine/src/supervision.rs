//! Reports panics of tasks. A task that runs as long as the broker is started again. If it panics again and again, the
//! engine has failed: its owner must end the process. A task that serves one client ends, and the client is
//! disconnected.

use std::any::Any;
use std::collections::VecDeque;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::JoinError;
use tokio::time::{Instant, sleep};

use crate::broker::Broker;
use crate::event::EventKind;

/// Panics of one task within [`WINDOW`] that are forgiven.
const PANICS_MAX: usize = 3;
const WINDOW: Duration = Duration::from_secs(60);
/// The pause before a task that panicked is started again.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs a task until it ends by itself, which it does when the broker stops.
pub(crate) async fn supervise<F>(broker: Arc<Broker>, name: String, task: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut panics = Panics::default();
    let _last_word = LastWord { broker: &broker, name: &name };
    loop {
        let Err(error) = tokio::spawn(task()).await else { return };
        let Ok(panic) = error.try_into_panic() else { return }; // the runtime is shutting down
        let why = told(&*panic);
        if panics.is_forgiven(broker.clock.now()) {
            broker.monitor.report(EventKind::Restarted, &name, format!("it panicked: {why}"));
            sleep(PAUSE).await;
        } else {
            let count = PANICS_MAX + 1;
            broker
                .monitor
                .fail(format!("the task '{name}' panicked {count} times in a minute: {why}"));
            return;
        }
    }
}

/// Marks the engine as failed if the supervision itself panics: nothing else would notice.
struct LastWord<'a> {
    broker: &'a Broker,
    name: &'a str,
}

impl Drop for LastWord<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.broker
                .monitor
                .fail(format!("the supervisor of the task '{}' panicked", self.name));
        }
    }
}

/// Runs a task that serves one client and is not started again.
pub(crate) fn spawn(
    broker: &Arc<Broker>,
    client: &str,
    task: impl Future<Output = ()> + Send + 'static,
) {
    let (broker, client) = (Arc::clone(broker), client.to_owned());
    let mut task = Box::pin(task);
    tokio::spawn(async move {
        if let Err(why) = Caught(task.as_mut()).await {
            broker.monitor.report(EventKind::Panicked, &client, why);
        }
    });
}

/// Does blocking work on a thread that serves no connection. A panic is an error with its message.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await.map_err(JoinError::try_into_panic) {
        Ok(done) => Ok(done),
        Err(Ok(panic)) => Err(told(&*panic).to_owned()),
        Err(Err(_)) => pending().await, // the runtime is shutting down, and this task with it
    }
}

/// A future whose panic is an error with its message.
pub(crate) struct Caught<'a, F>(pub Pin<&'a mut F>);

impl<F: Future> Future for Caught<'_, F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(told(&*panic).to_owned())),
        }
    }
}

/// The panics of one task within the last minute.
#[derive(Debug, Default)]
struct Panics(VecDeque<Instant>);

impl Panics {
    /// Counts one more. Returns whether the task may be started again.
    fn is_forgiven(&mut self, now: Instant) -> bool {
        self.0.retain(|at| now.duration_since(*at) < WINDOW);
        self.0.push_back(now);
        self.0.len() <= PANICS_MAX
    }
}

/// The message of a panic.
fn told(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use slipring_core::Plan;
    use slipring_journal::JournalOptions;

    use super::*;

    fn broker() -> Arc<Broker> {
        Arc::new(Broker::open(Plan::default(), None, JournalOptions::default()).unwrap().0)
    }

    /// Runs a task that panics so many times, and counts how often it was started.
    fn run(broker: &Arc<Broker>, panics: usize) -> usize {
        let started = Arc::new(AtomicUsize::new(0));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let counted = Arc::clone(&started);
        runtime.block_on(supervise(Arc::clone(broker), "planted".into(), move || {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            async move { assert!(number >= panics, "planted panic {number}") }
        }));
        started.load(Ordering::Relaxed)
    }

    #[test]
    fn a_task_that_panics_is_started_again_and_reported() {
        let broker = broker();
        assert_eq!(run(&broker, 1), 2);
        let events = broker.monitor.take_events(0).events;
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].kind, &*events[0].client), (EventKind::Restarted, "planted"));
        assert_eq!(events[0].detail, "it panicked: planted panic 0");
        assert_eq!(broker.monitor.failed(), None);
    }

    #[test]
    fn a_task_that_panics_again_and_again_ends_the_engine() {
        let broker = broker();
        assert_eq!(run(&broker, usize::MAX), PANICS_MAX + 1);
        let failure = broker.monitor.failed().expect("it is given up");
        assert!(
            failure.starts_with("the task 'planted' panicked 4 times in a minute"),
            "{failure}"
        );
    }

    #[test]
    fn panics_that_are_far_apart_are_forgiven_for_ever() {
        let (begun, mut panics) = (broker().clock.now(), Panics::default());
        for minute in 0..10 * PANICS_MAX as u32 {
            assert!(panics.is_forgiven(begun + WINDOW * minute / PANICS_MAX as u32));
        }
    }
}
