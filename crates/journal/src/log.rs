//! The single-threaded journal: recovers, writes whole batches, rolls segments, syncs.
//! Runs over any storage; never locks, waits or starts a thread.

use std::io::{self, ErrorKind};

use crate::error::{Cut, Damage, OpenError, Receipt};
use crate::format::{
    BatchHeader, FORMAT_VERSION, Flaw, Identity, SEGMENT_HEADER_BYTES, SegmentHeader,
};
use crate::scan::{Check, Cursor, Scan, Step, Window};
use crate::status::Mark;
use crate::storage::WriteSegments;

/// A place behind whole batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    /// One past the newest offset before it.
    pub offset: u64,
    pub mark: Mark,
}

/// What became of bytes to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrote {
    /// Whole batches written, from the first on.
    pub bytes: usize,
    /// Why the rest is not written, and can be tried again.
    pub no_space: Option<String>,
}

/// Why a write did not go on.
enum Halt {
    /// The log is as it was before; the write can be tried again.
    NoSpace(String),
    Failed(io::Error),
}

/// For everything but writes; a sync that fails is final whatever its reason.
impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl Halt {
    fn of_write(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::NoSpace(error.to_string()),
            _ => Self::Failed(error),
        }
    }
}

/// The journal's newest segment and how far it is written and synced.
#[derive(Debug)]
pub(crate) struct Log<S> {
    storage: S,
    identity: Identity,
    epoch: u64,
    segment_bytes: u64,
    active: u64,
    /// Whether the active segment's file is there.
    created: bool,
    /// Zero until the header is written and synced.
    active_bytes: u64,
    sealed_bytes: u64,
    segments: usize,
    first_offset: u64,
    written: Reached,
    synced: Reached,
}

/// What recovery learnt from the segments that were there.
struct Found {
    segments: Vec<u64>,
    /// Identity and newest epoch; `None` for a journal without a whole segment header.
    written_by: Option<(Identity, u64)>,
    next_offset: u64,
    cut: Option<Cut>,
}

impl<S: WriteSegments> Log<S> {
    /// Recovers what is there and opens a segment of its own: a segment has one writer in its life.
    /// `fresh` becomes the identity when there is no journal yet.
    pub fn open(
        mut storage: S,
        segment_bytes: u64,
        fresh: Identity,
    ) -> Result<(Self, Receipt), OpenError> {
        let found = recover(&mut storage)?;
        let (identity, epoch) = found.written_by.unwrap_or((fresh, 0));
        let start = Reached { offset: found.next_offset, mark: 0 };
        let taken_over = found.segments.last() == Some(&found.next_offset);
        let sealed = &found.segments[..found.segments.len() - usize::from(taken_over)];
        let mut log = Self {
            sealed_bytes: total_bytes(&storage, sealed)?,
            storage,
            identity,
            epoch: epoch.saturating_add(1),
            segment_bytes,
            active: found.next_offset,
            created: taken_over,
            active_bytes: 0,
            segments: found.segments.len(),
            first_offset: found.segments.first().copied().unwrap_or(found.next_offset),
            written: start,
            synced: start,
        };
        if let Err(Halt::Failed(error)) = log.start_segment() {
            return Err(error.into());
        }
        let receipt = log.receipt(found.cut);
        Ok((log, receipt))
    }

    pub fn identity(&self) -> Identity {
        self.identity
    }

    pub fn first_offset(&self) -> u64 {
        self.first_offset
    }

    /// What a killed process leaves behind.
    pub fn written(&self) -> Reached {
        self.written
    }

    /// What a power cut leaves behind.
    pub fn synced(&self) -> Reached {
        self.synced
    }

    pub fn is_synced(&self) -> bool {
        self.synced == self.written
    }

    pub fn segments(&self) -> usize {
        self.segments
    }

    pub fn bytes(&self) -> u64 {
        self.sealed_bytes + self.active_bytes
    }

    /// Writes encoded batches, which follow each other from `written` on, with as few writes as the
    /// segment size allows. With `bytes_max` stored there is no space for more.
    pub fn write(&mut self, batches: &[u8], bytes_max: Option<u64>) -> io::Result<Wrote> {
        let start = self.written.mark;
        let mut done = 0;
        while done < batches.len() {
            let halted = self.write_some(&batches[done..], bytes_max);
            done = (self.written.mark - start) as usize;
            match halted {
                Ok(()) => {}
                Err(Halt::NoSpace(why)) => return Ok(Wrote { bytes: done, no_space: Some(why) }),
                Err(Halt::Failed(error)) => return Err(error),
            }
        }
        Ok(Wrote { bytes: done, no_space: None })
    }

