//! Reads a journal, also from another process while the broker writes it: where things are.
//! Never writes, locks or repairs.

mod places;
mod ranges;
mod records;
mod state;
mod stored;

use std::io;
use std::ops::Range;
use std::path::Path;

use crate::directory::Directory;
use crate::error::{Damage, ReadError};
use crate::format::{FORMAT_VERSION, Flaw, Identity, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::scan::{Check, Scan, Step, Window};
use crate::segment::{Position, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::ReadSegments;
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
    window: Window,
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

    /// `None` when the storage holds no journal (yet).
    pub fn over(source: Box<dyn ReadSegments + Send>) -> Result<Option<Self>, ReadError> {
        let mut damaged = None;
        for segment in source.segments()? {
            match head(&*source, segment)? {
                Head::Whole(identity) => return Ok(Some(Self::of(source, identity))),
                Head::Short => {}
                Head::Damaged(damage) => damaged = damaged.or(Some(damage)),
            }
        }
        damaged.map_or(Ok(None), |damage| Err(damage.into()))
    }

    /// A reader of the journal that is known to be there.
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

    /// One past the newest offset. Goes on where the last call stopped.
    pub fn end_offset(&mut self) -> Result<u64, ReadError> {
        self.refresh()?;
        let last = self.segments.last().copied().unwrap_or_default();
        if last > self.tail.segment {
            self.check_identity(last)?;
            self.tail = Position::first(last);
        }
        self.follow_tail()?;
        Ok(self.tail.offset)
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
            if !matches!(head(&*self.source, *last)?, Head::Short) {
                break;
            }
            self.segments.pop();
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
            Head::Whole(found) if found != self.identity => {
                Err(ReadError::Foreign { segment, found, expected: self.identity })
            }
            Head::Whole(_) => Ok(None),
            Head::Short => Ok(Some(Position::first(segment).head_damage(Flaw::HeaderShort))),
            Head::Damaged(damage) => Ok(Some(damage)),
        }
    }

    fn check_range(&mut self, range: &Range<u64>) -> Result<(), ReadError> {
        // Looking for the end may find that the first segments are gone: the gap is judged after it.
        let beyond = range.end > self.tail.offset && range.end > self.end_offset()?;
        let (asked, first) = (range.start, self.first_offset());
        if asked < first {
            return Err(ReadError::Gap { asked, first });
        }
        if beyond {
            return Err(ReadError::Beyond { asked: range.end, end: self.tail.offset });
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
        let end = SegmentId { offset: range.end, part: 0 };
        let resume = Position::first(self.segment_after(at.segment).unwrap_or(end));
        if resume.offset == at.offset {
            return Ok(resume);
        }
        avoid(at.damage(resume.offset, flaw.unwrap_or(Flaw::Missing)), range, resume)
    }
}

/// Goes on behind damage that the range does not touch.
fn avoid(damage: Damage, range: &Range<u64>, resume: Position) -> Result<Position, ReadError> {
    let touched = damage.offsets.start < range.end && range.start < damage.offsets.end;
    if touched { Err(damage.into()) } else { Ok(resume) }
}

/// What stands at the start of a segment.
enum Head {
    Whole(Identity),
    /// Being written, if the segment is the last.
    Short,
    Damaged(Damage),
}

fn head(source: &dyn ReadSegments, segment: SegmentId) -> Result<Head, ReadError> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    let length = source.read_at(segment, 0, &mut bytes)?;
    match SegmentHeader::decode(&bytes[..length]) {
        Ok((FORMAT_VERSION, header)) => Ok(Head::Whole(header.identity)),
        Ok((version, _)) => Err(ReadError::Version { segment, version }),
        Err(Flaw::HeaderShort) => Ok(Head::Short),
        Err(flaw) => Ok(Head::Damaged(Position::first(segment).head_damage(flaw))),
    }
}
