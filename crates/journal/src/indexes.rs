//! The index of a segment: read from its file where that is good, else made by walking the segment.
//! Never writes.

use std::io;

use crate::format::SegmentHeader;
use crate::headers;
use crate::index::SegmentIndex;
use crate::index_file::{self, IndexFlaw};
use crate::scan::{CheckDepth, ReadWindow, Scan, ScanStep};
use crate::segment::SegmentId;
use crate::storage::ReadSegments;

/// An index, and where it came from.
#[derive(Debug)]
pub(crate) struct LoadedIndex {
    pub index: SegmentIndex,
    /// The segment's header; `None` if it cannot be trusted.
    pub header: Option<SegmentHeader>,
    /// Whether the index was read from its file.
    pub is_stored: bool,
}

/// The index of a sealed segment, which does not change any more.
pub(crate) fn load(source: &dyn ReadSegments, segment: SegmentId) -> io::Result<LoadedIndex> {
    let header = headers::trusted(source, segment)?;
    if let Some(Ok(index)) = header.map(|header| stored(source, &header)).transpose()? {
        return Ok(LoadedIndex { index, header, is_stored: true });
    }
    Ok(LoadedIndex { index: walk(source, segment)?, header, is_stored: false })
}

/// The index in the file of a segment, or why it cannot be used; `None` when there is no file.
pub(crate) fn stored(
    source: &dyn ReadSegments,
    header: &SegmentHeader,
) -> io::Result<Result<SegmentIndex, Option<IndexFlaw>>> {
    let segment = header.segment;
    let Some(file) = source.get(&segment.index_file())? else { return Ok(Err(None)) };
    Ok(index_file::decode(&file, header, source.size(segment)?).map_err(Some))
}

/// Walks the batch headers of a segment, and steps over damage.
fn walk(source: &dyn ReadSegments, segment: SegmentId) -> io::Result<SegmentIndex> {
    let (mut window, mut index) = (ReadWindow::default(), SegmentIndex::new(segment));
    let mut scan = Scan { source, window: &mut window };
    loop {
        let at = index.end.in_segment(segment);
        match scan.step(at, CheckDepth::Headers)? {
            ScanStep::Batch(header) => index.pass(at.position, &header),
            ScanStep::Damage(_, resume) => index.skip(at.position, resume.position, resume.offset),
            ScanStep::Tail(_) => return Ok(index),
        }
    }
}
