//! A latch: somebody sets it once, and from then on everyone who waits for it goes on.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Latch {
    is_set: AtomicBool,
    was_set: Notify,
}

impl Latch {
    pub fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    pub fn set(&self) {
        self.is_set.store(true, Ordering::Release);
        self.was_set.notify_waiters();
    }

    pub async fn wait(&self) {
        loop {
            let was_set = self.was_set.notified();
            if self.is_set() {
                return;
            }
            was_set.await;
        }
    }
}
