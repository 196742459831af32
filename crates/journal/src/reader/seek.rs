//! Where to begin reading for an offset or a time: by the index of the segment, or by batches that were
//! read before.

use std::collections::BTreeMap;
use std::ops::Range;

use super::JournalReader;
use crate::error::ReadError;
use crate::format::BatchHeader;
use crate::headers;
use crate::index::{IndexEntry, SegmentIndex};
use crate::indexes;
use crate::scan::{CheckDepth, ScanStep};
use crate::segment::{JournalPosition, SegmentId};

/// Indexes that a reader keeps in memory: a few megabytes.
const INDEXES_MAX: usize = 256;

/// The indexes that a reader has in memory.
#[derive(Debug, Default)]
pub(super) struct KnownIndexes {
    indexes: BTreeMap<SegmentId, SegmentIndex>,
    /// The newest receive time of sealed segments, which does not change any more.
    newest_ns: BTreeMap<SegmentId, i64>,
}

impl KnownIndexes {
    pub fn pass(&mut self, at: JournalPosition, header: &BatchHeader) {
        self.index(at.segment).pass(at.position, header);
    }

    pub fn skip(&mut self, at: JournalPosition, resume: JournalPosition) {
        self.index(at.segment).skip(at.position, resume.position, resume.offset);
    }

    fn index(&mut self, segment: SegmentId) -> &mut SegmentIndex {
        self.make_room(segment);
        self.indexes.entry(segment).or_insert_with(|| SegmentIndex::new(segment))
    }

    fn insert(&mut self, segment: SegmentId, index: SegmentIndex) {
        self.make_room(segment);
        self.indexes.insert(segment, index);
    }

    /// Drops the index of the oldest segment when there are too many: most readers move forward.
    fn make_room(&mut self, wanted: SegmentId) {
        if self.indexes.len() >= INDEXES_MAX && !self.indexes.contains_key(&wanted) {
            self.indexes.pop_first();
        }
    }
}

impl JournalReader {
    /// The nearest known position at or before an offset.
    pub(super) fn seek(&mut self, offset: u64) -> Result<JournalPosition, ReadError> {
        let after = self.segments.partition_point(|segment| segment.offset <= offset);
        let segment = self.segments[after.saturating_sub(1)];
        self.start_in(segment, |index| index.before_offset(offset))
    }

    /// The lowest offset whose receive time is at or after `ns`, or the end if there is none. Every
    /// message before it is older. Where the clock jumped back, some messages after it are older too.
    pub fn offset_at(&mut self, ns: i64) -> Result<u64, ReadError> {
        let end = self.end_offset()?;
        for segment in self.segments.clone() {
            match self.offset_in(segment, ns) {
                Ok(Some(offset)) => return Ok(offset.min(end)),
                Ok(None) => {}
                Err(error) if error.is_removed() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(end)
    }

    /// One past the offset of the newest message, as of the last refresh. Skipped offsets at the end do
    /// not count.
    pub(crate) fn message_end(&mut self) -> Result<u64, ReadError> {
        let mut end = self.end;
        for segment in self.segments.iter().rev().skip_while(|segment| segment.offset > self.end) {
            if segment.offset < end {
                break;
            }
            end -= headers::skipped(&*self.source, *segment)?.min(end);
        }
        Ok(end)
    }

    /// The offsets that no message has: they were reserved when a broker crashed.
    pub fn left_out(&mut self) -> Result<Vec<Range<u64>>, ReadError> {
        self.end_offset()?;
        let mut found = Vec::new();
        for segment in self.segments.iter().skip(1) {
            let skipped = headers::skipped(&*self.source, *segment)?;
            let left_out = segment.offset - skipped..segment.offset.min(self.end);
            found.extend(Some(left_out).filter(|left_out| !left_out.is_empty()));
        }
        Ok(found)
    }

    fn offset_in(&mut self, segment: SegmentId, ns: i64) -> Result<Option<u64>, ReadError> {
        if self.newest_ns(segment)? < ns {
            return Ok(None);
        }
        let mut at = self.start_in(segment, |index| index.before_time(ns))?;
        loop {
            match self.step(at, CheckDepth::Headers)? {
                ScanStep::Batch(header) if header.receive_ns >= ns && header.count > 0 => {
                    return Ok(Some(header.base_offset));
                }
                ScanStep::Batch(header) => at = at.after(&header),
                ScanStep::Damage(_, resume) => at = resume,
                ScanStep::Tail(_) => return Ok(None),
            }
        }
    }

    /// The newest receive time in a segment, as of the last refresh.
    fn newest_ns(&mut self, segment: SegmentId) -> Result<i64, ReadError> {
        if self.is_tail(segment) {
            return Ok(self.indexes.index(segment).end.newest_ns);
        }
        if let Some(newest_ns) = self.indexes.newest_ns.get(&segment) {
            return Ok(*newest_ns);
        }
        let index = indexes::load(&*self.source, segment)?.index;
        let newest_ns = index.end.newest_ns;
        self.indexes.newest_ns.insert(segment, newest_ns);
        self.indexes.insert(segment, index);
        Ok(newest_ns)
    }

    /// The position that `find` takes from the segment's index, or the segment's start. An index that
    /// points to anything but a batch is dropped: its file is wrong, or the segment has changed.
    fn start_in(
        &mut self,
        segment: SegmentId,
        find: impl Fn(&SegmentIndex) -> Option<IndexEntry>,
    ) -> Result<JournalPosition, ReadError> {
        self.read_index(segment)?;
        let first = JournalPosition::first(segment);
        let entry = self.indexes.indexes.get(&segment).and_then(find);
        let at = entry.map_or(first, |entry| entry.in_segment(segment));
        if at == first
            || matches!(
                self.step(at, CheckDepth::Headers)?,
                ScanStep::Batch(_) | ScanStep::Tail(None)
            )
        {
            return Ok(at);
        }
        self.indexes.insert(segment, SegmentIndex::new(segment));
        Ok(first)
    }

    /// Loads a sealed segment's index from its file, if that is good.
    fn read_index(&mut self, segment: SegmentId) -> Result<(), ReadError> {
        if self.is_tail(segment) || self.indexes.indexes.contains_key(&segment) {
            return Ok(());
        }
        if let Some(header) = headers::trusted(&*self.source, segment)? {
            if let Ok(index) = indexes::stored(&*self.source, &header)? {
                self.indexes.insert(segment, index);
            }
        }
        Ok(())
    }

    fn is_tail(&self, segment: SegmentId) -> bool {
        segment >= self.tail.segment
    }
}
