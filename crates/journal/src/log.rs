//! The single-threaded journal: recovers, writes whole batches, rolls segments, syncs.
//! Runs over any storage; never locks, waits or starts a thread.

use std::io;

use crate::error::{Cut, Damage, OpenError, Receipt};
use crate::format::{
    BatchHeader, FORMAT_VERSION, Flaw, Identity, SEGMENT_HEADER_BYTES, SegmentHeader,
};
use crate::scan::{Check, Cursor, Scan, Step, Window};
use crate::storage::WriteSegments;

/// The journal's newest segment and how far it is written and synced.
#[derive(Debug)]
pub(crate) struct Log<S> {
    storage: S,
    identity: Identity,
    epoch: u64,
    segment_bytes: u64,
    active: u64,
    active_bytes: u64,
    sealed_bytes: u64,
    segments: usize,
    first_offset: u64,
    written: u64,
    synced: u64,
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
        let mut log = Self {
            sealed_bytes: total_bytes(&storage, &found.segments)?,
            storage,
            identity,
            epoch: epoch.saturating_add(1),
            segment_bytes,
            active: found.next_offset,
            active_bytes: 0,
            segments: found.segments.len(),
            first_offset: found.segments.first().copied().unwrap_or(found.next_offset),
            written: found.next_offset,
            synced: found.next_offset,
        };
        log.start_segment(found.segments.last() == Some(&found.next_offset))?;
        let receipt = log.receipt(found.cut);
        Ok((log, receipt))
    }

    pub fn identity(&self) -> Identity {
        self.identity
    }

    pub fn first_offset(&self) -> u64 {
        self.first_offset
    }

    /// One past the newest offset that a killed process leaves behind.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// One past the newest offset that a power cut leaves behind.
    pub fn synced(&self) -> u64 {
        self.synced
    }

    pub fn segments(&self) -> usize {
        self.segments
    }

    pub fn bytes(&self) -> u64 {
        self.sealed_bytes + self.active_bytes
    }

    /// Writes encoded batches, which follow each other from `written` on, with as few writes as the
    /// segment size allows.
    pub fn write(&mut self, mut batches: &[u8]) -> io::Result<()> {
        while !batches.is_empty() {
            let (bytes, next_offset) = self.fitting(batches);
            if bytes == 0 {
                self.roll()?;
                continue;
            }
            self.storage.append(self.active, &batches[..bytes])?;
            self.active_bytes += bytes as u64;
            self.written = next_offset;
            batches = &batches[bytes..];
        }
        Ok(())
    }

    pub fn sync(&mut self) -> io::Result<()> {
        if self.synced < self.written {
            self.storage.sync(self.active)?;
            self.synced = self.written;
        }
        Ok(())
    }

    /// Syncs, and leaves an empty segment as the last: what a clean close wrote is never mistaken
    /// for a torn tail.
    pub fn seal(&mut self) -> io::Result<()> {
        if self.is_fresh() { self.sync() } else { self.roll() }
    }

    fn is_fresh(&self) -> bool {
        self.active_bytes <= SEGMENT_HEADER_BYTES as u64
    }

    /// How many of the bytes go into the active segment, and the offset after them. A batch larger
    /// than a segment gets a segment for itself.
    fn fitting(&self, batches: &[u8]) -> (usize, u64) {
        let room = self.segment_bytes.saturating_sub(self.active_bytes) as usize;
        let (mut taken, mut offset) = (0, self.written);
        while taken < batches.len() {
            let header = BatchHeader::decode(&batches[taken..]).expect("the journal encoded it");
            let end = taken + header.batch_bytes() as usize;
            let alone = taken == 0 && self.is_fresh();
            if end > room && !alone {
                break;
            }
            (taken, offset) = (end, header.offsets().end);
        }
        (taken, offset)
    }

    /// The full segment is synced before the next exists: only the last segment can have a torn
    /// tail.
    fn roll(&mut self) -> io::Result<()> {
        self.sync()?;
        self.sealed_bytes += self.active_bytes;
        self.active = self.written;
        self.start_segment(false)
    }

    /// The header is synced before a batch follows it, so a damaged header is never a torn one.
    fn start_segment(&mut self, exists: bool) -> io::Result<()> {
        if exists {
            self.sealed_bytes -= self.storage.size(self.active)?;
            self.storage.truncate(self.active, 0)?;
        } else {
            self.storage.create(self.active)?;
            self.segments += 1;
        }
        let (identity, epoch) = (self.identity, self.epoch);
        let header = SegmentHeader { identity, epoch, base_offset: self.active }.encode();
        self.storage.append(self.active, &header)?;
        self.active_bytes = header.len() as u64;
        self.storage.sync(self.active)
    }

    fn receipt(&self, cut: Option<Cut>) -> Receipt {
        Receipt {
            identity: self.identity,
            epoch: self.epoch,
            first_offset: self.first_offset,
            next_offset: self.written,
            segments: self.segments,
            cut,
        }
    }
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
