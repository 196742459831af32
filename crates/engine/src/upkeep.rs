//! Keeping the journal short: snapshots of what the records say, and segments nobody needs any more.

use std::io;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use slipring_core::Durability;
use slipring_journal::{Batch, Journal, Mark, Retention};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::broker::Broker;
use crate::event::{EventKind, now_ns};
use crate::history;
use crate::supervision::blocking;

/// How often the journal is looked at.
const ROUND: Duration = Duration::from_secs(1);
/// How many rounds pass between two looks at what may be removed, while there is space.
const RETIRE_ROUNDS: u32 = 10;
/// How many rounds pass between two snapshots where age is a reason to remove something.
const AGE_ROUNDS: u32 = 60;
/// How long a snapshot waits for the disk.
const SYNC_MAX: Duration = Duration::from_secs(2);
/// A snapshot is written again when the journal has grown by so many times its size.
const GROWTH: u64 = 4;

/// What is known between two rounds.
#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    // A lock: taken by the one task that keeps the journal short, at the start and at the end.
    done: Mutex<Done>,
    /// Who keeps the oldest messages from being removed.
    held_by: Mutex<Option<String>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// How far the journal was at the last snapshot.
    mark: Mark,
    snapshot_bytes: u64,
    /// The first offset that somebody needs.
    needed: u64,
    rounds: u32,
}

/// Keeps the journal short until the broker stops.
pub(crate) async fn keep(broker: Arc<Broker>, segment_bytes: u64) {
    // Without a journal there is nothing to do, and nobody is woken for it.
    while broker.journal.is_some() && !broker.is_stopping() {
        let stopping = broker.stopping_told.notified();
        if broker.is_stopping() || timeout(ROUND, stopping).await.is_ok() {
            return;
        }
        let broker = Arc::clone(&broker);
        if let Err(why) = blocking(move || broker.keep_short(segment_bytes)).await {
            resume_unwind(Box::new(why)); // for who supervises this task
        }
    }
}

impl Broker {
    /// The first offset that somebody needs, as the start found it.
    pub fn begin_upkeep(&self, needed: u64) {
        self.upkeep.done.lock().unwrap_or_else(PoisonError::into_inner).needed = needed;
    }

    /// Who keeps the oldest messages from being removed, if anybody does.
    pub fn journal_held_by(&self) -> Option<String> {
        self.upkeep.held_by.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One round. Reads and writes files: not for a thread that serves connections.
    fn keep_short(&self, segment_bytes: u64) {
        let Some(journal) = &self.journal else { return };
        self.jumps.look(journal.status().next_offset);
        let mut done = self.upkeep.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.rounds = done.rounds.wrapping_add(1);
        let grown = self.gates.written() - done.mark;
        let aging = self.plan.load().retention.age_s.is_some() && done.rounds % AGE_ROUNDS == 0;
        // Without a snapshot nothing can be removed, and a full journal would stay full.
        let early = grown > 0 && (aging || self.gates.is_full());
        if early || grown >= segment_bytes.max(GROWTH * done.snapshot_bytes) {
            self.snapshot(journal, &mut done);
        }
        if done.rounds % RETIRE_ROUNDS == 0 || self.gates.is_full() {
            self.retire(journal, done.needed);
        }
    }

    /// The last snapshot, so that the next start is quick.
    pub fn end_upkeep(&self) {
        let Some(journal) = &self.journal else { return };
        let mut done = self.upkeep.done.lock().unwrap_or_else(PoisonError::into_inner);
        if self.gates.written() > done.mark {
            self.snapshot(journal, &mut done);
        }
    }

    fn snapshot(&self, journal: &Journal, done: &mut Done) {
        let mark = self.gates.written();
        let Ok(mut state) = history::read(journal) else { return };
        // What a power cut could take back must not be in it; the journal refuses that, too.
        let Ok((_, gate)) = self.append(&mut Batch::new(), Durability::Disk) else { return };
        let _ = Handle::current().block_on(timeout(SYNC_MAX, self.gates.passed(gate)));
        let (position, bytes) = state.snapshot(now_ns());
        match journal.put_snapshot(position, &bytes) {
            Ok(()) => {
                let (snapshot_bytes, needed) = (bytes.len() as u64, state.needed());
                *done = Done { mark, snapshot_bytes, needed, ..*done };
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                let detail = format!("no snapshot of the sessions was written: {error}");
                self.report(EventKind::JournalTrouble, "journal", detail);
                done.mark = mark;
            }
        }
    }

    fn retire(&self, journal: &Journal, needed: u64) {
        let rules = self.plan.load().retention;
        let age = rules.age_s.map(Duration::from_secs);
        let rules = Retention { age, bytes: rules.bytes, keep_unread: rules.keep_unread };
        let held_by = match journal.retire(&rules, needed, now_ns()) {
            Ok(retired) => retired.held_by,
            Err(error) => Some(format!("an error: {error}")),
        };
        *self.upkeep.held_by.lock().unwrap_or_else(PoisonError::into_inner) = held_by;
    }
}
