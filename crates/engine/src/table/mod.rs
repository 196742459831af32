//! The current value table among the connections: one lock, and who is behind each selection.

pub(crate) mod beat;
pub(crate) mod choosing;
pub(crate) mod readers;
pub(crate) mod refused;
pub(crate) mod requests;
pub(crate) mod samples;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use slipring_core::table::Table;
use slipring_core::{Millis, ParameterIndex, Plan, SessionKey};
use tokio::sync::Notify;

use crate::broker::Broker;
use crate::client::Client;
use crate::post::Post;
use crate::shared_desk::SharedDesk;
use crate::status::TableStatus;

/// Bytes that selections are sent in one turn under the lock; those of text count more. About half a
/// millisecond.
const TURN_WORK: usize = 2 << 20;

/// The table. Its lock is taken for each frame, each beat, and when somebody declares, chooses, comes or goes.
pub(crate) type SharedTable = SharedDesk<LockedTable>;

/// What is known of the table without its lock.
#[derive(Default)]
pub(crate) struct UnlockedTable {
    /// Told when the next beat is sooner than it was.
    sooner: Notify,
    /// The same, of the next turn of the readers.
    readers_due: Notify,
    // A lock: taken when the outbox of a client begins to drop, and by the beat. Taken last.
    missed: Mutex<Vec<Arc<Client>>>,
    /// Frames and samples since the start.
    frames: AtomicU64,
    samples: AtomicU64,
    /// Frames and plain values that were refused.
    refused: AtomicU64,
}

/// What the lock keeps.
pub(crate) struct LockedTable {
    pub table: Table,
    /// Who has chosen something, by session.
    clients: HashMap<SessionKey, Arc<Client>>,
    /// Those whose outbox dropped something of what they chose, perhaps.
    mending: HashSet<SessionKey>,
    /// What the beat sleeps for: when it is to look again.
    beat_ms: Millis,
    /// Who is behind each reader.
    behind: readers::Behind,
    /// When the next turn of the readers is.
    readers_ms: Option<Millis>,
    writing: readers::Writing,
}

impl SharedTable {
    pub fn new(table: Table) -> Self {
        let used = !table.registry.entries().is_empty();
        let locked = LockedTable {
            table,
            clients: HashMap::new(),
            mending: HashSet::new(),
            beat_ms: 0,
            behind: readers::Behind::default(),
            readers_ms: None,
            writing: readers::Writing::default(),
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

    /// Something in the outbox of a client was dropped; the beat makes up for it.
    pub fn missed(&self, client: &Arc<Client>) {
        if self.is_used() && !client.missed.swap(true, Ordering::AcqRel) {
            self.unlocked
                .missed
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(Arc::clone(client));
        }
    }

    fn take_missed(&self) -> Vec<Arc<Client>> {
        std::mem::take(&mut *self.unlocked.missed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another plan holds; what was gathered may be due sooner.
    pub fn follow(&self, plan: &Plan) {
        self.lock().table.follow(plan);
        self.unlocked.sooner.notify_one();
    }

    /// Samples came: frames that are due at once go, and the beat learns when the next is. Text is written
    /// by the beat. How many bytes were copied, or as much work as that.
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
    /// Sends what is due to whoever chose it; when the next is due.
    pub fn tick(&mut self, broker: &Broker, post: &mut Post) -> Option<Millis> {
        self.send_due(broker, post, true);
        self.next_due_ms()
    }

    /// When a selection has something to send.
    fn next_due_ms(&self) -> Option<Millis> {
        self.table.groups.next_due_ms(&self.table.current)
    }

    /// Sends what is due, with or without text; how much work the frames were.
    fn send_due(&mut self, broker: &Broker, post: &mut Post, with_text: bool) -> usize {
        let (Self { table, clients, .. }, at) = (self, broker.clock.arrival());
        let mut ready = |subscriber| is_ready(clients, subscriber);
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

/// Whether a subscriber has taken what it was sent before.
fn is_ready(clients: &HashMap<SessionKey, Arc<Client>>, subscriber: SessionKey) -> bool {
    clients.get(&subscriber).is_some_and(|client| client.outgoing().is_drained())
}

#[cfg(test)]
mod tests;
