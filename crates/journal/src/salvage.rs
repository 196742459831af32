//! Copies the whole batches of a damaged journal into a new one, with the same identity and the same
//! offsets. Never writes to the old one.

mod copy;
mod zero_filled;

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::directory::{Directory, name_error};
use crate::error::{Damage, OpenError, SalvageError};
use crate::folder_lock::{FolderLock, make_folder};
use crate::headers;
use crate::report::ByteProgress;
use crate::segment::SegmentId;
use crate::storage::ReadSegments;
use crate::watermarks;
use copy::SalvageCopy;
use zero_filled::ZeroFilled;

/// What was copied, and what could not be copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Messages that were copied.
    pub messages: u64,
    /// Whole batches, those without messages included.
    pub batches: u64,
    /// Bytes of the new segments.
    pub bytes: u64,
    /// Segments of the new journal.
    pub segments: usize,
    /// Damage in order, up to `DAMAGE_MAX` entries.
    pub damage: Vec<Damage>,
    /// Damage beyond those entries.
    pub more_damage: u64,
    /// Segments of another journal or version, which were not read.
    pub foreign: Vec<SegmentId>,
    /// Whether the state of the sessions was copied.
    pub has_state: bool,
    /// Consumers whose positions were copied.
    pub consumers: usize,
}

/// Copies every whole batch of the journal in `from` into `to`, which must be empty or not exist. Returns
/// `None` if `progress` ended the salvage; `to` is then incomplete.
pub fn salvage(
    from: &Path,
    to: &Path,
    progress: ByteProgress<'_>,
) -> Result<Option<Salvaged>, SalvageError> {
    if !from.is_dir() {
        return Err(SalvageError::NoJournal(from.to_owned()));
    }
    let _locks = lock_source(from)?;
    copy_all(&ZeroFilled(&Directory::new(from)), from, to, progress)
}

/// The same for any source; `from` is its folder.
fn copy_all(
    source: &dyn ReadSegments,
    from: &Path,
    to: &Path,
    progress: ByteProgress<'_>,
) -> Result<Option<Salvaged>, SalvageError> {
    let segments = source.segments()?;
    let found = segments.iter().map(|segment| headers::trusted(source, *segment));
    let found = found.collect::<io::Result<Vec<_>>>()?;
    // The identity comes from the newest whole header, or else from a file beside the segments.
    let newest = found.iter().rev().flatten().next().map(|header| header.identity);
    let known = newest.map_or_else(|| watermarks::owner(source), |newest| Ok(Some(newest)))?;
    let identity = known.filter(|_| !segments.is_empty());
    let identity = identity.ok_or_else(|| SalvageError::NoJournal(from.to_owned()))?;
    if to.exists() && fs::read_dir(to)?.next().is_some() {
        return Err(SalvageError::NotEmpty(to.to_owned()));
    }
    make_folder(to)?;
    let lock = Arc::new(FolderLock::take(to)?);
    let mut copy = SalvageCopy::new(source, Directory::locked(to, &lock), identity, progress);
    for segment in &segments {
        copy.total += source.size(*segment)?;
    }
    for (segment, header) in segments.into_iter().zip(found) {
        if copy.segment(segment, header)?.is_break() {
            return Ok(None);
        }
    }
    copy.finish(from, to).map(Some)
}

/// Locks a folder without writing to it, so that no broker writes there in the meantime.
fn lock_source(dir: &Path) -> Result<Vec<File>, SalvageError> {
    let mut locks = Vec::new();
    for path in [dir.to_owned(), dir.join("lock")].iter().filter(|path| path.exists()) {
        let file = name_error(File::open(path), "open", path)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            return Err(OpenError::Locked(dir.to_owned()).into());
        }
        locks.push(file);
    }
    Ok(locks)
}

impl Salvaged {
    /// How many offsets could not be copied.
    pub fn lost(&self) -> u64 {
        let lost = |damage: &Damage| damage.offsets.end.saturating_sub(damage.offsets.start);
        self.damage.iter().map(lost).sum()
    }

    /// Whether everything was copied.
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty() && self.foreign.is_empty()
    }
}
