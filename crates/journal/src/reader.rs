//! Reads a journal by offsets, also from another process while the broker writes it.
//! Never writes, locks or repairs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::columns::{COLUMNS_BYTES_MAX, Columns, Taken};
use crate::directory::Directory;
use crate::error::{Damage, ReadError};
use crate::excerpt::TakeBatch;
use crate::format::{
    BatchHeader, FORMAT_VERSION, Flaw, Identity, SEGMENT_HEADER_BYTES, SegmentHeader,
};
use crate::scan::{Check, Scan, Step, Window};
use crate::segment::{Position, SegmentId};
use crate::storage::ReadSegments;

/// Bytes between two remembered places: a segment costs a few kilobytes of memory.
const MARK_BYTES: u64 = 64 << 10;

/// A view of one journal.
#[derive(Debug)]
pub struct Reader {
    source: Box<dyn ReadSegments + Send>,
    identity: Identity,
    segments: Vec<SegmentId>,
    /// Places passed in each segment, ascending: where to begin looking for an offset.
    marks: BTreeMap<SegmentId, Vec<Position>>,
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
        Self::over(Box::new(Directory::new(dir)))?
            .ok_or_else(|| ReadError::NoJournal(dir.to_owned()))
    }

    /// `None` when the storage holds no journal (yet).
    pub(crate) fn over(source: Box<dyn ReadSegments + Send>) -> Result<Option<Self>, ReadError> {
        let segments = source.segments()?;
        let found = first_whole(&*source, &segments)?;
        Ok(found.map(|(_, identity)| Self::of(source, identity)))
    }

    /// A reader of the journal that is known to be there.
    pub(crate) fn of(source: Box<dyn ReadSegments + Send>, identity: Identity) -> Self {
        // Where they cannot be listed, the first read meets that again and says so.
        let segments = source.segments().unwrap_or_default();
        let tail = Position::first(segments.last().copied().unwrap_or_default());
        Self { source, identity, segments, marks: BTreeMap::new(), tail, window: Window::default() }
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
        loop {
            self.follow_segment()?;
            let Some(next) = self.next_segment()? else { return Ok(self.tail.offset) };
            // The writer may have added to this segment before it made the next one.
            self.follow_segment()?;
            self.tail = Position::first(next);
        }
    }

    /// The messages of a range, or the first of them up to about `max_bytes`; at least one. The
    /// answer's `end` says where to read on.
    pub fn read(&mut self, range: Range<u64>, max_bytes: usize) -> Result<Columns, ReadError> {
        let mut columns = Columns::starting_at(range.start);
        self.gather(&range, max_bytes.min(COLUMNS_BYTES_MAX), &mut columns)?;
        Ok(columns)
    }

    /// The messages of a range, one batch after the other, until there is no more room.
    pub(crate) fn gather(
        &mut self,
        range: &Range<u64>,
        bytes_max: usize,
        into: &mut impl TakeBatch,
    ) -> Result<(), ReadError> {
        self.check_range(range)?;
        if range.is_empty() {
            return Ok(());
        }
        let mut at = self.seek(range.start);
        while at.offset < range.end {
            let (next, full) = self.read_batch(at, range, bytes_max, into)?;
            if full {
                break;
            }
            at = next;
        }
        Ok(())
    }

    fn check_range(&mut self, range: &Range<u64>) -> Result<(), ReadError> {
        let (asked, first) = (range.start, self.first_offset());
        if asked < first {
            return Err(ReadError::Gap { asked, first });
        }
        if range.end > self.tail.offset && range.end > self.end_offset()? {
            return Err(ReadError::Beyond { asked: range.end, end: self.tail.offset });
        }
        Ok(())
    }

    /// Takes what belongs to the range from the batch at a cursor, and says where the next one is
    /// and whether it is full.
    fn read_batch(
        &mut self,
        at: Position,
        range: &Range<u64>,
        bytes_max: usize,
        into: &mut impl TakeBatch,
    ) -> Result<(Position, bool), ReadError> {
        let header = match self.step(at, Check::Headers)? {
            Step::Batch(header) => header,
            Step::Damage(damage, resume) => return Ok((avoid(damage, range, resume)?, false)),
            Step::Tail(flaw) => return Ok((self.leave_segment(at, flaw, range)?, false)),
        };
        let next = at.after(&header);
        self.mark(next);
        if next.offset <= range.start || header.count == 0 {
            return Ok((next, false));
        }
        let taken = self.take_batch(at, &header, range, bytes_max, into)?;
        Ok((next, taken == Taken::Full))
    }

    fn take_batch(
        &mut self,
        at: Position,
        header: &BatchHeader,
        range: &Range<u64>,
        bytes_max: usize,
        into: &mut impl TakeBatch,
    ) -> Result<Taken, ReadError> {
        let mut scan = Scan { source: &*self.source, window: &mut self.window };
        let taken = match scan.body(at, header)? {
            Ok(body) => into.take_batch(header, header.split(body).0, range, bytes_max),
            Err(flaw) => return Err(at.damage(header.offsets().end, flaw).into()),
        };
        match taken {
            Taken::Malformed => Err(at.damage(header.offsets().end, Flaw::BodyMalformed).into()),
            taken => Ok(taken),
        }
    }

    /// The start of the next segment; offsets missing before it are damage.
    fn leave_segment(
        &self,
        at: Position,
        flaw: Option<Flaw>,
        range: &Range<u64>,
    ) -> Result<Position, ReadError> {
        let after = self.segments.partition_point(|segment| *segment <= at.segment);
        let end = SegmentId { offset: range.end, part: 0 };
        let resume = Position::first(self.segments.get(after).copied().unwrap_or(end));
        if resume.offset == at.offset {
            return Ok(resume);
        }
        avoid(at.damage(resume.offset, flaw.unwrap_or(Flaw::Missing)), range, resume)
    }

    /// Walks to the end of the tail's segment, over damage too: `read` is who names it.
    fn follow_segment(&mut self) -> Result<(), ReadError> {
        self.window.clear();
        loop {
            self.tail = match self.step(self.tail, Check::Bodies)? {
                Step::Batch(header) => self.tail.after(&header),
                Step::Damage(_, resume) => resume,
                Step::Tail(_) => return Ok(()),
            };
            self.mark(self.tail);
        }
    }

    /// The segment after the tail's, once its header is whole.
    fn next_segment(&mut self) -> Result<Option<SegmentId>, ReadError> {
        self.segments = self.source.segments()?;
        let after = self.segments.partition_point(|segment| *segment <= self.tail.segment);
        match first_whole(&*self.source, &self.segments[after..])? {
            None => Ok(None),
            Some((segment, identity)) if identity == self.identity => Ok(Some(segment)),
            Some((segment, found)) => {
                Err(ReadError::Foreign { segment, found, expected: self.identity })
            }
        }
    }

    fn step(&mut self, at: Position, check: Check) -> Result<Step, ReadError> {
        Ok(Scan { source: &*self.source, window: &mut self.window }.step(at, check)?)
    }

    /// The nearest known place at or before an offset.
    fn seek(&self, offset: u64) -> Position {
        let after = self.segments.partition_point(|segment| segment.offset <= offset);
        let segment = self.segments[after.saturating_sub(1)];
        let marks = self.marks.get(&segment).map_or(&[][..], Vec::as_slice);
        let passed = marks.partition_point(|mark| mark.offset <= offset);
        passed.checked_sub(1).map_or(Position::first(segment), |index| marks[index])
    }

    fn mark(&mut self, at: Position) {
        let marks = self.marks.entry(at.segment).or_default();
        let last = marks.last().map_or(0, |mark| mark.position);
        if at.position >= last + MARK_BYTES {
            marks.push(at);
        }
    }
}

