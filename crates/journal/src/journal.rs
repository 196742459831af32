//! The journal that a broker appends to from many threads, and the one thread that writes it.
//! Never writes or syncs on the thread of a connection.
//!
//! An append gives a batch its offsets and its mark. The mark is the number of bytes that were appended
//! since the journal was opened, this batch included. An example: three publishers append 200, 300 and 100
//! bytes, and get the marks 200, 500 and 600. The committer takes all three, writes them with one call and
//! syncs them with one: progress says `written` 600, then `synced` 600. Each publisher's acknowledgement
//! waits until `synced` has reached its own mark. Batches that are appended during the sync wait for the next
//! one. So one sync serves all publishers that wait (group commit).

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::backlog::{self, Backlog};
use crate::batch::Batch;
use crate::commit::Committer;
use crate::directory::Directory;
use crate::error::{AppendError, JournalFailure, OpenError};
use crate::folder_lock::{FolderLock, make_folder};
use crate::format::{BODY_BYTES_MAX, JournalIdentity};
use crate::log::Log;
use crate::pending::{CommitterState, PendingQueue, SharedQueue};
use crate::reader::JournalReader;
use crate::receipt::RecoveryReceipt;
use crate::retire::RetireCache;
use crate::segment::JournalPosition;
use crate::snapshot::{self, SNAPSHOT};
use crate::spare_descriptors;
use crate::status::{Appended, CommitProgress, JournalFigures};
use crate::storage::Storage;

/// The limits of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalOptions {
    /// A segment ends before it grows beyond this; a single batch may be larger.
    pub segment_bytes: u64,
    /// Bytes that may wait to be written before an append fails with `Full`. Unless the disk is full, at most
    /// 2 MiB wait.
    pub pending_bytes_max: usize,
    /// The longest a written byte waits for fdatasync. Zero syncs after every write.
    /// A batch whose append asks for it is synced at once.
    pub sync_interval: Duration,
    /// A journal of this size accepts no more batches; `None` leaves the limit to the disk.
    pub bytes_max: Option<u64>,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            pending_bytes_max: 64 << 20,
            sync_interval: Duration::from_secs(1),
            bytes_max: None,
        }
    }
}

/// Bytes that may wait while the disk accepts writes. The bound is low because a new batch waits behind all
/// of them. While the disk is full, the bound is `pending_bytes_max`: the journal keeps what it has accepted.
pub(crate) const WAITING_BYTES_MAX: usize = 2 << 20;

/// A journal open for writing. Its directory is locked until it is closed or dropped.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<SharedQueue>,
    identity: JournalIdentity,
    options: JournalOptions,
    /// For everything but appends, beside the committer's own handle. A lock: one operation at a time.
    storage: Mutex<Box<dyn Storage>>,
    pub(crate) retire_cache: RetireCache,
    running: Mutex<Option<Running>>,
}

/// The thread and the lock, until `close`. A journal that has failed keeps its folder locked until then.
#[derive(Debug)]
struct Running {
    committer: JoinHandle<()>,
    _lock: Arc<FolderLock>,
}

impl Journal {
    /// Recovers the journal in `dir`, or creates one, and starts its committer thread. That thread calls
    /// `on_progress` after every write, after every sync, and when the disk becomes full or has space again.
    pub fn open(
        dir: &Path,
        options: JournalOptions,
        on_progress: impl Fn(CommitProgress) + Send + Sync + 'static,
    ) -> Result<(Self, RecoveryReceipt), OpenError> {
        let narrowed = make_folder(dir)?;
        let lock = Arc::new(FolderLock::take(dir)?);
        spare_descriptors::refill();
        let storage = Box::new(Directory::locked(dir, &lock));
        let (mut journal, committer, mut receipt) = Self::over(storage, options, on_progress)?;
        receipt.narrowed = narrowed;
        let running = Running { committer: spawn(committer)?, _lock: lock };
        journal.running = Mutex::new(Some(running));
        Ok((journal, receipt))
    }

