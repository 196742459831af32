//! Reads the batches of a range of offsets into columns or another [`TakeBatch`].

use std::ops::Range;

use super::{JournalReader, avoid};
use crate::columns::{MessageColumns, TakeOutcome};
use crate::error::ReadError;
use crate::excerpt::{ReadLimits, TakeBatch};
use crate::format::Flaw;
use crate::scan::{CheckDepth, ScanStep};
use crate::segment::JournalPosition;

/// The most bytes that columns hold, so that their `i32` ends cannot overflow.
pub(crate) const COLUMNS_BYTES_MAX: usize = 1 << 30;

impl JournalReader {
    /// The messages of a range, or the first of them up to about `max_bytes`, but at least one. The
    /// `end` of the columns is where the next read starts.
    pub fn read(
        &mut self,
        range: Range<u64>,
        max_bytes: usize,
    ) -> Result<MessageColumns, ReadError> {
        let mut columns = MessageColumns::starting_at(range.start);
        let limits = ReadLimits { offsets: range, bytes_max: max_bytes.min(COLUMNS_BYTES_MAX) };
        if self.gather(&limits, &mut columns)? {
            columns.end = columns.end.max(limits.offsets.end);
        }
        Ok(columns)
    }

    /// Gives `into` the batches of a range until it is full. Returns whether all of them had room.
    pub(crate) fn gather(
        &mut self,
        limits: &ReadLimits,
        into: &mut impl TakeBatch,
    ) -> Result<bool, ReadError> {
        let range = &limits.offsets;
        self.check_range(range)?;
        if range.is_empty() {
            return Ok(true);
        }
        match self.read_into(limits, into) {
            // What was read before retention removed a segment is good; the next read reports the gap.
            Err(error) if error.is_removed() && !into.is_empty() => Ok(false),
            read => read.map_err(|error| self.gap(range.start, error)),
        }
    }

    fn read_into(
        &mut self,
        limits: &ReadLimits,
        into: &mut impl TakeBatch,
    ) -> Result<bool, ReadError> {
        let mut at = self.seek(limits.offsets.start)?;
        while at.offset < limits.offsets.end {
            let (next, full) = self.read_batch(at, limits, into)?;
            if full {
                return Ok(false);
            }
            at = next;
        }
        Ok(true)
    }

    /// Gives `into` the batch at a position. Returns the position of the next one, and whether `into` is
    /// full.
    fn read_batch(
        &mut self,
        at: JournalPosition,
        limits: &ReadLimits,
        into: &mut impl TakeBatch,
    ) -> Result<(JournalPosition, bool), ReadError> {
        let range = &limits.offsets;
        let header = match self.step(at, CheckDepth::Headers)? {
            ScanStep::Batch(header) => header,
            ScanStep::Damage(damage, resume) => {
                self.indexes.skip(at, resume);
                return Ok((avoid(damage, range, resume)?, false));
            }
            ScanStep::Tail(flaw) => return Ok((self.leave_segment(at, flaw, range)?, false)),
        };
        let next = at.after(&header);
        self.indexes.pass(at, &header);
        // The batch may lie behind the range, where offsets were skipped.
        if next.offset <= range.start || header.count == 0 || at.offset >= range.end {
            return Ok((next, false));
        }
        let taken = self.scan().body(at, &header)?.and_then(|body| {
            match into.take(&header, body, limits) {
                TakeOutcome::Malformed => Err(Flaw::BodyMalformed),
                taken => Ok(taken == TakeOutcome::Full),
            }
        });
        let is_full = taken.map_err(|flaw| at.damage(next.offset, flaw))?;
        Ok((next, is_full))
    }
}
