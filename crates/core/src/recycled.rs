//! A pool of buffers: freed buffers of large packets, kept for the next packets.
//!
//! A large buffer from the allocator is usually fresh memory, and the operating system clears it page by page, which
//! costs more than filling it. Example: while 20 packets of 160 kB are in memory at a time, the same 20 buffers
//! serve all packets, and none is allocated.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::{self, Counted};

/// Bytes of all buffers in the pool.
const RECYCLED_BYTES_MAX: usize = 8 << 20;
/// Smaller buffers go back to the allocator.
const BUFFER_BYTES_MIN: usize = 4 << 10;
/// Buffers that are tried for one that fits, the newest first: they are most likely in the CPU's cache.
const LOOKED_AT_MAX: usize = 16;

// A lock, because any thread may free a buffer. It is held for a few moves in memory.
static KEPT: Mutex<Kept> = Mutex::new(Kept::new());

struct Kept {
    buffers: VecDeque<Vec<u8>>,
    /// Their bytes.
    counted: Counted,
}

/// An empty buffer with room for `bytes` and at most a quarter more, if the pool has one.
pub fn take(bytes: usize) -> Option<Vec<u8>> {
    if bytes < BUFFER_BYTES_MIN {
        return None;
    }
    kept().take(bytes)
}

/// An empty buffer with room for `bytes`, newly allocated if the pool has none.
pub fn take_or_new(bytes: usize) -> Vec<u8> {
    take(bytes).unwrap_or_else(|| Vec::with_capacity(bytes))
}

/// Puts a buffer into the pool. If the pool is too large then, it frees the oldest buffers.
pub fn give(buffer: Vec<u8>) {
    let fits = (BUFFER_BYTES_MIN..=RECYCLED_BYTES_MAX / 2).contains(&buffer.capacity());
    // Where there is no room, a message that was dropped to free memory would free none.
    if fits && memory::has_room(buffer.capacity()) {
        let released = kept().give(buffer);
        drop(released); // after the lock: the allocator may take its time
    }
}

/// Frees all buffers, because memory is short.
pub fn release() {
    let released = std::mem::replace(&mut *kept(), Kept::new());
    drop(released);
}

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    const fn new() -> Self {
        Self { buffers: VecDeque::new(), counted: Counted::none() }
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
        self.counted.set(self.counted.bytes() - buffer.capacity());
        Some(buffer)
    }

    /// Adds a buffer, and returns those that have to be freed for it.
    fn give(&mut self, mut buffer: Vec<u8>) -> Vec<Vec<u8>> {
        buffer.clear();
        let mut bytes = self.counted.bytes() + buffer.capacity();
        self.buffers.push_back(buffer);
        let mut released = Vec::new();
        while bytes > RECYCLED_BYTES_MAX {
            let Some(oldest) = self.buffers.pop_front() else { break };
            bytes -= oldest.capacity();
            released.push(oldest);
        }
        self.counted.set(bytes);
        released
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_given_to_the_next_packet_that_fits_and_is_empty() {
        let mut kept = Kept::new();
        kept.give(vec![1; 10_000]);
        assert_eq!(kept.take(10_001), None);
        assert_eq!(kept.take(7_999), None);
        let buffer = kept.take(8_000).unwrap();
        assert_eq!((buffer.len(), buffer.capacity()), (0, 10_000));
        assert_eq!((kept.take(8_000), kept.counted.bytes()), (None, 0));
    }

    #[test]
    fn the_pool_keeps_to_its_bound_and_frees_the_oldest() {
        let mut kept = Kept::new();
        kept.give(Vec::with_capacity(100_000));
        for _ in 0..1_000 {
            kept.give(Vec::with_capacity(64 << 10));
            assert!(kept.counted.bytes() <= RECYCLED_BYTES_MAX);
        }
        assert_eq!(kept.counted.bytes(), RECYCLED_BYTES_MAX);
        assert_eq!(kept.take(100_000), None);
    }
}