    /// Recovers the journal in any storage, without a thread and without a lock: the caller runs the
    /// committer step by step. For simulations, in which nothing may happen by itself. There a
    /// `sync_interval` of zero syncs in every step, and `Duration::MAX` syncs only if an append asks for it.
    pub fn over(
        storage: Box<dyn Storage>,
        options: JournalOptions,
        on_progress: impl Fn(CommitProgress) + Send + Sync + 'static,
    ) -> Result<(Self, Committer, RecoveryReceipt), OpenError> {
        let second_handle = Mutex::new(storage.clone_storage());
        let (log, receipt) = Log::open(storage, options.segment_bytes)?;
        let shared = Arc::new(SharedQueue::new(&log, &options));
        let journal = Self {
            shared: Arc::clone(&shared),
            identity: receipt.identity,
            options,
            storage: second_handle,
            retire_cache: RetireCache::default(),
            running: Mutex::new(None),
        };
        let interval = options.sync_interval;
        let committer = Committer::new(log, shared, interval, Box::new(on_progress));
        Ok((journal, committer, receipt))
    }

    /// Which journal this is.
    pub fn identity(&self) -> JournalIdentity {
        self.identity
    }

    /// A reader of the same storage. It sees what is written: `flush` before reading what was just
    /// appended.
    pub fn reader(&self) -> JournalReader {
        let storage = self.storage.lock().expect("storage never panics");
        JournalReader::of(storage.clone_reader(), self.identity)
    }

    /// Gives the batch its offsets and queues it for writing; the batch is then empty. With `sync` it is
    /// synced as soon as possible, together with all others that ask; an empty batch asks for a sync of
    /// what was appended before. On an error the batch is unchanged.
    pub fn append(&self, batch: &mut Batch, sync: bool) -> Result<Appended, AppendError> {
        self.append_shared(batch, sync, &mut Backlog::default())
    }

    /// The same for one of many appenders, which share the room for waiting bytes: see [`Backlog`].
    pub fn append_shared(
        &self,
        batch: &mut Batch,
        sync: bool,
        backlog: &mut Backlog,
    ) -> Result<Appended, AppendError> {
        if batch.body_bytes() > BODY_BYTES_MAX {
            return Err(AppendError::TooLarge { bytes: batch.bytes() });
        }
        let checksum = batch.checksum();
        let mut pending = self.shared.lock();
        admit(&pending, batch, backlog.waiting_bytes(pending.written))?;
        let bytes = batch.bytes();
        let appended = pending.push(batch, checksum, sync);
        let is_asleep = pending.committer == CommitterState::Asleep;
        drop(pending);
        if is_asleep {
            self.shared.work.notify_one();
        }
        backlog.add(appended.mark, bytes);
        batch.clear();
        Ok(appended)
    }

    /// Appends, and blocks until there is room. Not for a thread that serves a connection.
    pub fn append_waiting(&self, batch: &mut Batch, sync: bool) -> Result<Appended, AppendError> {
        loop {
            match self.append(batch, sync) {
                Err(AppendError::Full { .. }) => {
                    drop(self.shared.wait_while(|pending| {
                        pending.status.pending_bytes > pending.room_bytes() / 2
                    }));
                }
                done => return done,
            }
        }
    }

    /// Blocks until everything appended before is written, so that readers see it.
    pub fn flush(&self) -> Result<(), JournalFailure> {
        let end = self.shared.lock().appended;
        let pending = self.shared.wait_while(|pending| pending.written < end);
        pending.status.failure.clone().map_or(Ok(()), Err)
    }

    /// Blocks until everything appended before survives a power cut. Not for a thread that serves a
    /// connection.
    pub fn sync(&self) -> Result<(), JournalFailure> {
        let mut pending = self.shared.lock();
        pending.sync_asked = true;
        let end = pending.appended;
        drop(pending);
        self.shared.work.notify_one();
        let pending = self.shared.wait_while(|pending| pending.synced < end);
        pending.status.failure.clone().map_or(Ok(()), Err)
    }

