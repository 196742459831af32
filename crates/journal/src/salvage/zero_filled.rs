//! Replaces sectors that a failing disk cannot read by zeros, which checksums then find as ordinary
//! damage. Never hides another error.

use std::io;

use rustix::io::Errno;

use crate::segment::SegmentId;
use crate::storage::ReadSegments;

/// Bytes given up for one unreadable sector: a page of memory, and a sector of most disks.
const PIECE_BYTES: u64 = 4096;

/// A source in which unreadable sectors are zeros.
#[derive(Debug)]
pub(super) struct ZeroFilled<'a>(pub &'a dyn ReadSegments);

impl ReadSegments for ZeroFilled<'_> {
    fn segments(&self) -> io::Result<Vec<SegmentId>> {
        self.0.segments()
    }

    fn size(&self, segment: SegmentId) -> io::Result<u64> {
        self.0.size(segment)
    }

    fn read_at(&self, segment: SegmentId, position: u64, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read_at(segment, position, into) {
            Err(error) if is_unreadable(&error) => self.read_pieces(segment, position, into),
            read => read,
        }
    }

    /// A file that cannot be read counts as damaged, not as absent.
    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match self.0.get(name) {
            Err(error) if is_unreadable(&error) => Ok(Some(Vec::new())),
            got => got,
        }
    }
}

impl ZeroFilled<'_> {
    fn read_pieces(&self, segment: SegmentId, position: u64, into: &mut [u8]) -> io::Result<usize> {
        let left = self.0.size(segment)?.saturating_sub(position);
        let length = into.len().min(left as usize);
        let mut start = 0;
        while start < length {
            let at = position + start as u64;
            let end = length.min(start + (PIECE_BYTES - at % PIECE_BYTES) as usize);
            let piece = &mut into[start..end];
            match self.0.read_at(segment, at, piece) {
                Err(error) if is_unreadable(&error) => piece.fill(0),
                read => drop(read?),
            }
            start = end;
        }
        Ok(length)
    }
}

/// Whether the disk or the file system failed to read. Such errors share the kind of `EIO`.
fn is_unreadable(error: &io::Error) -> bool {
    error.kind() == io::Error::from(Errno::IO).kind()
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::{Path, PathBuf};
    use std::{env, fs, process};

    use super::super::{Salvaged, copy_all};
    use super::*;
    use crate::batch::Batch;
    use crate::directory::{Directory, name_error};
    use crate::error::SalvageError;
    use crate::format::MessageFlags;
    use crate::journal::{Journal, JournalOptions};
    use crate::reader::JournalReader;

    /// A folder on a disk that does not read some bytes of every segment, and one small file.
    #[derive(Debug)]
    struct Failing {
        directory: Directory,
        bad: std::ops::Range<u64>,
        bad_file: &'static str,
    }

    fn fail<T>(path: &str) -> io::Result<T> {
        name_error(Err(Errno::IO.into()), "read", Path::new(path))
    }

    impl ReadSegments for Failing {
        fn segments(&self) -> io::Result<Vec<SegmentId>> {
            self.directory.segments()
        }

        fn size(&self, segment: SegmentId) -> io::Result<u64> {
            self.directory.size(segment)
        }

        fn read_at(&self, segment: SegmentId, at: u64, into: &mut [u8]) -> io::Result<usize> {
            let end = self.size(segment)?.min(at + into.len() as u64);
            if at < self.bad.end && end > self.bad.start {
                return fail("segment");
            }
            self.directory.read_at(segment, at, into)
        }

        fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
            if name == self.bad_file { fail(name) } else { self.directory.get(name) }
        }
    }

    /// A journal of a hundred messages of a kilobyte each, and a folder beside it.
    fn journal(name: &str) -> (PathBuf, PathBuf) {
        let path = env::temp_dir().join(format!("slipring-unreadable-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        let (journal, _) =
            Journal::open(&path.join("old"), JournalOptions::default(), |_| ()).unwrap();
        for number in 0..100_u8 {
            let mut batch = Batch::new();
            batch.begin("p", 1);
            batch.push(MessageFlags::new(1, false), "a/b", &[], &[number; 1000]);
            journal.append(&mut batch, false).unwrap();
        }
        journal.close().unwrap();
        (path.join("old"), path.join("new"))
    }

    fn salvage(
        source: &dyn ReadSegments,
        old: &Path,
        new: &Path,
    ) -> Result<Salvaged, SalvageError> {
        let copied = copy_all(&ZeroFilled(source), old, new, &mut |_, _| ControlFlow::Continue(()));
        Ok(copied?.expect("nobody broke it off"))
    }

    #[test]
    fn an_unreadable_sector_costs_the_messages_in_it() {
        let (old, new) = journal("sector");
        let directory = Directory::new(&old);
        let source = Failing { directory, bad: 8192..12_288, bad_file: "reserved" };
        let salvaged = salvage(&source, &old, &new).unwrap();
        // 4 KiB touch four or five messages of a kilobyte.
        assert!((4..=5).contains(&salvaged.lost()), "{salvaged:?}");
        assert_eq!(salvaged.messages + salvaged.lost(), 100);
        assert_eq!(salvaged.damage.len(), 1);
        let mut reader = JournalReader::open(&new).unwrap();
        assert!(reader.end_offset().is_ok() && reader.read(50..100, 1 << 20).is_ok());
        fs::remove_dir_all(old.parent().unwrap()).unwrap();
    }

    #[test]
    fn an_unreadable_end_is_zeros_as_long_as_the_file() {
        let (old, _) = journal("end");
        let directory = Directory::new(&old);
        let first = SegmentId::default();
        let (size, bad) = (directory.size(first).unwrap(), 98_304..u64::MAX);
        let mut bytes = vec![9; 200_000];
        let source = Failing { directory, bad, bad_file: "" };
        let read = ZeroFilled(&source).read_at(first, 10, &mut bytes).unwrap();
        assert_eq!(read as u64, size - 10);
        assert_eq!(bytes[..98_294], fs::read(old.join(first.file())).unwrap()[10..98_304]);
        assert!(bytes[98_294..read].iter().all(|byte| *byte == 0));
        fs::remove_dir_all(old.parent().unwrap()).unwrap();
    }

    #[test]
    fn another_error_is_passed_on() {
        let (old, _) = journal("error");
        let source = ZeroFilled(&Directory::new(&old)).read_at(
            SegmentId { offset: 9, part: 0 },
            0,
            &mut [0; 9],
        );
        assert_eq!(source.unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::remove_dir_all(old.parent().unwrap()).unwrap();
    }
}
