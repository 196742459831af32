//! Reads a journal, also from another process while the broker writes it. Never writes, locks or repairs.

mod ranges;
mod records;
mod seek;
mod state;
mod stored;

use std::ops::Range;
use std::path::Path;

use crate::directory::Directory;
use crate::error::{Damage, ReadError};
use crate::format::{Flaw, JournalIdentity, SegmentHeader};
use crate::headers::{self, FoundHeader};
use crate::scan::{CheckDepth, ReadWindow, Scan, ScanStep};
use crate::segment::{JournalPosition, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::ReadSegments;
use crate::watermarks;
use seek::KnownIndexes;

pub(crate) use ranges::COLUMNS_BYTES_MAX;
pub use state::{Followed, StateBatch};

/// How often a folder is listed again when retention removes a segment in the meantime.
const OPEN_TRIES: usize = 16;

/// A view of one journal.
#[derive(Debug)]
pub struct JournalReader {
    source: Box<dyn ReadSegments + Send>,
    identity: JournalIdentity,
    /// The segments with a header, ascending.
    segments: Vec<SegmentId>,
    indexes: KnownIndexes,
    /// The end of the newest whole batch seen.
    tail: JournalPosition,
    extent: Extent,
    /// One past the newest offset that may be read, as of the last refresh.
    end: u64,
    /// The newest known epoch, as of the last refresh.
    epoch: u64,
    /// Whether the last segment, whose header is damaged, may be of a later epoch.
    is_epoch_hidden: bool,
    window: ReadWindow,
}

/// How far a reader may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// Up to the synced end: for readers that store their position.
    Durable,
    /// Up to the written end: for the broker itself.
    Written,
}

impl JournalReader {
    /// Opens the journal in a directory.
    pub fn open(dir: &Path) -> Result<Self, ReadError> {
        let no_journal = || ReadError::NoJournal(dir.to_owned());
        let mut tries = if dir.is_dir() { OPEN_TRIES } else { return Err(no_journal()) };
        loop {
            tries -= 1;
            match Self::over(Box::new(Directory::new(dir))) {
                // Retention removed a segment after the folder was listed.
                Err(error) if error.is_removed() && tries > 0 => {}
                opened => return opened?.ok_or_else(no_journal),
            }
        }
    }

    /// A reader of any storage, up to the synced end. `None` when the storage holds no journal (yet).
    pub(crate) fn over(source: Box<dyn ReadSegments + Send>) -> Result<Option<Self>, ReadError> {
        let mut damaged = None;
        for segment in source.segments()? {
            match headers::find(&*source, segment)? {
                FoundHeader::Whole(header) => {
                    let mut reader = Self::of(source, header.identity).durable();
                    reader.refresh()?;
                    return Ok(Some(reader));
                }
                FoundHeader::Short => {}
                FoundHeader::Damaged(damage) => damaged = damaged.or(Some(damage)),
            }
        }
        damaged.map_or(Ok(None), |damage| Err(damage.into()))
    }

    /// Reads up to the synced end only, so that an offset never stands for two messages. A journal of an
    /// older Slipring does not note its synced end; then everything is read.
    #[must_use]
    pub fn durable(self) -> Self {
        Self { extent: Extent::Durable, ..self }
    }

    /// Reads up to the written end.
    #[cfg(test)]
    pub(crate) fn written(self) -> Self {
        Self { extent: Extent::Written, ..self }
    }

    /// A reader of a journal whose identity is known, up to the written end.
    pub(crate) fn of(source: Box<dyn ReadSegments + Send>, identity: JournalIdentity) -> Self {
        // If the segments cannot be listed, the first read fails for the same reason.
        let segments = source.segments().unwrap_or_default();
        let tail = JournalPosition::first(segments.last().copied().unwrap_or_default());
        Self {
            source,
            identity,
            segments,
            indexes: KnownIndexes::default(),
            tail,
            extent: Extent::Written,
            end: 0,
            epoch: 0,
            is_epoch_hidden: false,
            window: ReadWindow::default(),
        }
    }

