//! What all groups have gathered together, and its bound.

use crate::memory::{self, Counted};

/// The bytes that groups hold until they are sent, counted by those who hold them.
#[derive(Debug)]
pub(super) struct Gathered {
    bytes: usize,
    bytes_max: usize,
    counted: Counted,
    /// Subscribers for whom something was dropped.
    pub overrun: Vec<u64>,
}

impl Gathered {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes: 0, bytes_max, counted: Counted::default(), overrun: Vec::new() }
    }

    /// One group holds another number of bytes.
    pub fn recount(&mut self, before: usize, now: usize) {
        self.bytes = self.bytes - before + now;
        self.counted.set(self.bytes);
    }

    /// So much that nothing more should wait.
    pub fn is_much(&self) -> bool {
        self.bytes > self.bytes_max / 2 || memory::is_short()
    }

    pub fn is_too_much(&self) -> bool {
        self.bytes > self.bytes_max || (memory::is_exhausted() && self.bytes > 0)
    }
}
