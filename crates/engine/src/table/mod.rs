//! The current value table among the connections: one lock, and who is behind each selection.

pub(crate) mod beat;
pub(crate) mod choosing;
pub(crate) mod readers;
pub(crate) mod refused;
pub(crate) mod requests;
pub(crate) mod samples;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slipring_core::table::{Arrival, Table};
use slipring_core::{Millis, Plan};
use tokio::sync::Notify;

use crate::broker::Broker;
use crate::client::Client;
use crate::event::now_ns;
use crate::gates::Gate;
use crate::post::Post;
use crate::status::TableStatus;

/// Bytes that selections are sent in one turn under the lock; those of text count more. About half a
/// millisecond.
const TURN_WORK: usize = 2 << 20;

/// The table, and what is known of it without its lock.
pub(crate) struct SharedTable {
    // A lock: taken for each frame, each beat, and when somebody declares, chooses, comes or goes. Taken
    // after a client's state and the lock of the streams, and before a client's outgoing messages.
    inner: Mutex<Inner>,
    /// Whether there is any parameter or selection; while there is none, nothing here costs a lock.
    used: AtomicBool,
    /// Told when the next beat is sooner than it was.
    sooner: Notify,
    /// The same, of the next turn of the readers.
    readers_due: Notify,
    // A lock: taken when the outbox of a client begins to drop, and by the beat. Taken last.
    missed: Mutex<Vec<Arc<Client>>>,
    pub counters: Counters,
}

/// What went through the table since the start.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub frames: AtomicU64,
    pub samples: AtomicU64,
    /// Frames and plain values that were refused.
    pub refused: AtomicU64,
}

/// What the lock keeps.
pub(crate) struct Inner {
    pub table: Table,
    /// Who has chosen something, by session.
    clients: HashMap<u64, Arc<Client>>,
    /// Those whose outbox dropped something of what they chose, perhaps.
    mending: HashSet<u64>,
    /// What the beat sleeps for: when it is to look again.
    beat_ms: Millis,
    /// Who is behind each reader.
    behind: readers::Behind,
    /// When the next turn of the readers is.
    readers_ms: Option<Millis>,
    writing: readers::Writing,
    /// Records of changes that the journal does not have yet.
    unwritten: Vec<u8>,
    /// Opens when the journal has the last change.
    gate: Gate,
}

impl SharedTable {
    pub fn new(table: Table) -> Self {
        let used = AtomicBool::new(!table.registry.is_empty());
        Self {
            inner: Mutex::new(Inner::new(table)),
            used,
            sooner: Notify::new(),
            readers_due: Notify::new(),
            missed: Mutex::default(),
            counters: Counters::default(),
        }
    }

    /// Whether there is anything in it.
    pub fn is_used(&self) -> bool {
        self.used.load(Ordering::Acquire)
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The parameter that has this topic.
    pub fn index_of(&self, topic: &str) -> Option<u32> {
        if self.is_used() { self.lock().table.registry.index_of(topic) } else { None }
    }

    pub fn status(&self) -> TableStatus {
        let Counters { frames, samples, refused } = &self.counters;
        let inner = self.lock();
        let (readers, readers_newest) = inner.table.readers.count();
        TableStatus {
            parameters: inner.table.registry.len(),
            stale: inner.table.current.stale(),
            value_bytes: inner.table.current.text_bytes(),
            selections: inner.table.selections(),
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
            self.missed.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(client));
        }
    }

    fn take_missed(&self) -> Vec<Arc<Client>> {
        std::mem::take(&mut *self.missed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A session is over: nothing is kept for it.
    pub fn end(&self, session: u64) {
        if self.is_used() {
            let mut inner = self.lock();
            inner.leave_readers(session);
            inner.table.end(session);
        }
    }

    /// Another plan holds; what was gathered may be due sooner.
    pub fn follow(&self, plan: &Plan) {
        self.lock().table.follow(plan);
        self.sooner.notify_one();
    }

    /// From now on somebody is interested; whether nobody was before.
    fn use_it(&self) -> bool {
        let is_first = !self.used.swap(true, Ordering::AcqRel);
        if is_first {
            self.sooner.notify_one(); // the beat begins, and with it the look for silence
        }
        is_first
    }
}

impl Broker {
    /// The moment, for the table.
    pub fn arrival(&self, now_ns: i64) -> Arrival {
        Arrival { now_ms: self.now_ms(), now_ns }
    }

    /// From now on the table is used. Not under a lock.
    pub fn use_table(&self) {
        if self.table.use_it() {
            self.begin_reading();
        }
    }

    /// Samples came: frames that are due at once go, and the beat learns when the next is. Text is written
    /// by the beat. How many bytes were copied, or as much work as that.
    fn sent_on(&self, inner: &mut Inner, post: &mut Post) -> usize {
        let is_due = inner.table.groups_due_ms().is_some_and(|due_ms| due_ms <= self.now_ms());
        let copied = if is_due { inner.send_frames(self, post) } else { 0 };
        if let Some(next_ms) = inner.table.next_due_ms().filter(|next_ms| *next_ms < inner.beat_ms)
        {
            inner.beat_ms = next_ms;
            self.table.sooner.notify_one();
        }
        copied
    }
}

impl Inner {
    fn new(table: Table) -> Self {
        Self {
            table,
            clients: HashMap::new(),
            mending: HashSet::new(),
            beat_ms: 0,
            behind: readers::Behind::default(),
            readers_ms: None,
            writing: readers::Writing::default(),
            unwritten: Vec::new(),
            gate: Gate::OPEN,
        }
    }

    /// Sends what is due to whoever chose it; when the next is due.
    pub fn tick(&mut self, broker: &Broker, post: &mut Post) -> Option<Millis> {
        let Self { table, clients, .. } = self;
        let mut ready = |subscriber| is_ready(clients, subscriber);
        let mut send = |subscriber: u64, packets: &[u8], _: u32| {
            if let Some(client) = clients.get(&subscriber) {
                post.push_packets(broker, client, packets);
            }
        };
        table.tick(TURN_WORK, broker.arrival(now_ns()), &mut ready, &mut send);
        broker.traffic.dropped.fetch_add(table.take_lost(), Ordering::Relaxed);
        table.next_due_ms()
    }

    /// Sends the frames of it; how much work it was.
    fn send_frames(&mut self, broker: &Broker, post: &mut Post) -> usize {
        let Self { table, clients, .. } = self;
        let mut ready = |subscriber| is_ready(clients, subscriber);
        let mut send = |subscriber: u64, packets: &[u8], _: u32| {
            if let Some(client) = clients.get(&subscriber) {
                post.push_packets(broker, client, packets);
            }
        };
        let work = table.tick_frames(TURN_WORK, broker.arrival(now_ns()), &mut ready, &mut send);
        broker.traffic.dropped.fetch_add(table.take_lost(), Ordering::Relaxed);
        work
    }
}

/// Whether a subscriber has taken what it was sent before.
fn is_ready(clients: &HashMap<u64, Arc<Client>>, subscriber: u64) -> bool {
    clients.get(&subscriber).is_some_and(|client| client.outgoing().is_drained())
}

#[cfg(test)]
mod tests;
