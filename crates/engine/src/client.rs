//! One client as the others see it: its session, what is on its way to it, and its connection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::ArcSwapOption;
use atomic_waker::AtomicWaker;
use slipring_core::{Millis, Outgoing, Owner, Session, WillMessage};
use slipring_wire::{Reason, Version};
use tokio::sync::Notify;

use crate::keeper::Due;
use crate::losses::Losses;
use crate::notices::Allowance;
use crate::origin::Origin;
use crate::traffic::Traffic;

/// A client with a session, connected or away.
#[derive(Debug)]
pub(crate) struct Client {
    /// A number no other session has had.
    pub key: u64,
    /// Its client identifier.
    pub name: Box<str>,
    /// Only this user may have the session.
    pub user: Option<Box<str>>,
    /// Whose quota the session is counted for: who opened it.
    pub owner: Owner,
    pub traffic: Traffic,
    pub losses: Losses,
    /// Whether streams have more for it than it has taken. Changed under the lock of the streams.
    pub behind: AtomicBool,
    /// Whether the table has been told that something in the outbox was dropped. Cleared before what the
    /// client misses is looked at.
    pub missed: AtomicBool,
    /// Whether the session outlives the broker.
    durable: bool,
    // A lock: held by the connection for one SUBSCRIBE or QoS 2 step, by who lists the clients, and
    // by a connection that takes over. Taken after the registry's and before the others.
    state: Mutex<State>,
    // A lock: publishers on any thread push, the connection's task takes. Taken last.
    outgoing: Mutex<Outgoing>,
    /// The connection, to wake it without a lock; changed under the lock of `state`.
    link: ArcSwapOption<Link>,
}

/// What changes with connections.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub session: Session,
    /// Which connection has the session.
    pub link: Option<u64>,
    /// Whether the session is over; it is in no table any more.
    pub ended: bool,
    /// Whether it is counted among the sessions that are kept.
    pub is_counted: bool,
    /// Whether the journal knows of the session.
    pub recorded: bool,
    /// When the client went, in nanoseconds since 1970.
    pub left_ns: i64,
    /// Seconds to keep the session when the client is away.
    pub expiry_s: u32,
    /// The will of a client that is away, and when to publish it.
    pub will: Option<(WillMessage, Millis)>,
    /// When the session of a client that is away ends.
    pub expires_ms: Option<Millis>,
    /// The timer that is set for this client.
    pub due: Option<Due>,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub key: u64,
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

impl Link {
    pub fn new(key: u64, origin: Origin, now_ns: i64) -> Self {
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

impl Client {
    pub fn new(
        key: u64,
        name: &str,
        user: Option<&str>,
        owner: &Owner,
        outgoing: Outgoing,
    ) -> Self {
        Self {
            key,
            name: name.into(),
            user: user.map(Into::into),
            owner: owner.clone(),
            traffic: Traffic::default(),
            losses: Losses::default(),
            behind: AtomicBool::new(false),
            missed: AtomicBool::new(false),
            durable: outgoing.is_durable(),
            state: Mutex::default(),
            outgoing: Mutex::new(outgoing),
            link: ArcSwapOption::empty(),
        }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the session outlives the broker: what it is owed is in the journal.
    pub fn is_durable(&self) -> bool {
        self.durable
    }

    /// The state, if this connection still has the session.
    pub fn state_of(&self, link: &Link) -> Option<MutexGuard<'_, State>> {
        let state = self.state();
        (state.link == Some(link.key)).then_some(state)
    }

    pub fn outgoing(&self) -> MutexGuard<'_, Outgoing> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn link(&self) -> Option<Arc<Link>> {
        self.link.load_full()
    }

    /// Gives the session to a connection, or to none; the earlier one is returned.
    pub fn set_link(&self, state: &mut State, link: Option<Arc<Link>>) -> Option<Arc<Link>> {
        state.link = link.as_ref().map(|link| link.key);
        self.link.swap(link)
    }

    /// Tells the connection's task that there is something to send.
    pub fn wake(&self) {
        if let Some(link) = &*self.link.load() {
            link.waker.wake();
        }
    }

    /// Ends the connection, if there is one.
    pub fn close(&self, reason: Reason) {
        if let Some(link) = &*self.link.load() {
            link.close(reason);
        }
    }
}
