//! All open connections, including those whose clients are not let in yet.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use slipring_core::ConnectionKey;
use slipring_wire::Reason;
use tokio::sync::Notify;

use crate::connection_handle::ConnectionHandle;
use crate::line::Line;
use crate::locks::lock;

#[derive(Default)]
pub(crate) struct Connections {
    // A lock: taken when a connection begins or ends, and when the broker stops. No other is taken meanwhile.
    served: Mutex<HashMap<ConnectionKey, Arc<ConnectionHandle>>>,
    /// How many connections arrive or are served.
    count: AtomicUsize,
    /// Notified when one ends.
    ended: Notify,
    /// The line of busy connections.
    pub line: Line,
    keys: AtomicU64,
}

impl Connections {
    /// A key no other connection has had.
    pub fn next_key(&self) -> ConnectionKey {
        ConnectionKey::new(self.keys.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Adds a connection that is served from now on.
    pub fn enter(&self, connection: &Arc<ConnectionHandle>) {
        lock(&self.served).insert(connection.key, Arc::clone(connection));
        // The listener's files may have changed since the handshake, before this connection could be found.
        connection.close_unless_trusted();
    }

    /// Removes a connection.
    pub fn exit(&self, connection: &ConnectionHandle) {
        lock(&self.served).remove(&connection.key);
    }

    pub fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Counts one more connection, until [`Connections::discount`].
    pub fn count_one(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
    }

    pub fn discount(&self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
        self.ended.notify_waiters();
    }

    /// Ends those whose certificate their listener does not trust any more. Returns how many.
    pub fn close_untrusted(&self) -> usize {
        let served: Vec<Arc<ConnectionHandle>> = lock(&self.served).values().cloned().collect();
        served.iter().filter(|connection| connection.close_unless_trusted()).count()
    }

    /// Ends them all, and waits until the last one has ended.
    pub async fn close_all(&self, reason: Reason) {
        loop {
            let ended = self.ended.notified();
            let served: Vec<Arc<ConnectionHandle>> = lock(&self.served).values().cloned().collect();
            if self.count() == 0 {
                return;
            }
            for connection in &served {
                connection.close(reason);
            }
            ended.await;
        }
    }
}
