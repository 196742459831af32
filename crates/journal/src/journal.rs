//! The journal a broker appends to from many threads, and the one thread that writes it.
//! Never writes or syncs on the thread of a connection.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::backlog::{self, Backlog};
use crate::batch::Batch;
use crate::commit::Committer;
use crate::directory::Directory;
use crate::error::{AppendError, Failure, OpenError};
use crate::format::{BODY_BYTES_MAX, Identity};
use crate::hold::{Hold, make_folder};
use crate::log::Log;
use crate::pending::{Activity, Pending, Shared};
use crate::reader::Reader;
use crate::receipt::Receipt;
use crate::retire::Kept;
use crate::segment::Position;
use crate::snapshot::{self, SNAPSHOT};
use crate::spare;
use crate::status::{Appended, Progress, Status};
use crate::storage::Storage;

/// The limits of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// A segment is closed before it grows beyond this; one batch may be larger.
    pub segment_bytes: u64,
    /// Bytes that may wait to be written before an append answers `Full`. While the disk takes what it is given, no
    /// more than [`WAITING_BYTES_MAX`] do.
    pub pending_bytes_max: usize,
    /// The longest a written byte waits for fdatasync. Zero syncs after every write.
    /// A batch whose append asks for it is synced at once.
    pub sync_interval: Duration,
    /// With so many bytes stored there is no space for more; none leaves it to the disk.
    pub bytes_max: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            pending_bytes_max: 64 << 20,
            sync_interval: Duration::from_secs(1),
            bytes_max: None,
        }
    }
}

/// Bytes that may wait while the disk takes what it is given: what a newcomer has before it. A disk that is full
/// takes nothing, and who was promised something before it was has to wait.
pub(crate) const WAITING_BYTES_MAX: usize = 2 << 20;

/// Open for writing; its directory is locked until it is closed or dropped.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    identity: Identity,
    options: Options,
    /// Beside the committer's own handle, for what is not appended; one thing at a time.
    storage: Mutex<Box<dyn Storage>>,
    pub(crate) kept: Kept,
    running: Mutex<Option<Running>>,
}

/// What ends with `close`. A journal that has failed holds its folder until then.
#[derive(Debug)]
struct Running {
    committer: JoinHandle<()>,
    _hold: Arc<Hold>,
}

