//! The log: writes whole batches, begins new segments, syncs. Works on any storage, on one thread.
//! Never locks, waits or starts a thread.

mod outcome;

use std::io;

use crate::encoded_batches::EncodedBatches;
use crate::error::OpenError;
use crate::format::{JournalIdentity, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::index::SegmentIndex;
use crate::index_file;
use crate::receipt::RecoveryReceipt;
use crate::recover::recover;
use crate::reservation::Reservation;
use crate::segment::{JournalPosition, SegmentId};
use crate::storage::Storage;
use crate::watermarks::{self, DURABLE, RESERVED};

use outcome::WriteHalt;
pub(crate) use outcome::{LogPosition, RemovedSegments, WriteOutcome};

/// The journal's newest segment and how far it is written and synced.
#[derive(Debug)]
pub(crate) struct Log {
    storage: Box<dyn Storage>,
    identity: JournalIdentity,
    epoch: u64,
    segment_bytes: u64,
    /// Whether this log has created the active segment.
    is_started: bool,
    sealed_bytes: u64,
    /// How many segments there are.
    pub segments: usize,
    pub first_offset: u64,
    /// The end of what survives a kill of the process: always in the active segment.
    pub written: LogPosition,
    /// The end of what survives a power cut: in the active segment or, before that is created, at the end
    /// of the one before.
    pub synced: LogPosition,
    reservation: Reservation,
    /// How many offsets directly before the active segment no message has.
    skipped: u64,
    /// Of the active segment, up to `written`.
    index: SegmentIndex,
}

impl Log {
    /// Recovers the journal and begins a new segment: every segment is written by one process only.
    pub fn open(
        mut storage: Box<dyn Storage>,
        segment_bytes: u64,
    ) -> Result<(Self, RecoveryReceipt), OpenError> {
        let found = recover(&mut *storage)?;
        let (identity, epoch) = match found.written_by {
            Some(written_by) => written_by,
            None => (storage.fresh_identity()?, 0),
        };
        // Epochs follow the clock, so that an older copy of the folder that is put back gets other ones.
        let epoch = storage.now_ms().max(epoch.saturating_add(1));
        let start = LogPosition { at: JournalPosition::first(found.active), mark: 0 };
        let mut log = Self {
            storage,
            identity,
            epoch,
            segment_bytes,
            is_started: false,
            sealed_bytes: found.sealed_bytes,
            segments: found.sealed,
            first_offset: found.first_offset,
            written: start,
            synced: LogPosition { at: found.end, mark: 0 },
            reservation: Reservation::at(found.active.offset),
            skipped: found.skipped,
            index: SegmentIndex::new(found.active),
        };
        if let Some((header, index)) = found.index {
            log.write_index(&header, &index);
        }
        // If the disk is full, the first write creates the segment.
        log.start_segment().or_else(|halt| halt.failure().map_or(Ok(()), Err))?;
        log.show_durable();
        let receipt = RecoveryReceipt {
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

    pub fn unsynced_bytes(&self) -> u64 {
        self.written.mark - self.synced.mark
    }

    pub fn is_synced(&self) -> bool {
        self.unsynced_bytes() == 0
    }

    pub fn bytes(&self) -> u64 {
        self.sealed_bytes + self.active_bytes()
    }

    fn segment(&self) -> SegmentId {
        self.written.at.segment
    }

    fn active_bytes(&self) -> u64 {
        if self.is_started { self.written.at.position } else { 0 }
    }

    fn is_fresh(&self) -> bool {
        self.active_bytes() <= SEGMENT_HEADER_BYTES as u64
    }

    /// Writes encoded batches, whose offsets go on from `written`, with as few writes as the segment size
    /// allows. A journal of `bytes_max` bytes counts as a full disk.
    pub fn write(&mut self, batches: &[u8], bytes_max: Option<u64>) -> io::Result<WriteOutcome> {
        let start = self.written.mark;
        let (mut bytes, mut no_space) = (0, None);
        while bytes < batches.len() && no_space.is_none() {
            let wrote = self.write_some(&batches[bytes..], bytes_max.unwrap_or(u64::MAX));
            bytes = (self.written.mark - start) as usize;
            match wrote {
                Ok(()) => {}
                Err(WriteHalt::NoSpace(why)) => no_space = Some(why),
                Err(WriteHalt::Failed(error)) => return Err(error),
            }
        }
        Ok(WriteOutcome { bytes, no_space })
    }

    /// Writes the batches that fit into the active segment; if none does, begins the next segment.
    fn write_some(&mut self, batches: &[u8], bytes_max: u64) -> Result<(), WriteHalt> {
        if !self.is_started && self.bytes() < bytes_max {
            self.start_segment()?;
        }
        // Compared after the segment is created: its header counts too.
        if self.bytes() >= bytes_max {
            let why = format!("the journal has {} bytes, {bytes_max} are allowed", self.bytes());
            return Err(WriteHalt::NoSpace(why));
        }
        let fitting = self.fitting(batches, bytes_max);
        if fitting.bytes.is_empty() {
            return self.roll();
        }
        self.reserve(self.written.at.offset + fitting.messages)?;
        match self.storage.append(self.segment(), fitting.bytes).map_err(WriteHalt::of_write) {
            Ok(()) => self.advance(&fitting),
            Err(WriteHalt::NoSpace(why)) => {
                self.keep_whole(fitting.bytes)?;
                return Err(WriteHalt::NoSpace(why));
            }
            failed => return failed,
        }
        Ok(())
    }

    /// The batches that go into the active segment. A batch larger than a segment gets a segment of its
    /// own. A small bound on the whole journal makes segments smaller too: retention removes whole
    /// segments only, and never the active one.
    fn fitting<'a>(&self, batches: &'a [u8], bytes_max: u64) -> EncodedBatches<'a> {
        let room = self.segment_bytes.min(bytes_max / 4).saturating_sub(self.active_bytes());
        let (allowed, fresh) = (bytes_max - self.bytes(), self.is_fresh());
        EncodedBatches::first(batches, |start, end| {
            (end as u64 <= room || (start == 0 && fresh)) && (start as u64) < allowed
        })
    }

    /// After a write that found no space for all of `batches`: keeps those that are whole in the file and
    /// cuts the rest off.
    fn keep_whole(&mut self, batches: &[u8]) -> io::Result<()> {
        let there = self.storage.size(self.segment())?.saturating_sub(self.active_bytes());
        let whole = EncodedBatches::first(batches, |_, end| end as u64 <= there);
        let end = self.active_bytes() + whole.bytes.len() as u64;
        self.storage.truncate(self.segment(), end)?;
        self.advance(&whole);
        Ok(())
    }

    fn advance(&mut self, written: &EncodedBatches<'_>) {
        written.headers().for_each(|header| self.index.pass(self.index.end.position, &header));
        self.written.at.position += written.bytes.len() as u64;
        self.written.at.offset += written.messages;
        self.written.mark += written.bytes.len() as u64;
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

    /// Fails when the segment or its folder was removed or replaced.
    pub fn verify(&mut self) -> io::Result<()> {
        if self.is_started { self.storage.verify(self.segment()) } else { Ok(()) }
    }

    /// Notes the synced end for readers. If that fails, they see less until the next sync.
    fn show_durable(&mut self) {
        let bytes = watermarks::encode_durable(self.identity, self.synced.at);
        if self.storage.overwrite(DURABLE, &bytes).is_err() {
            let _ = self.storage.put(DURABLE, &bytes);
        }
    }

    /// Reserves offsets on disk before they are written, many at once. After a crash the journal goes on
    /// behind them, so that offsets whose messages a power cut lost are not given again.
    fn reserve(&mut self, end: u64) -> Result<(), WriteHalt> {
        if let Some(reserved) = self.reservation.renewed_for(end) {
            let bytes = watermarks::encode_reserved(self.identity, reserved.end);
            self.storage.put(RESERVED, &bytes).map_err(WriteHalt::of_write)?;
            self.reservation = reserved;
        }
        Ok(())
    }

    /// Gives back reserved offsets that were not used. If that fails, the next start leaves a gap.
    fn release(&mut self) {
        let bytes = watermarks::encode_reserved(self.identity, self.written.at.offset);
        let _ = self.storage.put(RESERVED, &bytes);
    }

    /// Syncs, and begins an empty segment, so that recovery never takes the end of this one for a torn
    /// tail. If there is no space for another segment, recovery checks this one again.
    fn seal(&mut self) -> io::Result<()> {
        self.sync()?;
        let rolled = if self.is_fresh() { Ok(()) } else { self.roll() };
        rolled.or_else(|halt| halt.failure().map_or(Ok(()), Err))
    }

    /// Seals, and gives back the reservation: the next start goes on at the next offset.
    pub fn close(&mut self) -> io::Result<()> {
        self.seal()?;
        self.release();
        Ok(())
    }

    /// Begins the next segment. The full one is synced first, so that only the last segment of a journal
    /// can have a torn tail.
    fn roll(&mut self) -> Result<(), WriteHalt> {
        self.sync()?;
        self.sealed_bytes += self.active_bytes();
        self.write_index(&self.header(), &self.index);
        self.written.at = JournalPosition::first(self.segment().next(self.written.at.offset));
        self.is_started = false;
        self.index = SegmentIndex::new(self.segment());
        self.start_segment()
    }

    /// Writes an index file. A failure is harmless: readers walk a segment without an index.
    fn write_index(&self, header: &SegmentHeader, index: &SegmentIndex) {
        let file = index_file::encode(header, index);
        let _ = self.storage.put_unsynced(&header.segment.index_file(), &file);
    }

    /// Begins a new segment when the active one holds something received before `ns`, so that retention
    /// can remove it in time.
    pub fn seal_older(&mut self, ns: i64) -> io::Result<bool> {
        let old = self.is_started && self.index.oldest_ns < ns;
        if old {
            self.seal()?;
        }
        Ok(old)
    }

    /// Updates the figures after retention removed segments.
    pub fn forget(&mut self, gone: &RemovedSegments) {
        self.sealed_bytes = self.sealed_bytes.saturating_sub(gone.bytes);
        self.segments = self.segments.saturating_sub(gone.segments);
        self.first_offset = self.first_offset.max(gone.first_offset);
    }

    /// The header of the active segment.
    fn header(&self) -> SegmentHeader {
        SegmentHeader {
            identity: self.identity,
            epoch: self.epoch,
            segment: self.segment(),
            skipped: self.skipped,
        }
    }

    /// Creates the active segment. Its header and its name are synced before a batch follows, so that a
    /// damaged header is never a torn one.
    fn start_segment(&mut self) -> Result<(), WriteHalt> {
        self.storage.begin(self.segment(), &self.header().encode()).map_err(WriteHalt::of_write)?;
        self.is_started = true;
        self.skipped = 0;
        self.segments += 1;
        self.synced = self.written;
        self.show_durable();
        Ok(())
    }
}
