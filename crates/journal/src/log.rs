//! The single-threaded journal: writes whole batches, rolls segments, syncs.
//! Runs over any storage; never locks, waits or starts a thread.

mod outcome;

use std::io;

use crate::bounds::{self, DURABLE, RESERVED};
use crate::error::OpenError;
use crate::format::{Identity, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::index::Index;
use crate::index_file::{self, Of};
use crate::receipt::Receipt;
use crate::recover::recover;
use crate::reservation::Reservation;
use crate::run::Run;
use crate::segment::{Position, SegmentId};
use crate::storage::Storage;

use outcome::Halt;
pub(crate) use outcome::{Gone, Reached, Wrote};

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
    /// Offsets below may be given: the disk knows that they are not to be given again.
    reservation: Reservation,
    /// Of the offsets before the active segment, those that no message has.
    skipped: u64,
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
        // By the clock: a copy of the folder that is opened as often is in another epoch all the same.
        let epoch = storage.now_ms().max(epoch.saturating_add(1));
        let start = Reached { at: Position::first(found.active), mark: 0 };
        let mut log = Self {
            storage,
            identity,
            epoch,
            segment_bytes,
            started: false,
            sealed_bytes: found.sealed_bytes,
            segments: found.sealed,
            first_offset: found.first_offset,
            written: start,
            synced: Reached { at: found.end, mark: 0 },
            reservation: Reservation::at(found.active.offset),
            skipped: found.skipped,
            index: Index::new(found.active),
        };
        if let Some((of, index)) = found.index {
            log.leave_index(&of, &index);
        }
        // Without space for it now, the segment is started with the first write.
        log.start_segment().or_else(|halt| halt.failure().map_or(Ok(()), Err))?;
        log.show_durable();
        let receipt = Receipt {
            identity,
            epoch: log.epoch,
            first_offset: log.first_offset,
            next_offset: start.at.offset,
            left_out: found.left_out,
            segments: log.segments,
            bytes_read: found.bytes_read,
            cut: found.cut,
            damage: found.damage,
            narrowed: None,
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

    pub fn unsynced_bytes(&self) -> u64 {
        self.written.mark - self.synced.mark
    }

    pub fn is_synced(&self) -> bool {
        self.unsynced_bytes() == 0
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
        let (mut bytes, mut no_space) = (0, None);
        while bytes < batches.len() && no_space.is_none() {
            let wrote = self.write_some(&batches[bytes..], bytes_max.unwrap_or(u64::MAX));
            bytes = (self.written.mark - start) as usize;
            match wrote {
                Ok(()) => {}
                Err(Halt::NoSpace(why)) => no_space = Some(why),
                Err(Halt::Failed(error)) => return Err(error),
            }
        }
        Ok(Wrote { bytes, no_space })
    }

    /// Writes what fits the active segment, or begins the next.
    fn write_some(&mut self, batches: &[u8], bytes_max: u64) -> Result<(), Halt> {
        if !self.started && self.bytes() < bytes_max {
            self.start_segment()?;
        }
        // Asked after the start: the header counts, too.
        if self.bytes() >= bytes_max {
            let why = format!("the journal has {} bytes, {bytes_max} are allowed", self.bytes());
            return Err(Halt::NoSpace(why));
        }
        let fitting = self.fitting(batches, bytes_max);
        if fitting.bytes.is_empty() {
            return self.roll();
        }
        self.reserve(self.written.at.offset + fitting.messages)?;
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
            self.verify()?;
            self.synced = self.written;
            self.show_durable();
        }
        Ok(())
    }

    /// Fails when what is written is in no journal any more.
    pub fn verify(&mut self) -> io::Result<()> {
        if self.started { self.storage.verify(self.segment()) } else { Ok(()) }
    }

    /// Lets readers see what is synced. Where that fails they see less until the next time.
    fn show_durable(&mut self) {
        let bytes = bounds::encode_durable(self.identity, self.synced.at);
        if self.storage.note(DURABLE, &bytes).is_err() {
            let _ = self.storage.put(DURABLE, &bytes);
        }
    }

    /// Has the disk know of offsets before they are given, many at once. A journal that was not closed
    /// goes on behind them: whatever a power cut took back, its offsets are not given again.
    fn reserve(&mut self, end: u64) -> Result<(), Halt> {
        if let Some(reserved) = self.reservation.renewed_for(end) {
            let bytes = bounds::encode_reserved(self.identity, reserved.end());
            self.storage.put(RESERVED, &bytes).map_err(Halt::of_write)?;
            self.reservation = reserved;
        }
        Ok(())
    }

    /// Gives back what was reserved and not given. Where that fails, the next opening leaves it out.
    fn release(&mut self) {
        let bytes = bounds::encode_reserved(self.identity, self.written.at.offset);
        let _ = self.storage.put(RESERVED, &bytes);
    }

    /// Syncs, and leaves an empty segment as the last: what a clean close wrote is never mistaken
    /// for a torn tail. Where there is no space for that, recovery looks at the tail again.
    pub fn seal(&mut self) -> io::Result<()> {
        self.sync()?;
        let rolled = if self.is_fresh() { Ok(()) } else { self.roll() };
        rolled.or_else(|halt| halt.failure().map_or(Ok(()), Err))
    }

    /// Seals for good: the next opening goes on at the very next offset.
    pub fn close(&mut self) -> io::Result<()> {
        self.seal()?;
        self.release();
        Ok(())
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
        let header = SegmentHeader { identity, epoch, segment, skipped: self.skipped };
        self.storage.begin(segment, &header.encode()).map_err(Halt::of_write)?;
        self.started = true;
        self.skipped = 0;
        self.segments += 1;
        self.synced = self.written;
        self.show_durable();
        Ok(())
    }
}
