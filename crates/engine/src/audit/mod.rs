//! The audit: who connected, was refused, read or changed what, and by which right. A journal of its own, written by a
//! thread of its own, so that its disk never delays a client. Nothing here removes a record but retention.
//!
//! Records wait in a bounded queue. Those that have no room, and repetitions, are counted, and the count is a record
//! itself.

mod gathering;
mod record;
#[cfg(test)]
mod tests;
mod writer;

use std::collections::VecDeque;
use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread::JoinHandle;

use arc_swap::ArcSwap;
use serde::Serialize;
use slipring_core::access::AccessPolicy;
use slipring_core::{AuditKind, AuditRules, Plan};

use crate::clock::Clock;
use crate::event::Report;
use crate::locks::lock;
use gathering::Gathering;
use record::PendingRecord;

pub use record::AuditRecord;

/// Records that wait for the writer. Further ones are counted as lost.
const QUEUE_MAX: usize = 20_000;
/// Bytes of records that wait.
const QUEUE_BYTES_MAX: usize = 32 << 20;
/// Of these, the places, and as many KiB, that only changes take: what nobody can do without a right.
const QUEUE_RESERVE: usize = 1_000;

/// Written records that the control plane has not taken; the oldest are dropped and counted.
const TOLD_MAX: usize = 2_000;

/// Where an engine keeps its audit; the plan says whether it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditSettings {
    /// The folder of its journal.
    pub folder: PathBuf,
    /// Bytes of a segment.
    pub segment_bytes: u64,
}

/// The state of the audit, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "`slipring.status` describes the fields")]
pub struct AuditStatus {
    pub records: u64,
    pub lost: u64,
    pub bytes: u64,
    pub trouble: Option<String>,
}

/// What all threads share of the audit.
pub(crate) struct Audit {
    clock: Clock,
    /// The kinds that are written; 0 while there is no audit.
    kinds: AtomicU32,
    settings: OnceLock<(AuditSettings, Vec<String>)>,
    rules: ArcSwap<AuditRules>,
    policy: ArcSwap<AccessPolicy>,
    // A lock: held for a moment by whoever has a record, and by the writer.
    queue: Mutex<AuditQueue>,
    /// Wakes the writer.
    work: Condvar,
    written: AtomicU64,
    lost: AtomicU64,
    bytes: AtomicU64,
    /// Why records cannot be written now.
    trouble: Mutex<Option<String>>,
    /// Whether clients are refused because records cannot be written.
    is_refusing: AtomicBool,
    /// Written records for the control plane, as JSON; None while it wants none. A lock: the writer adds, the control
    /// plane takes.
    told: Mutex<Option<ToldRecords>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Written records that the control plane has not taken.
#[derive(Default)]
struct ToldRecords {
    records: VecDeque<Vec<u8>>,
    dropped: u64,
}

/// Records that are not written yet.
#[derive(Default)]
struct AuditQueue {
    waiting: Vec<PendingRecord>,
    /// Bytes of `waiting`.
    bytes: usize,
    gathering: Gathering,
    /// Records without room since the writer looked last.
    lost: u64,
    is_stopping: bool,
}

impl AuditQueue {
    fn has_room(&self, reserve: usize) -> bool {
        let has_place = self.waiting.len() + reserve < QUEUE_MAX;
        has_place && self.bytes + (reserve << 10) < QUEUE_BYTES_MAX
    }

    fn push(&mut self, record: PendingRecord) {
        self.bytes += record.bytes();
        self.waiting.push(record);
    }

