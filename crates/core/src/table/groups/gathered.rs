//! The bytes that all groups together have gathered and not sent yet, and their limit.

use crate::SessionKey;
use crate::memory::{self, Counted};

/// The sum over all groups. Each group reports its own share with [`Self::recount`].
#[derive(Debug)]
pub(super) struct GatheredBytes {
    bytes: usize,
    bytes_max: usize,
    counted: Counted,
    /// Subscribers whose gathered samples were dropped.
    pub overrun: Vec<SessionKey>,
}

impl GatheredBytes {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes: 0, bytes_max, counted: Counted::default(), overrun: Vec::new() }
    }

    /// A group that held `before` bytes holds `now` bytes.
    pub fn recount(&mut self, before: usize, now: usize) {
        self.bytes = self.bytes - before + now;
        self.counted.set(self.bytes);
    }

    /// More than half of the limit is used, or memory is short: groups send at once what they gathered.
    pub fn is_half_full(&self) -> bool {
        self.bytes > self.bytes_max / 2 || memory::is_short()
    }

    pub fn is_full(&self) -> bool {
        self.bytes > self.bytes_max || (memory::is_exhausted() && self.bytes > 0)
    }
}
