//! The name of a segment, and a position in it. Never opens a file.

use std::fmt;
use std::ops::Range;

use crate::error::Damage;
use crate::format::{
    BatchHeader, Flaw, JournalIdentity, MESSAGE_BYTES_MIN, OFFSET_MAX, SEGMENT_HEADER_BYTES,
    array_at, u32_at, u64_at,
};

/// No journal has more segments without a message in a row; a larger part is damage.
const PART_MAX: u32 = 1 << 30;

/// The name of a segment. The segment after one that holds only records has the same offset, and the next part
/// number. The order of names is the order of the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId {
    /// The offset of its first message.
    pub offset: u64,
    /// The number of the segment among those of this offset, from 0 on.
    pub part: u32,
}

impl SegmentId {
    /// The name of the segment that follows this one, which ends at `offset`.
    pub(crate) fn next(self, offset: u64) -> Self {
        let part = if offset == self.offset { self.part.saturating_add(1) } else { 0 };
        Self { offset, part }
    }

    /// Whether `next` can directly follow this segment.
    pub(crate) fn is_before(self, next: Self) -> bool {
        next == self.next(next.offset)
    }

    /// The segment with this file name.
    pub(crate) fn of_file(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".seg")?;
        let (offset, part) = stem.split_once('-').unwrap_or((stem, "0"));
        let segment = Self { offset: offset.parse().ok()?, part: part.parse().ok()? };
        let canonical = segment.is_plausible() && segment.to_string() == stem;
        canonical.then_some(segment)
    }

    /// Whether a journal can have such a segment.
    fn is_plausible(self) -> bool {
        self.offset <= OFFSET_MAX && self.part <= PART_MAX
    }

    /// The name of its file.
    pub(crate) fn file(self) -> String {
        format!("{self}.seg")
    }

    /// The name of its index.
    pub(crate) fn index_file(self) -> String {
        format!("{self}.idx")
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:020}", self.offset)?;
        if self.part > 0 {
            write!(out, "-{:04}", self.part)?;
        }
        Ok(())
    }
}

/// The first bytes of a file that notes a position: magic, version, journal and position.
pub(crate) const POSITION_HEADER_BYTES: usize = 56;

/// A position between two batches, and the offset of the next message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JournalPosition {
    /// The segment.
    pub segment: SegmentId,
    /// Bytes from the start of the segment.
    pub position: u64,
    /// The offset of the next message.
    pub offset: u64,
}

impl JournalPosition {
    /// The start of a segment's first batch.
    pub(crate) fn first(segment: SegmentId) -> Self {
        Self { segment, position: SEGMENT_HEADER_BYTES as u64, offset: segment.offset }
    }

    /// The first bytes of a file that notes this position.
    pub(crate) fn encode(
        self,
        magic: [u8; 8],
        version: u32,
        identity: JournalIdentity,
    ) -> [u8; POSITION_HEADER_BYTES] {
        let mut bytes = [0; POSITION_HEADER_BYTES];
        bytes[0..8].copy_from_slice(&magic);
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.segment.part.to_le_bytes());
        bytes[16..32].copy_from_slice(&identity.0);
        bytes[32..40].copy_from_slice(&self.segment.offset.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.position.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// Reads what `encode` wrote. The caller has checked the magic and a checksum.
    pub(crate) fn decode(
        bytes: &[u8],
        version: u32,
        identity: JournalIdentity,
    ) -> Result<Self, Flaw> {
        if u32_at(bytes, 8) != version || array_at(bytes, 16) != identity.0 {
            return Err(Flaw::Foreign);
        }
        let segment = SegmentId { offset: u64_at(bytes, 32), part: u32_at(bytes, 12) };
        let at = Self { segment, position: u64_at(bytes, 40), offset: u64_at(bytes, 48) };
        // A journal can have a position only at or behind the start of its segment.
        let is_plausible =
            segment.is_plausible() && (segment.offset..=OFFSET_MAX).contains(&at.offset);
        if is_plausible { Ok(at) } else { Err(Flaw::WrongOffset) }
    }

    pub(crate) fn after(self, header: &BatchHeader) -> Self {
        let position = self.position + header.batch_bytes();
        Self { position, offset: header.offsets().end, ..self }
    }

    /// Whether `later`, in the same segment, can come after this position: its offset is not lower, and the
    /// bytes between them have room for the messages between them.
    pub(crate) fn may_precede(self, later: Self) -> bool {
        let room = later.position.saturating_sub(self.position) / MESSAGE_BYTES_MIN;
        later.offset.checked_sub(self.offset).is_some_and(|messages| messages <= room)
    }

    /// The damage of the header of the segment that begins here.
    pub(crate) fn header_damage(self, flaw: Flaw) -> Damage {
        JournalPosition { position: 0, ..self }.damage(self.offset, flaw)
    }

    /// The damage from here up to offset `end`.
    pub(crate) fn damage(self, end: u64, flaw: Flaw) -> Damage {
        let Self { segment, position, offset } = self;
        let offsets = Range { start: offset, end };
        Damage { segment, position, offsets, flaw }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_offset_and_part_and_back() {
        let names = [
            (0, 0, "00000000000000000000.seg"),
            (42, 0, "00000000000000000042.seg"),
            (42, 1, "00000000000000000042-0001.seg"),
            (42, 12_345, "00000000000000000042-12345.seg"),
        ];
        for (offset, part, name) in names {
            let segment = SegmentId { offset, part };
            assert_eq!(segment.file(), name);
            assert_eq!(SegmentId::of_file(name), Some(segment));
        }
    }

    #[test]
    fn names_that_only_look_like_segments_are_none() {
        for name in [
            "0.seg",
            "00000000000000000042.cut",
            "00000000000000000042-0000.seg",
            "00000000000000000042-1.seg",
            "00000000000000000042-.seg",
            "+0000000000000000042.seg",
            "00000000000000000042-4294967295.seg",
            "99999999999999999999.seg",
            "09999999999999999999.seg",
        ] {
            assert_eq!(SegmentId::of_file(name), None, "{name}");
        }
    }

    #[test]
    fn a_segment_without_messages_is_followed_by_its_next_part() {
        let first = SegmentId { offset: 42, part: 0 };
        let second = first.next(42);
        assert_eq!(second, SegmentId { offset: 42, part: 1 });
        assert_eq!(second.next(50), SegmentId { offset: 50, part: 0 });
        assert!(first.is_before(second) && second.is_before(second.next(50)));
        assert!(!first.is_before(second.next(42)));
        assert!(!first.is_before(SegmentId { offset: 50, part: 1 }));
        assert!(first < second && second < second.next(50));
    }
}
