//! Reads a journal by offsets, also from another process while the broker writes it.
//! Never writes, locks or repairs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::columns::{Columns, Taken};
use crate::error::{Damage, ReadError};
use crate::format::{
    BatchHeader, FORMAT_VERSION, Flaw, Identity, SEGMENT_HEADER_BYTES, SegmentHeader,
};
use crate::scan::{Check, Cursor, Scan, Step, Window};
use crate::storage::{Directory, ReadSegments};

/// Bytes between two remembered places: a segment costs a few kilobytes of memory.
const MARK_BYTES: u64 = 64 << 10;
/// Columns never hold more, so that their `i32` ends cannot overflow.
const COLUMNS_BYTES_MAX: usize = 1 << 30;

/// A view of one journal.
#[derive(Debug)]
pub struct Reader<S = Directory> {
    source: S,
    identity: Identity,
    segments: Vec<u64>,
    /// Places passed in each segment, ascending: where to begin looking for an offset.
    marks: BTreeMap<u64, Vec<Cursor>>,
    /// Behind the newest whole batch seen.
    tail: Cursor,
    window: Window,
}

impl Reader<Directory> {
    /// Opens the journal in a directory.
    pub fn open(dir: &Path) -> Result<Self, ReadError> {
        if !dir.is_dir() {
            return Err(ReadError::NoJournal(dir.to_owned()));
        }
        Self::over(Directory::new(dir))?.ok_or_else(|| ReadError::NoJournal(dir.to_owned()))
    }
}

impl<S: ReadSegments> Reader<S> {
    /// `None` when the storage holds no journal (yet).
    pub(crate) fn over(source: S) -> Result<Option<Self>, ReadError> {
        let segments = source.segments()?;
        let Some(&last) = segments.last() else { return Ok(None) };
        let Some((_, identity)) = first_whole(&source, &segments)? else { return Ok(None) };
        let (marks, window) = (BTreeMap::new(), Window::default());
        let tail = Cursor::first(last);
        Ok(Some(Self { source, identity, segments, marks, tail, window }))
    }

    /// Which journal this is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The oldest offset.
    pub fn first_offset(&self) -> u64 {
        self.segments.first().copied().unwrap_or_default()
    }

    /// One past the newest offset. Goes on where the last call stopped.
    pub fn end_offset(&mut self) -> Result<u64, ReadError> {
        loop {
            self.follow_segment()?;
            let Some(next) = self.next_segment()? else { return Ok(self.tail.offset) };
            // The writer may have added to this segment before it made the next one.
            self.follow_segment()?;
            self.tail = Cursor::first(next);
        }
    }

    /// The messages of a range, or the first of them up to about `max_bytes`; at least one. The
    /// answer's `end` says where to read on.
    pub fn read(&mut self, range: Range<u64>, max_bytes: usize) -> Result<Columns, ReadError> {
        self.check_range(&range)?;
        let mut columns = Columns { end: range.start, ..Columns::default() };
        if range.is_empty() {
            return Ok(columns);
        }
        let mut at = self.seek(range.start);
        let bytes_max = max_bytes.min(COLUMNS_BYTES_MAX);
        while at.offset < range.end {
            let (next, full) = self.read_batch(at, &range, bytes_max, &mut columns)?;
            if full {
                break;
            }
            at = next;
        }
        Ok(columns)
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
    /// and whether the columns are full.
    fn read_batch(
        &mut self,
        at: Cursor,
        range: &Range<u64>,
        bytes_max: usize,
        columns: &mut Columns,
    ) -> Result<(Cursor, bool), ReadError> {
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
        let taken = self.take_batch(at, &header, range, bytes_max, columns)?;
        Ok((next, taken == Taken::Full))
    }

    fn take_batch(
        &mut self,
        at: Cursor,
        header: &BatchHeader,
        range: &Range<u64>,
        bytes_max: usize,
        columns: &mut Columns,
    ) -> Result<Taken, ReadError> {
        let mut scan = Scan { source: &self.source, window: &mut self.window };
        let taken = match scan.body(at, header)? {
            Ok(body) => columns.take_batch(header, header.split(body).0, range, bytes_max),
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
        at: Cursor,
        flaw: Option<Flaw>,
        range: &Range<u64>,
    ) -> Result<Cursor, ReadError> {
        let after = self.segments.partition_point(|base| *base <= at.segment);
        let next = self.segments.get(after).map_or(range.end, |base| *base);
        let resume = Cursor::first(next);
        if next == at.offset {
            return Ok(resume);
        }
        avoid(at.damage(next, flaw.unwrap_or(Flaw::Missing)), range, resume)
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
    fn next_segment(&mut self) -> Result<Option<u64>, ReadError> {
        self.segments = self.source.segments()?;
        let after = self.segments.partition_point(|base| *base <= self.tail.segment);
        match first_whole(&self.source, &self.segments[after..])? {
            None => Ok(None),
            Some((segment, identity)) if identity == self.identity => Ok(Some(segment)),
            Some((segment, found)) => {
                Err(ReadError::Foreign { segment, found, expected: self.identity })
            }
        }
    }

    fn step(&mut self, at: Cursor, check: Check) -> Result<Step, ReadError> {
        Ok(Scan { source: &self.source, window: &mut self.window }.step(at, check)?)
    }

    /// The nearest known place at or before an offset.
    fn seek(&self, offset: u64) -> Cursor {
        let after = self.segments.partition_point(|base| *base <= offset);
        let segment = self.segments[after.saturating_sub(1)];
        let marks = self.marks.get(&segment).map_or(&[][..], Vec::as_slice);
        let passed = marks.partition_point(|mark| mark.offset <= offset);
        passed.checked_sub(1).map_or(Cursor::first(segment), |index| marks[index])
    }

    fn mark(&mut self, at: Cursor) {
        let marks = self.marks.entry(at.segment).or_default();
        let last = marks.last().map_or(0, |mark| mark.position);
        if at.position >= last + MARK_BYTES {
            marks.push(at);
        }
    }
}

/// Goes on behind damage that the range does not touch.
fn avoid(damage: Damage, range: &Range<u64>, resume: Cursor) -> Result<Cursor, ReadError> {
    let touched = damage.offsets.start < range.end && range.start < damage.offsets.end;
    if touched { Err(damage.into()) } else { Ok(resume) }
}

/// The first segment whose header is whole. Only the last is ever being written: a short header
/// before it is damage, which hides nothing behind it.
fn first_whole<S: ReadSegments>(
    source: &S,
    segments: &[u64],
) -> Result<Option<(u64, Identity)>, ReadError> {
    for &segment in segments {
        if let Some(identity) = segment_identity(source, segment)? {
            return Ok(Some((segment, identity)));
        }
    }
    Ok(None)
}

/// The identity in a segment's header, or `None` while the header is being written.
fn segment_identity<S: ReadSegments>(
    source: &S,
    segment: u64,
) -> Result<Option<Identity>, ReadError> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    let length = source.read_at(segment, 0, &mut bytes)?;
    match SegmentHeader::decode(&bytes[..length]) {
        Ok((FORMAT_VERSION, header)) => Ok(Some(header.identity)),
        Ok((version, _)) => Err(ReadError::Version { segment, version }),
        Err(Flaw::HeaderShort) => Ok(None),
        Err(flaw) => Err(Damage { segment, position: 0, offsets: segment..segment, flaw }.into()),
    }
}
