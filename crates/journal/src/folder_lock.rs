//! The lock that keeps a second broker out of a journal's folder. Notices when the locked folder was
//! removed or replaced. Knows nothing of what the files mean.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::directory::{FILE_MODE, name_error, sync_directory};
use crate::error::OpenError;

/// The mode of a journal's folder: only its owner may enter. Others read the journal from the broker.
pub(crate) const FOLDER_MODE: u32 = 0o700;
/// The permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;
/// How often the paths are compared with the locked files.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The locked folder. Dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct FolderLock {
    folder: LockedPath,
    lock: LockedPath,
    /// The time of the last check. A lock: the committer checks, and so does a thread that writes a snapshot.
    checked: Mutex<Instant>,
}

/// A file or folder that is open and locked, and its path.
#[derive(Debug)]
struct LockedPath {
    path: PathBuf,
    file: File,
}

impl FolderLock {
    /// Locks the folder and the file `lock` in it. The folder, because the file can be removed; the file,
    /// because some network file systems cannot lock folders.
    pub fn take(dir: &Path) -> Result<Self, OpenError> {
        let folder = LockedPath::open(dir, OpenOptions::new().read(true))?;
        // Any other error means that the file system cannot lock folders: then the file decides.
        if folder.lock() == Err(Errno::WOULDBLOCK) {
            return Err(OpenError::Locked(dir.to_owned()));
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(FILE_MODE);
        let lock = LockedPath::open(&dir.join("lock"), &options)?;
        match lock.lock() {
            Ok(()) => Ok(Self { folder, lock, checked: Mutex::new(Instant::now()) }),
            Err(Errno::WOULDBLOCK) => Err(OpenError::Locked(dir.to_owned())),
            Err(error) => Err(name_error(Err(error.into()), "lock", &lock.path)?),
        }
    }

    /// Calls `check` if the last one was some time ago.
    pub fn check_again(&self) -> io::Result<()> {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked.elapsed() >= CHECK_INTERVAL {
            self.check()?;
            *checked = Instant::now();
        }
        Ok(())
    }

    /// Fails when the folder or the lock file was removed, renamed or replaced.
    pub fn check(&self) -> io::Result<()> {
        self.folder.check()?;
        self.lock.check()
    }
}

impl LockedPath {
    fn open(path: &Path, options: &OpenOptions) -> io::Result<Self> {
        let file = name_error(options.open(path), "open", path)?;
        Ok(Self { path: path.to_owned(), file })
    }

    fn lock(&self) -> Result<(), Errno> {
        flock(&self.file, FlockOperation::NonBlockingLockExclusive)
    }

    fn check(&self) -> io::Result<()> {
        let held = self.file.metadata()?;
        let named = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            named => Some(name_error(named, "look at", &self.path)?),
        };
        match named {
            Some(named) if (named.dev(), named.ino()) == (held.dev(), held.ino()) => Ok(()),
            Some(_) => Err(self.lost("replaced by another")),
            None => Err(self.lost("removed or renamed")),
        }
    }

    fn lost(&self, how: &str) -> io::Error {
        io::Error::other(format!(
            "{} was {how} while the broker was running, so nothing can be kept there; \
             put it back if you can, then start the broker again",
            self.path.display()
        ))
    }
}

/// Creates the folder so that its name survives a power cut. If others could read it, takes that right
/// from them and returns the mode it had.
pub(crate) fn make_folder(dir: &Path) -> io::Result<Option<u32>> {
    let made = DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(dir);
    name_error(made, "create", dir)?;
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync_directory(parent.unwrap_or(Path::new(".")))?;
    let found = name_error(fs::metadata(dir), "look at", dir)?.mode() & 0o777;
    if found & OTHERS == 0 {
        return Ok(None);
    }
    narrow(dir)?;
    Ok(Some(found))
}

/// Takes all rights to the folder and its files from everybody but their owner. The folder comes last: after
/// a crash in between, its mode shows that the work has to be done again.
fn narrow(dir: &Path) -> io::Result<()> {
    for entry in name_error(fs::read_dir(dir), "list", dir)? {
        let entry = name_error(entry, "list", dir)?;
        let kind = name_error(entry.file_type(), "look at", &entry.path())?;
        if kind.is_dir() {
            narrow(&entry.path())?;
        } else if kind.is_file() {
            set_mode(&entry.path(), FILE_MODE)?;
        }
    }
    set_mode(dir, FOLDER_MODE)
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    name_error(fs::set_permissions(path, Permissions::from_mode(mode)), "chmod", path)
}
