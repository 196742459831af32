//! The queue between appenders and the committer: the batches that wait, and the journal's figures.
//! Never does I/O.

use std::sync::{Condvar, Mutex, MutexGuard};

use crate::batch::Batch;
use crate::format::unsynced_bytes;
use crate::journal::{JournalOptions, WAITING_BYTES_MAX};
use crate::log::{Log, RemovedSegments};
use crate::segment::JournalPosition;
use crate::status::{Appended, CommitProgress, JournalFigures, JournalMark};
use crate::write_queue::{SpareBuffers, WriteQueue};

/// The queue with its lock and its wake-ups.
#[derive(Debug)]
pub(crate) struct SharedQueue {
    // A lock: offsets and bytes must be in the same order, so both are given under it. It is held for a
    // copy in memory, never across I/O.
    pending: Mutex<PendingQueue>,
    /// Signals the committer: new bytes, new bounds, or closing.
    pub work: Condvar,
    /// Signals every thread that waits for progress.
    pub progress: Condvar,
}

/// Batches that have their offsets and are not written yet.
#[derive(Debug, Default)]
pub(crate) struct PendingQueue {
    pub batches: WriteQueue,
    /// Buffers for the next batches.
    pub spares: SpareBuffers,
    /// Bytes that may wait while the disk is full.
    pub waiting_bytes_max: usize,
    /// Whether the committer has to be woken. While it works it looks here by itself, and a wake-up is a
    /// system call.
    pub committer: CommitterState,
    /// Whether a batch here asks for a sync as soon as possible.
    pub sync_asked: bool,
    /// Whether bounds changed, so that a write that found no space is retried at once.
    pub bounds_changed: bool,
    /// Segments that retention removed and the log still counts.
    pub removed: RemovedSegments,
    /// The active segment is to end if it holds something received before this time.
    pub seal_before: Option<i64>,
    pub closing: bool,
    /// The mark of the newest batch.
    pub appended: JournalMark,
    /// Everything up to this mark survives a kill of the process.
    pub written: JournalMark,
    /// Everything up to this mark survives a power cut.
    pub synced: JournalMark,
    /// Everything before it survives a power cut.
    pub synced_at: JournalPosition,
    pub status: JournalFigures,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CommitterState {
    #[default]
    Working,
    Asleep,
}

impl SharedQueue {
    pub fn new(log: &Log, options: &JournalOptions) -> Self {
        let waiting_bytes_max = options.pending_bytes_max;
        let mut pending = PendingQueue { waiting_bytes_max, ..PendingQueue::default() };
        pending.status.next_offset = log.written.at.offset;
        pending.status.bytes_max = options.bytes_max;
        pending.note_progress(log);
        let (work, progress) = (Condvar::new(), Condvar::new());
        Self { pending: Mutex::new(pending), work, progress }
    }

    pub fn lock(&self) -> MutexGuard<'_, PendingQueue> {
        self.pending.lock().expect("nothing panics while it holds the lock")
    }

    /// Makes the lock usable again after the committer panicked while it held it. The journal has failed.
    pub fn forget_panic(&self) {
        self.pending.clear_poison();
    }

    /// Blocks while `waiting` is true, unless the journal fails.
    pub fn wait_while(
        &self,
        waiting: impl Fn(&PendingQueue) -> bool,
    ) -> MutexGuard<'_, PendingQueue> {
        let waits =
            |pending: &mut PendingQueue| pending.status.failure.is_none() && waiting(pending);
        self.progress.wait_while(self.lock(), waits).expect("see lock")
    }
}

impl PendingQueue {
    /// Gives a batch its offsets and its mark, and queues it. An empty batch gets the mark of the last one.
    pub fn push(&mut self, batch: &mut Batch, checksum: u32, sync: bool) -> Appended {
        self.sync_asked |= sync;
        let mut offsets = self.status.next_offset..self.status.next_offset;
        if !batch.is_empty() {
            let unsynced = unsynced_bytes(self.appended - self.synced);
            let header = batch.header(offsets.start, unsynced, checksum);
            self.status.pending_bytes += batch.bytes();
            self.appended += batch.bytes() as u64;
            self.batches.push(batch, &header, &mut self.spares);
            offsets = header.offsets();
            self.status.next_offset = offsets.end;
        }
        Appended { offsets, mark: self.appended }
    }

    /// Bytes that may wait now.
    pub fn room_bytes(&self) -> usize {
        let is_full = self.status.no_space.is_some();
        self.waiting_bytes_max.min(if is_full { usize::MAX } else { WAITING_BYTES_MAX })
    }

    /// Takes over the log's progress.
    pub fn note_progress(&mut self, log: &Log) {
        (self.written, self.synced) = (log.written.mark, log.synced.mark);
        self.synced_at = log.synced.at;
        self.status.first_offset = log.first_offset.max(self.removed.first_offset);
        self.status.written = log.written.at.offset;
        self.status.synced = log.synced.at.offset;
        self.status.bytes = log.bytes().saturating_sub(self.removed.bytes);
        self.status.segments = log.segments.saturating_sub(self.removed.segments);
    }

    /// Takes the oldest segment, which was removed, out of the figures.
    pub fn remove(&mut self, bytes: u64, first_offset: u64) {
        self.removed.segments += 1;
        self.removed.bytes += bytes;
        self.removed.first_offset = first_offset;
        self.status.first_offset = first_offset;
        self.status.bytes = self.status.bytes.saturating_sub(bytes);
        self.status.segments = self.status.segments.saturating_sub(1);
    }

    pub fn progress(&self) -> CommitProgress {
        CommitProgress {
            written: self.written,
            synced: self.synced,
            no_space: self.status.no_space.clone(),
            failed: self.status.failure.clone(),
        }
    }
}
