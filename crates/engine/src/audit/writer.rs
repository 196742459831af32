//! The thread that writes the audit: takes the records that wait, appends them to the journal, and keeps it short.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use slipring_core::{AuditKind, Millis};
use slipring_journal::{
    AppendError, Batch, Journal, JournalOptions, JournalPosition, MessageFlags, OpenError,
    RetentionRules,
};

use super::record::{AuditRecord, PendingRecord};
use super::{Audit, AuditSettings};
use crate::broker::Broker;
use crate::event::EventKind;
use crate::history;
use crate::locks::lock;
use crate::starting::StartError;

/// How often records are written.
const ROUND: Duration = Duration::from_millis(100);
/// Rounds between two looks at the age and size of the audit, and between two tries to open its journal.
const UPKEEP_ROUNDS: u32 = 50;
/// People are told at most this often that records are removed early.
const TELL_EARLY_MS: Millis = 3_600_000;
/// Bytes of one batch, about.
const BATCH_BYTES: usize = 256 << 10;
/// The publisher of records.
const PUBLISHER: &str = "slipring";

impl Audit {
    /// Begins the audit, if there is a place for one. An error if its journal cannot be opened.
    pub fn begin(
        broker: &Arc<Broker>,
        settings: Option<AuditSettings>,
        listeners: Vec<String>,
    ) -> Result<(), StartError> {
        let Some(settings) = settings else { return Ok(()) };
        let audit = &broker.monitor.audit;
        let plan = broker.plan.load_full();
        let journal = plan.audit.is_on().then(|| open(&settings)).transpose();
        let journal = journal.map_err(StartError::Audit)?;
        let _ = audit.settings.set((settings.clone(), listeners));
        audit.follow(&plan);
        audit.add(AuditRecord::new(AuditKind::Started));
        let mut writer = Writer::new(Arc::clone(broker), settings, journal);
        let thread = thread::Builder::new().name("audit".into()).spawn(move || writer.run());
        *lock(&audit.thread) = Some(thread.map_err(StartError::Threads)?);
        Ok(())
    }
}

fn open(settings: &AuditSettings) -> Result<Journal, OpenError> {
    let segment_bytes = settings.segment_bytes;
    let options = JournalOptions { segment_bytes, ..JournalOptions::default() };
    Journal::open(&settings.folder, options, |_| {}).map(|(journal, _)| journal)
}

/// The state of the thread.
struct Writer {
    broker: Arc<Broker>,
    settings: AuditSettings,
    journal: Option<Journal>,
    /// Records that the journal did not take yet, and those behind them.
    batch: Batch,
    rest: VecDeque<PendingRecord>,
    /// An empty state and how far it goes: what is before may be removed once it is synced.
    snapshot: Option<(JournalPosition, Vec<u8>)>,
    rounds: u32,
    /// When it was told last that records are removed early.
    told_early_ms: Option<Millis>,
    /// Records that a journal took before it failed, and did not write.
    journal_lost: u64,
}

impl Writer {
    fn new(broker: Arc<Broker>, settings: AuditSettings, journal: Option<Journal>) -> Self {
        Self {
            broker,
            settings,
            journal,
            batch: Batch::new(),
            rest: VecDeque::new(),
            snapshot: None,
            rounds: 0,
            told_early_ms: None,
            journal_lost: 0,
        }
    }

    fn audit(&self) -> &Audit {
        &self.broker.monitor.audit
    }

    fn run(&mut self) {
        loop {
            let can_write = self.can_write();
            let (records, is_last) = self.wait(can_write);
            self.rounds = self.rounds.wrapping_add(1);
            self.write(records);
            if self.rounds % UPKEEP_ROUNDS == 0 {
                self.keep_short();
            }
            if is_last {
                self.close();
                return;
            }
        }
    }

