//! Gives the records beside the messages of a range to who understands them.

use std::ops::Range;

use super::Reader;
use crate::columns::Taken;
use crate::error::ReadError;
use crate::excerpt::TakeBatch;
use crate::format::BatchHeader;

/// Looked at in one call, so that nobody waits long for it.
const LOOKED_BYTES_MAX: usize = 64 << 20;

type Each<'a> = &'a mut dyn FnMut(u64, &[u8]) -> bool;

/// Passes records on.
struct Passed<'a> {
    each: Each<'a>,
    /// Behind the last batch that was looked at.
    end: Option<u64>,
    looked_bytes: usize,
}

impl TakeBatch for Passed<'_> {
    fn take_batch(
        &mut self,
        header: &BatchHeader,
        body: &[u8],
        range: &Range<u64>,
        bytes_max: usize,
    ) -> Taken {
        self.end = Some(header.offsets().end.min(range.end));
        self.looked_bytes += body.len();
        let has_room = (self.each)(header.base_offset, header.split(body).1);
        if has_room && self.looked_bytes < bytes_max { Taken::All } else { Taken::Full }
    }

    fn is_empty(&self) -> bool {
        self.end.is_none()
    }
}

impl Reader {
    /// Gives `each` the first offset and the records of every batch with messages in the range, until
    /// it says that it has no room for more. Answers where to go on.
    pub fn records(&mut self, range: Range<u64>, each: Each<'_>) -> Result<u64, ReadError> {
        let mut passed = Passed { each, end: None, looked_bytes: 0 };
        let all = self.gather(&range, LOOKED_BYTES_MAX, &mut passed)?;
        Ok(passed.end.filter(|_| !all).unwrap_or(range.end))
    }
}