/// Goes on behind damage that the range does not touch.
fn avoid(damage: Damage, range: &Range<u64>, resume: Position) -> Result<Position, ReadError> {
    let touched = damage.offsets.start < range.end && range.start < damage.offsets.end;
    if touched { Err(damage.into()) } else { Ok(resume) }
}

/// The first segment whose header is whole. Only the last is ever being written: a short header
/// before it is damage, which hides nothing behind it.
fn first_whole(
    source: &dyn ReadSegments,
    segments: &[SegmentId],
) -> Result<Option<(SegmentId, Identity)>, ReadError> {
    for &segment in segments {
        if let Some(identity) = segment_identity(source, segment)? {
            return Ok(Some((segment, identity)));
        }
    }
    Ok(None)
}

/// The identity in a segment's header, or `None` while the header is being written.
fn segment_identity(
    source: &dyn ReadSegments,
    segment: SegmentId,
) -> Result<Option<Identity>, ReadError> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    let length = source.read_at(segment, 0, &mut bytes)?;
    match SegmentHeader::decode(&bytes[..length]) {
        Ok((FORMAT_VERSION, header)) => Ok(Some(header.identity)),
        Ok((version, _)) => Err(ReadError::Version { segment, version }),
        Err(Flaw::HeaderShort) => Ok(None),
        Err(flaw) => {
            let offsets = segment.offset..segment.offset;
            Err(Damage { segment, position: 0, offsets, flaw }.into())
        }
    }
}
