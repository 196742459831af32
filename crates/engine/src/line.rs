//! The line of busy connections: a connection that needs more than a short turn waits here for a long one.
//!
//! A connection that wakes has a short turn at once, which is usually enough. So a connection with little work waits
//! for short turns of others and for one long turn, however many others are busy. Example: 150 subscribers have
//! 256 KiB to write each, which takes a tenth of a millisecond. All of them wait in line while one writes. A
//! publisher that wakes meanwhile runs next, not after fifteen milliseconds.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;

thread_local! {
    /// Whether the future that is being polled has asked for a long turn.
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

/// Long turns at one time: one for each thread of the engine.
#[derive(Clone, Debug)]
pub(crate) struct Line(Arc<Semaphore>);

impl Default for Line {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl Line {
    /// Adds threads to the first.
    pub fn add_threads(&self, count: usize) {
        self.0.add_permits(count);
    }

    /// Runs a future that asks for [`long_turn`]s.
    pub fn run<F: Future>(&self, future: Pin<&mut F>) -> impl Future<Output = F::Output> {
        InTurns { line: self.clone(), future, turn: Turn::Short }
    }
}

/// Ends the turn of this future, which a [`Line`] runs. The future continues with a long turn, after others ran.
pub(crate) fn long_turn() -> impl Future<Output = ()> {
    let mut has_asked = false;
    poll_fn(move |_| {
        if std::mem::replace(&mut has_asked, true) {
            return Poll::Ready(());
        }
        ASKED.set(true);
        Poll::Pending
    })
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Permit = Result<OwnedSemaphorePermit, AcquireError>;

enum Turn {
    Short,
    /// In line.
    Waiting(Boxed<Permit>),
    /// Runs next, after connections that woke meanwhile; then has its long turn.
    Long {
        _permit: Permit,
        others: Boxed<()>,
    },
}

struct InTurns<'a, F> {
    line: Line,
    future: Pin<&'a mut F>,
    turn: Turn,
}

impl<F: Future> Future for InTurns<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        loop {
            ready!(this.turn.poll_begin(cx));
            let polled = this.future.as_mut().poll(cx);
            // A future that waits for something else loses its long turn.
            this.turn = Turn::Short;
            if !ASKED.take() || polled.is_ready() {
                return polled;
            }
            this.turn = Turn::Waiting(Box::pin(Arc::clone(&this.line.0).acquire_owned()));
        }
    }
}

impl Turn {
    /// Ready when the future may run.
    fn poll_begin(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Self::Waiting(acquiring) = self {
            let permit = ready!(acquiring.as_mut().poll(cx));
            *self = Self::Long { _permit: permit, others: Box::pin(yield_now()) };
        }
        match self {
            Self::Long { others, .. } => others.as_mut().poll(cx),
            _ => Poll::Ready(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Mutex;

    use tokio::runtime::Builder;
    use tokio::sync::Notify;

    use super::*;

    fn spawn(line: &Line, work: impl Future<Output = ()> + Send + 'static) {
        let line = line.clone();
        tokio::spawn(async move { line.run(pin!(work)).await });
    }

    #[derive(Default)]
    struct TurnLog {
        log: Mutex<Vec<String>>,
        woken: Notify,
        over: Notify,
    }

    impl TurnLog {
        fn note(&self, what: &str) {
            self.log.lock().unwrap().push(what.to_owned());
        }

        async fn be_busy(self: Arc<Self>, name: &str) {
            for turn in 0..3 {
                self.note(&format!("{name}{turn}"));
                if (name, turn) == ("a", 1) {
                    self.woken.notify_one();
                }
                long_turn().await;
            }
            self.over.notify_one();
        }
    }

    #[test]
    fn busy_connections_take_long_turns_one_after_the_other_and_a_woken_one_runs_between() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let (turns, line) = (Arc::new(TurnLog::default()), Line::default());
        runtime.block_on(async {
            let idle = Arc::clone(&turns);
            tokio::spawn(async move {
                idle.woken.notified().await;
                idle.note("woken");
            });
            for name in ["a", "b", "c"] {
                spawn(&line, Arc::clone(&turns).be_busy(name));
            }
            for _ in 0..3 {
                turns.over.notified().await;
            }
        });
        let log = turns.log.lock().unwrap().join(" ");
        assert_eq!(log, "a0 b0 c0 a1 woken b1 c1 a2 b2 c2");
    }

    #[test]
    fn a_future_that_waits_for_something_else_or_ends_gives_its_long_turn_away() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let line = Line::default();
        runtime.block_on(async {
            for _ in 0..2 {
                spawn(&line, async {
                    long_turn().await;
                    std::future::pending::<()>().await;
                });
            }
            line.run(pin!(long_turn())).await;
            while line.0.available_permits() == 0 {
                yield_now().await;
            }
        });
    }
}
