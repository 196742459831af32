//! The headers of segments, as they are found. Never decides what damage means, never writes.

use std::io;

use crate::error::{Damage, ReadError};
use crate::format::{FORMAT_VERSION, Flaw, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::segment::{JournalPosition, SegmentId};
use crate::storage::ReadSegments;

/// What was found at the start of a segment.
pub(crate) enum FoundHeader {
    Whole(SegmentHeader),
    /// The file is shorter than a header: the segment is being created, or its creation was cut off.
    Short,
    Damaged(Damage),
}

/// The format version and the header of a segment.
pub(crate) fn read(
    source: &dyn ReadSegments,
    segment: SegmentId,
) -> io::Result<Result<(u32, SegmentHeader), Flaw>> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    let length = source.read_at(segment, 0, &mut bytes)?;
    Ok(SegmentHeader::decode(&bytes[..length]))
}

/// The header of a segment; `None` if it is damaged, of another version or of another segment.
pub(crate) fn trusted(
    source: &dyn ReadSegments,
    segment: SegmentId,
) -> io::Result<Option<SegmentHeader>> {
    Ok(match read(source, segment)? {
        Ok((FORMAT_VERSION, header)) => Some(header).filter(|header| header.segment == segment),
        _ => None,
    })
}

/// How many offsets directly before a segment no message has; 0 where the header cannot be trusted.
pub(crate) fn skipped(source: &dyn ReadSegments, segment: SegmentId) -> io::Result<u64> {
    Ok(trusted(source, segment)?.map_or(0, |header| header.skipped))
}

/// The header as a reader needs it: another version is an error.
pub(crate) fn find(
    source: &dyn ReadSegments,
    segment: SegmentId,
) -> Result<FoundHeader, ReadError> {
    match read(source, segment)? {
        Ok((FORMAT_VERSION, header)) => Ok(FoundHeader::Whole(header)),
        Ok((version, _)) => Err(ReadError::Version { segment, version }),
        Err(Flaw::HeaderShort) => Ok(FoundHeader::Short),
        Err(flaw) => Ok(FoundHeader::Damaged(JournalPosition::first(segment).header_damage(flaw))),
    }
}

/// The newest of these headers that is whole. `find` reads the header of a segment.
pub(crate) fn newest<E>(
    segments: &[SegmentId],
    find: impl Fn(SegmentId) -> Result<FoundHeader, E>,
) -> Result<Option<SegmentHeader>, E> {
    for segment in segments.iter().rev() {
        if let FoundHeader::Whole(header) = find(*segment)? {
            return Ok(Some(header));
        }
    }
    Ok(None)
}
