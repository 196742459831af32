//! Reads every byte of a journal and says how it is. Never writes, locks or repairs; the broker may
//! be writing meanwhile.

use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::path::Path;

use crate::consumers::{self, Consumer};
use crate::directory::Directory;
use crate::error::ReadError;
use crate::format::{
    BatchHeader, FORMAT_VERSION, Flaw, Identity, SEGMENT_HEADER_BYTES, SegmentHeader,
};
use crate::index::Index;
use crate::index_file::Of;
use crate::indexes;
use crate::message::Messages;
use crate::reader::missing_before;
use crate::report::{Head, IndexState, Report, SegmentReport, SnapshotState, Tail};
use crate::scan::{Check, Scan, Step, Window};
use crate::segment::{Position, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::ReadSegments;

/// How often progress is told.
const TOLD_BYTES: u64 = 4 << 20;

/// Told of bytes read and of all there are; a break ends the check.
pub type CheckProgress<'a> = &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// Checks the journal in a directory. None when `progress` broke it off.
pub fn check(dir: &Path, progress: CheckProgress<'_>) -> Result<Option<Report>, ReadError> {
    let storage = Directory::new(dir);
    if !dir.is_dir() || storage.segments()?.is_empty() {
        return Err(ReadError::NoJournal(dir.to_owned()));
    }
    Ok(check_over(&storage, consumers::list(dir)?, progress)?)
}

pub(crate) fn check_over(
    source: &dyn ReadSegments,
    consumers: Vec<Consumer>,
    progress: CheckProgress<'_>,
) -> io::Result<Option<Report>> {
    let segments = source.segments()?;
    let mut walk = Walk::new(source, &segments, progress)?;
    for (number, id) in segments.iter().enumerate() {
        let next = segments.get(number + 1).copied();
        match walk.segment(*id, next) {
            // Retention was faster.
            Err(error) if error.kind() == ErrorKind::NotFound && next.is_some() => {}
            walked => {
                if walked?.is_break() {
                    return Ok(None);
                }
            }
        }
    }
    let snapshot = snapshot_state(source, walk.report.identity)?;
    Ok(Some(Report { snapshot, consumers, ..walk.report }))
}

/// One walk over all segments.
struct Walk<'a> {
    source: &'a dyn ReadSegments,
    window: Window,
    report: Report,
    progress: CheckProgress<'a>,
    read: u64,
    told: u64,
    total: u64,
}

impl<'a> Walk<'a> {
    fn new(
        source: &'a dyn ReadSegments,
        segments: &[SegmentId],
        progress: CheckProgress<'a>,
    ) -> io::Result<Self> {
        let (mut identity, mut total) = (None, 0);
        for id in segments {
            total += source.size(*id)?;
            identity = identity.or(indexes::owner(source, *id)?.map(|of| of.identity));
        }
        let report = Report::new(identity);
        Ok(Self { source, window: Window::default(), report, progress, read: 0, told: 0, total })
    }

    fn segment(&mut self, id: SegmentId, next: Option<SegmentId>) -> io::Result<ControlFlow<()>> {
        let head = self.head(id)?;
        let bytes = self.source.size(id)?;
        if self.report.segments.is_empty() {
            self.report.first_offset = id.offset;
        }
        let mut index = Index::new(id);
        let (read, messages) = (self.read, self.report.messages);
        let is_ours = matches!(head, Head::Whole(_) | Head::Damaged(_));
        if is_ours && self.walk(id, next, &mut index)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.report.segments.push(SegmentReport {
            id,
            bytes,
            messages: self.report.messages - messages,
            times_ns: (index.oldest_ns <= index.end.newest_ns)
                .then_some((index.oldest_ns, index.end.newest_ns)),
            head,
            index: self.index_state(id, head, &index)?,
        });
        self.report.bytes += bytes;
        self.report.end_offset = index.end.offset;
        self.read = read + bytes;
        Ok(self.tell())
    }

