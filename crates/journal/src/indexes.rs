//! The indexes of segments: from their files where those are good, else by walking the segment.
//! Never writes.

use std::io;

use crate::format::{FORMAT_VERSION, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::index::Index;
use crate::index_file::{self, IndexFlaw, Of};
use crate::scan::{Check, Scan, Step, Window};
use crate::segment::SegmentId;
use crate::storage::ReadSegments;

/// An index, and whether a file had it.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub index: Index,
    /// Whose index it is, where the segment's own header can be trusted.
    pub of: Option<Of>,
    pub stored: bool,
}

/// The index of a segment that is sealed: another walk would find the same.
pub(crate) fn load(source: &dyn ReadSegments, segment: SegmentId) -> io::Result<Loaded> {
    let of = owner(source, segment)?;
    if let Some(Ok(index)) = of.map(|of| stored(source, &of)).transpose()? {
        return Ok(Loaded { index, of, stored: true });
    }
    Ok(Loaded { index: walk(source, segment)?, of, stored: false })
}

/// What the index file of a segment says, or why it says nothing; `None` when there is no file.
pub(crate) fn stored(
    source: &dyn ReadSegments,
    of: &Of,
) -> io::Result<Result<Index, Option<IndexFlaw>>> {
    let Some(file) = source.get(&of.segment.index_file())? else { return Ok(Err(None)) };
    Ok(index_file::decode(&file, of, source.size(of.segment)?).map_err(Some))
}

/// By the headers alone, over damage too.
fn walk(source: &dyn ReadSegments, segment: SegmentId) -> io::Result<Index> {
    let (mut window, mut index) = (Window::default(), Index::new(segment));
    let mut scan = Scan { source, window: &mut window };
    loop {
        let at = index.end_in(segment);
        match scan.step(at, Check::Headers)? {
            Step::Batch(header) => index.pass(at.position, &header),
            Step::Damage(_, resume) => index.skip(at.position, resume.position, resume.offset),
            Step::Tail(_) => return Ok(index),
        }
    }
}

/// Whose a segment is, by its header; none where that is torn, damaged or of another version.
pub(crate) fn owner(source: &dyn ReadSegments, segment: SegmentId) -> io::Result<Option<Of>> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    let length = source.read_at(segment, 0, &mut bytes)?;
    Ok(match SegmentHeader::decode(&bytes[..length]) {
        Ok((FORMAT_VERSION, SegmentHeader { identity, epoch, segment: named, .. })) => {
            (named == segment).then_some(Of { identity, epoch, segment })
        }
        _ => None,
    })
}

/// How many offsets before a segment no message has; none where its header cannot be trusted.
pub(crate) fn skipped(source: &dyn ReadSegments, segment: SegmentId) -> io::Result<u64> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    let length = source.read_at(segment, 0, &mut bytes)?;
    Ok(match SegmentHeader::decode(&bytes[..length]) {
        Ok((FORMAT_VERSION, header)) if header.segment == segment => header.skipped,
        _ => 0,
    })
}
