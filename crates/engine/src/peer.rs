//! One connected client as the others see it: where its messages go, and its counters.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use slipring_core::{Identity, Limits, Outbox, Session, Taken};
use slipring_wire::Reason;
use tokio::sync::Notify;

use crate::origin::Origin;

/// A connection, shared between its own task and those who publish to it.
#[derive(Debug)]
pub(crate) struct Peer {
    pub key: u64,
    pub origin: Origin,
    pub connected_ns: i64,
    pub traffic: Traffic,
    /// Set once CONNECT was accepted.
    pub identity: OnceLock<Identity>,
    // A lock, held for one batch of packets by the owner, briefly by who lists the clients.
    session: Mutex<Session>,
    // A lock: publishers on any thread append, the owner's task takes.
    outbox: Mutex<Outbox>,
    closing: OnceLock<Reason>,
    /// Tells the owner's task that the outbox is no longer empty, or that it must close.
    pub wake: Notify,
}

/// Counters of one client, or of all.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub messages_in: AtomicU64,
    pub bytes_in: AtomicU64,
    pub messages_out: AtomicU64,
    pub bytes_out: AtomicU64,
    pub dropped: AtomicU64,
}

impl Traffic {
    pub fn received(&self, messages: u64, bytes: u64) {
        self.messages_in.fetch_add(messages, Relaxed);
        self.bytes_in.fetch_add(bytes, Relaxed);
    }

    pub fn sent(&self, taken: Taken, bytes: u64) {
        self.messages_out.fetch_add(taken.messages, Relaxed);
        self.bytes_out.fetch_add(bytes, Relaxed);
        self.dropped.fetch_add(taken.dropped, Relaxed);
    }
}

impl Peer {
    pub fn new(key: u64, origin: Origin, now_ns: i64, limits: Limits, id: String) -> Self {
        Self {
            key,
            origin,
            connected_ns: now_ns,
            traffic: Traffic::default(),
            identity: OnceLock::new(),
            session: Mutex::new(Session::new(limits, id)),
            outbox: Mutex::new(Outbox::new(limits.outbox_bytes)),
            closing: OnceLock::new(),
            wake: Notify::new(),
        }
    }

    pub fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn outbox(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client identifier, or the address while there is none.
    pub fn name(&self) -> String {
        self.identity.get().map_or_else(|| self.origin.address.clone(), |id| id.client_id.clone())
    }

    /// Asks the connection to end. The first reason counts.
    pub fn close(&self, reason: Reason) {
        let _ = self.closing.set(reason);
        self.wake.notify_one();
    }

    pub fn closing(&self) -> Option<Reason> {
        self.closing.get().copied()
    }
}

/// A place in the topic tree.
#[derive(Clone, Debug)]
pub(crate) struct Subscriber {
    pub peer: Arc<Peer>,
    pub no_local: bool,
}

impl Ord for Subscriber {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.peer.key, self.no_local).cmp(&(other.peer.key, other.no_local))
    }
}

impl PartialOrd for Subscriber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Subscriber {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Subscriber {}
