//! When memory is short, frees it in the documented order (`docs/limits.md`): first what is a copy of something in the
//! journal; then plain messages by priority, the retained ones last; then requests and answers; messages and requests
//! of high priority last of all.

mod requests;

use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use slipring_core::ledger::StockRecord;
use slipring_core::{
    Dropped, Limit, Message, Millis, Outgoing, Priority, SHORT_BYTES, Victims, memory, recycled,
};
use slipring_wire::Reason;

use crate::broker::Broker;
use crate::budget::LastLook;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::status::VictimCounts;
use crate::waiting;

/// The shortest pause between two rounds: each looks through all clients.
const PAUSE_MS: Millis = 20;
/// Rounds take at most about this part of the time of one thread.
const ROUNDS_SHARE: Millis = 10;
/// Bytes that a client keeps of each kind, however many clients there are.
const KEPT_BYTES_MIN: usize = 4 << 10;
/// The part of the budget that all clients may keep together.
const KEPT_SHARE: usize = 8;
/// Bytes of one client that are worth its connection: unread answers, ends of its requests, and a
/// packet that has begun and not ended.
const HELD_BYTES_MIN: usize = 64 << 10;

/// The steps, in their order. Each frees until enough is free, and does nothing if enough is free already.
const STEPS: [fn(&Relief<'_>); 13] = [
    |relief| relief.free_copies(),
    |relief| relief.drop_plain(Priority::Low),
    |relief| relief.drop_plain(Priority::Normal),
    |relief| relief.drop_retained(&[Priority::Low, Priority::Normal]),
    |relief| relief.drop_requests(Priority::Low),
    |relief| relief.drop_answers(Priority::Low),
    |relief| relief.drop_requests(Priority::Normal),
    |relief| relief.drop_answers(Priority::Normal),
    |relief| relief.drop_plain(Priority::High),
    |relief| relief.drop_retained(&[Priority::High]),
    |relief| relief.drop_requests(Priority::High),
    |relief| relief.drop_answers(Priority::High),
    |relief| relief.end_connections(),
];

/// When the broker may next try to get memory back, and how many messages it has dropped for it.
#[derive(Default)]
pub(crate) struct Shortage {
    // A lock: a task that finds it taken goes on, because another one works on it.
    next_ms: Mutex<Millis>,
    pub last_look: LastLook,
    outboxes: AtomicU64,
    queues: AtomicU64,
    waiting: AtomicU64,
    retained: AtomicU64,
    requests: AtomicU64,
}

impl Shortage {
    /// Gets memory back if it is short.
    #[inline]
    pub fn relieve(&self, broker: &Broker) {
        if memory::is_short() {
            self.get_memory_back(broker, false);
        }
    }

    /// The same, however short the last time is ago: the budget was changed.
    pub fn relieve_now(&self, broker: &Broker) {
        if memory::is_short() {
            self.get_memory_back(broker, true);
        }
    }

    /// Counts a request that was dropped.
    pub fn count_request(&self) {
        self.requests.fetch_add(1, Relaxed);
    }

    /// Counts QoS 0 messages that found no room in an outbox.
    pub fn count_outbox(&self, messages: u32) {
        self.outboxes.fetch_add(u64::from(messages), Relaxed);
    }

    /// Messages that were dropped for memory since the start.
    pub fn counts(&self) -> VictimCounts {
        VictimCounts {
            outboxes: self.outboxes.load(Relaxed),
            queues: self.queues.load(Relaxed),
            waiting: self.waiting.load(Relaxed),
            retained: self.retained.load(Relaxed),
            requests: self.requests.load(Relaxed),
        }
    }

    #[cold]
    fn get_memory_back(&self, broker: &Broker, is_now: bool) {
        let Ok(mut next_ms) = self.next_ms.try_lock() else { return };
        let began_ms = broker.clock.now_ms();
        if began_ms < *next_ms && !is_now {
            return;
        }
        Relief::new(broker).run();
        let ended_ms = broker.clock.now_ms();
        *next_ms = ended_ms + pause_ms(ended_ms.saturating_sub(began_ms));
    }
}

/// The pause after a round that took so long: a thread that frees memory has other work, too.
fn pause_ms(round_ms: Millis) -> Millis {
    PAUSE_MS.max(ROUNDS_SHARE.saturating_mul(round_ms))
}

/// One round.
struct Relief<'a> {
    broker: &'a Broker,
    clients: Vec<Arc<Client>>,
    /// Bytes of its outbox, of its queue and in flight that each client keeps.
    keep_bytes: usize,
    /// Whether requests were dropped, whose memory is not free yet.
    frees_later: Cell<bool>,
}

