//! Reads every byte of a journal and reports its condition. Never writes, locks or repairs. The broker
//! may be writing in the meantime.

use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::path::Path;

use crate::consumers::{self, Consumer};
use crate::directory::Directory;
use crate::error::ReadError;
use crate::format::{BatchHeader, FORMAT_VERSION, Flaw, JournalIdentity};
use crate::headers;
use crate::index::SegmentIndex;
use crate::indexes;
use crate::message::Messages;
use crate::reader::missing_before;
use crate::report::{
    ByteProgress, CheckReport, HeaderState, IndexState, SegmentReport, SnapshotState,
};
use crate::scan::{CheckDepth, ReadWindow, Scan, ScanStep};
use crate::segment::{JournalPosition, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::ReadSegments;

/// Bytes between two calls of `progress`.
const PROGRESS_BYTES: u64 = 4 << 20;

/// Checks the journal in a directory. Returns `None` if `progress` ended the check.
pub fn check(dir: &Path, progress: ByteProgress<'_>) -> Result<Option<CheckReport>, ReadError> {
    let storage = Directory::new(dir);
    if !dir.is_dir() || storage.segments()?.is_empty() {
        return Err(ReadError::NoJournal(dir.to_owned()));
    }
    Ok(check_over(&storage, consumers::list(dir)?, progress)?)
}

pub(crate) fn check_over(
    source: &dyn ReadSegments,
    consumers: Vec<Consumer>,
    progress: ByteProgress<'_>,
) -> io::Result<Option<CheckReport>> {
    let segments = source.segments()?;
    let mut walk = Walk::new(source, &segments, progress)?;
    for (number, id) in segments.iter().enumerate() {
        let next = segments.get(number + 1).copied();
        match walk.segment(*id, next) {
            // Retention removed the segment.
            Err(error) if error.kind() == ErrorKind::NotFound && next.is_some() => {}
            walked => {
                if walked?.is_break() {
                    return Ok(None);
                }
            }
        }
    }
    let snapshot = snapshot_state(source, walk.report.identity)?;
    Ok(Some(CheckReport { snapshot, consumers, ..walk.report }))
}

/// A walk over all segments.
struct Walk<'a> {
    source: &'a dyn ReadSegments,
    window: ReadWindow,
    report: CheckReport,
    progress: ByteProgress<'a>,
    read: u64,
    /// How much was read at the last call of `progress`.
    reported: u64,
    total: u64,
}

impl<'a> Walk<'a> {
    fn new(
        source: &'a dyn ReadSegments,
        segments: &[SegmentId],
        progress: ByteProgress<'a>,
    ) -> io::Result<Self> {
        let (mut identity, mut total) = (None, 0);
        for id in segments {
            total += source.size(*id)?;
            identity = identity.or(headers::trusted(source, *id)?.map(|header| header.identity));
        }
        let report = CheckReport { identity, ..CheckReport::default() };
        Ok(Self {
            source,
            window: ReadWindow::default(),
            report,
            progress,
            read: 0,
            reported: 0,
            total,
        })
    }

    fn segment(&mut self, id: SegmentId, next: Option<SegmentId>) -> io::Result<ControlFlow<()>> {
        let header = self.header(id)?;
        let bytes = self.source.size(id)?;
        if self.report.segments.is_empty() {
            self.report.first_offset = id.offset;
        }
        let mut index = SegmentIndex::new(id);
        let (read, messages) = (self.read, self.report.messages);
        let is_ours = matches!(header, HeaderState::Whole(_) | HeaderState::Damaged(_));
        if is_ours && self.walk(id, next, &mut index)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.report.segments.push(SegmentReport {
            id,
            bytes,
            messages: self.report.messages - messages,
            times_ns: (index.oldest_ns <= index.end.newest_ns)
                .then_some((index.oldest_ns, index.end.newest_ns)),
            header,
            index: self.index_state(id, &index)?,
        });
        self.report.bytes += bytes;
        self.report.end_offset = index.end.offset;
        self.read = read + bytes;
        Ok(self.report_progress())
    }

