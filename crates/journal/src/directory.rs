//! Segments as files in a directory. Its errors name the operation and the file.
//! Knows nothing of what the bytes mean.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::io::Errno;

use crate::consumers::{self, Consumer};
use crate::folder_lock::FolderLock;
use crate::format::JournalIdentity;
use crate::segment::SegmentId;
use crate::spare_descriptors::{self, with_spare};
use crate::storage::{ReadSegments, Storage, WriteSegments};

/// The mode of every file of a journal: only its owner reads and writes it.
pub(crate) const FILE_MODE: u32 = 0o600;

/// One journal's directory.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    active: Option<(SegmentId, File)>,
    /// The file that was last overwritten in place, and its name.
    noted: Option<(String, File)>,
    /// The writer's lock, until the journal is closed; readers have none.
    lock: Weak<FolderLock>,
}

impl Directory {
    /// A handle for reading. Creates no folder.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), active: None, noted: None, lock: Weak::new() }
    }

    /// A handle for the writer.
    pub(crate) fn locked(path: impl Into<PathBuf>, lock: &Arc<FolderLock>) -> Self {
        Self { lock: Arc::downgrade(lock), ..Self::new(path) }
    }

    /// Fails when the locked folder was removed or replaced: another folder is not ours to change.
    fn check_lock(&self) -> io::Result<()> {
        self.lock.upgrade().map_or(Ok(()), |lock| lock.check())
    }

    fn file_path(&self, segment: SegmentId) -> PathBuf {
        self.path.join(segment.file())
    }

    /// Writes a new file and renames it over the one with this name.
    fn replace(&self, name: &str, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let (path, fresh) = (self.path.join(name), self.path.join(format!("{name}.new")));
        if let Err(error) = write(&fresh) {
            // On a full disk it may be half written.
            let _ = fs::remove_file(&fresh);
            return Err(error);
        }
        name_error(fs::rename(&fresh, &path), "replace", &path)
    }

    fn active(&mut self, segment: SegmentId) -> io::Result<&mut File> {
        if self.active.as_ref().is_none_or(|(open, _)| *open != segment) {
            let path = self.file_path(segment);
            let file = with_spare(|| OpenOptions::new().append(true).open(&path));
            self.active = Some((segment, name_error(file, "open", &path)?));
        }
        Ok(&mut self.active.as_mut().expect("opened above").1)
    }
}

impl ReadSegments for Directory {
    fn segments(&self) -> io::Result<Vec<SegmentId>> {
        let entries = name_error(with_spare(|| fs::read_dir(&self.path)), "list", &self.path)?;
        let mut segments = Vec::new();
        for entry in entries {
            let name = name_error(entry, "list", &self.path)?.file_name();
            segments.extend(name.to_str().and_then(SegmentId::of_file));
        }
        segments.sort_unstable();
        Ok(segments)
    }

    fn size(&self, segment: SegmentId) -> io::Result<u64> {
        let path = self.file_path(segment);
        Ok(name_error(fs::metadata(&path), "measure", &path)?.len())
    }

    fn read_at(&self, segment: SegmentId, position: u64, into: &mut [u8]) -> io::Result<usize> {
        let path = self.file_path(segment);
        let file = name_error(with_spare(|| File::open(&path)), "open", &path)?;
        name_error(read_whole(&file, position, into), "read", &path)
    }

    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let path = self.path.join(name);
        match with_spare(|| fs::read(&path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => name_error(read, "read", &path).map(Some),
        }
    }
}

impl WriteSegments for Directory {
    fn begin(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()> {
        self.active = None;
        self.put(&segment.file(), bytes)?;
        // Open it now: later there may be no descriptor left.
        self.active(segment).map(drop)
    }

    fn append(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()> {
        let done = self.active(segment)?.write_all(bytes);
        done.or_else(|error| name_error(Err(error), "write", &self.file_path(segment)))
    }

    fn truncate(&mut self, segment: SegmentId, size: u64) -> io::Result<()> {
        let done = self.active(segment)?.set_len(size);
        name_error(done, "cut", &self.file_path(segment))
    }

    fn set_aside(&mut self, segment: SegmentId, position: u64) -> io::Result<()> {
        let mut bytes = vec![0; (self.size(segment)?.saturating_sub(position)) as usize];
        let length = self.read_at(segment, position, &mut bytes)?;
        self.put(&format!("{segment}.{position}.cut"), &bytes[..length])
    }

    fn sync(&mut self, segment: SegmentId) -> io::Result<()> {
        let done = self.active(segment)?.sync_data();
        done.or_else(|error| name_error(Err(error), "sync", &self.file_path(segment)))
    }

    fn overwrite(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        // If the open file was removed or replaced under this name, nobody would read what is written to it.
        let is_ours = |(noted, file): &(String, File)| noted == name && is_named(file, &path);
        if !self.noted.as_ref().is_some_and(is_ours) {
            let file = with_spare(|| OpenOptions::new().write(true).open(&path));
            let file = name_error(file, "open", &path)?;
            // A damaged file may be longer.
            name_error(file.set_len(bytes.len() as u64), "cut", &path)?;
            self.noted = Some((name.to_owned(), file));
        }
        let (_, file) = self.noted.as_ref().expect("opened above");
        name_error(file.write_all_at(bytes, 0), "write", &path)
    }

    fn verify(&mut self, segment: SegmentId) -> io::Result<()> {
        self.lock.upgrade().map_or(Ok(()), |lock| lock.check_again())?;
        let Some((open, file)) = &self.active else { return Ok(()) };
        if *open == segment && file.metadata()?.nlink() == 0 {
            let path = self.file_path(segment);
            return Err(io::Error::other(format!("{} was removed", path.display())));
        }
        Ok(())
    }
}

impl Storage for Directory {
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.check_lock()?;
        let handle = DirectoryHandle::open(&self.path)?;
        self.replace(name, |fresh| write_synced(create(fresh)?, fresh, bytes))?;
        handle.sync()?;
        drop(handle);
        spare_descriptors::refill();
        Ok(())
    }

    fn put_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.replace(name, |fresh| name_error(create(fresh)?.write_all(bytes), "write", fresh))
    }