    /// Writes what fits the active segment, or begins the next.
    fn write_some(&mut self, batches: &[u8], bytes_max: Option<u64>) -> Result<(), Halt> {
        let bytes_max = bytes_max.unwrap_or(u64::MAX);
        if self.bytes() >= bytes_max {
            let why = format!("the journal has {} bytes, {bytes_max} are allowed", self.bytes());
            return Err(Halt::NoSpace(why));
        }
        if self.active_bytes == 0 {
            self.start_segment()?;
        }
        let fitting = self.fitting(batches, bytes_max);
        if fitting.is_empty() {
            return self.roll();
        }
        match self.storage.append(self.active, fitting).map_err(Halt::of_write) {
            Ok(()) => {
                self.advance(fitting);
                Ok(())
            }
            Err(Halt::NoSpace(why)) => {
                self.keep_whole(fitting)?;
                Err(Halt::NoSpace(why))
            }
            failed => failed,
        }
    }

    /// After a write that found no space for all of `batches`: keeps the whole ones and cuts the
    /// rest off.
    fn keep_whole(&mut self, batches: &[u8]) -> io::Result<()> {
        let there = self.storage.size(self.active)?.saturating_sub(self.active_bytes) as usize;
        let whole = take_batches(batches, |end, _| end <= there);
        self.storage.truncate(self.active, self.active_bytes + whole.len() as u64)?;
        self.advance(whole);
        Ok(())
    }

    fn advance(&mut self, batches: &[u8]) {
        self.active_bytes += batches.len() as u64;
        self.written.mark += batches.len() as u64;
        let mut rest = batches;
        while !rest.is_empty() {
            let header = encoded_header(rest);
            self.written.offset = header.offsets().end;
            rest = &rest[header.batch_bytes() as usize..];
        }
    }

    pub fn sync(&mut self) -> io::Result<()> {
        if !self.is_synced() {
            self.storage.sync(self.active)?;
            self.synced = self.written;
        }
        Ok(())
    }

    /// Syncs, and leaves an empty segment as the last: what a clean close wrote is never mistaken
    /// for a torn tail. Where there is no space for that, recovery looks at the tail again.
    pub fn seal(&mut self) -> io::Result<()> {
        self.sync()?;
        let rolled = if self.is_fresh() { Ok(()) } else { self.roll() };
        if let Err(Halt::Failed(error)) = rolled { Err(error) } else { Ok(()) }
    }

    fn is_fresh(&self) -> bool {
        self.active_bytes <= SEGMENT_HEADER_BYTES as u64
    }

    /// The batches that go into the active segment. A batch larger than a segment gets a segment
    /// for itself.
    fn fitting<'a>(&self, batches: &'a [u8], bytes_max: u64) -> &'a [u8] {
        let room = self.segment_bytes.saturating_sub(self.active_bytes);
        let allowed = bytes_max - self.bytes();
        // A segment is named by its offset, so one without messages has no successor yet.
        let fresh = self.written.offset == self.active;
        take_batches(batches, |end, start| {
            (end as u64 <= room || (start == 0 && fresh)) && (start as u64) < allowed
        })
    }

    /// The full segment is synced before the next exists: only the last segment can have a torn
    /// tail.
    fn roll(&mut self) -> Result<(), Halt> {
        self.sync()?;
        self.sealed_bytes += self.active_bytes;
        (self.active, self.active_bytes, self.created) = (self.written.offset, 0, false);
        self.start_segment()
    }

    /// The header is synced before a batch follows it, so a damaged header is never a torn one.
    fn start_segment(&mut self) -> Result<(), Halt> {
        if self.created {
            self.storage.truncate(self.active, 0)?;
        } else {
            self.storage.create(self.active).map_err(Halt::of_write)?;
            self.created = true;
            self.segments += 1;
        }
        let (identity, epoch) = (self.identity, self.epoch);
        let header = SegmentHeader { identity, epoch, base_offset: self.active }.encode();
        self.storage.append(self.active, &header).map_err(Halt::of_write)?;
        self.storage.sync(self.active)?;
        self.active_bytes = header.len() as u64;
        Ok(())
    }

    fn receipt(&self, cut: Option<Cut>) -> Receipt {
        Receipt {
            identity: self.identity,
            epoch: self.epoch,
            first_offset: self.first_offset,
            next_offset: self.written.offset,
            segments: self.segments,
            cut,
        }
    }
}

