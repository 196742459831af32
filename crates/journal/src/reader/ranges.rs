//! Reads a range of offsets, as columns or whatever else takes batches.

use std::ops::Range;

use super::{Reader, avoid};
use crate::columns::{Columns, Taken};
use crate::error::ReadError;
use crate::excerpt::TakeBatch;
use crate::format::{BatchHeader, Flaw};
use crate::scan::{Check, Step};
use crate::segment::Position;

/// Columns never hold more, so that their `i32` ends cannot overflow.
pub(crate) const COLUMNS_BYTES_MAX: usize = 1 << 30;

impl Reader {
    /// The messages of a range, or the first of them up to about `max_bytes`; at least one. The
    /// answer's `end` says where to read on.
    pub fn read(&mut self, range: Range<u64>, max_bytes: usize) -> Result<Columns, ReadError> {
        let mut columns = Columns::starting_at(range.start);
        if self.gather(&range, max_bytes.min(COLUMNS_BYTES_MAX), &mut columns)? {
            columns.end = columns.end.max(range.end);
        }
        Ok(columns)
    }

    /// The messages of a range, one batch after the other, until there is no more room. Says whether
    /// all had room.
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
            // What was read before its segment was removed is good; the next read meets the gap.
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

    /// Takes what belongs to the range from the batch at a position, and says where the next one is
    /// and whether there is no more room.
    fn read_batch(
        &mut self,
        at: Position,
        range: &Range<u64>,
        bytes_max: usize,
        into: &mut impl TakeBatch,
    ) -> Result<(Position, bool), ReadError> {
        let header = match self.step(at, Check::Headers)? {
            Step::Batch(header) => header,
            Step::Damage(damage, resume) => {
                self.places.skip(at, resume);
                return Ok((avoid(damage, range, resume)?, false));
            }
            Step::Tail(flaw) => return Ok((self.leave_segment(at, flaw, range)?, false)),
        };
        let next = at.after(&header);
        self.places.pass(at, &header);
        // Behind offsets that were left out the range may be over.
        if next.offset <= range.start || header.count == 0 || at.offset >= range.end {
            return Ok((next, false));
        }
        let taken = self.take_batch(at, &header, range, bytes_max, into)?;
        Ok((next, taken == Taken::Full))
    }

    fn take_batch(
        &mut self,
        at: Position,
        header: &BatchHeader,
        range: &Range<u64>,
        bytes_max: usize,
        into: &mut impl TakeBatch,
    ) -> Result<Taken, ReadError> {
        let taken = match self.scan().body(at, header)? {
            Ok(body) => into.take_batch(header, body, range, bytes_max),
            Err(flaw) => return Err(at.damage(header.offsets().end, flaw).into()),
        };
        match taken {
            Taken::Malformed => Err(at.damage(header.offsets().end, Flaw::BodyMalformed).into()),
            taken => Ok(taken),
        }
    }
}
