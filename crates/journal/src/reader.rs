//! Reads a journal, also from another process while the broker writes it: where things are.
//! Never writes, locks or repairs.

mod head;
mod places;
mod ranges;
mod records;
mod state;
mod stored;

use std::io;
use std::ops::Range;
use std::path::Path;

use crate::bounds;
use crate::directory::Directory;
use crate::error::{Damage, ReadError};
use crate::format::{Flaw, Identity, SegmentHeader};
use crate::indexes;
use crate::scan::{Check, Scan, Step, Window};
use crate::segment::{Position, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::ReadSegments;
use head::{Head, head, newest_epoch};
use places::Places;

pub(crate) use ranges::COLUMNS_BYTES_MAX;
pub use state::{Followed, StateBatch};

/// How often a folder is listed again because retention removes segments meanwhile.
const OPEN_TRIES: usize = 16;
/// A view of one journal.
#[derive(Debug)]
pub struct Reader {
    source: Box<dyn ReadSegments + Send>,
    identity: Identity,
    /// Those whose header is there, ascending.
    segments: Vec<SegmentId>,
    places: Places,
    /// Behind the newest whole batch seen.
    tail: Position,
    extent: Extent,
    /// One past the newest offset that is given, as of the last look.
    end: u64,
    /// The newest that is known, as of the last look.
    epoch: u64,
    /// Whether there may be a later one, which the damaged header of the last segment hides.
    epoch_hidden: bool,
    window: Window,
}

/// How far a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// What survives a power cut: for whoever notes how far it has come.
    Durable,
    /// All that is written: for the broker itself.
    Written,
}

impl Reader {
    /// Opens the journal in a directory.
    pub fn open(dir: &Path) -> Result<Self, ReadError> {
        if !dir.is_dir() {
            return Err(ReadError::NoJournal(dir.to_owned()));
        }
        for _ in 1..OPEN_TRIES {
            match Self::over(Box::new(Directory::new(dir))) {
                // A segment was removed after the folder was listed.
                Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
                opened => return opened?.ok_or_else(|| ReadError::NoJournal(dir.to_owned())),
            }
        }
        let opened = Self::over(Box::new(Directory::new(dir)))?;
        opened.ok_or_else(|| ReadError::NoJournal(dir.to_owned()))
    }

    /// `None` when the storage holds no journal (yet). Reads what is durable.
    pub fn over(source: Box<dyn ReadSegments + Send>) -> Result<Option<Self>, ReadError> {
        let mut damaged = None;
        for segment in source.segments()? {
            match head(&*source, segment)? {
                Head::Whole(header) => {
                    let mut reader = Self::of(source, header.identity).durable();
                    reader.refresh()?;
                    return Ok(Some(reader));
                }
                Head::Short => {}
                Head::Damaged(damage) => damaged = damaged.or(Some(damage)),
            }
        }
        damaged.map_or(Ok(None), |damage| Err(damage.into()))
    }

    /// Reads only what survives a power cut, so that no offset it has told is ever told for another
    /// message. A journal of an older Slipring does not say how far that is; then all is read.
    #[must_use]
    pub fn durable(self) -> Self {
        Self { extent: Extent::Durable, ..self }
    }

    /// For tests that look at what was written.
    #[cfg(test)]
    pub(crate) fn written(self) -> Self {
        Self { extent: Extent::Written, ..self }
    }

    /// A reader of the journal that is known to be there. Reads all that is written.
    pub(crate) fn of(source: Box<dyn ReadSegments + Send>, identity: Identity) -> Self {
        // Where they cannot be listed, the first read meets that again and says so.
        let segments = source.segments().unwrap_or_default();
        let tail = Position::first(segments.last().copied().unwrap_or_default());
        Self {
            source,
            identity,
            segments,
            places: Places::default(),
            tail,
            extent: Extent::Written,
            end: 0,
            epoch: 0,
            epoch_hidden: false,
            window: Window::default(),
        }
    }