    fn head(&self, id: SegmentId) -> io::Result<Head> {
        let mut bytes = [0; SEGMENT_HEADER_BYTES];
        let length = self.source.read_at(id, 0, &mut bytes)?;
        Ok(match SegmentHeader::decode(&bytes[..length]) {
            Ok((version, _)) if version != FORMAT_VERSION => Head::Version(version),
            Ok((_, header)) if header.segment != id => Head::Damaged(Flaw::WrongOffset),
            Ok((_, header)) if Some(header.identity) != self.report.identity => {
                Head::Foreign(header.identity)
            }
            Ok((_, header)) => Head::Whole(header.epoch),
            Err(Flaw::HeaderShort) => Head::Torn,
            Err(flaw) => Head::Damaged(flaw),
        })
    }

    /// Every batch of a segment, into the report and the index.
    fn walk(
        &mut self,
        id: SegmentId,
        next: Option<SegmentId>,
        index: &mut Index,
    ) -> io::Result<ControlFlow<()>> {
        loop {
            let at = index.end_in(id);
            match self.step(at)? {
                Step::Batch(header) => {
                    self.batch(at, &header)?;
                    index.pass(at.position, &header);
                    self.read += header.batch_bytes();
                }
                Step::Damage(damage, resume) => {
                    self.report.add_damage(damage);
                    index.skip(at.position, resume.position, resume.offset);
                    self.read += resume.position - at.position;
                }
                Step::Tail(flaw) => {
                    self.end(at, flaw, next)?;
                    return Ok(ControlFlow::Continue(()));
                }
            }
            if self.read >= self.told + TOLD_BYTES && self.tell().is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    fn step(&mut self, at: Position) -> io::Result<Step> {
        Scan { source: self.source, window: &mut self.window }.step(at, Check::Bodies)
    }

    /// Counts a batch whose checksum holds; what it says may still not add up.
    fn batch(&mut self, at: Position, header: &BatchHeader) -> io::Result<()> {
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

    /// What stands behind the last whole batch: the next segment, nothing, or what is wrong.
    fn end(&mut self, at: Position, flaw: Option<Flaw>, next: Option<SegmentId>) -> io::Result<()> {
        let bytes = self.source.size(at.segment)?.saturating_sub(at.position);
        match (next, flaw) {
            (Some(next), flaw) => {
                let skipped = indexes::skipped(self.source, next)?;
                if let Some(damage) = missing_before(at, next, skipped, flaw) {
                    self.report.add_damage(damage);
                }
            }
            (None, Some(flaw)) => self.report.tail = Some(Tail { at, bytes, flaw }),
            (None, None) => {}
        }
        Ok(())
    }

    fn tell(&mut self) -> ControlFlow<()> {
        self.told = self.read;
        (self.progress)(self.read.min(self.total), self.total)
    }

    fn index_state(&self, id: SegmentId, head: Head, walked: &Index) -> io::Result<IndexState> {
        let (Head::Whole(epoch), Some(identity)) = (head, self.report.identity) else {
            return Ok(IndexState::Absent);
        };
        let of = Of { identity, epoch, segment: id };
        Ok(match indexes::stored(self.source, &of)? {
            Ok(index) if index == *walked => IndexState::Good,
            Ok(_) => IndexState::Wrong,
            Err(None) => IndexState::Absent,
            Err(Some(flaw)) => IndexState::Unused(flaw),
        })
    }
}

fn snapshot_state(
    source: &dyn ReadSegments,
    identity: Option<Identity>,
) -> io::Result<SnapshotState> {
    let (Some(stored), Some(identity)) = (source.get(SNAPSHOT)?, identity) else {
        return Ok(SnapshotState::Absent);
    };
    Ok(match snapshot::decode(stored, identity) {
        Ok((at, state)) => SnapshotState::Whole { at, bytes: state.len() as u64 },
        Err(flaw) => SnapshotState::Damaged(flaw.to_string()),
    })
}