    /// Whether the journal takes records now. What it did not take before comes first.
    fn can_write(&mut self) -> bool {
        if self.ensure_open() {
            self.write_rest();
        }
        let has_taken_all = self.rest.is_empty() && self.batch.is_empty();
        self.journal.is_some() && has_taken_all || !self.audit().rules.load().is_on()
    }

    /// Waits for the next round. Returns the records that are due, and whether they are the last. Records that cannot
    /// be written stay in the queue, which is bounded.
    fn wait(&self, can_write: bool) -> (Vec<PendingRecord>, bool) {
        let audit = self.audit();
        let queue = lock(&audit.queue);
        let waited = audit.work.wait_timeout_while(queue, ROUND, |queue| !queue.is_stopping);
        let (mut queue, _) = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_last = queue.is_stopping;
        if !can_write && !is_last {
            return (Vec::new(), false);
        }
        let now_ns = self.broker.clock.now_ns();
        let unwritten = queue.gathering.unwritten();
        let mut records = queue.take();
        let counted = queue.gathering.end(now_ns, is_last);
        let lost = mem::take(&mut queue.lost);
        drop(queue);
        if lost > 0 {
            let detail =
                format!("{lost} records found no room: more at once than could be written");
            records.push(PendingRecord::of(AuditRecord::lost(lost, now_ns, detail)));
        }
        if !counted.is_empty() {
            audit.lost.fetch_add(unwritten, Ordering::Relaxed);
            records.extend(counted);
        }
        audit.lost.fetch_add(lost, Ordering::Relaxed);
        (records, is_last)
    }

    /// Writes records, in batches.
    fn write(&mut self, records: Vec<PendingRecord>) {
        self.rest.extend(records);
        if !self.ensure_open() {
            let count = mem::take(&mut self.rest).len() as u64;
            self.audit().lost.fetch_add(count, Ordering::Relaxed);
            return;
        }
        self.write_rest();
        self.look();
    }

    /// Writes what waits, until the journal takes no more.
    fn write_rest(&mut self) {
        self.append();
        while self.batch.bytes() < BATCH_BYTES {
            if self.journal_lost > 0 {
                self.tell_journal_lost();
            }
            let Some(record) = self.rest.pop_front() else { break };
            self.add(&record.decided());
        }
        self.append();
    }

    fn add(&mut self, record: &AuditRecord) {
        if self.batch.is_empty() {
            self.batch.begin(PUBLISHER, self.broker.clock.now_ns());
        }
        let json = record.json();
        self.audit().tell(&json);
        self.batch.push(MessageFlags::new(1, false), &record.topic(), &[], &json);
        if self.batch.bytes() >= BATCH_BYTES {
            self.append();
        }
    }

    fn tell_journal_lost(&mut self) {
        let lost = mem::take(&mut self.journal_lost);
        let detail = format!("{lost} records may be missing: the journal of the audit failed");
        self.add(&AuditRecord::lost(lost, self.broker.clock.now_ns(), detail));
    }

    /// Opens the journal if it is wanted and not open; tries again a few seconds after a failure.
    fn ensure_open(&mut self) -> bool {
        if self.journal.is_some() {
            return true;
        }
        if !self.audit().rules.load().is_on() {
            return false;
        }
        let has_failed = lock(&self.audit().trouble).is_some();
        if has_failed && self.rounds % UPKEEP_ROUNDS != 0 {
            return false;
        }
        match open(&self.settings) {
            Ok(journal) => self.journal = Some(journal),
            Err(error) => self.note_trouble(Some(error.to_string())),
        }
        self.journal.is_some()
    }

    /// Appends the batch. If the journal does not take it now, the batch stays.
    fn append(&mut self) {
        let Some(journal) = self.journal.as_ref().filter(|_| !self.batch.is_empty()) else {
            return;
        };
        let count = self.batch.len() as u64;
        match journal.append(&mut self.batch, false) {
            Ok(_) => drop(self.audit().written.fetch_add(count, Ordering::Relaxed)),
            Err(AppendError::Full { .. }) => {}
            Err(error) => {
                // What it took and did not write is lost; it is told once a new journal takes records.
                let figures = journal.status();
                let lost = figures.next_offset.saturating_sub(figures.written);
                self.journal_lost += lost;
                self.audit().written.fetch_sub(lost, Ordering::Relaxed);
                self.audit().lost.fetch_add(lost, Ordering::Relaxed);
                self.journal = None;
                self.note_trouble(Some(error.to_string()));
            }
        }
    }

