//! Buffers of large packets that nobody holds any more, kept for the next ones.
//!
//! A buffer from the allocator is new memory as a rule: the system clears it page by page, which costs more than to
//! fill it. An example: while 20 packets of 160 kB are on their way at a time, 20 buffers go round and none is made.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::{self, Counted};

/// Bytes of all buffers that are kept.
pub const RECYCLED_BYTES_MAX: usize = 8 << 20;
/// Smaller buffers are left to the allocator.
const BUFFER_BYTES_MIN: usize = 4 << 10;
/// Buffers that are looked at for one that fits, the last ones first: they are likely to be in the cache.
const LOOKED_AT_MAX: usize = 16;

// A lock: buffers are given back by whoever held them last, on any thread. It is held for a few moves in memory.
static KEPT: Mutex<Kept> = Mutex::new(Kept::new());

struct Kept {
    buffers: VecDeque<Vec<u8>>,
    bytes: usize,
    counted: Counted,
}

/// An empty buffer with room for so many bytes and at most a quarter more, if one is kept.
pub fn take(bytes: usize) -> Option<Vec<u8>> {
    if bytes < BUFFER_BYTES_MIN {
        return None;
    }
    kept().take(bytes)
}

/// An empty buffer with room for so many bytes, new if none is kept.
pub fn take_or_new(bytes: usize) -> Vec<u8> {
    take(bytes).unwrap_or_else(|| Vec::with_capacity(bytes))
}

/// Keeps a buffer for whoever needs one next. What is too much goes, the oldest first.
pub fn give(buffer: Vec<u8>) {
    let fits = (BUFFER_BYTES_MIN..=RECYCLED_BYTES_MAX / 2).contains(&buffer.capacity());
    if fits && !memory::is_short() {
        let released = kept().give(buffer);
        drop(released); // after the lock: the allocator may take its time
    }
}

/// Memory is short: nothing is kept any more.
pub fn release() {
    let released = std::mem::replace(&mut *kept(), Kept::new());
    drop(released);
}

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    const fn new() -> Self {
        Self { buffers: VecDeque::new(), bytes: 0, counted: Counted::none() }
    }

    fn take(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let found = self
            .buffers
            .iter()
            .enumerate()
            .rev()
            .take(LOOKED_AT_MAX)
            .find(|(_, buffer)| (bytes..=bytes + bytes / 4).contains(&buffer.capacity()));
        let buffer = self.buffers.remove(found?.0)?;
        self.count(self.bytes - buffer.capacity());
        Some(buffer)
    }

    /// Keeps a buffer; what has to go for it.
    fn give(&mut self, mut buffer: Vec<u8>) -> Vec<Vec<u8>> {
        buffer.clear();
        let mut bytes = self.bytes + buffer.capacity();
        self.buffers.push_back(buffer);
        let mut released = Vec::new();
        while bytes > RECYCLED_BYTES_MAX {
            let Some(oldest) = self.buffers.pop_front() else { break };
            bytes -= oldest.capacity();
            released.push(oldest);
        }
        self.count(bytes);
        released
    }

    fn count(&mut self, bytes: usize) {
        self.bytes = bytes;
        self.counted.set(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_goes_to_the_next_one_that_it_fits_and_is_empty() {
        let mut kept = Kept::new();
        kept.give(vec![1; 10_000]);
        assert_eq!(kept.take(10_001), None);
        assert_eq!(kept.take(7_999), None);
        let buffer = kept.take(8_000).unwrap();
        assert_eq!((buffer.len(), buffer.capacity()), (0, 10_000));
        assert_eq!((kept.take(8_000), kept.bytes), (None, 0));
    }

    #[test]
    fn no_more_is_kept_than_the_bound_and_the_oldest_goes() {
        let mut kept = Kept::new();
        kept.give(Vec::with_capacity(100_000));
        for _ in 0..1_000 {
            kept.give(Vec::with_capacity(64 << 10));
            assert!(kept.bytes <= RECYCLED_BYTES_MAX);
            assert_eq!(kept.counted.bytes(), kept.bytes);
        }
        assert_eq!(kept.bytes, RECYCLED_BYTES_MAX);
        assert_eq!(kept.take(100_000), None);
    }
}
