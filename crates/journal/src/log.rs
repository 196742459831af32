//! The single-threaded journal: writes whole batches, rolls segments, syncs.
//! Runs over any storage; never locks, waits or starts a thread.

use std::io::{self, ErrorKind};

use crate::error::OpenError;
use crate::format::{Identity, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::index::Index;
use crate::index_file::{self, Of};
use crate::receipt::Receipt;
use crate::recover::recover;
use crate::run::Run;
use crate::segment::{Position, SegmentId};
use crate::status::Mark;
use crate::storage::Storage;

/// A place behind whole batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    pub at: Position,
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

/// The oldest segments that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gone {
    pub segments: usize,
    pub bytes: u64,
    /// Where the journal begins without them.
    pub first_offset: u64,
}

/// Why a write did not go on.
enum Halt {
    /// The log ends with a whole batch; the rest can be tried again.
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

    fn failure(self) -> Option<io::Error> {
        match self {
            Self::NoSpace(_) => None,
            Self::Failed(error) => Some(error),
        }
    }
}

/// The journal's newest segment and how far it is written and synced.
#[derive(Debug)]
pub(crate) struct Log {
    storage: Box<dyn Storage>,
    identity: Identity,
    epoch: u64,
    segment_bytes: u64,
    /// Whether the active segment is there and ours.
    started: bool,
    sealed_bytes: u64,
    segments: usize,
    first_offset: u64,
    /// Always in the active segment.
    written: Reached,
    /// In the active segment or, before that is started, at the end of the one before.
    synced: Reached,
    /// Of the active segment, up to `written`.
    index: Index,
}

impl Log {
    /// Recovers what is there and opens a segment of its own: a segment has one writer in its life.
    pub fn open(
        mut storage: Box<dyn Storage>,
        segment_bytes: u64,
    ) -> Result<(Self, Receipt), OpenError> {
        let found = recover(&mut *storage)?;
        let (identity, epoch) = match found.written_by {
            Some(written_by) => written_by,
            None => (storage.fresh_identity()?, 0),
        };
        let start = Reached { at: Position::first(found.active), mark: 0 };
        let mut log = Self {
            storage,
            identity,
            epoch: epoch.saturating_add(1),
            segment_bytes,
            started: false,
            sealed_bytes: found.sealed_bytes,
            segments: found.sealed,
            first_offset: found.first_offset,
            written: start,
            synced: Reached { at: found.end, mark: 0 },
            index: Index::new(found.active),
        };
        if let Some((of, index)) = found.index {
            log.leave_index(&of, &index);
        }
        // Without space for it now, the segment is started with the first write.
        log.start_segment().or_else(|halt| halt.failure().map_or(Ok(()), Err))?;
        let receipt = Receipt {
            identity,
            epoch: log.epoch,
            first_offset: log.first_offset,
            next_offset: start.at.offset,
            segments: log.segments,
            bytes_read: found.bytes_read,
            cut: found.cut,
            damage: found.damage,
        };
        Ok((log, receipt))
    }

    pub fn storage(&self) -> &dyn Storage {
        &*self.storage
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
        self.synced.mark == self.written.mark
    }

    /// Segments that are there.
    pub fn segments(&self) -> usize {
        self.segments
    }

    pub fn bytes(&self) -> u64 {
        self.sealed_bytes + self.active_bytes()
    }

    fn segment(&self) -> SegmentId {
        self.written.at.segment
    }

    fn active_bytes(&self) -> u64 {
        if self.started { self.written.at.position } else { 0 }
    }

    fn is_fresh(&self) -> bool {
        self.active_bytes() <= SEGMENT_HEADER_BYTES as u64
    }

    /// Writes encoded batches, which follow each other from `written` on, with as few writes as the
    /// segment size allows. With `bytes_max` stored there is no space for more.
    pub fn write(&mut self, batches: &[u8], bytes_max: Option<u64>) -> io::Result<Wrote> {
        let start = self.written.mark;
        let mut bytes = 0;
        while bytes < batches.len() {
            let wrote = self.write_some(&batches[bytes..], bytes_max.unwrap_or(u64::MAX));
            bytes = (self.written.mark - start) as usize;
            match wrote {
                Ok(()) => {}
                Err(Halt::NoSpace(why)) => return Ok(Wrote { bytes, no_space: Some(why) }),
                Err(Halt::Failed(error)) => return Err(error),
            }
        }
        Ok(Wrote { bytes, no_space: None })
    }

