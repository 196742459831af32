//! Where segments live: the trait the journal writes and reads through, and the real directory.
//! Knows nothing of what the bytes mean.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::format::OFFSET_MAX;

/// Reading segments, each named by its base offset.
pub trait ReadSegments {
    /// Base offsets of all segments, ascending.
    fn segments(&self) -> io::Result<Vec<u64>>;
    /// Bytes in a segment.
    fn size(&self, segment: u64) -> io::Result<u64>;
    /// Fills `into` from `position`, and says how much of it there was.
    fn read_at(&self, segment: u64, position: u64, into: &mut [u8]) -> io::Result<usize>;
}

/// Writing segments. Only the newest one grows.
pub trait WriteSegments: ReadSegments {
    /// Makes an empty segment whose name survives a power cut.
    fn create(&mut self, segment: u64) -> io::Result<()>;
    /// Adds bytes at the end of a segment.
    fn append(&mut self, segment: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a segment to `size` bytes.
    fn truncate(&mut self, segment: u64, size: u64) -> io::Result<()>;
    /// Keeps a copy of a segment from `position` on, outside the journal, for a person to look at.
    fn set_aside(&mut self, segment: u64, position: u64) -> io::Result<()>;
    /// Returns when everything appended to the segment survives a power cut.
    fn sync(&mut self, segment: u64) -> io::Result<()>;
}

/// Segments as files in a directory. Its errors name the operation and the file.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    active: Option<(u64, File)>,
}

impl Directory {
    /// Takes the directory as it is; makes nothing.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), active: None }
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file_path(&self, segment: u64) -> PathBuf {
        self.path.join(format!("{segment:020}.seg"))
    }

    fn active(&mut self, segment: u64) -> io::Result<&mut File> {
        if self.active.as_ref().is_none_or(|(open, _)| *open != segment) {
            let path = self.file_path(segment);
            let file = OpenOptions::new().append(true).open(&path);
            self.active = Some((segment, name_error(file, "open", &path)?));
        }
        Ok(&mut self.active.as_mut().expect("opened above").1)
    }
}

impl ReadSegments for Directory {
    fn segments(&self) -> io::Result<Vec<u64>> {
        let entries = name_error(fs::read_dir(&self.path), "list", &self.path)?;
        let mut segments = Vec::new();
        for entry in entries {
            segments.extend(base_offset(&name_error(entry, "list", &self.path)?.path()));
        }
        segments.sort_unstable();
        Ok(segments)
    }

    fn size(&self, segment: u64) -> io::Result<u64> {
        let path = self.file_path(segment);
        Ok(name_error(fs::metadata(&path), "measure", &path)?.len())
    }

    fn read_at(&self, segment: u64, position: u64, into: &mut [u8]) -> io::Result<usize> {
        let path = self.file_path(segment);
        let file = name_error(File::open(&path), "open", &path)?;
        name_error(read_whole(&file, position, into), "read", &path)
    }
}

impl WriteSegments for Directory {
    fn create(&mut self, segment: u64) -> io::Result<()> {
        let path = self.file_path(segment);
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        self.active = Some((segment, name_error(file, "create", &path)?));
        sync_directory(&self.path)
    }

    fn append(&mut self, segment: u64, bytes: &[u8]) -> io::Result<()> {
        let path = self.file_path(segment);
        name_error(self.active(segment)?.write_all(bytes), "write", &path)
    }

    fn truncate(&mut self, segment: u64, size: u64) -> io::Result<()> {
        let path = self.file_path(segment);
        name_error(self.active(segment)?.set_len(size), "cut", &path)
    }

    fn set_aside(&mut self, segment: u64, position: u64) -> io::Result<()> {
        let mut bytes = vec![0; (self.size(segment)?.saturating_sub(position)) as usize];
        let length = self.read_at(segment, position, &mut bytes)?;
        let path = self.path.join(format!("{segment:020}.{position}.cut"));
        name_error(fs::write(&path, &bytes[..length]), "write", &path)
    }

    fn sync(&mut self, segment: u64) -> io::Result<()> {
        let path = self.file_path(segment);
        name_error(self.active(segment)?.sync_data(), "sync", &path)
    }
}

/// Syncs a directory, so that the names in it survive a power cut.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    name_error(File::open(path).and_then(|directory| directory.sync_all()), "sync", path)
}

fn base_offset(path: &Path) -> Option<u64> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".seg")?;
    let digits = stem.len() == 20 && stem.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| stem.parse().ok())?.filter(|offset| *offset <= OFFSET_MAX)
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

/// Keeps the kind, so that a full disk can still be told from a broken one.
pub(crate) fn name_error<T>(result: io::Result<T>, verb: &str, path: &Path) -> io::Result<T> {
    result.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot {verb} {}: {error}", path.display()))
    })
}
