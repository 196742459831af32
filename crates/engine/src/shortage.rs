//! When memory is short, drops messages and buffers in the documented order (`docs/limits.md`).

use std::cmp::Reverse;
use std::sync::{Arc, Mutex};

use slipring_core::{Dropped, Limit, Millis, Outgoing, SHORT_BYTES, memory, recycled};

use crate::broker::Broker;
use crate::client::Client;

/// All clients are looked through at most this often.
const PAUSE_MS: Millis = 20;

/// When the broker last tried to get memory back.
#[derive(Default)]
pub(crate) struct Shortage {
    // A lock: a task that finds it taken goes on, because another one works on it.
    tried_ms: Mutex<Option<Millis>>,
}

impl Shortage {
    /// Gets memory back if it is short, from the clients that have most first.
    #[inline]
    pub fn relieve(&self, broker: &Broker) {
        if memory::is_short() {
            self.get_memory_back(broker);
        }
    }

    #[cold]
    fn get_memory_back(&self, broker: &Broker) {
        let Ok(mut last) = self.tried_ms.try_lock() else { return };
        let now_ms = broker.clock.now_ms();
        if last.is_some_and(|at| now_ms < at + PAUSE_MS) {
            return;
        }
        *last = Some(now_ms);
        recycled::release();
        let clients = broker.sessions.clients();
        shrink(broker, &clients, Outgoing::outbox_bytes, Outgoing::shrink_outbox);
        shrink_streams(broker);
        shrink(broker, &clients, Outgoing::loaded_bytes, Outgoing::unload);
        shrink(broker, &clients, Outgoing::queue_bytes, Outgoing::shrink_queue);
    }
}

/// Shrinks the buffers of streams to their newest chunks. The caller may hold their lock already.
fn shrink_streams(broker: &Broker) {
    if memory::used() > enough() {
        if let Some(mut inner) = broker.streams.try_lock() {
            inner.streams.shrink(SHORT_BYTES);
        }
    }
}

/// Shrinks what clients hold, the one with most first, until an eighth of the budget is free.
fn shrink(
    broker: &Broker,
    clients: &[Arc<Client>],
    bytes: fn(&Outgoing) -> usize,
    shrink: fn(&mut Outgoing) -> u32,
) {
    let enough = enough();
    let mut largest: Vec<(usize, &Arc<Client>)> =
        clients.iter().map(|client| (bytes(&client.outgoing()), client)).collect();
    largest.sort_unstable_by_key(|(bytes, _)| Reverse(*bytes));
    for (bytes, client) in largest {
        if bytes == 0 || memory::used() <= enough {
            return;
        }
        let mut records = Vec::new();
        let mut outgoing = client.outgoing();
        let messages = shrink(&mut outgoing);
        outgoing.take_drops(&mut records);
        drop(outgoing);
        broker.journal.note_all(&mut records);
        if messages > 0 {
            let limit = Some(Limit::MemoryBytes);
            broker.monitor.count_dropped(client, Dropped { limit, messages, wake: false });
            broker.table.missed(client);
        }
    }
}

/// The memory in use when an eighth of the budget is free.
fn enough() -> usize {
    memory::budget() / 8 * 7
}
