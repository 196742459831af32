//! The committer: takes all batches that wait, writes them together, and syncs once for all of them.
//! Never reports a failed write or sync as a success.

use std::fmt;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use crate::error::JournalFailure;
use crate::log::{Log, WriteOutcome};
use crate::pending::{CommitterState, PendingQueue, SharedQueue};
use crate::status::CommitProgress;
use crate::write_queue::{SpareBuffers, WriteQueue};

/// Spare buffers hold at most this fraction (one eighth) of the bytes that may wait, so that the memory of a
/// rare flood is freed.
const SPARE_SHARE: usize = 8;
/// So many written bytes are synced even if no append asks for it, so that the next sync is short.
const UNSYNCED_BYTES_MAX: u64 = 1 << 20;
/// How often a write that found no space is retried.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// How often an idle journal checks that its folder is still there.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Called after each step that made progress.
pub(crate) type ProgressCallback = Box<dyn Fn(CommitProgress) + Send + Sync>;

/// Owns the log, and writes what is appended. Runs on its own thread, or step by step.
pub struct Committer {
    log: Log,
    shared: Arc<SharedQueue>,
    on_progress: ProgressCallback,
    sync_interval: Duration,
    /// When the oldest unsynced byte must be synced; `None` if all is synced, or if only appends ask for syncs.
    sync_due: Option<Instant>,
    sync_asked: bool,
    bytes_max: Option<u64>,
    seal_before: Option<i64>,
    /// Taken from the queue, and not written yet.
    taken: WriteQueue,
    /// Buffers of batches that were written.
    spares: SpareBuffers,
    has_ended: bool,
}

impl fmt::Debug for Committer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Committer").finish_non_exhaustive()
    }
}

impl Committer {
    pub(crate) fn new(
        log: Log,
        shared: Arc<SharedQueue>,
        sync_interval: Duration,
        on_progress: ProgressCallback,
    ) -> Self {
        Self {
            log,
            shared,
            on_progress,
            sync_interval,
            sync_due: None,
            sync_asked: false,
            bytes_max: None,
            seal_before: None,
            taken: WriteQueue::default(),
            spares: SpareBuffers::default(),
            has_ended: false,
        }
    }

    /// Works until the journal is closed or has failed. A panic counts as a failure: nobody knows what was written.
    pub(crate) fn run(mut self) {
        while !self.has_ended {
            let round = AssertUnwindSafe(|| {
                self.wait();
                self.step();
            });
            if catch_unwind(round).is_err() {
                self.shared.forget_panic();
                self.fail(JournalFailure::panicked());
            }
        }
    }

    /// Works without waiting: writes what waits, then syncs if that was asked for or is due. Returns whether
    /// there was anything to do; a retry that still finds no space does not count.
    pub fn step(&mut self) -> bool {
        if self.has_ended {
            return false;
        }
        let closing = self.take();
        let worked = self.work(closing);
        if let Err(error) = &worked {
            self.fail(error.into());
        }
        worked.unwrap_or(true)
    }

