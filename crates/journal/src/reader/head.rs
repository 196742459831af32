//! The headers of segments, as a reader meets them. Never decides what damage there means.

use crate::error::{Damage, ReadError};
use crate::format::{FORMAT_VERSION, Flaw, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::segment::{Position, SegmentId};
use crate::storage::ReadSegments;

/// What stands at the start of a segment.
pub(super) enum Head {
    Whole(SegmentHeader),
    /// Being written, if the segment is the last.
    Short,
    Damaged(Damage),
}

pub(super) fn head(source: &dyn ReadSegments, segment: SegmentId) -> Result<Head, ReadError> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    let length = source.read_at(segment, 0, &mut bytes)?;
    match SegmentHeader::decode(&bytes[..length]) {
        Ok((FORMAT_VERSION, header)) => Ok(Head::Whole(header)),
        Ok((version, _)) => Err(ReadError::Version { segment, version }),
        Err(Flaw::HeaderShort) => Ok(Head::Short),
        Err(flaw) => Ok(Head::Damaged(Position::first(segment).head_damage(flaw))),
    }
}

/// The epoch of the newest segment whose header is whole; 0 where there is none.
pub(super) fn newest_epoch(
    source: &dyn ReadSegments,
    segments: &[SegmentId],
) -> Result<u64, ReadError> {
    for segment in segments.iter().rev() {
        if let Head::Whole(header) = head(source, *segment)? {
            return Ok(header.epoch);
        }
    }
    Ok(0)
}
