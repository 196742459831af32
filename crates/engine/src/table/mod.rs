//! The current value table that all connections share, under one lock, and the clients behind its selections.

pub(crate) mod alarms;
pub(crate) mod beat;
pub(crate) mod choosing;
pub(crate) mod readers;
pub(crate) mod refused;
pub(crate) mod requests;
pub(crate) mod samples;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use slipring_core::table::Table;
use slipring_core::{Millis, ParameterIndex, Plan, SessionKey};
use tokio::sync::Notify;

use crate::broker::Broker;
use crate::client::Client;
use crate::locks::lock;
use crate::post::Post;
use crate::shared_desk::SharedDesk;
use crate::status::TableStatus;

/// Bytes that selections are sent in one turn under the lock; those of text count more. About half a
/// millisecond.
const TURN_WORK: usize = 2 << 20;

/// The table. Its lock is taken for each frame and each beat, and when a client declares, selects, connects or leaves.
pub(crate) type SharedTable = SharedDesk<LockedTable>;

/// The state of the table that needs no lock.
#[derive(Default)]
pub(crate) struct UnlockedTable {
    /// Notified when the next beat is sooner than it was.
    sooner: Notify,
    /// Notified when the next turn of the readers is sooner than it was.
    readers_due: Notify,
    // A lock: taken when the outbox of a client begins to drop, and by the beat. Taken last.
    missed: Mutex<Vec<Arc<Client>>>,
    /// Frames and samples since the start.
    frames: AtomicU64,
    samples: AtomicU64,
    /// Frames and plain values that were refused.
    refused: AtomicU64,
}

/// The state behind the lock.
pub(crate) struct LockedTable {
    pub table: Table,
    /// The clients with selections, by session.
    clients: HashMap<SessionKey, Arc<Client>>,
    /// Clients whose outbox may have dropped samples that they selected.
    mending: HashSet<SessionKey>,
    /// When the beat wakes next.
    beat_ms: Millis,
    /// The clients behind the readers.
    reader_clients: readers::ReaderClients,
    /// When the next turn of the readers is.
    readers_ms: Option<Millis>,
    buffers: readers::SampleBuffers,
}

impl SharedTable {
    pub fn new(table: Table) -> Self {
        let used = !table.registry.entries().is_empty();
        let locked = LockedTable {
            table,
            clients: HashMap::new(),
            mending: HashSet::new(),
            beat_ms: 0,
            reader_clients: readers::ReaderClients::default(),
            readers_ms: None,
            buffers: readers::SampleBuffers::default(),
        };
        Self::over(locked, used, UnlockedTable::default())
    }

    /// The parameter that has this topic.
    pub fn index_of(&self, topic: &str) -> Option<ParameterIndex> {
        if self.is_used() { self.lock().table.registry.entries().index_of(topic) } else { None }
    }

    pub fn status(&self) -> TableStatus {
        let UnlockedTable { frames, samples, refused, .. } = &self.unlocked;
        let inner = self.lock();
        let (readers, readers_newest) = inner.table.readers.count();
        TableStatus {
            parameters: inner.table.registry.entries().len(),
            stale: inner.table.current.stale(),
            value_bytes: inner.table.current.text_bytes(),
            selections: inner.table.groups.len(),
            readers,
            readers_newest,
            frames: frames.load(Ordering::Relaxed),
            samples: samples.load(Ordering::Relaxed),
            refused: refused.load(Ordering::Relaxed),
        }
    }

    /// Notes that the outbox of a client dropped something; the beat sends the newest values again.
    pub fn missed(&self, client: &Arc<Client>) {
        if self.is_used() && !client.missed.swap(true, Ordering::AcqRel) {
            lock(&self.unlocked.missed).push(Arc::clone(client));
        }
    }

    fn take_missed(&self) -> Vec<Arc<Client>> {
        std::mem::take(&mut *lock(&self.unlocked.missed))
    }

    /// Follows another plan; gathered samples may be due sooner.
    pub fn follow(&self, plan: &Plan) {
        self.lock().table.follow(plan);
        self.unlocked.sooner.notify_one();
        self.follow_alarms(plan);
    }

    /// Sends frames that are due after samples came, and tells the beat when the next are due. The beat sends text.
    /// Returns the bytes copied, or work of that amount.
    fn sent_on(&self, broker: &Broker, inner: &mut LockedTable, post: &mut Post) -> usize {
        let is_due = inner
            .table
            .groups
            .groups_due_ms(&inner.table.current)
            .is_some_and(|due_ms| due_ms <= broker.clock.now_ms());
        let copied = if is_due { inner.send_due(broker, post, false) } else { 0 };
        if let Some(next_ms) = inner.next_due_ms().filter(|next_ms| *next_ms < inner.beat_ms) {
            inner.beat_ms = next_ms;
            self.unlocked.sooner.notify_one();
        }
        copied
    }
}

impl LockedTable {
    /// When a selection has something to send.
    fn next_due_ms(&self) -> Option<Millis> {
        self.table.groups.next_due_ms(&self.table.current)
    }

    /// Sends selections that are due, with or without text. Returns the work of the frames.
    fn send_due(&mut self, broker: &Broker, post: &mut Post, with_text: bool) -> usize {
        let (Self { table, clients, .. }, at) = (self, broker.clock.arrival());
        // Whether the subscriber has taken what it was sent before.
        let mut ready = |subscriber: SessionKey| {
            clients.get(&subscriber).is_some_and(|client| client.outgoing().is_drained())
        };
        let mut send = |subscriber: SessionKey, packets: &[u8], _: u32| {
            if let Some(client) = clients.get(&subscriber) {
                post.push_packets(broker, client, packets);
            }
        };
        let (groups, state) = table.groups_at(at);
        let work = if with_text {
            groups.tick(TURN_WORK, &state, &mut ready, &mut send);
            0
        } else {
            groups.tick_frames(TURN_WORK, &state, &mut ready, &mut send)
        };
        broker.monitor.traffic.dropped.fetch_add(table.groups.take_lost(), Ordering::Relaxed);
        work
    }
}

#[cfg(test)]
mod tests;