fn encoded_header(batches: &[u8]) -> BatchHeader {
    BatchHeader::decode(batches).expect("the journal encoded it")
}

/// The first of some encoded batches for which `fits(end, start)` holds.
fn take_batches(batches: &[u8], fits: impl Fn(usize, usize) -> bool) -> &[u8] {
    let mut taken = 0;
    while taken < batches.len() {
        let end = taken + encoded_header(&batches[taken..]).batch_bytes() as usize;
        if !fits(end, taken) {
            break;
        }
        taken = end;
    }
    &batches[..taken]
}

fn total_bytes<S: WriteSegments>(storage: &S, segments: &[u64]) -> io::Result<u64> {
    segments.iter().map(|segment| storage.size(*segment)).sum()
}

/// Looks at the last segment only: the others were synced whole before it existed.
fn recover<S: WriteSegments>(storage: &mut S) -> Result<Found, OpenError> {
    let segments = storage.segments()?;
    let Some(&last) = segments.last() else {
        return Ok(Found { segments, written_by: None, next_offset: 0, cut: None });
    };
    let (written_by, next_offset, cut) = match segment_header(storage, last)? {
        Some(header) => {
            let (next_offset, cut) = cut_tail(storage, last)?;
            (Some((header.identity, header.epoch)), next_offset, cut)
        }
        None => (header_before(storage, &segments)?, last, None),
    };
    Ok(Found { segments, written_by, next_offset, cut })
}

/// The last segment was being born: its predecessor knows whose it is.
fn header_before<S: WriteSegments>(
    storage: &S,
    segments: &[u64],
) -> Result<Option<(Identity, u64)>, OpenError> {
    let Some(&before) = segments.iter().rev().nth(1) else { return Ok(None) };
    let header = segment_header(storage, before)?;
    Ok(header.map(|header| (header.identity, header.epoch)))
}

/// A segment's header, or `None` when it is torn.
fn segment_header<S: WriteSegments>(
    storage: &S,
    segment: u64,
) -> Result<Option<SegmentHeader>, OpenError> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES + 1];
    let length = storage.read_at(segment, 0, &mut bytes)?;
    match SegmentHeader::decode(&bytes[..length]) {
        Ok((FORMAT_VERSION, header)) if header.base_offset == segment => Ok(Some(header)),
        Ok((FORMAT_VERSION, _)) => Err(damaged_header(segment, Flaw::WrongOffset)),
        Ok((version, _)) => Err(OpenError::Version { segment, version, known: FORMAT_VERSION }),
        Err(_) if length <= SEGMENT_HEADER_BYTES => Ok(None),
        Err(flaw) => Err(damaged_header(segment, flaw)),
    }
}

fn damaged_header(segment: u64, flaw: Flaw) -> OpenError {
    Damage { segment, position: 0, offsets: segment..segment, flaw }.into()
}

fn cut_tail<S: WriteSegments>(storage: &mut S, segment: u64) -> io::Result<(u64, Option<Cut>)> {
    let (end, tail) = last_whole_batch(storage, segment)?;
    let (flaw, set_aside) = match tail {
        Step::Tail(None) | Step::Batch(_) => return Ok((end.offset, None)),
        Step::Tail(Some(flaw)) => (flaw, false),
        Step::Damage(damage, _) => (damage.flaw, true),
    };
    let position = end.position;
    let bytes = storage.size(segment)?.saturating_sub(position);
    if set_aside {
        storage.set_aside(segment, position)?;
    }
    storage.truncate(segment, position)?;
    storage.sync(segment)?;
    Ok((end.offset, Some(Cut { segment, position, bytes, flaw, set_aside })))
}

/// The end of the unbroken run of batches, and what stands there.
fn last_whole_batch<S: WriteSegments>(storage: &S, segment: u64) -> io::Result<(Cursor, Step)> {
    let mut window = Window::default();
    let mut scan = Scan { source: storage, window: &mut window };
    let mut at = Cursor::first(segment);
    loop {
        match scan.step(at, Check::Bodies)? {
            Step::Batch(header) => at = at.after(&header),
            tail => return Ok((at, tail)),
        }
    }
}
