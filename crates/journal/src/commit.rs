//! The committer: swaps the pending bytes out, writes them at once, syncs when due.
//! Sleeps when there is nothing to do, and never calls a failed write or sync a success.

use std::io;
use std::mem;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::batch::Batch;
use crate::error::Failure;
use crate::journal::{Progress, Status};
use crate::log::Log;
use crate::storage::WriteSegments;

/// Memory kept for the next round; a rare flood does not hold its memory for ever.
const BUFFER_BYTES_KEPT: usize = 8 << 20;

/// What connections and the committer share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Offsets and bytes must be in the same order, so one lock gives both; it is held for a copy
    /// into memory and never across I/O.
    pending: Mutex<Pending>,
    /// Told of new bytes and of closing.
    pub work: Condvar,
    /// Told of progress.
    pub progress: Condvar,
}

/// Batches that have their offsets and are not yet written.
#[derive(Debug)]
pub(crate) struct Pending {
    buffer: Vec<u8>,
    pub closing: bool,
    pub status: Status,
}

impl Shared {
    pub fn new<S: WriteSegments>(log: &Log<S>) -> Self {
        let mut pending = Pending { buffer: Vec::new(), closing: false, status: Status::default() };
        pending.status.next_offset = log.written();
        pending.note(log);
        let (work, progress) = (Condvar::new(), Condvar::new());
        Self { pending: Mutex::new(pending), work, progress }
    }

    pub fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().expect("nothing panics while it holds the lock")
    }

    /// Returns when there was progress or failure while `waiting` holds.
    pub fn wait_while(&self, waiting: impl Fn(&Status) -> bool) -> MutexGuard<'_, Pending> {
        let waits =
            |pending: &mut Pending| pending.status.failure.is_none() && waiting(&pending.status);
        self.progress.wait_while(self.lock(), waits).expect("see lock")
    }
}

impl Pending {
    pub fn push(&mut self, batch: &Batch, checksum: u32) -> Range<u64> {
        if batch.is_empty() {
            return self.status.next_offset..self.status.next_offset;
        }
        let header = batch.header(self.status.next_offset, checksum);
        self.buffer.extend_from_slice(&header.encode());
        self.buffer.extend_from_slice(batch.body());
        self.status.pending_bytes += batch.bytes();
        self.status.next_offset = header.offsets().end;
        header.offsets()
    }

    fn note<S: WriteSegments>(&mut self, log: &Log<S>) {
        self.status.first_offset = log.first_offset();
        self.status.written = log.written();
        self.status.synced = log.synced();
        self.status.bytes = log.bytes();
        self.status.segments = log.segments();
    }

    fn progress(&self) -> Progress {
        let Status { written, synced, ref failure, .. } = self.status;
        Progress { written, synced, failed: failure.clone() }
    }
}

/// What the committer does next.
enum Work {
    Write,
    Sync,
    Close,
}

/// Owns the log; runs on a thread of its own.
pub(crate) struct Committer<S> {
    log: Log<S>,
    shared: Arc<Shared>,
    sync_interval: Duration,
    /// When the oldest unsynced byte must be synced.
    sync_due: Option<Instant>,
    buffer: Vec<u8>,
}

impl<S: WriteSegments> Committer<S> {
    pub fn new(log: Log<S>, shared: Arc<Shared>, sync_interval: Duration) -> Self {
        Self { log, shared, sync_interval, sync_due: None, buffer: Vec::new() }
    }

    /// Works until the journal is closed or has failed.
    pub fn run(mut self, on_progress: &dyn Fn(Progress)) {
        loop {
            let work = self.wait();
            let closing = matches!(work, Work::Close);
            let done = self.perform(&work);
            let failed = done.is_err();
            on_progress(self.tell(&done));
            if closing || failed {
                return;
            }
        }
    }

    /// Sleeps until there is something to do.
    fn wait(&mut self) -> Work {
        let shared = Arc::clone(&self.shared);
        let mut pending = shared.lock();
        loop {
            let left = self.sync_due.map(|due| due.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Work::Sync;
            }
            if !pending.buffer.is_empty() {
                mem::swap(&mut pending.buffer, &mut self.buffer);
                return Work::Write;
            }
            if pending.closing {
                return Work::Close;
            }
            pending = match left {
                Some(left) => shared.work.wait_timeout(pending, left).expect("see lock").0,
                None => shared.work.wait(pending).expect("see lock"),
            };
        }
    }

    fn perform(&mut self, work: &Work) -> io::Result<()> {
        match work {
            Work::Write => self.write(),
            Work::Sync => self.sync(),
            Work::Close => self.log.seal(),
        }
    }

    fn write(&mut self) -> io::Result<()> {
        self.log.write(&self.buffer)?;
        if self.log.synced() < self.log.written() {
            self.sync_due.get_or_insert_with(|| Instant::now() + self.sync_interval);
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_due = None;
        self.log.sync()
    }

    fn tell(&mut self, done: &io::Result<()>) -> Progress {
        let mut pending = self.shared.lock();
        pending.note(&self.log);
        pending.status.pending_bytes -= self.buffer.len();
        pending.status.failure = done.as_ref().err().map(Failure::from);
        let progress = pending.progress();
        drop(pending);
        self.shared.progress.notify_all();
        self.buffer.clear();
        self.buffer.shrink_to(BUFFER_BYTES_KEPT);
        progress
    }
}
