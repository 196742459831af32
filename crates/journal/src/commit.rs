//! The committer: takes all that waits, writes it at once, syncs once for all who asked.
//! Never calls a failed write or sync a success.

use std::fmt;
use std::io;
use std::mem;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use crate::error::Failure;
use crate::log::{Log, Wrote};
use crate::pending::{Pending, Shared};
use crate::status::Progress;

/// Memory kept for the next round; a rare flood does not hold its memory for ever.
const BUFFER_BYTES_KEPT: usize = 8 << 20;
/// How often a write that found no space is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

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
    buffer: Vec<u8>,
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
            buffer: Vec::new(),
            ended: false,
        }
    }

    /// Works until the journal is closed or has failed.
    pub(crate) fn run(mut self) {
        while !self.ended {
            self.wait();
            self.step();
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
        let stalled = !self.buffer.is_empty();
        let retry_due = stalled.then(|| Instant::now() + RETRY_INTERVAL);
        let due = [self.sync_due, retry_due].into_iter().flatten().min();
        let mut pending = self.shared.lock();
        while !self.has_work(&pending) {
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            pending = match left {
                Some(Duration::ZERO) => return,
                Some(left) => self.shared.work.wait_timeout(pending, left).expect("see lock").0,
                None => self.shared.work.wait(pending).expect("see lock"),
            };
        }
    }

    fn has_work(&self, pending: &MutexGuard<'_, Pending>) -> bool {
        let stalled = !self.buffer.is_empty();
        let more = !pending.buffer.is_empty() || pending.sync_asked;
        pending.closing || pending.bounds_changed || (!stalled && more)
    }

    /// Takes what waits, unless some of what was taken before still does; says whether the journal
    /// is to be closed.
    fn take(&mut self) -> bool {
        let shared = Arc::clone(&self.shared);
        let mut pending = shared.lock();
        if self.buffer.is_empty() {
            mem::swap(&mut pending.buffer, &mut self.buffer);
            self.sync_asked |= mem::take(&mut pending.sync_asked);
        }
        self.bytes_max = pending.status.bytes_max;
        self.seal_before = pending.seal_before.take();
        self.log.forget(&mem::take(&mut pending.gone));
        pending.bounds_changed = false;
        pending.closing
    }

    fn work(&mut self, closing: bool) -> io::Result<bool> {
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
        if self.buffer.is_empty() {
            return Ok(false);
        }
        let Wrote { bytes, no_space } = self.log.write(&self.buffer, self.bytes_max)?;
        self.forget(bytes);
        if self.log.is_synced() {
            self.sync_due = None;
        } else if self.sync_due.is_none() {
            self.sync_due = Instant::now().checked_add(self.sync_interval);
        }
        let changed = bytes > 0 || no_space != self.shared.lock().status.no_space;
        if changed {
            self.tell(|pending| {
                pending.status.pending_bytes -= bytes;
                pending.status.no_space = no_space;
            });
        }
        Ok(changed)
    }

    /// Drops what is written from the buffer.
    fn forget(&mut self, bytes: usize) {
        if bytes == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(BUFFER_BYTES_KEPT);
        } else {
            self.buffer.drain(..bytes);
        }
    }

    fn sync(&mut self) -> io::Result<bool> {
        let due = self.sync_due.is_some_and(|due| due <= Instant::now());
        if !(self.sync_asked || due) {
            return Ok(false);
        }
        // Who asked may be among those that found no space.
        self.sync_asked &= !self.buffer.is_empty();
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
        let more = !pending.buffer.is_empty();
        drop(pending);
        if !more {
            self.log.seal()?;
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