    /// Which journal this is.
    pub fn identity(&self) -> JournalIdentity {
        self.identity
    }

    /// The oldest offset.
    pub fn first_offset(&self) -> u64 {
        self.segments.first().copied().unwrap_or_default().offset
    }

    /// The newest epoch (opening for writing), as of the last call of `end_offset`. Store it with an
    /// offset: see `check_position`.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// One past the newest offset that may be read.
    pub fn end_offset(&mut self) -> Result<u64, ReadError> {
        // Read before the segments, so that it is never ahead of them.
        let durable = match self.extent {
            Extent::Durable => {
                let durable = watermarks::durable(&*self.source, self.identity)?;
                durable.transpose().map_err(|flaw| ReadError::Durable { flaw })?
            }
            Extent::Written => None,
        };
        self.refresh()?;
        let last = self.segments.last().copied().unwrap_or_default();
        if last > self.tail.segment {
            self.check_identity(last)?;
            self.tail = JournalPosition::first(last);
        }
        self.follow_tail()?;
        self.end = durable.map_or(self.tail.offset, |durable| durable.offset.min(self.tail.offset));
        Ok(self.end)
    }

    /// One past the newest written message, synced or not, as of the last call of `end_offset`.
    pub fn written_offset(&self) -> u64 {
        self.tail.offset
    }

    /// Whether a reader that stored this offset and epoch can resume there. It cannot when retention has
    /// removed the offset, when the journal ends before it, or when the journal is an older copy in which
    /// other messages have the offsets before it.
    ///
    /// An example: a consumer stored offset 500 in epoch 7. Then a backup from epoch 6 was put back, which
    /// ended at 300; a broker opened it in epoch 8 and wrote 300 to 600. The segment before 500 is of
    /// epoch 8, later than 7. So the messages that the consumer read are gone.
    pub fn check_position(&mut self, offset: u64, epoch: Option<u64>) -> Result<(), ReadError> {
        self.end_offset()?;
        self.check_range(&(offset..offset))?;
        // A reader stores 0 when the newest header cannot be read.
        let Some(epoch) = epoch.filter(|epoch| *epoch > 0) else { return Ok(()) };
        let after = self.segments.partition_point(|segment| segment.offset < offset);
        let last_read = after.checked_sub(1).map(|index| self.segments[index]);
        let header = last_read.map(|segment| headers::find(&*self.source, segment)).transpose()?;
        let written_in = match header {
            Some(FoundHeader::Whole(header)) => header.epoch,
            _ => 0,
        };
        let is_older_copy = epoch > self.epoch && !self.is_epoch_hidden;
        if is_older_copy || written_in > epoch {
            return Err(ReadError::OtherHistory { offset, epoch, newest: self.epoch, written_in });
        }
        Ok(())
    }

    /// The newest snapshot of the state, and the position to follow the journal from, if there is one.
    pub fn snapshot(&self) -> Result<Option<(JournalPosition, Vec<u8>)>, ReadError> {
        let Some(bytes) = self.source.get(SNAPSHOT)? else { return Ok(None) };
        let flawed = |flaw| ReadError::Snapshot { flaw };
        snapshot::decode(bytes, self.identity).map(Some).map_err(flawed)
    }

