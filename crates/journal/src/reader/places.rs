//! Where to begin looking in a segment: by its index, or by what was passed on the way.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Reader;
use crate::error::ReadError;
use crate::format::BatchHeader;
use crate::index::{Index, Place};
use crate::indexes;
use crate::scan::{Check, Step};
use crate::segment::{Position, SegmentId};

/// A reader knows so many indexes at a time: some megabytes.
const INDEXES_MAX: usize = 256;

/// What a reader knows of the segments.
#[derive(Debug, Default)]
pub(super) struct Places {
    indexes: BTreeMap<SegmentId, Index>,
    /// The newest receive time of segments that are sealed: it does not change any more.
    newest_ns: BTreeMap<SegmentId, i64>,
}

impl Places {
    pub fn pass(&mut self, at: Position, header: &BatchHeader) {
        self.index(at.segment).pass(at.position, header);
    }

    pub fn skip(&mut self, at: Position, resume: Position) {
        self.index(at.segment).skip(at.position, resume.position, resume.offset);
    }

    fn index(&mut self, segment: SegmentId) -> &mut Index {
        self.make_room(segment);
        self.indexes.entry(segment).or_insert_with(|| Index::new(segment))
    }

    fn insert(&mut self, segment: SegmentId, index: Index) {
        self.make_room(segment);
        self.indexes.insert(segment, index);
    }

    /// Most read on: what is behind them goes first.
    fn make_room(&mut self, wanted: SegmentId) {
        if self.indexes.len() >= INDEXES_MAX && !self.indexes.contains_key(&wanted) {
            self.indexes.pop_first();
        }
    }
}

impl Reader {
    /// The nearest known place at or before an offset.
    pub(super) fn seek(&mut self, offset: u64) -> Result<Position, ReadError> {
        let after = self.segments.partition_point(|segment| segment.offset <= offset);
        let segment = self.segments[after.saturating_sub(1)];
        self.place(segment, |index| index.before_offset(offset))
    }

    /// The lowest offset whose receive time is at or after `ns`; where there is none, the end. No
    /// message received then or later stands before it. Where the clock has jumped back, some that
    /// stand behind it may be older.
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

    /// One past the newest offset that a message has, as of the last look: before offsets that were
    /// left out.
    pub(crate) fn message_end(&mut self) -> Result<u64, ReadError> {
        let mut end = self.end;
        for segment in self.segments.iter().rev().skip_while(|segment| segment.offset > self.end) {
            if segment.offset < end {
                break;
            }
            end -= indexes::skipped(&*self.source, *segment)?.min(end);
        }
        Ok(end)
    }

    /// The offsets that no message has, because a broker that was not closed went on behind them.
    pub fn left_out(&mut self) -> Result<Vec<Range<u64>>, ReadError> {
        self.end_offset()?;
        let mut found = Vec::new();
        for segment in self.segments.iter().skip(1) {
            let skipped = indexes::skipped(&*self.source, *segment)?;
            let left_out = segment.offset - skipped..segment.offset.min(self.end);
            found.extend(Some(left_out).filter(|left_out| !left_out.is_empty()));
        }
        Ok(found)
    }

    fn offset_in(&mut self, segment: SegmentId, ns: i64) -> Result<Option<u64>, ReadError> {
        if self.newest_ns(segment)? < ns {
            return Ok(None);
        }
        let mut at = self.place(segment, |index| index.before_time(ns))?;
        loop {
            match self.step(at, Check::Headers)? {
                Step::Batch(header) if header.receive_ns >= ns && header.count > 0 => {
                    return Ok(Some(header.base_offset));
                }
                Step::Batch(header) => at = at.after(&header),
                Step::Damage(_, resume) => at = resume,
                Step::Tail(_) => return Ok(None),
            }
        }
    }

    /// The newest receive time in a segment. What is written just now may be newer.
    fn newest_ns(&mut self, segment: SegmentId) -> Result<i64, ReadError> {
        if self.is_tail(segment) {
            return Ok(self.places.index(segment).end.newest_ns);
        }
        if let Some(newest_ns) = self.places.newest_ns.get(&segment) {
            return Ok(*newest_ns);
        }
        let index = indexes::load(&*self.source, segment)?.index;
        let newest_ns = index.end.newest_ns;
        self.places.newest_ns.insert(segment, newest_ns);
        self.places.insert(segment, index);
        Ok(newest_ns)
    }

    /// Where to begin in a segment. An index that points to where no batch is, is not asked again:
    /// its file lies, or the segment has changed.
    fn place(
        &mut self,
        segment: SegmentId,
        find: impl Fn(&Index) -> Option<Place>,
    ) -> Result<Position, ReadError> {
        self.read_index(segment)?;
        let first = Position::first(segment);
        let place = self.places.indexes.get(&segment).and_then(find);
        let at = place.map_or(first, |place| place.in_segment(segment));
        if at == first
            || matches!(self.step(at, Check::Headers)?, Step::Batch(_) | Step::Tail(None))
        {
            return Ok(at);
        }
        self.places.insert(segment, Index::new(segment));
        Ok(first)
    }

    /// Takes a sealed segment's index from its file, if it is good.
    fn read_index(&mut self, segment: SegmentId) -> Result<(), ReadError> {
        if self.is_tail(segment) || self.places.indexes.contains_key(&segment) {
            return Ok(());
        }
        if let Some(of) = indexes::owner(&*self.source, segment)? {
            if let Ok(index) = indexes::stored(&*self.source, &of)? {
                self.places.insert(segment, index);
            }
        }
        Ok(())
    }

    fn is_tail(&self, segment: SegmentId) -> bool {
        segment >= self.tail.segment
    }
}
