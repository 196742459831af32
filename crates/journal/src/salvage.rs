//! Copies what is whole in a damaged journal into a new one: the same identity, the same offsets. Never
//! writes where it reads.

mod copy;
mod unreadable;

use std::fs::{self, File};
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::bounds;
use crate::directory::{Directory, name_error};
use crate::error::{Damage, OpenError, SalvageError};
use crate::hold::{Hold, make_folder};
use crate::indexes;
use crate::segment::SegmentId;
use crate::storage::ReadSegments;
use copy::Copy;
use unreadable::Readable;

/// What was copied, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Messages that were copied.
    pub messages: u64,
    /// Whole batches, those without messages included.
    pub batches: u64,
    /// Bytes of the new segments.
    pub bytes: u64,
    /// Segments that were made.
    pub segments: usize,
    /// Places that could not be read, in order, up to `DAMAGE_MAX`.
    pub damage: Vec<Damage>,
    /// Damaged places that are not named.
    pub more_damage: u64,
    /// Segments of another journal or version, which were not looked at.
    pub foreign: Vec<SegmentId>,
    /// Whether the state of sessions came along.
    pub has_state: bool,
    /// Consumers whose positions were copied.
    pub consumers: usize,
}

/// Told of bytes read and of all there are; a break ends the salvage.
pub type SalvageProgress<'a> = &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// Copies every whole batch of the journal in `from` into `to`, which must be empty or not there. None
/// when `progress` broke it off; `to` is then not a whole journal.
pub fn salvage(
    from: &Path,
    to: &Path,
    progress: SalvageProgress<'_>,
) -> Result<Option<Salvaged>, SalvageError> {
    if !from.is_dir() {
        return Err(SalvageError::NoJournal(from.to_owned()));
    }
    let _unused = refuse_held(from)?;
    copy_all(&Readable(&Directory::new(from)), from, to, progress)
}

/// The same of a source that stands for the folder `from`.
fn copy_all(
    source: &dyn ReadSegments,
    from: &Path,
    to: &Path,
    progress: SalvageProgress<'_>,
) -> Result<Option<Salvaged>, SalvageError> {
    let segments = source.segments()?;
    let owners = segments.iter().map(|segment| indexes::owner(source, *segment));
    let owners = owners.collect::<io::Result<Vec<_>>>()?;
    // The newest header that is whole says whose journal it is, or else a file beside the segments.
    let newest = owners.iter().rev().flatten().next().map(|of| of.identity);
    let known = newest.map_or_else(|| bounds::owner(source), |newest| Ok(Some(newest)))?;
    let identity = known.filter(|_| !segments.is_empty());
    let identity = identity.ok_or_else(|| SalvageError::NoJournal(from.to_owned()))?;
    if to.exists() && fs::read_dir(to)?.next().is_some() {
        return Err(SalvageError::NotEmpty(to.to_owned()));
    }
    make_folder(to)?;
    let hold = std::sync::Arc::new(Hold::take(to)?);
    let mut copy = Copy::new(source, Directory::held(to, &hold), identity, progress);
    for segment in &segments {
        copy.total += source.size(*segment)?;
    }
    for (segment, owner) in segments.into_iter().zip(owners) {
        if copy.segment(segment, owner)?.is_break() {
            return Ok(None);
        }
    }
    copy.finish(from, to).map(Some)
}

/// Holds a folder that nobody else may write meanwhile, without writing to it.
fn refuse_held(dir: &Path) -> Result<Vec<File>, SalvageError> {
    let mut held = Vec::new();
    for path in [dir.to_owned(), dir.join("lock")].iter().filter(|path| path.exists()) {
        let file = name_error(File::open(path), "open", path)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            return Err(OpenError::Locked(dir.to_owned()).into());
        }
        held.push(file);
    }
    Ok(held)
}

impl Salvaged {
    /// How many messages were lost, as far as their offsets tell.
    pub fn lost(&self) -> u64 {
        self.damage.iter().map(|damage| length(&damage.offsets)).sum()
    }

    /// Whether everything was copied.
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty() && self.foreign.is_empty()
    }
}

fn length(offsets: &Range<u64>) -> u64 {
    offsets.end.saturating_sub(offsets.start)
}
