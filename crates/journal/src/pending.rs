//! What connections and the committer share: the batches that wait, and the figures.
//! Never does I/O.

use std::sync::{Condvar, Mutex, MutexGuard};

use crate::batch::Batch;
use crate::chunks::{Chunks, Spares};
use crate::format::unsynced_bytes;
use crate::journal::{Options, WAITING_BYTES_MAX};
use crate::log::{Gone, Log};
use crate::segment::Position;
use crate::status::{Appended, Mark, Progress, Status};

/// What connections and the committer share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Offsets and bytes must be in the same order, so one lock gives both; it is held for a copy
    /// into memory and never across I/O.
    pending: Mutex<Pending>,
    /// Told of new bytes, of new bounds and of closing.
    pub work: Condvar,
    /// Told of progress.
    pub progress: Condvar,
}

/// Batches that have their offsets and are not yet written.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub chunks: Chunks,
    /// Memory for what comes next.
    pub spares: Spares,
    /// Bytes that may wait, also while the disk is full.
    pub waiting_bytes_max: usize,
    /// One that works looks here by itself, and a wake-up is a system call.
    pub committer: Activity,
    /// Whether a batch here wants a sync as soon as possible.
    pub sync_asked: bool,
    /// Whether bounds changed, so that what found no space is tried at once.
    pub bounds_changed: bool,
    /// Segments that were removed, until the log hears of it.
    pub gone: Gone,
    /// The active segment is to be closed when something in it is older.
    pub seal_before: Option<i64>,
    pub closing: bool,
    /// The mark of the newest batch.
    pub appended: Mark,
    written: Mark,
    synced: Mark,
    /// What is before survives a power cut.
    pub synced_at: Position,
    pub status: Status,
}

/// What the committer does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Activity {
    #[default]
    Works,
    /// Until somebody wakes it.
    Sleeps,
}

impl Shared {
    pub fn new(log: &Log, options: &Options) -> Self {
        let waiting_bytes_max = options.pending_bytes_max;
        let mut pending = Pending { waiting_bytes_max, ..Pending::default() };
        pending.status.next_offset = log.written().at.offset;
        pending.status.bytes_max = options.bytes_max;
        pending.note(log);
        let (work, progress) = (Condvar::new(), Condvar::new());
        Self { pending: Mutex::new(pending), work, progress }
    }

    pub fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().expect("nothing panics while it holds the lock")
    }

    /// The committer has panicked and ends: whatever it left here is not written any more.
    pub fn forget_panic(&self) {
        self.pending.clear_poison();
    }

    /// Returns when there was progress or failure while `waiting` holds.
    pub fn wait_while(&self, waiting: impl Fn(&Pending) -> bool) -> MutexGuard<'_, Pending> {
        let waits = |pending: &mut Pending| pending.status.failure.is_none() && waiting(pending);
        self.progress.wait_while(self.lock(), waits).expect("see lock")
    }
}

impl Pending {
    pub fn push(&mut self, batch: &mut Batch, checksum: u32, sync: bool) -> Appended {
        self.sync_asked |= sync;
        let mut offsets = self.status.next_offset..self.status.next_offset;
        if !batch.is_empty() {
            let unsynced = unsynced_bytes(self.appended - self.synced);
            let header = batch.header(offsets.start, unsynced, checksum);
            self.status.pending_bytes += batch.bytes();
            self.appended += batch.bytes() as u64;
            self.chunks.push(batch, &header, &mut self.spares);
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

    /// Up to where all that was appended is written.
    pub fn written(&self) -> Mark {
        self.written
    }

    /// Whether all that was appended up to a mark is written.
    pub fn has_written(&self, mark: Mark) -> bool {
        self.written >= mark
    }

    /// Whether all that was appended up to a mark is synced.
    pub fn has_synced(&self, mark: Mark) -> bool {
        self.synced >= mark
    }

    pub fn note(&mut self, log: &Log) {
        let (written, synced) = (log.written(), log.synced());
        (self.written, self.synced) = (written.mark, synced.mark);
        self.synced_at = synced.at;
        self.status.first_offset = log.first_offset().max(self.gone.first_offset);
        self.status.written = written.at.offset;
        self.status.synced = synced.at.offset;
        self.status.bytes = log.bytes().saturating_sub(self.gone.bytes);
        self.status.segments = log.segments().saturating_sub(self.gone.segments);
    }

    /// Notes that the oldest segment was removed, so that the next one is the first.
    pub fn remove(&mut self, bytes: u64, first_offset: u64) {
        let Gone { segments, bytes: before, .. } = self.gone;
        self.gone = Gone { segments: segments + 1, bytes: before + bytes, first_offset };
        self.status.first_offset = first_offset;
        self.status.bytes = self.status.bytes.saturating_sub(bytes);
        self.status.segments = self.status.segments.saturating_sub(1);
    }

    pub fn progress(&self) -> Progress {
        Progress {
            written: self.written,
            synced: self.synced,
            no_space: self.status.no_space.clone(),
            failed: self.status.failure.clone(),
        }
    }
}
