//! All sessions by client identifier, whether their clients are connected or away.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use slipring_core::{ConnectionKey, Occupancy, SessionKey, Shares, memory};

use crate::client::{Client, State};
use crate::connection_handle::ConnectionHandle;
use crate::ends::Ends;
use crate::locks::lock;
use crate::wills::WillsUnderway;

#[derive(Default)]
pub(crate) struct SessionDirectory {
    // A lock: taken when a client connects or leaves, and to look at all sessions. Taken before any client's
    // own locks.
    registry: Mutex<SessionRegistry>,
    // A lock: taken for a moment, after a client's own.
    subscriptions: Mutex<Shares>,
    /// Clients let in since the start.
    pub let_in: AtomicU64,
    keys: AtomicU64,
    random: RandomState,
}

impl SessionDirectory {
    pub fn registry(&self) -> MutexGuard<'_, SessionRegistry> {
        lock(&self.registry)
    }

    /// The clients of all sessions, without the lock.
    pub fn clients(&self) -> Vec<Arc<Client>> {
        self.registry().sessions.values().cloned().collect()
    }

    /// How many subscriptions the sessions of each owner have.
    pub fn subscriptions(&self) -> MutexGuard<'_, Shares> {
        lock(&self.subscriptions)
    }

    /// Counts the subscriptions of a session again, after some were made or removed, or it has ended.
    pub fn count_subscriptions(&self, client: &Client, state: &mut State) {
        let now = if state.ended { 0 } else { state.session.filters().count() };
        let before = std::mem::replace(&mut state.counted_subscriptions, now);
        let mut subscriptions = self.subscriptions();
        subscriptions.take(&client.owner, now.saturating_sub(before));
        if before > now {
            subscriptions.give(&client.owner, before - now);
        }
    }

    /// The key of a client's session; None if it has none.
    pub fn key_of(&self, client_id: &str) -> Option<SessionKey> {
        self.registry().sessions.get(client_id).map(|client| client.key)
    }

    /// A key no other session has had.
    pub fn next_key(&self) -> SessionKey {
        SessionKey::new(self.keys.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Makes the next session's key higher than this one.
    pub fn skip_keys(&self, highest: SessionKey) {
        self.keys.fetch_max(highest.get(), Ordering::Relaxed);
    }

    /// An identifier that nobody can guess, for a client that sends none.
    pub fn client_id_for(&self, key: ConnectionKey) -> String {
        format!("auto-{:016x}", self.random.hash_one(key))
    }
}

/// All sessions, and how many connections and sessions each owner has.
#[derive(Debug, Default)]
pub(crate) struct SessionRegistry {
    pub sessions: HashMap<Box<str>, Arc<Client>>,
    /// Connections of clients that were let in.
    pub connections: Shares,
    /// Sessions that are kept when their client leaves, connected or away.
    pub kept: Shares,
    /// Connections by listener.
    listeners: HashMap<usize, Shares>,
    pub ends: Ends,
    pub wills: WillsUnderway,
}

impl SessionRegistry {
    pub fn count(&mut self, connection: &ConnectionHandle) {
        self.connections.take(connection.owner(), 1);
        memory::set_connections(self.connections.total());
        self.listeners.entry(connection.origin.listener).or_default().take(connection.owner(), 1);
    }

    pub fn discount(&mut self, connection: &ConnectionHandle) {
        self.connections.give(connection.owner(), 1);
        memory::set_connections(self.connections.total());
        if let Some(here) = self.listeners.get_mut(&connection.origin.listener) {
            here.give(connection.owner(), 1);
        }
    }

    /// How many connections and sessions each owner has, in all and by one listener.
    pub fn occupancy(&self, listener: usize) -> Occupancy<'_> {
        let Self { connections, kept, listeners, .. } = self;
        Occupancy { connections, listener: listeners.get(&listener), kept }
    }

    /// Counts a session as kept, or no longer.
    pub fn count_kept(&mut self, client: &Client, state: &mut State, is_kept: bool) {
        match (std::mem::replace(&mut state.is_counted, is_kept), is_kept) {
            (false, true) => self.kept.take(&client.owner, 1),
            (true, false) => self.kept.give(&client.owner, 1),
            _ => {}
        }
    }
}