    /// Looks whether the journal still writes.
    fn look(&mut self) {
        let Some(journal) = &self.journal else { return };
        let figures = journal.status();
        self.audit().bytes.store(figures.bytes, Ordering::Relaxed);
        let behind = || (!self.batch.is_empty()).then(|| "its disk is too slow".to_owned());
        let failure = figures.failure.map(|failure| failure.to_string());
        self.note_trouble(failure.or(figures.no_space).or_else(behind));
    }

    /// Notes why records cannot be written, and tells it once.
    fn note_trouble(&self, now: Option<String>) {
        let audit = self.audit();
        let before = mem::replace(&mut *lock(&audit.trouble), now.clone());
        audit.note_refusing(now.is_some());
        let told = match (before.is_some(), now) {
            (false, Some(why)) => format!("its records are not written: {why}"),
            (true, None) => "its records are written again".to_owned(),
            _ => return,
        };
        self.broker.monitor.report(EventKind::JournalTrouble, "audit", told);
    }

    /// Removes records that are too old, or too many.
    fn keep_short(&mut self) {
        let Some(journal) = &self.journal else { return };
        let rules = **self.audit().rules.load();
        let by_age = RetentionRules {
            age: rules.age_s.map(Duration::from_secs),
            ..RetentionRules::default()
        };
        let by_size = RetentionRules { bytes: rules.bytes, ..RetentionRules::default() };
        if by_age == by_size {
            return; // nothing is removed
        }
        let now_ns = self.broker.clock.now_ns();
        // Nothing is removed before a snapshot of the state, of which an audit has none. The one of the round before
        // is synced by now.
        if let Some((position, bytes)) = self.snapshot.take()
            && let Err(error) = journal.put_snapshot(position, &bytes)
        {
            return self.tell_unremoved(&error);
        }
        let retire = |rules| journal.retire(rules, u64::MAX, now_ns);
        let retired = retire(&by_age).and_then(|_| retire(&by_size));
        match retired {
            Ok(retired) => {
                self.snapshot = history::read(journal).ok().map(|mut state| state.snapshot(now_ns));
                if retired.segments > 0 && rules.age_s.is_some() {
                    self.tell_early();
                }
            }
            Err(error) => self.tell_unremoved(&error),
        }
    }

    /// Tells, once an hour at most, that records are not kept for as long as they should be: somebody may flood the
    /// audit to be forgotten.
    fn tell_early(&mut self) {
        let now_ms = self.broker.clock.now_ms();
        if self.told_early_ms.is_some_and(|told_ms| now_ms < told_ms + TELL_EARLY_MS) {
            return;
        }
        self.told_early_ms = Some(now_ms);
        let told = "its oldest records are removed before they are as old as audit.retain_age_s says; \
                    a larger audit.retain_bytes keeps them";
        self.broker.monitor.report(EventKind::JournalTrouble, "audit", told);
    }

    fn tell_unremoved(&self, error: &io::Error) {
        if error.kind() != io::ErrorKind::WouldBlock {
            let told = format!("its old records are not removed: {error}");
            self.broker.monitor.report(EventKind::JournalTrouble, "audit", told);
        }
    }

    fn close(&mut self) {
        let unwritten = (self.batch.len() + self.rest.len()) as u64;
        self.audit().lost.fetch_add(unwritten, Ordering::Relaxed);
        if let Some(journal) = self.journal.take()
            && let Err(failure) = journal.close()
        {
            self.note_trouble(Some(failure.to_string()));
        }
    }
}
