//! The end of the broker: every client is told, and the last connection is waited for.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_wire::Reason;

use crate::broker::Broker;
use crate::client::Link;

impl Broker {
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Tells every client, and waits until the last connection has ended.
    pub async fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.tell_shutdown();
        self.stopping_told.notify_waiters();
        loop {
            let ended = self.ended.notified();
            let links: Vec<Arc<Link>> = self.links().values().cloned().collect();
            if self.connections.load(Ordering::Acquire) == 0 {
                return;
            }
            for link in &links {
                link.close(Reason::ServerShuttingDown);
            }
            ended.await;
        }
    }
}
