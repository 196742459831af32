//! The sparse index of one segment: positions between batches, by offset and by time.
//! Pure: never reads a file. An index is only a hint where to begin reading.
//!
//! An example: batches end at the bytes 40,000, 80,000, 90,000 and 160,000. The entries are 80,000 and
//! 160,000: each is the first end at least 64 KiB after the entry before. A reader that looks for a message
//! in the last batch walks from byte 80,000.

use crate::format::BatchHeader;
use crate::segment::{JournalPosition, SegmentId};

/// Bytes between two entries: the index of a 64 MiB segment takes about 24 KiB.
const SPACING_BYTES: u64 = 64 << 10;

/// A position between two batches of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    /// The offset of the next message.
    pub offset: u64,
    /// Bytes from the start of the segment.
    pub position: u64,
    /// The newest receive time of all batches before: it ascends even where the clock jumped back.
    pub newest_ns: i64,
}

impl IndexEntry {
    pub fn in_segment(self, segment: SegmentId) -> JournalPosition {
        JournalPosition { segment, position: self.position, offset: self.offset }
    }
}

/// The index of a segment from its start up to `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentIndex {
    /// How far the segment was walked.
    pub end: IndexEntry,
    /// The oldest receive time; `i64::MAX` when there is no batch.
    pub oldest_ns: i64,
    /// Ascending in all three numbers.
    pub entries: Vec<IndexEntry>,
}

impl SegmentIndex {
    /// The index of a segment that was not walked yet.
    pub fn new(segment: SegmentId) -> Self {
        let JournalPosition { offset, position, .. } = JournalPosition::first(segment);
        let end = IndexEntry { offset, position, newest_ns: i64::MIN };
        Self { end, oldest_ns: i64::MAX, entries: Vec::new() }
    }

    /// Adds the batch at a position. Ignores a batch that does not begin at `end`: it was added before,
    /// or the bytes in front of it were not walked.
    pub fn pass(&mut self, position: u64, header: &BatchHeader) {
        if position != self.end.position {
            return;
        }
        self.oldest_ns = self.oldest_ns.min(header.receive_ns);
        let newest_ns = self.end.newest_ns.max(header.receive_ns);
        let position = position + header.batch_bytes();
        self.reach(IndexEntry { offset: header.offsets().end, position, newest_ns });
    }

    /// Steps over damage that reaches from `from` to the batch at `position`.
    pub fn skip(&mut self, from: u64, position: u64, offset: u64) {
        if from == self.end.position {
            self.reach(IndexEntry { offset, position, newest_ns: self.end.newest_ns });
        }
    }

    /// The last entry from which a walk meets the message at `offset`.
    pub fn before_offset(&self, offset: u64) -> Option<IndexEntry> {
        self.last(|entry| entry.offset <= offset)
    }

    /// The last entry from which a walk meets the first message received at or after `ns`.
    pub fn before_time(&self, ns: i64) -> Option<IndexEntry> {
        self.last(|entry| entry.newest_ns < ns)
    }

    fn reach(&mut self, end: IndexEntry) {
        self.end = end;
        let last = self.entries.last().map_or(0, |entry| entry.position);
        if end.position >= last + SPACING_BYTES {
            self.entries.push(end);
        }
    }

    fn last(&self, before: impl Fn(&IndexEntry) -> bool) -> Option<IndexEntry> {
        let after = self.entries.partition_point(before);
        after.checked_sub(1).map(|index| self.entries[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIRST: u64 = 64;

    /// Batches as (messages, body bytes, receive time), and where each begins.
    fn segment(batches: &[(u32, u32, i64)]) -> (SegmentIndex, Vec<(u64, BatchHeader)>) {
        let (mut index, mut walked) =
            (SegmentIndex::new(SegmentId { offset: 1000, part: 0 }), Vec::new());
        for &(count, body_bytes, receive_ns) in batches {
            let IndexEntry { offset, position, .. } = index.end;
            let header = header(offset, count, body_bytes, receive_ns);
            index.pass(position, &header);
            walked.push((position, header));
        }
        (index, walked)
    }

    fn header(base_offset: u64, count: u32, body_bytes: u32, receive_ns: i64) -> BatchHeader {
        BatchHeader {
            body_bytes,
            base_offset,
            count,
            receive_ns,
            state_bytes: 0,
            retained: false,
            unsynced: None,
            body_checksum: 0,
        }
    }

    fn batches() -> impl Strategy<Value = Vec<(u32, u32, i64)>> {
        prop::collection::vec((0..5_u32, 0..60_000_u32, -50..50_i64), 0..60)
    }

    /// Where a walk from the start meets the first batch that is wanted.
    fn met(walked: &[(u64, BatchHeader)], wanted: impl Fn(&BatchHeader) -> bool) -> Option<u64> {
        walked.iter().find(|(_, header)| wanted(header)).map(|(position, _)| *position)
    }

    proptest! {
        #[test]
        fn an_entry_by_offset_is_never_behind_the_message_and_less_than_two_spacings_before_it(
            batches in batches(), ahead in 0..200_u64,
        ) {
            let (index, walked) = segment(&batches);
            let offset = 1000 + ahead;
            let start = index.before_offset(offset).map_or(FIRST, |entry| entry.position);
            if let Some(position) = met(&walked, |header| header.offsets().contains(&offset)) {
                prop_assert!(start <= position);
                prop_assert!(position - start < 2 * SPACING_BYTES);
            }
        }

        #[test]
        fn an_entry_by_time_is_never_behind_the_first_message_at_or_after_it(
            batches in batches(), ns in -60..60_i64,
        ) {
            let (index, walked) = segment(&batches);
            let start = index.before_time(ns).map_or(FIRST, |entry| entry.position);
            if let Some(position) = met(&walked, |header| header.receive_ns >= ns) {
                prop_assert!(start <= position);
                prop_assert!(position - start < 2 * SPACING_BYTES);
            }
        }

        #[test]
        fn walking_again_changes_nothing(batches in batches()) {
            let (mut index, walked) = segment(&batches);
            let before = index.clone();
            for (position, header) in &walked {
                index.pass(*position, header);
            }
            prop_assert_eq!(index, before);
        }
    }

    #[test]
    fn the_oldest_and_the_newest_time_do_not_depend_on_the_order_of_batches() {
        let (index, _) = segment(&[(1, 9, 50), (1, 9, -3), (0, 9, 20)]);
        assert_eq!((index.oldest_ns, index.end.newest_ns), (-3, 50));
    }

    #[test]
    fn damage_is_stepped_over() {
        let (mut index, _) = segment(&[(3, 100, 1)]);
        let damaged = index.end.position;
        index.skip(damaged, damaged + 70_000, 1010);
        assert_eq!(index.before_offset(1011).unwrap().position, damaged + 70_000);
        assert_eq!(index.before_offset(1005), None);
        index.pass(damaged, &header(1003, 1, 9, 99));
        assert_eq!(index.end.newest_ns, 1);
    }
}