impl Journal {
    /// Recovers the journal in `dir`, or makes one, and starts its committer thread.
    /// `on_progress` is called from that thread after every write, every sync and whenever there
    /// is no space or there is some again.
    pub fn open(
        dir: &Path,
        options: Options,
        on_progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Result<(Self, Receipt), OpenError> {
        let narrowed = make_folder(dir)?;
        let hold = Arc::new(Hold::take(dir)?);
        spare::hold();
        let storage = Box::new(Directory::held(dir, &hold));
        let (mut journal, committer, mut receipt) = Self::over(storage, options, on_progress)?;
        receipt.narrowed = narrowed;
        let running = Running { committer: spawn(committer)?, _hold: hold };
        journal.running = Mutex::new(Some(running));
        Ok((journal, receipt))
    }

    /// Recovers the journal in any storage, without a thread and without a lock: the caller steps
    /// the committer. For simulations, which want nothing to happen by itself; there a
    /// `sync_interval` of zero syncs in every step, and `Duration::MAX` only where it is asked for.
    pub fn over(
        storage: Box<dyn Storage>,
        options: Options,
        on_progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Result<(Self, Committer, Receipt), OpenError> {
        let (log, receipt) = Log::open(storage, options.segment_bytes)?;
        let shared = Arc::new(Shared::new(&log, &options));
        let storage = Mutex::new(log.storage().clone_storage());
        let journal = Self {
            shared: Arc::clone(&shared),
            identity: receipt.identity,
            options,
            storage,
            kept: Kept::default(),
            running: Mutex::new(None),
        };
        let interval = options.sync_interval;
        let committer = Committer::new(log, shared, interval, Box::new(on_progress));
        Ok((journal, committer, receipt))
    }

    /// Which journal this is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// A reader over the same storage. It sees what is written; `flush` before reading what was
    /// appended just now.
    pub fn reader(&self) -> Reader {
        let storage = self.storage.lock().expect("storage never panics");
        Reader::of(storage.clone_reader(), self.identity)
    }

    /// Gives the batch its offsets and queues it for writing; the batch is then empty. With `sync`
    /// it is synced as soon as possible, together with all who ask meanwhile; an empty batch then
    /// asks for what is there already. On an error the batch is as it was.
    pub fn append(&self, batch: &mut Batch, sync: bool) -> Result<Appended, AppendError> {
        self.append_shared(batch, sync, &mut Backlog::default())
    }

    /// The same for one of many who append again and again: the room for what waits is shared among them.
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
        admit(&pending, batch, backlog.waiting_bytes(pending.written()))?;
        let bytes = batch.bytes();
        let appended = pending.push(batch, checksum, sync);
        let sleeps = pending.committer == Activity::Sleeps;
        drop(pending);
        if sleeps {
            self.shared.work.notify_one();
        }
        backlog.add(appended.mark, bytes);
        batch.clear();
        Ok(appended)
    }

    /// Appends as soon as there is room. Not for a thread that serves a connection.
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

    /// Returns when all that was appended before is written, so that readers see it.
    pub fn flush(&self) -> Result<(), Failure> {
        let end = self.shared.lock().appended;
        let pending = self.shared.wait_while(|pending| !pending.has_written(end));
        pending.status.failure.clone().map_or(Ok(()), Err)
    }

    /// Returns when all that was appended before survives a power cut. Not for a thread that serves
    /// a connection.
    pub fn sync(&self) -> Result<(), Failure> {
        let mut pending = self.shared.lock();
        pending.sync_asked = true;
        let end = pending.appended;
        drop(pending);
        self.shared.work.notify_one();
        let pending = self.shared.wait_while(|pending| !pending.has_synced(end));
        pending.status.failure.clone().map_or(Ok(()), Err)
    }

    /// Replaces the snapshot of state by that of everything before `at`. After a crash at any moment
    /// the old one or the new one is there.
    ///
    /// What is before `at` must be synced, else a power cut could leave a snapshot of what never
    /// was: it is refused with `WouldBlock`.
    pub fn put_snapshot(&self, at: Position, state: &[u8]) -> io::Result<()> {
        if at > self.shared.lock().synced_at {
            let message = "the snapshot is ahead of what is synced";
            return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
        }
        let storage = self.storage.lock().expect("storage never panics");
        storage.put(SNAPSHOT, &snapshot::encode(self.identity, at, state))?;
        self.kept.note_snapshot(at);
        Ok(())
    }

    /// A handle of its own for what takes long.
    pub(crate) fn clone_storage(&self) -> Box<dyn Storage> {
        self.storage.lock().expect("storage never panics").clone_storage()
    }

    /// Has the active segment closed when something in it is older.
    pub(crate) fn seal_older(&self, ns: i64) {
        self.tell_committer(|pending| pending.seal_before = Some(ns));
    }

    /// Counts the oldest segment as gone; what found no space is tried again at once.
    pub(crate) fn forget_oldest(&self, bytes: u64, first_offset: u64) {
        self.tell_committer(|pending| pending.remove(bytes, first_offset));
    }

    fn tell_committer(&self, change: impl FnOnce(&mut Pending)) {
        let mut pending = self.shared.lock();
        change(&mut pending);
        pending.bounds_changed = true;
        drop(pending);
        self.shared.work.notify_one();
    }

    /// How far the journal has come.
    pub fn progress(&self) -> Progress {
        self.shared.lock().progress()
    }

    /// Lowers the bound on bytes that wait to be written below that of the options; none is that one.
    pub fn lower_pending_bytes_max(&self, bytes: Option<usize>) {
        let most = self.options.pending_bytes_max;
        self.shared.lock().waiting_bytes_max = bytes.map_or(most, |bytes| bytes.min(most));
    }

    /// Changes the bound on stored bytes; what found no space is tried again at once.
    pub fn set_bytes_max(&self, bytes_max: Option<u64>) {
        self.tell_committer(|pending| pending.status.bytes_max = bytes_max);
    }

    /// The journal's figures now.
    pub fn status(&self) -> Status {
        self.shared.lock().status.clone()
    }

    /// Writes and syncs all that waits, ends the thread and frees the directory. A second call does
    /// nothing but answer the same. Without a thread, the next steps of the committer do it.
    pub fn close(&self) -> Result<(), Failure> {
        self.shared.lock().closing = true;
        self.shared.work.notify_one();
        let mut running = self.running.lock().expect("closing never panics");
        if running.take().is_some_and(|running| running.committer.join().is_err()) {
            self.shared.lock().status.failure = Some(Failure::panicked());
        }
        self.status().failure.map_or(Ok(()), Err)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // The owner who wants to know calls `close`.
        let _ = self.close();
    }
}

fn spawn(committer: Committer) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("journal".to_owned()).spawn(move || committer.run())
}

/// Records without messages find room when messages do not: they are few, and nobody can refuse what has
/// happened.
fn admit(pending: &Pending, batch: &Batch, own_bytes: usize) -> Result<(), AppendError> {
    let waiting = pending.status.pending_bytes;
    if let Some(failure) = &pending.status.failure {
        return Err(failure.clone().into());
    }
    if pending.closing {
        return Err(AppendError::Closed);
    }
    let has_messages = batch.has_messages();
    let bytes_max = if has_messages { pending.room_bytes() } else { 2 * pending.waiting_bytes_max };
    if backlog::has_room(batch.bytes(), own_bytes, waiting, bytes_max) {
        Ok(())
    } else {
        Err(AppendError::Full { pending_bytes: waiting })
    }
}