    fn header(&self, id: SegmentId) -> io::Result<HeaderState> {
        Ok(match headers::read(self.source, id)? {
            Ok((version, _)) if version != FORMAT_VERSION => HeaderState::Version(version),
            Ok((_, header)) if header.segment != id => HeaderState::Damaged(Flaw::WrongOffset),
            Ok((_, header)) if Some(header.identity) != self.report.identity => {
                HeaderState::Foreign(header.identity)
            }
            Ok((_, header)) => HeaderState::Whole(header.epoch),
            Err(Flaw::HeaderShort) => HeaderState::Torn,
            Err(flaw) => HeaderState::Damaged(flaw),
        })
    }

    /// Adds every batch of a segment to the report and the index.
    fn walk(
        &mut self,
        id: SegmentId,
        next: Option<SegmentId>,
        index: &mut SegmentIndex,
    ) -> io::Result<ControlFlow<()>> {
        loop {
            let at = index.end.in_segment(id);
            match self.step(at)? {
                ScanStep::Batch(header) => {
                    self.batch(at, &header)?;
                    index.pass(at.position, &header);
                    self.read += header.batch_bytes();
                }
                ScanStep::Damage(damage, resume) => {
                    self.report.add_damage(damage);
                    index.skip(at.position, resume.position, resume.offset);
                    self.read += resume.position - at.position;
                }
                ScanStep::Tail(flaw) => {
                    self.end(at, flaw, next)?;
                    return Ok(ControlFlow::Continue(()));
                }
            }
            if self.read >= self.reported + PROGRESS_BYTES && self.report_progress().is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    fn step(&mut self, at: JournalPosition) -> io::Result<ScanStep> {
        Scan { source: self.source, window: &mut self.window }.step(at, CheckDepth::Bodies)
    }

    /// Counts a batch whose checksum is right. Its content may still be malformed.
    fn batch(&mut self, at: JournalPosition, header: &BatchHeader) -> io::Result<()> {
        let mut scan = Scan { source: self.source, window: &mut self.window };
        let body = scan.unchecked_body(at, header)?.unwrap_or_default();
        let whole = Messages::new(header, header.split(body).0)
            .is_some_and(|messages| messages.are_whole());
        if whole {
            self.report.messages += u64::from(header.count);
            self.report.batches += 1;
            self.report.record_bytes += u64::from(header.state_bytes);
        } else {
            self.report.add_damage(at.damage(header.offsets().end, Flaw::BodyMalformed));
        }
        Ok(())
    }

    /// Reports what follows the last whole batch of a segment, unless that is the next segment or nothing.
    fn end(
        &mut self,
        at: JournalPosition,
        flaw: Option<Flaw>,
        next: Option<SegmentId>,
    ) -> io::Result<()> {
        let bytes = self.source.size(at.segment)?.saturating_sub(at.position);
        if let Some(next) = next {
            let skipped = headers::skipped(self.source, next)?;
            if let Some(damage) = missing_before(at, next, skipped, flaw) {
                self.report.add_damage(damage);
            }
        } else if let Some(flaw) = flaw {
            self.report.tail = Some(at.damage(at.offset, flaw));
            self.report.tail_bytes = bytes;
        }
        Ok(())
    }

    fn report_progress(&mut self) -> ControlFlow<()> {
        self.reported = self.read;
        (self.progress)(self.read.min(self.total), self.total)
    }

    fn index_state(&self, id: SegmentId, walked: &SegmentIndex) -> io::Result<IndexState> {
        let header = headers::trusted(self.source, id)?;
        let ours = header.filter(|header| Some(header.identity) == self.report.identity);
        let Some(header) = ours else { return Ok(IndexState::Absent) };
        Ok(match indexes::stored(self.source, &header)? {
            Ok(index) if index == *walked => IndexState::Good,
            Ok(_) => IndexState::Wrong,
            Err(None) => IndexState::Absent,
            Err(Some(flaw)) => IndexState::Unused(flaw),
        })
    }
}

fn snapshot_state(
    source: &dyn ReadSegments,
    identity: Option<JournalIdentity>,
) -> io::Result<SnapshotState> {
    let (Some(stored), Some(identity)) = (source.get(SNAPSHOT)?, identity) else {
        return Ok(SnapshotState::Absent);
    };
    Ok(match snapshot::decode(stored, identity) {
        Ok((at, state)) => SnapshotState::Whole { at, bytes: state.len() as u64 },
        Err(flaw) => SnapshotState::Damaged(flaw.to_string()),
    })
}
