//! The copy itself, from segment to segment. Never writes where it reads.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::{SalvageProgress, Salvaged};
use crate::bounds::{self, DURABLE, RESERVED};
use crate::consumers;
use crate::directory::Directory;
use crate::error::{Damage, SalvageError};
use crate::format::{BatchHeader, Flaw, Identity, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::index_file::Of;
use crate::indexes;
use crate::message::Messages;
use crate::report::DAMAGE_MAX;
use crate::reservation::Reservation;
use crate::scan::{Check, Scan, Step, Window};
use crate::segment::{Position, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::{ReadSegments, Storage, WriteSegments};

/// Bytes that are written at once.
const WRITE_BYTES: usize = 4 << 20;

/// One copy from segment to segment.
pub(super) struct Copy<'a> {
    source: &'a dyn ReadSegments,
    target: Directory,
    identity: Identity,
    /// Of the segment that is copied.
    epoch: u64,
    window: Window,
    progress: SalvageProgress<'a>,
    read: u64,
    /// Bytes of all segments of the old journal.
    pub total: u64,
    /// Where the next batch goes; none before the first.
    end: Option<Position>,
    /// Offsets that are left out before the newest segment.
    skipped: u64,
    buffer: Vec<u8>,
    /// The snapshot of the old journal, and where it stands in the new one.
    snapshot: Option<(Position, Vec<u8>)>,
    snapshot_at: Option<Position>,
    salvaged: Salvaged,
}

impl<'a> Copy<'a> {
    pub fn new(
        source: &'a dyn ReadSegments,
        target: Directory,
        identity: Identity,
        progress: SalvageProgress<'a>,
    ) -> Self {
        let stored = source.get(SNAPSHOT).ok().flatten();
        Self {
            source,
            target,
            identity,
            epoch: 0,
            window: Window::default(),
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

    /// Every batch of one segment.
    pub fn segment(
        &mut self,
        id: SegmentId,
        owner: Option<Of>,
    ) -> Result<ControlFlow<()>, SalvageError> {
        let is_foreign = match owner {
            Some(of) => of.identity != self.identity,
            None => self.is_of_another_version(id)?,
        };
        let start = self.read;
        if is_foreign {
            self.salvaged.foreign.push(id);
        } else {
            let skipped = indexes::skipped(self.source, id)?;
            // One whose header is damaged is of the epoch before it, or of a later one.
            self.epoch = owner.map_or(self.epoch, |of| of.epoch);
            self.enter(id, skipped)?;
            if self.walk(id)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.read = start + self.source.size(id)?;
        Ok((self.progress)(self.read.min(self.total), self.total))
    }

    fn is_of_another_version(&self, id: SegmentId) -> io::Result<bool> {
        let mut bytes = [0; SEGMENT_HEADER_BYTES];
        let length = self.source.read_at(id, 0, &mut bytes)?;
        Ok(SegmentHeader::decode(&bytes[..length]).is_ok())
    }

    /// Begins a segment of the new journal where one of the old begins. Offsets that were lost before it
    /// are left out, as those that its header says.
    fn enter(&mut self, id: SegmentId, skipped: u64) -> Result<(), SalvageError> {
        if let Some(end) = self.end.filter(|end| end.offset < id.offset - skipped) {
            self.damage(end.damage(id.offset - skipped, Flaw::Missing));
        }
        self.begin(id.offset)
    }

    /// Begins a segment at an offset; those before it that nothing was copied of are left out.
    fn begin(&mut self, offset: u64) -> Result<(), SalvageError> {
        self.flush()?;
        let end = self.end.unwrap_or(Position::first(SegmentId { offset, part: 0 }));
        // Damage may have made an offset look lower than it is: what is copied only ever ascends.
        let offset = offset.max(end.offset);
        let is_fresh = end.position == SEGMENT_HEADER_BYTES as u64;
        let segment = match self.end {
            Some(end) if is_fresh && end.offset == offset => end.segment,
            Some(end) => end.segment.next(offset),
            None => SegmentId { offset, part: 0 },
        };
        // One that is begun again keeps what it said.
        if self.end.is_none_or(|end| end.segment != segment) {
            self.skipped = offset - end.offset;
            self.salvaged.segments += 1;
            self.salvaged.bytes += SEGMENT_HEADER_BYTES as u64;
        }
        let (identity, epoch, skipped) = (self.identity, self.epoch, self.skipped);
        let header = SegmentHeader { identity, epoch, segment, skipped };
        self.target.begin(segment, &header.encode())?;
        self.end = Some(Position::first(segment));
        Ok(())
    }

    fn walk(&mut self, id: SegmentId) -> Result<ControlFlow<()>, SalvageError> {
        let mut at = Position::first(id);
        loop {
            self.pass_snapshot(at);
            let step =
                Scan { source: self.source, window: &mut self.window }.step(at, Check::Bodies)?;
            at = match step {
                Step::Batch(header) => {
                    self.batch(at, &header)?;
                    at.after(&header)
                }
                Step::Damage(damage, resume) => {
                    self.damage(damage);
                    self.begin(resume.offset)?;
                    resume
                }
                // What is missing up to the next segment is found there; at the very end it is torn,
                // or `durable` knows better.
                Step::Tail(_) => {
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

    /// Copies a batch as it is; one whose content does not add up is damage.
    fn batch(&mut self, at: Position, header: &BatchHeader) -> Result<(), SalvageError> {
        let mut scan = Scan { source: self.source, window: &mut self.window };
        let body = scan.unchecked_body(at, header)?.unwrap_or_default();
        let messages = Messages::new(header, header.split(body).0);
        if messages.is_none_or(|messages| !messages.are_whole()) {
            self.damage(at.damage(header.offsets().end, Flaw::BodyMalformed));
            return self.begin(header.offsets().end);
        }
        // What was not synced then is, at the end.
        self.buffer.extend_from_slice(&BatchHeader { unsynced: None, ..*header }.encode());
        self.buffer.extend_from_slice(body);
        let end = self.end.as_mut().expect("a segment was begun");
        *end = end.after(header);
        self.salvaged.messages += u64::from(header.count);
        self.salvaged.batches += 1;
        self.salvaged.bytes += header.batch_bytes();
        Ok(())
    }

    /// The state belongs to where the old journal was when it was taken, or to the first place behind it.
    fn pass_snapshot(&mut self, at: Position) {
        let Some((taken_at, _)) = &self.snapshot else { return };
        if self.snapshot_at.is_none() && at >= *taken_at {
            self.snapshot_at = self.end;
        }
    }

    fn damage(&mut self, damage: Damage) {
        if self.salvaged.damage.len() < DAMAGE_MAX {
            self.salvaged.damage.push(damage);
        } else {
            self.salvaged.more_damage += 1;
        }
    }

    fn flush(&mut self) -> Result<(), SalvageError> {
        if let Some(end) = self.end.filter(|_| !self.buffer.is_empty()) {
            self.target.append(end.segment, &self.buffer)?;
            self.target.sync(end.segment)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// What stands beside the segments: state, positions, reservation, and that all of it is durable.
    pub fn finish(mut self, from: &Path, to: &Path) -> Result<Salvaged, SalvageError> {
        let end = self.end.expect("a journal has a segment");
        let durable = bounds::durable(self.source, self.identity)?.and_then(Result::ok);
        if let Some(durable) = durable.filter(|durable| durable.offset > end.offset) {
            self.damage(end.damage(durable.offset, Flaw::Missing));
        }
        let known = durable.map_or(end.offset, |durable| durable.offset.max(end.offset));
        let given = match bounds::reserved(self.source, self.identity)? {
            Some(Ok(reserved)) => reserved.max(known),
            Some(Err(_)) => Reservation::most_after(known),
            None => known,
        };
        self.target.put(RESERVED, &bounds::encode_reserved(self.identity, given))?;
        if let Some((_, state)) = self.snapshot.take() {
            let at = self.snapshot_at.unwrap_or(end);
            self.target.put(SNAPSHOT, &snapshot::encode(self.identity, at, &state))?;
            self.salvaged.has_state = true;
        }
        self.target.put(DURABLE, &bounds::encode_durable(self.identity, end))?;
        for consumer in consumers::list(from)? {
            let Ok(mut standing) = consumer.standing else { continue };
            standing.offset = standing.offset.min(end.offset);
            match consumers::commit(to, &consumer.name, &standing) {
                Ok(()) => self.salvaged.consumers += 1,
                Err(consumers::ConsumerError::Io(error)) => return Err(error.into()),
                Err(error) => return Err(io::Error::other(error).into()),
            }
        }
        Ok(self.salvaged)
    }
}