    /// Replaces the snapshot by one of the state before `at`. After a crash at any moment, the old or the
    /// new snapshot is there.
    ///
    /// Fails with `WouldBlock` if the journal is not synced up to `at`: after a power cut the snapshot would
    /// hold the state of messages that were lost.
    pub fn put_snapshot(&self, at: JournalPosition, state: &[u8]) -> io::Result<()> {
        if at > self.shared.lock().synced_at {
            let message = "the snapshot is ahead of what is synced";
            return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
        }
        let storage = self.storage.lock().expect("storage never panics");
        storage.put(SNAPSHOT, &snapshot::encode(self.identity, at, state))?;
        self.retire_cache.note_snapshot(at);
        Ok(())
    }

    /// Another handle, for operations that take long.
    pub(crate) fn clone_storage(&self) -> Box<dyn Storage> {
        self.storage.lock().expect("storage never panics").clone_storage()
    }

    /// Asks the committer to end the active segment if it holds something received before `ns`.
    pub(crate) fn seal_older(&self, ns: i64) {
        self.tell_committer(|pending| pending.seal_before = Some(ns));
    }

    /// Takes a removed segment out of the figures. A write that found no space is retried at once.
    pub(crate) fn forget_oldest(&self, bytes: u64, first_offset: u64) {
        self.tell_committer(|pending| pending.remove(bytes, first_offset));
    }

    fn tell_committer(&self, change: impl FnOnce(&mut PendingQueue)) {
        let mut pending = self.shared.lock();
        change(&mut pending);
        pending.bounds_changed = true;
        drop(pending);
        self.shared.work.notify_one();
    }

    /// How far the journal is written and synced.
    pub fn progress(&self) -> CommitProgress {
        self.shared.lock().progress()
    }

    /// Lowers the bound on waiting bytes below that of the options; `None` restores it.
    pub fn lower_pending_bytes_max(&self, bytes: Option<usize>) {
        let most = self.options.pending_bytes_max;
        self.shared.lock().waiting_bytes_max = bytes.map_or(most, |bytes| bytes.min(most));
    }

    /// Changes the bound on the journal's size. A write that found no space is retried at once.
    pub fn set_bytes_max(&self, bytes_max: Option<u64>) {
        self.tell_committer(|pending| pending.status.bytes_max = bytes_max);
    }

    /// The journal's current figures.
    pub fn status(&self) -> JournalFigures {
        self.shared.lock().status.clone()
    }

    /// Writes and syncs everything that waits, ends the thread and unlocks the directory. A second call
    /// only returns the same result. Without a thread, the committer's next steps do this.
    pub fn close(&self) -> Result<(), JournalFailure> {
        self.shared.lock().closing = true;
        self.shared.work.notify_one();
        let mut running = self.running.lock().expect("closing never panics");
        if running.take().is_some_and(|running| running.committer.join().is_err()) {
            self.shared.lock().status.failure = Some(JournalFailure::panicked());
        }
        self.status().failure.map_or(Ok(()), Err)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // An owner that wants the result calls `close` itself.
        let _ = self.close();
    }
}

fn spawn(committer: Committer) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("journal".to_owned()).spawn(move || committer.run())
}

/// Whether a batch may be appended. Records without messages may take twice the room: they are few, and they
/// record what has already happened. An urgent batch may use a reserve.
fn admit(pending: &PendingQueue, batch: &Batch, own_bytes: usize) -> Result<(), AppendError> {
    let waiting = pending.status.pending_bytes;
    if let Some(failure) = &pending.status.failure {
        return Err(failure.clone().into());
    }
    if pending.closing {
        return Err(AppendError::Closed);
    }
    let has_messages = batch.has_messages();
    let bytes_max = if has_messages { pending.room_bytes() } else { 2 * pending.waiting_bytes_max };
    let has_room = backlog::has_room(batch.bytes(), own_bytes, waiting, bytes_max)
        || (batch.is_urgent()
            && backlog::has_reserve(batch.bytes(), own_bytes, waiting, bytes_max));
    if has_room { Ok(()) } else { Err(AppendError::Full { pending_bytes: waiting }) }
}
