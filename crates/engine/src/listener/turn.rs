//! Costly work in turns: thousands of handshakes that begin at once are done one after the other, so that other
//! clients wait for one of them and not for all.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use tokio::sync::Semaphore;

/// Drives a future. Each of its steps needs a turn; waiting for the network needs none.
pub(super) async fn in_turn<F: Future>(turns: &Semaphore, work: F) -> F::Output {
    let mut work = pin!(work);
    loop {
        let turn = turns.acquire().await;
        let step = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await;
        drop(turn);
        match step {
            Poll::Ready(output) => return output,
            Poll::Pending => woken().await,
        }
    }
}

/// Waits for the wake-up that the last step asked for.
async fn woken() {
    let mut asleep = true;
    let ask = |_: &mut Context<'_>| {
        if std::mem::replace(&mut asleep, false) { Poll::Pending } else { Poll::Ready(()) }
    };
    poll_fn(ask).await;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[test]
    fn one_that_waits_keeps_nobody_from_a_turn() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let turns = Arc::new(Semaphore::new(1));
            let go = Arc::new(Notify::new());
            let done = Arc::new(AtomicUsize::new(0));
            let tasks: Vec<_> = (0..100)
                .map(|_| {
                    let (turns, go, done) = (turns.clone(), go.clone(), done.clone());
                    tokio::spawn(async move {
                        in_turn(&turns, go.notified()).await;
                        done.fetch_add(1, Ordering::Relaxed);
                    })
                })
                .collect();
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
            assert_eq!(done.load(Ordering::Relaxed), 0);
            in_turn(&turns, async { go.notify_waiters() }).await;
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(done.load(Ordering::Relaxed), 100);
        });
    }
}
