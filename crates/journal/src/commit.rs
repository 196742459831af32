//! The committer: takes all that waits, writes it at once, syncs once for all who asked.
//! Never calls a failed write or sync a success.

use std::fmt;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use crate::chunks::{Chunks, Spares};
use crate::error::Failure;
use crate::log::{Log, Wrote};
use crate::pending::{Activity, Pending, Shared};
use crate::status::Progress;

/// Of what may wait, one part of so many is memory kept for the next round: a rare flood does not hold
/// its memory for ever.
const KEPT_SHARE: usize = 8;
/// With so many written bytes that are not synced, they are: whoever asks for a sync next waits for little.
const UNSYNCED_BYTES_MAX: u64 = 1 << 20;
/// How often a write that found no space is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// How often an idle journal looks whether its folder is still there.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Who is told of progress.
pub(crate) type Listener = Box<dyn Fn(Progress) + Send + Sync>;

/// Owns the log and brings what is appended into it. Runs on a thread of its own, or in steps.
pub struct Committer {
    log: Log,
    shared: Arc<Shared>,
    on_progress: Listener,
    sync_interval: Duration,
    /// When the oldest unsynced byte must be synced; none when nothing is unsynced, or never.
    sync_due: Option<Instant>,
    sync_asked: bool,
    bytes_max: Option<u64>,
    seal_before: Option<i64>,
    /// Taken, and not yet written.
    taken: Chunks,
    /// Memory of what is written.
    spares: Spares,
    ended: bool,
}

impl fmt::Debug for Committer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Committer").finish_non_exhaustive()
    }
}

impl Committer {
    pub(crate) fn new(
        log: Log,
        shared: Arc<Shared>,
        sync_interval: Duration,
        on_progress: Listener,
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
            taken: Chunks::default(),
            spares: Spares::default(),
            ended: false,
        }
    }

    /// Works until the journal is closed or has failed. A panic is a failure: nobody knows what was written.
    pub(crate) fn run(mut self) {
        while !self.ended {
            let round = AssertUnwindSafe(|| {
                self.wait();
                self.step();
            });
            if catch_unwind(round).is_err() {
                self.shared.forget_panic();
                self.fail(Failure::panicked());
            }
        }
    }

    /// Does the work at hand without waiting: writes what waits, then syncs if that was asked for
    /// or is due. Says whether it did any; a write that finds no space again is none.
    pub fn step(&mut self) -> bool {
        if self.ended {
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
        let stalled = !self.taken.is_empty();
        let retry_due = stalled.then(|| Instant::now() + RETRY_INTERVAL);
        let check_due = Instant::now().checked_add(CHECK_INTERVAL);
        let due = [self.sync_due, retry_due, check_due].into_iter().flatten().min();
        let mut pending = self.shared.lock();
        while !self.has_work(&pending) {
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return;
            }
            pending.committer = Activity::Sleeps;
            pending = match left {
                Some(left) => self.shared.work.wait_timeout(pending, left).expect("see lock").0,
                None => self.shared.work.wait(pending).expect("see lock"),
            };
            pending.committer = Activity::Works;
        }
    }

    fn has_work(&self, pending: &MutexGuard<'_, Pending>) -> bool {
        let stalled = !self.taken.is_empty();
        let more = !pending.chunks.is_empty() || pending.sync_asked;
        pending.closing || pending.bounds_changed || (!stalled && more)
    }

    /// Takes what waits, unless some of what was taken before still does; says whether the journal
    /// is to be closed.
    fn take(&mut self) -> bool {
        let shared = Arc::clone(&self.shared);
        let mut pending = shared.lock();
        if self.taken.is_empty() {
            mem::swap(&mut pending.chunks, &mut self.taken);
            self.sync_asked |= mem::take(&mut pending.sync_asked);
        }
        self.bytes_max = pending.status.bytes_max;
        let spare_bytes_max = pending.waiting_bytes_max / KEPT_SHARE;
        self.spares.bound(spare_bytes_max);
        pending.spares.bound(spare_bytes_max);
        self.seal_before = pending.seal_before.take();
        self.log.forget(&mem::take(&mut pending.gone));
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
            self.tell(|_| ());
        }
        Ok(sealed)
    }

    fn write(&mut self) -> io::Result<bool> {
        if self.taken.is_empty() {
            return Ok(false);
        }
        let Wrote { bytes, no_space } = self.write_taken()?;
        if self.log.is_synced() {
            self.sync_due = None;
        } else if self.sync_due.is_none() {
            self.sync_due = Instant::now().checked_add(self.sync_interval);
        }
        let changed = bytes > 0 || no_space != self.shared.lock().status.no_space;
        if changed {
            let mut spares = mem::take(&mut self.spares);
            self.tell(|pending| {
                pending.status.pending_bytes -= bytes;
                pending.status.no_space = no_space;
                spares.give_all(&mut pending.spares);
            });
        }
        Ok(changed)
    }

    /// Writes until all is written or there is no space.
    fn write_taken(&mut self) -> io::Result<Wrote> {
        let mut all = Wrote { bytes: 0, no_space: None };
        while let (Some(first), None) = (self.taken.first(), &all.no_space) {
            let Wrote { bytes, no_space } = self.log.write(first, self.bytes_max)?;
            self.taken.advance(bytes, &mut self.spares);
            all = Wrote { bytes: all.bytes + bytes, no_space };
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
        // Who asked may be among those that found no space.
        self.sync_asked &= !self.taken.is_empty();
        self.sync_due = None;
        if self.log.is_synced() {
            return Ok(false);
        }
        self.log.sync()?;
        self.tell(|_| ());
        Ok(true)
    }

    /// Ends when all is written; what finds no space now is given up.
    fn close(&mut self) -> io::Result<()> {
        let pending = self.shared.lock();
        if let Some(why) = pending.status.no_space.as_ref() {
            let bytes = pending.status.pending_bytes;
            let message = format!("closed while {bytes} bytes found no space: {why}");
            return Err(io::Error::new(io::ErrorKind::StorageFull, message));
        }
        let more = !pending.chunks.is_empty();
        drop(pending);
        if !more {
            self.log.close()?;
            self.ended = true;
            self.tell(|_| ());
        }
        Ok(())
    }

    fn fail(&mut self, failure: Failure) {
        self.ended = true;
        self.tell(|pending| pending.status.failure = Some(failure));
    }

    /// Tells everyone who waits or listens how far the log has come.
    fn tell(&mut self, note: impl FnOnce(&mut Pending)) {
        let mut pending = self.shared.lock();
        note(&mut pending);
        pending.note(&self.log);
        let progress = pending.progress();
        drop(pending);
        self.shared.progress.notify_all();
        (self.on_progress)(progress);
    }
}