    fn take(&mut self) -> Vec<PendingRecord> {
        self.bytes = 0;
        mem::take(&mut self.waiting)
    }
}

impl Audit {
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            kinds: AtomicU32::new(0),
            settings: OnceLock::new(),
            rules: ArcSwap::default(),
            policy: ArcSwap::default(),
            queue: Mutex::default(),
            work: Condvar::new(),
            written: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            trouble: Mutex::default(),
            is_refusing: AtomicBool::new(false),
            told: Mutex::default(),
            thread: Mutex::default(),
        }
    }

    /// Follows a plan.
    pub fn follow(&self, plan: &Plan) {
        self.policy.store(Arc::clone(&plan.access));
        self.rules.store(Arc::new(plan.audit));
        if self.settings.get().is_some() {
            self.kinds.store(plan.audit.kinds, Ordering::Relaxed);
        }
        self.note_refusing(lock(&self.trouble).is_some());
    }

    /// Records what happened, if its kind is audited. A single load while there is no audit.
    #[inline]
    pub fn see(&self, at_ns: i64, report: &Report<'_>) {
        let kinds = self.kinds.load(Ordering::Relaxed);
        if kinds != 0 {
            self.add_event(kinds, at_ns, report);
        }
    }

    #[cold]
    fn add_event(&self, kinds: u32, at_ns: i64, report: &Report<'_>) {
        let Some(kind) = record::kind_of(report).filter(|kind| kinds & kind.bit() != 0) else {
            return;
        };
        let key = gathering::Key::of(kind, report);
        let mut queue = lock(&self.queue);
        if !queue.gathering.admits(&key) {
            return;
        }
        if !queue.has_room(QUEUE_RESERVE) {
            queue.lost += 1;
            return;
        }
        let record = PendingRecord::new(kind, at_ns, report, &self.policy, self.listeners());
        queue.gathering.remember(&key, &record);
        queue.push(record);
    }

    /// Adds a record of the control plane. Returns whether there was room; true, too, if its kind is not audited, or if
    /// it is counted as a repetition.
    pub fn add(&self, record: AuditRecord) -> bool {
        let kinds = self.kinds.load(Ordering::Relaxed);
        if kinds == 0 || kinds & record.kind.bit() == 0 && !record.kind.is_about_audit() {
            return true;
        }
        let record = AuditRecord { at_ns: self.clock.now_ns(), ..record.shortened() };
        let key = gathering::Key::of_console(&record);
        let mut queue = lock(&self.queue);
        if key.as_ref().is_some_and(|key| !queue.gathering.admits(key)) {
            return true;
        }
        let reserve = if key.is_some() { QUEUE_RESERVE } else { 0 };
        if !queue.has_room(reserve) {
            queue.lost += 1;
            return false;
        }
        let pending = PendingRecord::of(record.clone());
        if let Some(key) = key {
            queue.gathering.remember(&key, &pending);
        }
        queue.push(pending);
        true
    }

    fn listeners(&self) -> &[String] {
        self.settings.get().map_or(&[], |(_, names)| names)
    }

    /// Why records cannot be written now, if clients must be refused for it.
    pub fn refusal(&self) -> Option<&'static str> {
        let is_refusing = self.is_refusing.load(Ordering::Relaxed);
        is_refusing.then_some("the audit cannot be written, and it is required (audit.required)")
    }

    fn note_refusing(&self, has_trouble: bool) {
        let is_required = self.rules.load().is_required && self.rules.load().is_on();
        self.is_refusing.store(has_trouble && is_required, Ordering::Relaxed);
    }

    /// Sets whether written records are kept for the control plane.
    pub fn want_told(&self, is_wanted: bool) {
        let mut told = lock(&self.told);
        if told.is_some() != is_wanted {
            *told = is_wanted.then(ToldRecords::default);
        }
    }

    /// Written records since the last call, as JSON. The first one tells of those that were dropped, if any were.
    pub fn take_told(&self) -> Vec<Vec<u8>> {
        let told = lock(&self.told).as_mut().map(mem::take).unwrap_or_default();
        let lost = (told.dropped > 0).then(|| {
            let detail = "records that only the audit on the broker's machine has: more at once than \
                          are taken for log servers";
            let lost = AuditRecord::lost(told.dropped, self.clock.now_ns(), detail.into());
            lost.json()
        });
        lost.into_iter().chain(told.records).collect()
    }

    fn tell(&self, json: &[u8]) {
        let Some(told) = &mut *lock(&self.told) else { return };
        if told.records.len() >= TOLD_MAX {
            told.records.pop_front();
            told.dropped += 1;
        }
        told.records.push_back(json.to_vec());
    }

    /// Its state; None while there is no audit.
    pub fn status(&self) -> Option<AuditStatus> {
        (self.kinds.load(Ordering::Relaxed) != 0).then(|| AuditStatus {
            records: self.written.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            trouble: lock(&self.trouble).clone(),
        })
    }

    /// Writes what waits, and ends the writer.
    pub fn stop(&self) {
        let Some(thread) = lock(&self.thread).take() else { return };
        self.add(AuditRecord::new(AuditKind::Stopped));
        lock(&self.queue).is_stopping = true;
        self.work.notify_one();
        let _ = thread.join(); // a writer that panicked has told so
    }
}
