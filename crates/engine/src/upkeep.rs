//! Keeps the journal short: writes snapshots of the state, and removes segments that nobody needs.

use std::io;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use slipring_core::{Durability, Offset, Plan};
use slipring_journal::{Batch, Journal, JournalMark, RetentionRules};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::broker::Broker;
use crate::broker_journal::BrokerJournal;
use crate::event::EventKind;
use crate::history;
use crate::locks::lock;
use crate::monitor::Monitor;
use crate::supervision::blocking;

/// How often the journal is looked at.
const ROUND: Duration = Duration::from_secs(1);
/// Rounds between two removals of segments, while there is space.
const RETIRE_ROUNDS: u32 = 10;
/// Rounds between two snapshots, if segments are removed by age.
const AGE_ROUNDS: u32 = 60;
/// How long a snapshot waits for the disk.
const SYNC_MAX: Duration = Duration::from_secs(2);
/// A snapshot is written again when the journal has grown by so many times its size.
const GROWTH: u64 = 4;

/// What a round remembers for the next.
#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    // A lock: taken by the upkeep task, at the start and at the end.
    done: Mutex<Done>,
    /// The consumer that keeps the oldest messages from being removed.
    held_by: Mutex<Option<String>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// How far the journal was at the last snapshot.
    mark: JournalMark,
    snapshot_bytes: u64,
    /// The first offset that a session or a waiting message needs.
    needed: Offset,
    rounds: u32,
}

/// Keeps the journal short until the broker stops.
pub(crate) async fn keep(broker: Arc<Broker>, segment_bytes: u64) {
    // Without a journal there is nothing to do, and nobody is woken for it.
    while broker.journal.exists() && !broker.stopping.is_set() {
        if timeout(ROUND, broker.stopping.wait()).await.is_ok() {
            return;
        }
        let broker = Arc::clone(&broker);
        let round = move || {
            broker.journal.keep_short(segment_bytes, &broker.plan.load(), &broker.monitor);
        };
        if let Err(why) = blocking(round).await {
            resume_unwind(Box::new(why)); // the supervisor of this task reports it
        }
    }
}

impl Upkeep {
    /// Notes the first offset that the restored state needs.
    pub fn begin(&self, needed: Offset) {
        lock(&self.done).needed = needed;
    }

    /// The consumer that keeps the oldest messages from being removed, if there is one.
    pub fn held_by(&self) -> Option<String> {
        lock(&self.held_by).clone()
    }
}

impl BrokerJournal {
    /// One round. It reads and writes files: do not call it on a thread that serves connections.
    fn keep_short(&self, segment_bytes: u64, plan: &Plan, monitor: &Monitor) {
        let Some(journal) = self.get() else { return };
        self.jumps.look(Offset::new(journal.status().next_offset));
        let mut done = lock(&self.upkeep.done);
        done.rounds = done.rounds.wrapping_add(1);
        let grown = self.gates.written() - done.mark;
        let aging = plan.retention.age_s.is_some() && done.rounds % AGE_ROUNDS == 0;
        // Without a snapshot nothing can be removed, and a full journal would stay full.
        let early = grown > 0 && (aging || self.gates.is_full());
        if early || grown >= segment_bytes.max(GROWTH * done.snapshot_bytes) {
            self.snapshot(journal, &mut done, monitor);
        }
        if done.rounds % RETIRE_ROUNDS == 0 || self.gates.is_full() {
            self.retire(journal, done.needed, plan);
        }
    }

    /// The last snapshot, so that the next start is quick.
    pub fn end_upkeep(&self, monitor: &Monitor) {
        let Some(journal) = self.get() else { return };
        let mut done = lock(&self.upkeep.done);
        if self.gates.written() > done.mark {
            self.snapshot(journal, &mut done, monitor);
        }
    }

    fn snapshot(&self, journal: &Journal, done: &mut Done, monitor: &Monitor) {
        let mark = self.gates.written();
        let Ok(mut state) = history::read(journal) else { return };
        // A snapshot must not have state that a power cut could take back; the journal refuses that, too.
        let Ok((_, gate)) = self.append(&mut Batch::new(), Durability::Disk) else { return };
        let _ = Handle::current().block_on(timeout(SYNC_MAX, self.gates.passed(gate)));
        let (position, bytes) = state.snapshot(self.clock.now_ns());
        match journal.put_snapshot(position, &bytes) {
            Ok(()) => {
                let (snapshot_bytes, needed) = (bytes.len() as u64, state.needed());
                *done = Done { mark, snapshot_bytes, needed, ..*done };
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                let detail = format!("no snapshot of the sessions was written: {error}");
                monitor.report(EventKind::JournalTrouble, "journal", detail);
                done.mark = mark;
            }
        }
    }

    fn retire(&self, journal: &Journal, needed: Offset, plan: &Plan) {
        let rules = plan.retention;
        let age = rules.age_s.map(Duration::from_secs);
        let rules = RetentionRules { age, bytes: rules.bytes, keep_unread: rules.keep_unread };
        let held_by = match journal.retire(&rules, needed.get(), self.clock.now_ns()) {
            Ok(retired) => retired.held_by,
            Err(error) => Some(format!("an error: {error}")),
        };
        *lock(&self.upkeep.held_by) = held_by;
    }
}