    /// Writes what fits the active segment, or begins the next.
    fn write_some(&mut self, batches: &[u8], bytes_max: u64) -> Result<(), Halt> {
        if self.bytes() >= bytes_max {
            let why = format!("the journal has {} bytes, {bytes_max} are allowed", self.bytes());
            return Err(Halt::NoSpace(why));
        }
        if !self.started {
            self.start_segment()?;
        }
        let fitting = self.fitting(batches, bytes_max);
        if fitting.bytes.is_empty() {
            return self.roll();
        }
        match self.storage.append(self.segment(), fitting.bytes).map_err(Halt::of_write) {
            Ok(()) => self.advance(&fitting),
            Err(Halt::NoSpace(why)) => {
                self.keep_whole(fitting.bytes)?;
                return Err(Halt::NoSpace(why));
            }
            failed => return failed,
        }
        Ok(())
    }

    /// The batches that go into the active segment. A batch larger than a segment gets a segment
    /// for itself. Under a small bound on all bytes segments are smaller, too: only whole ones can
    /// be removed, and the active one never.
    fn fitting<'a>(&self, batches: &'a [u8], bytes_max: u64) -> Run<'a> {
        let room = self.segment_bytes.min(bytes_max / 4).saturating_sub(self.active_bytes());
        let (allowed, fresh) = (bytes_max - self.bytes(), self.is_fresh());
        Run::first(batches, |start, end| {
            (end as u64 <= room || (start == 0 && fresh)) && (start as u64) < allowed
        })
    }

    /// After a write that found no space for all of `batches`: keeps the whole ones and cuts the
    /// rest off.
    fn keep_whole(&mut self, batches: &[u8]) -> io::Result<()> {
        let there = self.storage.size(self.segment())?.saturating_sub(self.active_bytes());
        let whole = Run::first(batches, |_, end| end as u64 <= there);
        let end = self.active_bytes() + whole.bytes.len() as u64;
        self.storage.truncate(self.segment(), end)?;
        self.advance(&whole);
        Ok(())
    }

    fn advance(&mut self, run: &Run<'_>) {
        run.headers().for_each(|header| self.index.pass(self.index.end.position, &header));
        self.written.at.position += run.bytes.len() as u64;
        self.written.at.offset += run.messages;
        self.written.mark += run.bytes.len() as u64;
    }

    pub fn sync(&mut self) -> io::Result<()> {
        if !self.is_synced() {
            self.storage.sync(self.segment())?;
            self.synced = self.written;
        }
        Ok(())
    }

    /// Syncs, and leaves an empty segment as the last: what a clean close wrote is never mistaken
    /// for a torn tail. Where there is no space for that, recovery looks at the tail again.
    pub fn seal(&mut self) -> io::Result<()> {
        self.sync()?;
        let rolled = if self.is_fresh() { Ok(()) } else { self.roll() };
        rolled.or_else(|halt| halt.failure().map_or(Ok(()), Err))
    }

    /// The full segment is synced before the next exists: only the last segment can have a torn
    /// tail.
    fn roll(&mut self) -> Result<(), Halt> {
        self.sync()?;
        self.sealed_bytes += self.active_bytes();
        let of = Of { identity: self.identity, epoch: self.epoch, segment: self.segment() };
        self.leave_index(&of, &self.index);
        self.written.at = Position::first(self.segment().next(self.written.at.offset));
        self.started = false;
        self.index = Index::new(self.segment());
        self.start_segment()
    }

    /// Without its index a segment is walked, so it is no failure when there is no room for one.
    fn leave_index(&self, of: &Of, index: &Index) {
        let _ = self.storage.leave(&of.segment.index_file(), &index_file::encode(of, index));
    }

    /// Begins a new segment when something in the active one was received before `ns`, so that
    /// retention can let go of it in time.
    pub fn seal_older(&mut self, ns: i64) -> io::Result<bool> {
        let old = self.started && self.index.oldest_ns < ns;
        if old {
            self.seal()?;
        }
        Ok(old)
    }

    /// Hears of segments that were removed.
    pub fn forget(&mut self, gone: &Gone) {
        self.sealed_bytes = self.sealed_bytes.saturating_sub(gone.bytes);
        self.segments = self.segments.saturating_sub(gone.segments);
        self.first_offset = self.first_offset.max(gone.first_offset);
    }

    /// The header and the name are synced before a batch follows, so a damaged header is never a
    /// torn one.
    fn start_segment(&mut self) -> Result<(), Halt> {
        let (identity, epoch, segment) = (self.identity, self.epoch, self.segment());
        let header = SegmentHeader { identity, epoch, segment }.encode();
        self.storage.begin(segment, &header).map_err(Halt::of_write)?;
        self.started = true;
        self.segments += 1;
        self.synced = self.written;
        Ok(())
    }
}