    /// Which journal this is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The oldest offset.
    pub fn first_offset(&self) -> u64 {
        self.segments.first().copied().unwrap_or_default().offset
    }

    /// Which opening for writing is the newest, as of the last call of `end_offset`. It goes with an
    /// offset that is noted: see `check_position`.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// One past the newest offset. Goes on where the last call stopped.
    pub fn end_offset(&mut self) -> Result<u64, ReadError> {
        // Before the files are looked at, so that it is never further than they are.
        let durable = match self.extent {
            Extent::Durable => bounds::durable_for_readers(&*self.source, self.identity)?,
            Extent::Written => None,
        };
        self.refresh()?;
        let last = self.segments.last().copied().unwrap_or_default();
        if last > self.tail.segment {
            self.check_identity(last)?;
            self.tail = Position::first(last);
        }
        self.follow_tail()?;
        self.end = durable.map_or(self.tail.offset, |durable| durable.offset.min(self.tail.offset));
        Ok(self.end)
    }

    /// One past the newest message that is written, safe on the disk or not yet, as of the last call
    /// of `end_offset`.
    pub fn written_offset(&self) -> u64 {
        self.tail.offset
    }

    /// Whether a reader that has read up to an offset, in an epoch that it noted with it, can go on
    /// there: retention has not removed it, the journal goes so far, and no later opening gave the
    /// offsets before it to other messages.
    pub fn check_position(&mut self, offset: u64, epoch: Option<u64>) -> Result<(), ReadError> {
        self.end_offset()?;
        self.check_range(&(offset..offset))?;
        // 0 was noted where the newest header could not be read.
        let Some(epoch) = epoch.filter(|epoch| *epoch > 0) else { return Ok(()) };
        let after = self.segments.partition_point(|segment| segment.offset < offset);
        let last_read = after.checked_sub(1).map(|index| self.segments[index]);
        let written_in = match last_read.map(|segment| head(&*self.source, segment)).transpose()? {
            Some(Head::Whole(header)) => header.epoch,
            _ => 0,
        };
        let is_older_copy = epoch > self.epoch && !self.epoch_hidden;
        if is_older_copy || written_in > epoch {
            return Err(ReadError::OtherHistory { offset, epoch, newest: self.epoch, written_in });
        }
        Ok(())
    }

    /// The newest snapshot of state and where to follow the journal from, if there is one.
    pub fn snapshot(&self) -> Result<Option<(Position, Vec<u8>)>, ReadError> {
        let Some(bytes) = self.source.get(SNAPSHOT)? else { return Ok(None) };
        let flawed = |flaw| ReadError::Snapshot { flaw };
        snapshot::decode(bytes, self.identity).map(Some).map_err(flawed)
    }

