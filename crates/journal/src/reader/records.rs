//! Reads the state records of a range of offsets. Their bytes mean nothing to the journal.

use std::ops::Range;

use super::JournalReader;
use crate::columns::TakeOutcome;
use crate::error::ReadError;
use crate::excerpt::{ReadLimits, TakeBatch};
use crate::format::BatchHeader;

/// Bytes that one call reads at most, so that it ends soon.
const READ_BYTES_MAX: usize = 64 << 20;

type Each<'a> = &'a mut dyn FnMut(u64, &[u8]) -> bool;

/// Passes the records of each batch to a function.
struct RecordVisitor<'a> {
    each: Each<'a>,
    /// One past the last offset that was read.
    end: Option<u64>,
    read_bytes: usize,
}

impl TakeBatch for RecordVisitor<'_> {
    fn take(&mut self, header: &BatchHeader, body: &[u8], limits: &ReadLimits) -> TakeOutcome {
        self.end = Some(header.offsets().end.min(limits.offsets.end));
        self.read_bytes += body.len();
        let wants_more = (self.each)(header.base_offset, header.split(body).1);
        let has_room = wants_more && self.read_bytes < limits.bytes_max;
        if has_room { TakeOutcome::All } else { TakeOutcome::Full }
    }

    fn is_empty(&self) -> bool {
        self.end.is_none()
    }
}

impl JournalReader {
    /// Calls `each` with the first offset and the records of every batch that has messages in the range,
    /// until it returns false. Returns the offset where the next call starts.
    pub fn records(&mut self, range: Range<u64>, each: Each<'_>) -> Result<u64, ReadError> {
        let mut passed = RecordVisitor { each, end: None, read_bytes: 0 };
        let limits = ReadLimits { offsets: range, bytes_max: READ_BYTES_MAX };
        let all = self.gather(&limits, &mut passed)?;
        Ok(passed.end.filter(|_| !all).unwrap_or(limits.offsets.end))
    }
}
