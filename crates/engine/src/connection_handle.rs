//! One connection as everyone but its own task sees it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use atomic_waker::AtomicWaker;
use slipring_core::{ConnectionKey, Owner};
use slipring_wire::{Reason, Version};
use tokio::sync::Notify;

use crate::notices::Allowance;
use crate::origin::Origin;

/// One connection: where it came from, what its client has proved, and how it is woken or ended.
#[derive(Debug)]
pub(crate) struct ConnectionHandle {
    pub key: ConnectionKey,
    pub origin: Origin,
    pub connected_ns: i64,
    /// Set once CONNECT was accepted.
    pub version: OnceLock<Version>,
    /// The name that the client has proved, if its certificate has not.
    proven: OnceLock<Box<str>>,
    /// Whose quotas the connection is counted for.
    owner: OnceLock<Owner>,
    closing: OnceLock<Reason>,
    /// Whether it has published anything, or said that it will.
    published: AtomicBool,
    /// For what it says to other nodes.
    pub notices: Allowance,
    /// Wakes the connection's task.
    pub waker: AtomicWaker,
    /// Whether the connection has let go of its session, and who waits for that.
    left: AtomicBool,
    left_told: Notify,
}

impl ConnectionHandle {
    pub fn new(key: ConnectionKey, origin: Origin, now_ns: i64) -> Self {
        Self {
            key,
            origin,
            connected_ns: now_ns,
            version: OnceLock::new(),
            proven: OnceLock::new(),
            owner: OnceLock::new(),
            closing: OnceLock::new(),
            published: AtomicBool::new(false),
            notices: Allowance::default(),
            waker: AtomicWaker::new(),
            left: AtomicBool::new(false),
            left_told: Notify::new(),
        }
    }

    /// The client has proved that this is its name.
    pub fn prove(&self, name: Option<&str>) {
        if let Some(name) = name {
            let _ = self.proven.set(name.into());
        }
    }

    /// The name that the client has proved. A name that it only gave, while there were no users, is
    /// none.
    pub fn proven(&self) -> Option<&str> {
        self.origin.user.as_deref().or(self.proven.get().map(|name| &**name))
    }

    /// Whose quotas the connection, and what comes by it, is counted for. Asked once it is known what the
    /// client has proved.
    pub fn owner(&self) -> &Owner {
        self.owner.get_or_init(|| Owner::of(self.proven(), &self.origin.address))
    }

    /// The client is a publisher from now on.
    pub fn publishes(&self) {
        if !self.has_published() {
            self.published.store(true, Ordering::Relaxed);
        }
    }

    pub fn has_published(&self) -> bool {
        self.published.load(Ordering::Relaxed)
    }

    /// The connection has let go of its session.
    pub fn leave(&self) {
        self.left.store(true, Ordering::Release);
        self.left_told.notify_waiters();
    }

    /// Waits until the connection has let go of its session.
    pub async fn left(&self) {
        loop {
            let told = self.left_told.notified();
            if self.left.load(Ordering::Acquire) {
                return;
            }
            told.await;
        }
    }

    /// Asks the connection to end. The first reason counts.
    pub fn close(&self, reason: Reason) {
        let _ = self.closing.set(reason);
        self.waker.wake();
    }

    pub fn closing(&self) -> Option<Reason> {
        self.closing.get().copied()
    }
}