    /// Lists the segments again, without those at the end that are being born.
    fn refresh(&mut self) -> Result<(), ReadError> {
        self.window.clear();
        self.segments = self.source.segments()?;
        while let Some(last) = self.segments.last() {
            match head(&*self.source, *last)? {
                Head::Short => drop(self.segments.pop()),
                Head::Damaged(_) => {
                    let newest = newest_epoch(&*self.source, &self.segments)?;
                    (self.epoch, self.epoch_hidden) = (newest, true);
                    break;
                }
                Head::Whole(header) => {
                    (self.epoch, self.epoch_hidden) = (header.epoch, false);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Walks to the end of the tail's segment, over damage too: `read` is who names it.
    fn follow_tail(&mut self) -> Result<(), ReadError> {
        loop {
            let at = self.tail;
            self.tail = match self.step(at, Check::Bodies)? {
                Step::Batch(header) => {
                    self.places.pass(at, &header);
                    at.after(&header)
                }
                Step::Damage(_, resume) => {
                    self.places.skip(at, resume);
                    resume
                }
                Step::Tail(_) => return Ok(()),
            };
        }
    }

    /// A segment with a damaged header is ours until it says otherwise.
    fn check_identity(&self, segment: SegmentId) -> Result<Option<Damage>, ReadError> {
        match head(&*self.source, segment)? {
            Head::Whole(SegmentHeader { identity: found, .. }) if found != self.identity => {
                Err(ReadError::Foreign { segment, found, expected: self.identity })
            }
            Head::Whole(_) => Ok(None),
            Head::Short => Ok(Some(Position::first(segment).head_damage(Flaw::HeaderShort))),
            Head::Damaged(damage) => Ok(Some(damage)),
        }
    }

    fn check_range(&mut self, range: &Range<u64>) -> Result<(), ReadError> {
        // Looking for the end may find that the first segments are gone: the gap is judged after it.
        let beyond = range.end > self.end && range.end > self.end_offset()?;
        let (asked, first) = (range.start, self.first_offset());
        if asked < first {
            return Err(ReadError::Gap { asked, first });
        }
        if beyond {
            let (asked, end, written) = (range.end, self.end, self.tail.offset);
            return Err(ReadError::Beyond { asked, end, written });
        }
        Ok(())
    }

    fn step(&mut self, at: Position, check: Check) -> Result<Step, ReadError> {
        Ok(self.scan().step(at, check)?)
    }

    fn scan(&mut self) -> Scan<'_, dyn ReadSegments + Send> {
        Scan { source: &*self.source, window: &mut self.window }
    }

    fn segment_after(&self, segment: SegmentId) -> Option<SegmentId> {
        let after = self.segments.partition_point(|known| *known <= segment);
        self.segments.get(after).copied()
    }

    /// Tells a segment that retention has removed from one that cannot be read.
    fn gap(&mut self, asked: u64, error: ReadError) -> ReadError {
        if !error.is_removed() {
            return error;
        }
        match self.refresh() {
            Ok(()) if asked < self.first_offset() => {
                ReadError::Gap { asked, first: self.first_offset() }
            }
            Ok(()) => error,
            Err(error) => error,
        }
    }

    /// The start of the next segment; offsets of the range that are missing before it are damage.
    fn leave_segment(
        &self,
        at: Position,
        flaw: Option<Flaw>,
        range: &Range<u64>,
    ) -> Result<Position, ReadError> {
        let Some(next) = self.segment_after(at.segment) else {
            let end = Position::first(SegmentId { offset: range.end, part: 0 });
            return avoid(at.damage(range.end, flaw.unwrap_or(Flaw::Missing)), range, end);
        };
        let resume = Position::first(next);
        match self.missing_before(at, next, flaw)? {
            Some(damage) if damage.offsets.is_empty() => Ok(resume),
            Some(damage) => avoid(damage, range, resume),
            None => Ok(resume),
        }
    }

    /// What is missing between the end of one segment and the next; offsets that the next one says
    /// were left out are not.
    fn missing_before(
        &self,
        end: Position,
        next: SegmentId,
        flaw: Option<Flaw>,
    ) -> Result<Option<Damage>, ReadError> {
        let whole = flaw.is_none() && end.offset == next.offset && end.segment.is_before(next);
        if whole {
            return Ok(None);
        }
        let skipped = indexes::skipped(&*self.source, next)?;
        Ok(missing_before(end, next, skipped, flaw))
    }
}

/// What is missing between the end of one segment and the next, which says how many offsets before it
/// were left out.
pub(crate) fn missing_before(
    end: Position,
    next: SegmentId,
    skipped: u64,
    flaw: Option<Flaw>,
) -> Option<Damage> {
    let expected = next.offset - skipped;
    let follows = skipped > 0 || end.segment.is_before(next);
    let whole = flaw.is_none() && end.offset == expected && follows;
    (!whole).then(|| end.damage(expected.max(end.offset), flaw.unwrap_or(Flaw::Missing)))
}

/// Goes on behind damage that the range does not touch.
fn avoid(damage: Damage, range: &Range<u64>, resume: Position) -> Result<Position, ReadError> {
    let touched = damage.offsets.start < range.end && range.start < damage.offsets.end;
    if touched { Err(damage.into()) } else { Ok(resume) }
}
