//! Reads the batches of a range of offsets into columns or another [`TakeBatch`].

use std::ops::Range;

use super::{JournalReader, avoid};
use crate::columns::{MessageColumns, TakeOutcome};
use crate::error::ReadError;
use crate::excerpt::TakeBatch;
use crate::format::{BatchHeader, Flaw};
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
        if self.gather(&range, max_bytes.min(COLUMNS_BYTES_MAX), &mut columns)? {
            columns.end = columns.end.max(range.end);
        }
        Ok(columns)
    }

    /// Gives `into` the batches of a range until it is full. Says whether all had room.
    pub(crate) fn gather(
        &mut self,
        range: &Range<u64>,
        bytes_max: usize,
        into: &mut impl TakeBatch,
    ) -> Result<bool, ReadError> {
        self.check_range(range)?;
        if range.is_empty() {
            return Ok(true);
        }
        match self.read_into(range, bytes_max, into) {
            // What was read before retention removed a segment is good; the next read reports the gap.
            Err(error) if error.is_removed() && !into.is_empty() => Ok(false),
            read => read.map_err(|error| self.gap(range.start, error)),
        }
    }

    fn read_into(
        &mut self,
        range: &Range<u64>,
        bytes_max: usize,
        into: &mut impl TakeBatch,
    ) -> Result<bool, ReadError> {
        let mut at = self.seek(range.start)?;
        while at.offset < range.end {
            let (next, full) = self.read_batch(at, range, bytes_max, into)?;
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
        range: &Range<u64>,
        bytes_max: usize,
        into: &mut impl TakeBatch,
    ) -> Result<(JournalPosition, bool), ReadError> {
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
        let taken = self.take_batch(at, &header, range, bytes_max, into)?;
        Ok((next, taken == TakeOutcome::Full))
    }

    fn take_batch(
        &mut self,
        at: JournalPosition,
        header: &BatchHeader,
        range: &Range<u64>,
        bytes_max: usize,
        into: &mut impl TakeBatch,
    ) -> Result<TakeOutcome, ReadError> {
        let taken = match self.scan().body(at, header)? {
            Ok(body) => into.take_batch(header, body, range, bytes_max),
            Err(flaw) => return Err(at.damage(header.offsets().end, flaw).into()),
        };
        match taken {
            TakeOutcome::Malformed => {
                Err(at.damage(header.offsets().end, Flaw::BodyMalformed).into())
            }
            taken => Ok(taken),
        }
    }
}