    /// Sleeps until there is something to do.
    fn wait(&self) {
        let is_stalled = !self.taken.is_empty();
        let retry_due = is_stalled.then(|| Instant::now() + RETRY_INTERVAL);
        let check_due = Instant::now().checked_add(CHECK_INTERVAL);
        let due = [self.sync_due, retry_due, check_due].into_iter().flatten().min();
        let mut pending = self.shared.lock();
        while !self.has_work(&pending) {
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return;
            }
            pending.committer = CommitterState::Asleep;
            pending = match left {
                Some(left) => self.shared.work.wait_timeout(pending, left).expect("see lock").0,
                None => self.shared.work.wait(pending).expect("see lock"),
            };
            pending.committer = CommitterState::Working;
        }
    }

    fn has_work(&self, pending: &MutexGuard<'_, PendingQueue>) -> bool {
        let is_stalled = !self.taken.is_empty();
        let has_more = !pending.batches.is_empty() || pending.sync_asked;
        pending.closing || pending.bounds_changed || (!is_stalled && has_more)
    }

    /// Takes the batches that wait, unless batches taken before are not written yet. Returns whether the
    /// journal is to be closed.
    fn take(&mut self) -> bool {
        let shared = Arc::clone(&self.shared);
        let mut pending = shared.lock();
        if self.taken.is_empty() {
            mem::swap(&mut pending.batches, &mut self.taken);
            self.sync_asked |= mem::take(&mut pending.sync_asked);
        }
        self.bytes_max = pending.status.bytes_max;
        let spare_bytes_max = pending.waiting_bytes_max / SPARE_SHARE;
        self.spares.bound(spare_bytes_max);
        pending.spares.bound(spare_bytes_max);
        self.seal_before = pending.seal_before.take();
        self.log.forget(&mem::take(&mut pending.removed));
        pending.bounds_changed = false;
        pending.closing
    }

    fn work(&mut self, closing: bool) -> io::Result<bool> {
        if self.taken.is_empty() {
            self.log.verify()?;
        }
        let wrote = self.write()?;
        let synced = self.sync()?;
        let sealed = self.seal_old()?;
        if closing {
            self.close()?;
        }
        Ok(wrote || synced || sealed || closing)
    }

    fn seal_old(&mut self) -> io::Result<bool> {
        let Some(ns) = self.seal_before.take() else { return Ok(false) };
        let sealed = self.log.seal_older(ns)?;
        if sealed {
            self.report(|_| ());
        }
        Ok(sealed)
    }

    fn write(&mut self) -> io::Result<bool> {
        if self.taken.is_empty() {
            return Ok(false);
        }
        let WriteOutcome { bytes, no_space } = self.write_taken()?;
        if self.log.is_synced() {
            self.sync_due = None;
        } else if self.sync_due.is_none() {
            self.sync_due = Instant::now().checked_add(self.sync_interval);
        }
        let changed = bytes > 0 || no_space != self.shared.lock().status.no_space;
        if changed {
            let mut spares = mem::take(&mut self.spares);
            self.report(|pending| {
                pending.status.pending_bytes -= bytes;
                pending.status.no_space = no_space;
                spares.give_all(&mut pending.spares);
            });
        }
        Ok(changed)
    }

    /// Writes until everything is written or there is no space.
    fn write_taken(&mut self) -> io::Result<WriteOutcome> {
        let mut all = WriteOutcome { bytes: 0, no_space: None };
        while let (Some(first), None) = (self.taken.first(), &all.no_space) {
            let WriteOutcome { bytes, no_space } = self.log.write(first, self.bytes_max)?;
            self.taken.advance(bytes, &mut self.spares);
            all = WriteOutcome { bytes: all.bytes + bytes, no_space };
        }
        self.log.verify()?;
        Ok(all)
    }

    fn sync(&mut self) -> io::Result<bool> {
        let due = self.sync_due.is_some_and(|due| due <= Instant::now());
        let is_over = self.log.unsynced_bytes() >= UNSYNCED_BYTES_MAX;
        if !(self.sync_asked || due || is_over) {
            return Ok(false);
        }
        // The batch that asked may be among those that found no space.
        self.sync_asked &= !self.taken.is_empty();
        self.sync_due = None;
        if self.log.is_synced() {
            return Ok(false);
        }
        self.log.sync()?;
        self.report(|_| ());
        Ok(true)
    }

    /// Closes the log once everything is written. Batches for which there is no space now are lost.
    fn close(&mut self) -> io::Result<()> {
        let pending = self.shared.lock();
        if let Some(why) = pending.status.no_space.as_ref() {
            let bytes = pending.status.pending_bytes;
            let message = format!("closed while {bytes} bytes found no space: {why}");
            return Err(io::Error::new(io::ErrorKind::StorageFull, message));
        }
        let has_more = !pending.batches.is_empty();
        drop(pending);
        if !has_more {
            self.log.close()?;
            self.has_ended = true;
            self.report(|_| ());
        }
        Ok(())
    }

    fn fail(&mut self, failure: JournalFailure) {
        self.has_ended = true;
        self.report(|pending| pending.status.failure = Some(failure));
    }

    /// Updates the figures, wakes the threads that wait for progress, and calls `on_progress`.
    fn report(&mut self, change: impl FnOnce(&mut PendingQueue)) {
        let mut pending = self.shared.lock();
        change(&mut pending);
        pending.note_progress(&self.log);
        let progress = pending.progress();
        drop(pending);
        self.shared.progress.notify_all();
        (self.on_progress)(progress);
    }
}
