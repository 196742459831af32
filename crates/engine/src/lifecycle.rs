//! Whether the broker runs or is stopping.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Lifecycle {
    is_stopping: AtomicBool,
    /// Told when stopping begins.
    stopping: Notify,
}

impl Lifecycle {
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.stopping.notify_waiters();
    }

    /// Waits until the broker stops.
    pub async fn stopped(&self) {
        loop {
            let told = self.stopping.notified();
            if self.is_stopping() {
                return;
            }
            told.await;
        }
    }
}
