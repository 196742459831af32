//! Segments as files in a directory. Its errors name the operation and the file.
//! Knows nothing of what the bytes mean.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::consumers::{self, Consumer};
use crate::format::Identity;
use crate::segment::SegmentId;
use crate::storage::{ReadSegments, Storage, WriteSegments};

/// One journal's directory.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    active: Option<(SegmentId, File)>,
}

impl Directory {
    /// Takes the directory as it is; makes nothing.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), active: None }
    }

    fn file_path(&self, segment: SegmentId) -> PathBuf {
        self.path.join(segment.file())
    }

    /// A new file takes the place of the one with this name, whole.
    fn replace(&self, name: &str, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let (path, fresh) = (self.path.join(name), self.path.join(format!("{name}.new")));
        if let Err(error) = write(&fresh) {
            // It may be half written, on a disk that is full.
            let _ = fs::remove_file(&fresh);
            return name_error(Err(error), "write", &fresh);
        }
        name_error(fs::rename(&fresh, &path), "replace", &path)
    }

    fn active(&mut self, segment: SegmentId) -> io::Result<&mut File> {
        if self.active.as_ref().is_none_or(|(open, _)| *open != segment) {
            let path = self.file_path(segment);
            let file = OpenOptions::new().append(true).open(&path);
            self.active = Some((segment, name_error(file, "open", &path)?));
        }
        Ok(&mut self.active.as_mut().expect("opened above").1)
    }
}

impl ReadSegments for Directory {
    fn segments(&self) -> io::Result<Vec<SegmentId>> {
        let entries = name_error(fs::read_dir(&self.path), "list", &self.path)?;
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
        let file = name_error(File::open(&path), "open", &path)?;
        name_error(read_whole(&file, position, into), "read", &path)
    }

    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let path = self.path.join(name);
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => name_error(read, "read", &path).map(Some),
        }
    }
}

impl WriteSegments for Directory {
    fn begin(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()> {
        self.active = None;
        self.put(&segment.file(), bytes)?;
        // At once: later there may be no descriptor left for it.
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
}

impl Storage for Directory {
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.replace(name, |fresh| write_synced(fresh, bytes))?;
        sync_directory(&self.path)
    }

    fn leave(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.replace(name, |fresh| fs::write(fresh, bytes))
    }

    fn remove(&self, segment: SegmentId) -> io::Result<()> {
        // First, so that it does not stay alone; whether it was there does not matter.
        let _ = fs::remove_file(self.path.join(segment.index_file()));
        let path = self.file_path(segment);
        name_error(fs::remove_file(&path), "remove", &path)?;
        sync_directory(&self.path)
    }

    fn consumers(&self) -> io::Result<Vec<Consumer>> {
        consumers::list(&self.path)
    }

    fn fresh_identity(&self) -> io::Result<Identity> {
        let path = Path::new("/dev/urandom");
        let mut bytes = [0; 16];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
        name_error(read, "read", path)?;
        Ok(Identity(bytes))
    }

    fn clone_reader(&self) -> Box<dyn ReadSegments + Send> {
        Box::new(Self::new(&self.path))
    }

    fn clone_storage(&self) -> Box<dyn Storage> {
        Box::new(Self::new(&self.path))
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Syncs a directory, so that the names in it survive a power cut. A failure is never told as a
/// full disk: that would be tried again, and then be called a success.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let synced = File::open(path).and_then(|directory| directory.sync_all());
    name_error(synced.map_err(io::Error::other), "sync", path)
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

/// Keeps the kind, so that a full disk can still be told from a broken one. Too many open files are a
/// quota that is used up: it passes, too.
pub(crate) fn name_error<T>(result: io::Result<T>, verb: &str, path: &Path) -> io::Result<T> {
    result.map_err(|error| {
        let files = matches!(Errno::from_io_error(&error), Some(Errno::MFILE | Errno::NFILE));
        let kind = if files { io::ErrorKind::QuotaExceeded } else { error.kind() };
        io::Error::new(kind, format!("cannot {verb} {}: {error}", path.display()))
    })
}
