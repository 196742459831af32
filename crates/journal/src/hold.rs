//! What keeps a second broker out of a journal's folder, and notices when the folder is not the one
//! that is held any more. Knows nothing of what the files mean.

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

/// Of a journal's folder: its owner and nobody else. Others read it from the broker.
pub(crate) const FOLDER_MODE: u32 = 0o700;
/// What others than the owner may do.
const OTHERS: u32 = 0o077;
/// How often the names are compared with what is held.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The locked folder. Dropping it lets go.
#[derive(Debug)]
pub(crate) struct Hold {
    folder: Held,
    lock: Held,
    /// When the names were compared last. A lock: the committer and whoever takes a snapshot look.
    checked: Mutex<Instant>,
}

/// A file or folder that is open and locked, and the name it has.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    file: File,
}

impl Hold {
    /// Locks the folder and the file `lock` in it. The folder itself is locked because anybody may
    /// remove a file in it; the file because a network file system may not know locks on folders.
    pub fn take(dir: &Path) -> Result<Self, OpenError> {
        let folder = Held::open(dir, OpenOptions::new().read(true))?;
        // A file system that cannot lock a folder can lock the file.
        if folder.lock() == Err(Errno::WOULDBLOCK) {
            return Err(OpenError::Locked(dir.to_owned()));
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(FILE_MODE);
        let lock = Held::open(&dir.join("lock"), &options)?;
        match lock.lock() {
            Ok(()) => Ok(Self { folder, lock, checked: Mutex::new(Instant::now()) }),
            Err(Errno::WOULDBLOCK) => Err(OpenError::Locked(dir.to_owned())),
            Err(error) => Err(name_error(Err(error.into()), "lock", &lock.path)?),
        }
    }

    /// The same as `check`, where it was some time ago.
    pub fn check_again(&self) -> io::Result<()> {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked.elapsed() >= CHECK_INTERVAL {
            self.check()?;
            *checked = Instant::now();
        }
        Ok(())
    }

    /// Fails when the folder or the lock has another name than it had, or none.
    pub fn check(&self) -> io::Result<()> {
        self.folder.check()?;
        self.lock.check()
    }
}

impl Held {
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

/// Makes the folder, with a name that survives a power cut. Says which mode it had where it could
/// be read by others, who cannot read it any more.
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

/// Takes the folder and the files in it from everybody but their owner. The files first: once the
/// folder is narrow, nobody looks at them again.
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