    fn remove(&self, segment: SegmentId) -> io::Result<()> {
        self.check_lock()?;
        let handle = DirectoryHandle::open(&self.path)?;
        // The index goes first, so that it never stays without its segment. It may be missing.
        let _ = fs::remove_file(self.path.join(segment.index_file()));
        let path = self.file_path(segment);
        name_error(fs::remove_file(&path), "remove", &path)?;
        handle.sync()
    }

    fn consumers(&self) -> io::Result<Vec<Consumer>> {
        consumers::list(&self.path)
    }

    fn fresh_identity(&self) -> io::Result<JournalIdentity> {
        let path = Path::new("/dev/urandom");
        let mut bytes = [0; 16];
        let opened = with_spare(|| File::open(path));
        let read = opened.and_then(|mut file| file.read_exact(&mut bytes));
        name_error(read, "read", path)?;
        Ok(JournalIdentity(bytes))
    }

    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_millis() as u64
    }

    fn clone_reader(&self) -> Box<dyn ReadSegments + Send> {
        Box::new(Self::new(&self.path))
    }

    fn clone_storage(&self) -> Box<dyn Storage> {
        Box::new(Self { lock: self.lock.clone(), ..Self::new(&self.path) })
    }
}

/// Whether a path leads to this open file.
fn is_named(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(named)) = (file.metadata(), fs::metadata(path)) else { return false };
    (named.dev(), named.ino()) == (held.dev(), held.ino())
}

/// An empty file that only its owner can read.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(FILE_MODE);
    name_error(with_spare(|| options.open(path)), "create", path)
}

/// Writes and syncs a file. The error says which of the two failed: a failed sync is final.
pub(crate) fn write_synced(mut file: File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    name_error(file.write_all(bytes), "write", path)?;
    name_error(file.sync_all(), "sync", path)
}

/// An open directory, to sync the names in it. It is opened before a name changes: afterwards there may be
/// no descriptor left.
pub(crate) struct DirectoryHandle<'a> {
    directory: File,
    path: &'a Path,
}

impl<'a> DirectoryHandle<'a> {
    /// Opens the directory. When this fails nothing has changed yet, so that it can be retried.
    pub fn open(path: &'a Path) -> io::Result<Self> {
        let directory = name_error(with_spare(|| File::open(path)), "open", path)?;
        Ok(Self { directory, path })
    }

    /// Returns when the names survive a power cut. A failure never has the kind of a full disk, which would
    /// be retried: a second sync can succeed although the first one lost data.
    pub fn sync(&self) -> io::Result<()> {
        name_error(self.directory.sync_all().map_err(io::Error::other), "sync", self.path)
    }
}

/// Syncs the names in a directory.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    DirectoryHandle::open(path)?.sync()
}

fn read_whole(file: &File, mut position: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match file.read_at(&mut into[filled..], position) {
            Ok(0) => break,
            Ok(count) => {
                filled += count;
                position += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Whether an error passes when there is space again.
pub(crate) fn is_no_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Adds the operation and the path to an error, and keeps its kind, so that callers can tell a full disk
/// from a broken one. Too many open files, or no memory for another, become `QuotaExceeded`: both pass.
pub(crate) fn name_error<T>(result: io::Result<T>, verb: &str, path: &Path) -> io::Result<T> {
    result.map_err(|error| {
        let no_memory = Errno::from_io_error(&error) == Some(Errno::NOMEM);
        let passes = no_memory || spare_descriptors::is_out_of_descriptors(&error);
        let kind = if passes { io::ErrorKind::QuotaExceeded } else { error.kind() };
        io::Error::new(kind, format!("cannot {verb} {}: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overwritten_file_is_read_even_if_another_took_its_name_and_a_removed_one_is_an_error() {
        let path = std::env::temp_dir().join(format!("slipring-noted-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let mut directory = Directory::new(&path);
        directory.put("durable", b"one").unwrap();
        directory.overwrite("durable", b"two").unwrap();
        // A backup made of hard links keeps the old file alive.
        fs::hard_link(path.join("durable"), path.join("backup")).unwrap();
        directory.put("durable", b"333").unwrap();
        directory.overwrite("durable", b"444").unwrap();
        assert_eq!(directory.get("durable").unwrap().unwrap(), b"444");
        fs::remove_file(path.join("durable")).unwrap();
        assert!(directory.overwrite("durable", b"555").is_err());
        fs::remove_dir_all(&path).unwrap();
    }
}
