//! The journal a broker appends to from many threads, and the one thread that writes it.
//! Never writes or syncs on the thread of a connection.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::batch::Batch;
use crate::commit::Committer;
use crate::error::{AppendError, Failure, OpenError, Receipt};
use crate::format::{BODY_BYTES_MAX, Identity};
use crate::log::Log;
use crate::pending::{Pending, Shared};
use crate::status::{Appended, Progress, Status};
use crate::storage::{Directory, name_error, sync_directory};

/// The limits of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// A segment is closed before it grows beyond this; one batch may be larger.
    pub segment_bytes: u64,
    /// Bytes that may wait to be written before `append` answers `Full`.
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

/// Open for writing; its directory is locked until it is closed or dropped.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    identity: Identity,
    pending_bytes_max: usize,
    running: Mutex<Option<Running>>,
}

/// What ends with `close`. The lock is released when the file is dropped.
#[derive(Debug)]
struct Running {
    committer: JoinHandle<()>,
    _lock: File,
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
        make_directory(dir)?;
        let lock = lock(dir)?;
        let fresh = fresh_identity()?;
        let (log, receipt) = Log::open(Directory::new(dir), options.segment_bytes, fresh)?;
        let identity = log.identity();
        let shared = Arc::new(Shared::new(&log, options.bytes_max));
        let on_progress = Box::new(on_progress);
        let committer =
            Committer::new(log, Arc::clone(&shared), options.sync_interval, on_progress);
        let running = Running { committer: spawn(committer)?, _lock: lock };
        let journal = Self {
            shared,
            identity,
            pending_bytes_max: options.pending_bytes_max,
            running: Mutex::new(Some(running)),
        };
        Ok((journal, receipt))
    }

    /// Which journal this is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Gives the batch its offsets and queues it for writing; the batch is then empty. With `sync`
    /// it is synced as soon as possible, together with all who ask meanwhile; an empty batch then
    /// asks for what is there already. On an error the batch is as it was.
    pub fn append(&self, batch: &mut Batch, sync: bool) -> Result<Appended, AppendError> {
        if batch.body_bytes() > BODY_BYTES_MAX {
            return Err(AppendError::TooLarge { bytes: batch.bytes() });
        }
        let checksum = batch.checksum();
        let mut pending = self.shared.lock();
        self.admit(&pending, batch)?;
        let appended = pending.push(batch, checksum, sync);
        drop(pending);
        self.shared.work.notify_one();
        batch.clear();
        Ok(appended)
    }

    /// Appends as soon as there is room. Not for a thread that serves a connection.
    pub fn append_waiting(&self, batch: &mut Batch, sync: bool) -> Result<Appended, AppendError> {
        loop {
            match self.append(batch, sync) {
                Err(AppendError::Full { .. }) => {
                    let half = self.pending_bytes_max / 2;
                    drop(self.shared.wait_while(|pending| pending.status.pending_bytes > half));
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

    /// A batch larger than the limit is taken when nothing else waits, else it would wait for ever.
    fn admit(&self, pending: &MutexGuard<'_, Pending>, batch: &Batch) -> Result<(), AppendError> {
        let waiting = pending.status.pending_bytes;
        if let Some(failure) = &pending.status.failure {
            return Err(failure.clone().into());
        }
        if pending.closing {
            return Err(AppendError::Closed);
        }
        if waiting > 0 && waiting + batch.bytes() > self.pending_bytes_max {
            return Err(AppendError::Full { pending_bytes: waiting });
        }
        Ok(())
    }

    /// How far the journal has come.
    pub fn progress(&self) -> Progress {
        self.shared.lock().progress()
    }

    /// Changes the bound on stored bytes; what found no space is tried again at once.
    pub fn set_bytes_max(&self, bytes_max: Option<u64>) {
        let mut pending = self.shared.lock();
        pending.status.bytes_max = bytes_max;
        pending.bounds_changed = true;
        drop(pending);
        self.shared.work.notify_one();
    }

    /// The journal's figures now.
    pub fn status(&self) -> Status {
        self.shared.lock().status.clone()
    }

    /// Writes and syncs all that waits, ends the thread and frees the directory. A second call does
    /// nothing but answer the same.
    pub fn close(&self) -> Result<(), Failure> {
        self.shared.lock().closing = true;
        self.shared.work.notify_one();
        let mut running = self.running.lock().expect("closing never panics");
        if running.take().is_some_and(|running| running.committer.join().is_err()) {
            let message = "its thread panicked".to_owned();
            self.shared.lock().status.failure =
                Some(Failure { kind: io::ErrorKind::Other, message });
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

fn spawn(committer: Committer<Directory>) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("journal".to_owned()).spawn(move || committer.run())
}

/// Makes the directory, with a name that survives a power cut.
fn make_directory(dir: &Path) -> io::Result<()> {
    name_error(fs::create_dir_all(dir), "create", dir)?;
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync_directory(parent.unwrap_or(Path::new(".")))
}

fn lock(dir: &Path) -> Result<File, OpenError> {
    let path = dir.join("lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = name_error(file, "open", &path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(OpenError::Locked(dir.to_owned())),
        Err(error) => Err(name_error(Err(error.into()), "lock", &path)?),
    }
}

fn fresh_identity() -> io::Result<Identity> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0; 16];
    name_error(File::open(path).and_then(|mut file| file.read_exact(&mut bytes)), "read", path)?;
    Ok(Identity(bytes))
}
