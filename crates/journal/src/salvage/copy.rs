//! The copy of a damaged journal, segment by segment. Never writes to the source.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::Salvaged;
use crate::consumers;
use crate::directory::Directory;
use crate::error::{Damage, SalvageError};
use crate::format::{BatchHeader, Flaw, JournalIdentity, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::headers;
use crate::message::Messages;
use crate::report::{ByteProgress, list_damage};
use crate::reservation::Reservation;
use crate::scan::{CheckDepth, ReadWindow, Scan, ScanStep};
use crate::segment::{JournalPosition, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::{ReadSegments, Storage, WriteSegments};
use crate::watermarks::{self, DURABLE, RESERVED};

/// Bytes that are written at once.
const WRITE_BYTES: usize = 4 << 20;

/// A copy in progress.
pub(super) struct SalvageCopy<'a> {
    source: &'a dyn ReadSegments,
    target: Directory,
    identity: JournalIdentity,
    /// The epoch of the segment that is being copied.
    epoch: u64,
    window: ReadWindow,
    progress: ByteProgress<'a>,
    read: u64,
    /// Bytes of all segments of the source.
    pub total: u64,
    /// Where the next batch goes; `None` before the first segment.
    end: Option<JournalPosition>,
    /// How many offsets directly before the newest segment no message has.
    skipped: u64,
    buffer: Vec<u8>,
    /// The snapshot of the source.
    snapshot: Option<(JournalPosition, Vec<u8>)>,
    /// The snapshot's position in the copy, once the copy has come that far.
    snapshot_at: Option<JournalPosition>,
    salvaged: Salvaged,
}

impl<'a> SalvageCopy<'a> {
    pub fn new(
        source: &'a dyn ReadSegments,
        target: Directory,
        identity: JournalIdentity,
        progress: ByteProgress<'a>,
    ) -> Self {
        let stored = source.get(SNAPSHOT).ok().flatten();
        Self {
            source,
            target,
            identity,
            epoch: 0,
            window: ReadWindow::default(),
            progress,
            read: 0,
            total: 0,
            end: None,
            skipped: 0,
            buffer: Vec::new(),
            snapshot: stored.and_then(|bytes| snapshot::decode(bytes, identity).ok()),
            snapshot_at: None,
            salvaged: Salvaged::default(),
        }
    }

    /// Copies one segment, whose header is given if it can be trusted.
    pub fn segment(
        &mut self,
        id: SegmentId,
        header: Option<SegmentHeader>,
    ) -> Result<ControlFlow<()>, SalvageError> {
        let is_foreign = match header {
            Some(header) => header.identity != self.identity,
            // A whole header that cannot be trusted is of another version or another segment.
            None => headers::read(self.source, id)?.is_ok(),
        };
        let start = self.read;
        if is_foreign {
            self.salvaged.foreign.push(id);
        } else {
            // A segment with a damaged header is of the same epoch as the one before it, or of a later one.
            self.epoch = header.map_or(self.epoch, |header| header.epoch);
            self.enter(id, header.map_or(0, |header| header.skipped))?;
            if self.walk(id)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.read = start + self.source.size(id)?;
        Ok((self.progress)(self.read.min(self.total), self.total))
    }

    /// Begins a segment in the copy where one begins in the source. Offsets that were lost before it have
    /// no message in the copy, like those that its header says were skipped.
    fn enter(&mut self, id: SegmentId, skipped: u64) -> Result<(), SalvageError> {
        if let Some(end) = self.end.filter(|end| end.offset < id.offset - skipped) {
            self.damage(end.damage(id.offset - skipped, Flaw::Missing));
        }
        self.begin(id.offset)
    }

    /// Begins a segment at an offset. Its header says that the offsets since the end of the copy are
    /// skipped.
    fn begin(&mut self, offset: u64) -> Result<(), SalvageError> {
        self.flush()?;
        let end = self.end.unwrap_or(JournalPosition::first(SegmentId { offset, part: 0 }));
        // Damage can make an offset look lower than it is; the offsets of the copy only ascend.
        let offset = offset.max(end.offset);
        let is_fresh = end.position == SEGMENT_HEADER_BYTES as u64;
        let segment = match self.end {
            Some(end) if is_fresh && end.offset == offset => end.segment,
            Some(end) => end.segment.next(offset),
            None => SegmentId { offset, part: 0 },
        };
        // An empty segment that is begun again keeps its `skipped`.
        if self.end.is_none_or(|end| end.segment != segment) {
            self.skipped = offset - end.offset;
            self.salvaged.segments += 1;
            self.salvaged.bytes += SEGMENT_HEADER_BYTES as u64;
        }
        let (identity, epoch, skipped) = (self.identity, self.epoch, self.skipped);
        let header = SegmentHeader { identity, epoch, segment, skipped };
        self.target.begin(segment, &header.encode())?;
        self.end = Some(JournalPosition::first(segment));
        Ok(())
    }

    fn walk(&mut self, id: SegmentId) -> Result<ControlFlow<()>, SalvageError> {
        let mut at = JournalPosition::first(id);
        loop {
            self.pass_snapshot(at);
            let step = Scan { source: self.source, window: &mut self.window }
                .step(at, CheckDepth::Bodies)?;
            at = match step {
                ScanStep::Batch(header) => {
                    self.batch(at, &header)?;
                    at.after(&header)
                }
                ScanStep::Damage(damage, resume) => {
                    self.damage(damage);
                    self.begin(resume.offset)?;
                    resume
                }
                // Offsets missing before the next segment are found in `enter`. At the end of the journal
                // the tail is torn, unless `durable` says that more was synced.
                ScanStep::Tail(_) => {
                    self.flush()?;
                    return Ok(ControlFlow::Continue(()));
                }
            };
            if self.buffer.len() >= WRITE_BYTES {
                self.flush()?;
                self.read += WRITE_BYTES as u64;
                if (self.progress)(self.read.min(self.total), self.total).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
    }

    /// Copies a batch unchanged. A batch whose content is malformed counts as damage.
    fn batch(&mut self, at: JournalPosition, header: &BatchHeader) -> Result<(), SalvageError> {
        let mut scan = Scan { source: self.source, window: &mut self.window };
        let body = scan.unchecked_body(at, header)?.unwrap_or_default();
        let messages = Messages::new(header, header.split(body).0);
        if messages.is_none_or(|messages| !messages.are_whole()) {
            self.damage(at.damage(header.offsets().end, Flaw::BodyMalformed));
            return self.begin(header.offsets().end);
        }
        // The distance to the synced end is not true for the copy.
        self.buffer.extend_from_slice(&BatchHeader { unsynced: None, ..*header }.encode());
        self.buffer.extend_from_slice(body);
        let end = self.end.as_mut().expect("a segment was begun");
        *end = end.after(header);
        self.salvaged.messages += u64::from(header.count);
        self.salvaged.batches += 1;
        self.salvaged.bytes += header.batch_bytes();
        Ok(())
    }

    /// Notes where the snapshot belongs in the copy: at its position in the source, or at the first
    /// position behind it.
    fn pass_snapshot(&mut self, at: JournalPosition) {
        let Some((taken_at, _)) = &self.snapshot else { return };
        if self.snapshot_at.is_none() && at >= *taken_at {
            self.snapshot_at = self.end;
        }
    }

    fn damage(&mut self, damage: Damage) {
        list_damage(&mut self.salvaged.damage, &mut self.salvaged.more_damage, damage);
    }

    fn flush(&mut self) -> Result<(), SalvageError> {
        if let Some(end) = self.end.filter(|_| !self.buffer.is_empty()) {
            self.target.append(end.segment, &self.buffer)?;
            self.target.sync(end.segment)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Writes the files beside the segments: reservation, snapshot, `durable` and the consumers'
    /// positions.
    pub fn finish(mut self, from: &Path, to: &Path) -> Result<Salvaged, SalvageError> {
        let end = self.end.expect("a journal has a segment");
        let durable = watermarks::durable(self.source, self.identity)?.and_then(Result::ok);
        if let Some(durable) = durable.filter(|durable| durable.offset > end.offset) {
            self.damage(end.damage(durable.offset, Flaw::Missing));
        }
        let known = durable.map_or(end.offset, |durable| durable.offset.max(end.offset));
        let given = match watermarks::reserved(self.source, self.identity)? {
            Some(Ok(reserved)) => reserved.max(known),
            Some(Err(_)) => Reservation::most_after(known),
            None => known,
        };
        self.target.put(RESERVED, &watermarks::encode_reserved(self.identity, given))?;
        if let Some((_, state)) = self.snapshot.take() {
            let at = self.snapshot_at.unwrap_or(end);
            self.target.put(SNAPSHOT, &snapshot::encode(self.identity, at, &state))?;
            self.salvaged.has_state = true;
        }
        self.target.put(DURABLE, &watermarks::encode_durable(self.identity, end))?;
        for consumer in consumers::list(from)? {
            let Ok(mut position) = consumer.position else { continue };
            position.offset = position.offset.min(end.offset);
            match consumers::commit(to, &consumer.name, &position) {
                Ok(()) => self.salvaged.consumers += 1,
                Err(consumers::ConsumerError::Io(error)) => return Err(error.into()),
                Err(error) => return Err(io::Error::other(error).into()),
            }
        }
        Ok(self.salvaged)
    }
}