impl<'a> Relief<'a> {
    fn new(broker: &'a Broker) -> Self {
        let clients = broker.sessions.clients();
        let each = memory::budget() / KEPT_SHARE / clients.len().max(1);
        let keep_bytes = each.clamp(KEPT_BYTES_MIN, SHORT_BYTES);
        Self { broker, clients, keep_bytes, frees_later: Cell::new(false) }
    }

    fn run(&self) {
        for step in STEPS {
            step(self);
            if self.frees_later.get() {
                return; // what was dropped may be enough: the next round will see
            }
        }
    }

    /// Whether an eighth of the budget is free.
    fn is_enough() -> bool {
        memory::used() <= memory::enough()
    }

    /// Whether what is kept for subscribers to come may stay: what goes through was dropped before, and that was enough.
    fn is_within_budget() -> bool {
        memory::used() <= memory::budget()
    }

    fn free_copies(&self) {
        recycled::release();
        self.shrink(Outgoing::loaded_bytes, Outgoing::unload);
        self.shrink(Outgoing::queue_bytes, Outgoing::drop_withdrawn);
    }

    /// Drops messages of a priority wherever they wait for somebody.
    fn drop_plain(&self, priority: Priority) {
        if priority == Priority::High && Self::is_within_budget() {
            return; // normal messages and requests may stay within it, and go before these
        }
        let keep = self.keep_bytes;
        let counts = &self.broker.shortage;
        let dropped = self.shrink(Outgoing::outbox_bytes, |one| one.shrink_outbox(priority, keep));
        counts.outboxes.fetch_add(dropped, Relaxed);
        if priority == Priority::Normal {
            self.shrink_streams();
        }
        self.shrink(Outgoing::sent_bytes, |one| one.forget_sent(priority, keep));
        let dropped = self.shrink(Outgoing::queue_bytes, |one| one.shrink_queue(priority, keep));
        counts.queues.fetch_add(dropped, Relaxed);
        self.drop_waiting(priority);
    }

    /// Shrinks the buffers of streams to their newest chunks. The caller may hold their lock already.
    fn shrink_streams(&self) {
        if !Self::is_enough() {
            if let Some(mut inner) = self.broker.streams.try_lock() {
                inner.streams.shrink(SHORT_BYTES);
            }
        }
    }

    /// Shrinks what clients hold, the one with most first. Returns how many messages were dropped.
    fn shrink(&self, bytes: fn(&Outgoing) -> usize, shrink: impl Fn(&mut Outgoing) -> u32) -> u64 {
        if Self::is_enough() {
            return 0;
        }
        let (mut all, mut victims) = (0, Victims::default());
        for client in self.largest(bytes) {
            if Self::is_enough() {
                break;
            }
            let mut records = Vec::new();
            let mut outgoing = client.outgoing();
            let messages = shrink(&mut outgoing);
            outgoing.take_drops(&mut records);
            outgoing.take_victims(&mut victims);
            drop(outgoing);
            self.broker.journal.note_all(&mut records);
            if messages > 0 {
                all += u64::from(messages);
                let limit = Some(Limit::MemoryBytes);
                self.broker.monitor.count_dropped(client, Dropped { limit, messages, wake: false });
                self.broker.table.missed(client);
            }
        }
        self.tell(victims);
        all
    }

    /// The clients that hold something of a kind, the one with most first.
    fn largest(&self, bytes: fn(&Outgoing) -> usize) -> impl Iterator<Item = &Arc<Client>> {
        let mut largest: Vec<(usize, &Arc<Client>)> =
            self.clients.iter().map(|client| (bytes(&client.outgoing()), client)).collect();
        largest.retain(|(bytes, _)| *bytes > 0);
        largest.sort_unstable_by_key(|(bytes, _)| Reverse(*bytes));
        largest.into_iter().map(|(_, client)| client)
    }