    /// Lists the segments again, without those at the end that are still being created.
    fn refresh(&mut self) -> Result<(), ReadError> {
        self.window.clear();
        self.segments = self.source.segments()?;
        while let Some(last) = self.segments.last() {
            match headers::find(&*self.source, *last)? {
                FoundHeader::Short => drop(self.segments.pop()),
                FoundHeader::Damaged(_) => {
                    let find = |segment| headers::find(&*self.source, segment);
                    let newest = headers::newest(&self.segments, find)?;
                    self.epoch = newest.map_or(0, |header| header.epoch);
                    self.is_epoch_hidden = true;
                    break;
                }
                FoundHeader::Whole(header) => {
                    (self.epoch, self.is_epoch_hidden) = (header.epoch, false);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Walks to the end of the tail's segment. Steps over damage: only a read of the damaged offsets fails.
    fn follow_tail(&mut self) -> Result<(), ReadError> {
        loop {
            let at = self.tail;
            self.tail = match self.step(at, CheckDepth::Bodies)? {
                ScanStep::Batch(header) => {
                    self.indexes.pass(at, &header);
                    at.after(&header)
                }
                ScanStep::Damage(_, resume) => {
                    self.indexes.skip(at, resume);
                    resume
                }
                ScanStep::Tail(_) => return Ok(()),
            };
        }
    }

    /// Fails on a segment of another journal. A damaged header is returned: it counts as this journal's.
    fn check_identity(&self, segment: SegmentId) -> Result<Option<Damage>, ReadError> {
        match headers::find(&*self.source, segment)? {
            FoundHeader::Whole(SegmentHeader { identity: found, .. }) if found != self.identity => {
                Err(ReadError::Foreign { segment, found, expected: self.identity })
            }
            FoundHeader::Whole(_) => Ok(None),
            FoundHeader::Short => {
                Ok(Some(JournalPosition::first(segment).header_damage(Flaw::HeaderShort)))
            }
            FoundHeader::Damaged(damage) => Ok(Some(damage)),
        }
    }

    fn check_range(&mut self, range: &Range<u64>) -> Result<(), ReadError> {
        // `end_offset` lists the segments again and may find the first ones removed, so it comes first.
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

    fn step(&mut self, at: JournalPosition, check: CheckDepth) -> Result<ScanStep, ReadError> {
        Ok(self.scan().step(at, check)?)
    }

    fn scan(&mut self) -> Scan<'_> {
        Scan { source: &*self.source, window: &mut self.window }
    }

    fn segment_after(&self, segment: SegmentId) -> Option<SegmentId> {
        let after = self.segments.partition_point(|known| *known <= segment);
        self.segments.get(after).copied()
    }

    /// Turns the error of a segment that retention has removed into a gap.
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

    /// The start of the next segment. Fails if offsets of the range are missing before it.
    fn leave_segment(
        &self,
        at: JournalPosition,
        flaw: Option<Flaw>,
        range: &Range<u64>,
    ) -> Result<JournalPosition, ReadError> {
        let Some(next) = self.segment_after(at.segment) else {
            let end = JournalPosition::first(SegmentId { offset: range.end, part: 0 });
            return avoid(at.damage(range.end, flaw.unwrap_or(Flaw::Missing)), range, end);
        };
        let resume = JournalPosition::first(next);
        match self.missing_before(at, next, flaw)? {
            Some(damage) if !damage.offsets.is_empty() => avoid(damage, range, resume),
            _ => Ok(resume),
        }
    }

    /// The offsets missing between the end of one segment and the next, without those that the next
    /// segment's header says were skipped.
    fn missing_before(
        &self,
        end: JournalPosition,
        next: SegmentId,
        flaw: Option<Flaw>,
    ) -> Result<Option<Damage>, ReadError> {
        let whole = flaw.is_none() && end.offset == next.offset && end.segment.is_before(next);
        if whole {
            return Ok(None);
        }
        let skipped = headers::skipped(&*self.source, next)?;
        Ok(missing_before(end, next, skipped, flaw))
    }
}

/// The offsets missing between the end of one segment and the next, whose header says that `skipped`
/// offsets before it have no message.
pub(crate) fn missing_before(
    end: JournalPosition,
    next: SegmentId,
    skipped: u64,
    flaw: Option<Flaw>,
) -> Option<Damage> {
    let expected = next.offset - skipped;
    let follows = skipped > 0 || end.segment.is_before(next);
    let whole = flaw.is_none() && end.offset == expected && follows;
    (!whole).then(|| end.damage(expected.max(end.offset), flaw.unwrap_or(Flaw::Missing)))
}

/// Steps over damage outside the range; damage inside it is an error.
fn avoid(
    damage: Damage,
    range: &Range<u64>,
    resume: JournalPosition,
) -> Result<JournalPosition, ReadError> {
    let touched = damage.offsets.start < range.end && range.start < damage.offsets.end;
    if touched { Err(damage.into()) } else { Ok(resume) }
}
