//! Copies what is whole in a damaged journal into a new one: the same identity, the same offsets. Never
//! writes where it reads.

use std::fs::{self, File};
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::bounds::{self, DURABLE, RESERVED};
use crate::consumers;
use crate::directory::{Directory, name_error};
use crate::error::{Damage, OpenError, SalvageError};
use crate::format::{BatchHeader, Flaw, Identity, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::hold::{Hold, make_folder};
use crate::index_file::Of;
use crate::indexes;
use crate::message::Messages;
use crate::report::DAMAGE_MAX;
use crate::scan::{Check, Scan, Step, Window};
use crate::segment::{Position, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::{ReadSegments, Storage, WriteSegments};

/// Bytes that are written at once.
const WRITE_BYTES: usize = 4 << 20;

/// What was copied, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Messages that were copied.
    pub messages: u64,
    /// Whole batches, those without messages included.
    pub batches: u64,
    /// Bytes of the new segments.
    pub bytes: u64,
    /// Segments that were made.
    pub segments: usize,
    /// Places that could not be read, in order, up to `DAMAGE_MAX`.
    pub damage: Vec<Damage>,
    /// Damaged places that are not named.
    pub more_damage: u64,
    /// Segments of another journal or version, which were not looked at.
    pub foreign: Vec<SegmentId>,
    /// Whether the state of sessions came along.
    pub has_state: bool,
    /// Consumers whose positions were copied.
    pub consumers: usize,
}

/// Told of bytes read and of all there are; a break ends the salvage.
pub type SalvageProgress<'a> = &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// Copies every whole batch of the journal in `from` into `to`, which must be empty or not there. None
/// when `progress` broke it off; `to` is then not a whole journal.
pub fn salvage(
    from: &Path,
    to: &Path,
    progress: SalvageProgress<'_>,
) -> Result<Option<Salvaged>, SalvageError> {
    if !from.is_dir() {
        return Err(SalvageError::NoJournal(from.to_owned()));
    }
    let _unused = refuse_held(from)?;
    let source = Directory::new(from);
    let segments = source.segments()?;
    let owners = segments.iter().map(|segment| indexes::owner(&source, *segment));
    let owners = owners.collect::<io::Result<Vec<_>>>()?;
    // The newest header that is whole says whose journal it is.
    let newest = owners.iter().rev().flatten().next();
    let newest = *newest.ok_or_else(|| SalvageError::NoJournal(from.to_owned()))?;
    if to.exists() && fs::read_dir(to)?.next().is_some() {
        return Err(SalvageError::NotEmpty(to.to_owned()));
    }
    make_folder(to)?;
    let hold = std::sync::Arc::new(Hold::take(to)?);
    let mut copy = Copy::new(&source, Directory::held(to, &hold), newest, progress);
    for segment in &segments {
        copy.total += source.size(*segment)?;
    }
    for (segment, owner) in segments.into_iter().zip(owners) {
        if copy.segment(segment, owner)?.is_break() {
            return Ok(None);
        }
    }
    copy.finish(from, to).map(Some)
}

/// Holds a folder that nobody else may write meanwhile, without writing to it.
fn refuse_held(dir: &Path) -> Result<Vec<File>, SalvageError> {
    let mut held = Vec::new();
    for path in [dir.to_owned(), dir.join("lock")].iter().filter(|path| path.exists()) {
        let file = name_error(File::open(path), "open", path)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            return Err(OpenError::Locked(dir.to_owned()).into());
        }
        held.push(file);
    }
    Ok(held)
}

/// One copy from segment to segment.
struct Copy<'a> {
    source: &'a Directory,
    target: Directory,
    identity: Identity,
    /// Of the segment that is copied.
    epoch: u64,
    window: Window,
    progress: SalvageProgress<'a>,
    read: u64,
    total: u64,
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
    fn new(
        source: &'a Directory,
        target: Directory,
        newest: Of,
        progress: SalvageProgress<'a>,
    ) -> Self {
        let stored = source.get(SNAPSHOT).ok().flatten();
        Self {
            source,
            target,
            identity: newest.identity,
            epoch: 0,
            window: Window::default(),
            progress,
            read: 0,
            total: 0,
            end: None,
            skipped: 0,
            buffer: Vec::new(),
            snapshot: stored.and_then(|bytes| snapshot::decode(bytes, newest.identity).ok()),
            snapshot_at: None,
            salvaged: Salvaged::default(),
        }
    }

    /// Every batch of one segment.
    fn segment(
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
    fn finish(mut self, from: &Path, to: &Path) -> Result<Salvaged, SalvageError> {
        let end = self.end.expect("a journal has a segment");
        let durable = bounds::durable(self.source, self.identity)?.and_then(Result::ok);
        let reserved = bounds::reserved(self.source, self.identity)?.and_then(Result::ok);
        if let Some(durable) = durable.filter(|durable| durable.offset > end.offset) {
            self.damage(end.damage(durable.offset, Flaw::Missing));
        }
        let given = [durable.map(|at| at.offset), reserved].into_iter().flatten().max();
        let given = given.unwrap_or(0).max(end.offset);
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

impl Salvaged {
    /// How many messages were lost, as far as their offsets tell.
    pub fn lost(&self) -> u64 {
        self.damage.iter().map(|damage| length(&damage.offsets)).sum()
    }

    /// Whether everything was copied.
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty() && self.foreign.is_empty()
    }
}

fn length(offsets: &Range<u64>) -> u64 {
    offsets.end.saturating_sub(offsets.start)
}