    /// Drops messages that wait for their first subscriber, those first that would be delivered last.
    fn drop_waiting(&self, priority: Priority) {
        if Self::is_within_budget() {
            return;
        }
        let (mut victims, mut records) = (Victims::default(), Vec::new());
        while !Self::is_enough() {
            let last = self.broker.topics.waiting().take_last(priority);
            let Some(waited) = last else { break };
            self.broker.shortage.waiting.fetch_add(1, Relaxed);
            self.broker.monitor.reached.count(Limit::MemoryBytes);
            victims.add(&waited.message, Limit::MemoryBytes);
            waiting::note_taken(&waited.message, &mut records);
        }
        self.broker.journal.note_all(&mut records);
        self.tell(victims);
    }

    /// Drops retained messages, the oldest first. After all others that are plain: a queued message is one of many, a
    /// retained one is all that a later subscriber learns of its topic.
    fn drop_retained(&self, priorities: &[Priority]) {
        if Self::is_within_budget() {
            return;
        }
        let topics = self.broker.topics.retained().oldest();
        let (mut victims, mut records) = (Victims::default(), Vec::new());
        for topic in topics {
            if Self::is_enough() {
                break;
            }
            let Some(message) = self.take_retained(&topic, priorities) else { continue };
            self.broker.shortage.retained.fetch_add(1, Relaxed);
            self.broker.monitor.reached.count(Limit::MemoryBytes);
            victims.add(&message, Limit::MemoryBytes);
            if let Some(place) = message.place {
                let offset = place.offset;
                StockRecord::RetainedDropped { offset, topic: &topic }.encode(&mut records);
            }
        }
        self.broker.journal.note_all(&mut records);
        self.tell(victims);
    }

    /// Takes out a retained message of one of these priorities. One that has not got its offset from the journal yet
    /// stays, because no record could name it.
    fn take_retained(&self, topic: &str, priorities: &[Priority]) -> Option<Arc<Message>> {
        let plan = self.broker.plan.load();
        let is_journaled = self.broker.journal.exists() && plan.journal.covers(topic);
        let mut retained = self.broker.topics.retained();
        let message = Arc::clone(retained.get(topic)?);
        let is_placed = message.place.is_some() || !is_journaled;
        let priority = message.priority(plan.priority.of(topic));
        if !is_placed || !priorities.contains(&priority) {
            return None;
        }
        retained.remove(topic);
        Some(message)
    }

    /// Ends the connections of clients that hold most of what cannot be dropped: answers that they do not read, ends of
    /// requests that they do not acknowledge, and large packets that they do not finish. Their memory is free a little later.
    fn end_connections(&self) {
        let mut over = memory::used().saturating_sub(memory::budget());
        if over == 0 {
            return;
        }
        let mut holders: Vec<_> = self.clients.iter().filter_map(Holding::of).collect();
        // Those that end already come first: what they free is not freed twice.
        holders.sort_unstable_by_key(|holding| (!holding.is_ending, Reverse(holding.bytes)));
        for Holding { connection, bytes, is_ending } in holders {
            if over == 0 || bytes < HELD_BYTES_MIN {
                return;
            }
            over = over.saturating_sub(bytes);
            if !is_ending {
                self.broker.monitor.reached.count(Limit::MemoryBytes);
                connection.close(Reason::QuotaExceeded);
            }
        }
    }

    fn tell(&self, mut victims: Victims) {
        self.broker.monitor.victims.add(&mut victims, self.broker.clock.now_ns());
    }
}

/// What a connected client holds that cannot be dropped.
struct Holding {
    connection: Arc<ConnectionHandle>,
    bytes: usize,
    is_ending: bool,
}

impl Holding {
    fn of(client: &Arc<Client>) -> Option<Self> {
        let connection = client.connection()?;
        let unfinished = connection.unfinished_bytes.load(Relaxed);
        let outgoing = client.outgoing();
        let bytes = outgoing.unread_bytes() + outgoing.end_bytes() + unfinished;
        drop(outgoing);
        let is_ending = connection.closing().is_some();
        Some(Self { connection, bytes, is_ending })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_round_is_followed_by_a_longer_pause() {
        assert_eq!([0, 2, 3, 50].map(pause_ms), [20, 20, 30, 500]);
    }
}
