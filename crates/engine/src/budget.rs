//! The memory budget while the broker runs: what is used, what it is made of, and another budget. A request to
//! `$slipring/memory` asks for both (`docs/limits.md`).

use std::sync::Mutex;

use slipring_core::access::Right;
use slipring_core::{Millis, Pushed, SIZE_EXPECTED, memory, parse_size};
use slipring_wire::Reason;

use crate::asking::ClientRequest;
use crate::broker::Broker;
use crate::connection_handle::ConnectionHandle;
use crate::event::{EventKind, Report};
use crate::feed::Feed;
use crate::locks::lock;
use crate::status::{MemoryParts, MemoryUse};

/// The smallest and the largest budget.
const BUDGET_BYTES_MIN: u64 = 1 << 20;
const BUDGET_BYTES_MAX: u64 = 1 << 40;
/// Bytes of a request at most.
const SIZE_BYTES_MAX: usize = 64;
/// The area of operators that the budget belongs to.
const MEMORY: &str = "memory";
/// All clients are looked through at most this often.
const LOOK_MS: Millis = 1_000;

const NOT_ALLOWED: &str = "only an operator may change the memory budget: a user who may administer `memory`, or, if \
                           the broker has no users, a client on its machine";

/// What the memory was made of when the broker looked last.
#[derive(Default)]
pub(crate) struct LastLook(Mutex<Option<(Millis, MemoryParts)>>);

/// Answers a request with the memory in use, after setting another budget if its payload is one.
pub(crate) fn ask(asked: &ClientRequest<'_>, feed: &mut Feed, reply: &mut Vec<u8>) -> Reason {
    let ClientRequest { broker, client, connection, from, message } = *asked;
    if !message.payload.is_empty() {
        if !broker.plan.load().allows(from, Right::Administer, MEMORY) {
            feed.refusal = Some(NOT_ALLOWED.to_owned());
            return Reason::NotAuthorized;
        }
        let size = message.payload.get(..SIZE_BYTES_MAX).unwrap_or(message.payload);
        let size = String::from_utf8_lossy(size);
        if let Err(why) = broker.change_budget(&size, &client.name, Some(connection)) {
            feed.refusal = Some(why);
            return Reason::PayloadFormatInvalid;
        }
    }
    let Some((envelope, terms)) = asked.envelope() else {
        let is_done = !message.payload.is_empty();
        return if is_done { Reason::Success } else { Reason::ImplementationSpecificError };
    };
    let body = serde_json::to_vec(&broker.memory_use()).unwrap_or_default();
    let mut packet = envelope.packet(&body, terms);
    let mut outgoing = client.outgoing();
    if outgoing.ask(connection.key).is_none() {
        reply.append(&mut packet);
    } else if outgoing.answer(connection.key, packet) == Pushed::Wake {
        drop(outgoing);
        client.wake();
    }
    Reason::Success
}

impl Broker {
    /// Sets the budget to a size that somebody wrote; the error says what is wrong with it.
    pub fn change_budget(
        &self,
        size: &str,
        by: &str,
        connection: Option<&ConnectionHandle>,
    ) -> Result<(), String> {
        let bytes = parse_size(size).ok_or(SIZE_EXPECTED)?;
        if !(BUDGET_BYTES_MIN..=BUDGET_BYTES_MAX).contains(&bytes) {
            return Err("the memory budget is at least 1MiB and at most 1TiB".into());
        }
        let before = memory::budget();
        self.shortage.last_look.forget();
        self.set_budget(usize::try_from(bytes).unwrap_or(usize::MAX));
        let detail = format!("set limits.memory_bytes to {bytes}, was {before}");
        let right = connection.map(|_| Right::Administer);
        let told = Report { by: connection, right, ..Report::new(EventKind::Budget, by) };
        let told = told.detail(&detail);
        self.monitor.record(&told.topic(MEMORY));
        self.monitor.log(&told);
        Ok(())
    }

    /// The memory in use, and what it is made of.
    pub fn memory_use(&self) -> MemoryUse {
        let (bytes, budget) = (memory::used(), memory::budget());
        let parts = self.shortage.last_look.parts(self.clock.now_ms(), || self.parts());
        let parts = MemoryParts { other: bytes.saturating_sub(sum(&parts)), ..parts };
        MemoryUse { bytes, budget, parts, victims: self.shortage.counts() }
    }

    fn parts(&self) -> MemoryParts {
        let mut parts =
            MemoryParts { journal: self.journal.gates.pending(), ..MemoryParts::default() };
        // One after the other: within one expression their locks would be held together.
        parts.waiting = self.topics.waiting().bytes();
        parts.retained = self.topics.retained().bytes();
        parts.requests = self.requests.book().bytes;
        for client in self.sessions.clients() {
            let outgoing = client.outgoing();
            parts.outboxes += outgoing.outbox_bytes();
            parts.queues += outgoing.queue_bytes() + outgoing.sent_bytes();
        }
        parts
    }
}

impl LastLook {
    /// Looks again the next time.
    pub fn forget(&self) {
        *lock(&self.0) = None;
    }

    /// The parts as they were at most a second ago.
    fn parts(&self, now_ms: Millis, look: impl FnOnce() -> MemoryParts) -> MemoryParts {
        let mut last = lock(&self.0);
        match *last {
            Some((at_ms, parts)) if now_ms < at_ms + LOOK_MS => parts,
            _ => last.insert((now_ms, look())).1,
        }
    }
}

fn sum(parts: &MemoryParts) -> usize {
    let MemoryParts { outboxes, queues, waiting, retained, requests, journal, other: _ } = *parts;
    outboxes + queues + waiting + retained + requests + journal
}
