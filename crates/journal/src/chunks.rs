//! Encoded batches that wait to be written, in order: small ones are copied behind each other, a large one is moved.
//! Never does I/O.
//!
//! Three batches of 100 bytes, one of 160 kB and one more of 100 bytes are three chunks: 300 bytes, the memory of
//! the large batch, and 100 bytes.

use std::collections::VecDeque;

use crate::batch::Batch;
use crate::format::BatchHeader;

/// A batch of so many bytes is a chunk of its own.
const LARGE_BYTES_MIN: usize = 32 << 10;
/// Beyond this size a chunk of small batches takes no more.
const CHUNK_BYTES: usize = 1 << 20;
/// Memory kept for the next chunks; a rare flood does not hold its memory for ever.
const SPARE_BYTES_MAX: usize = 8 << 20;

/// Chunks of whole batches.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    chunks: VecDeque<Vec<u8>>,
    /// Whether the last chunk is one of small batches, so that another one can follow in it.
    is_open: bool,
}

impl Chunks {
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Adds a batch. A large one leaves its memory here and gets some that is spare.
    pub fn push(&mut self, batch: &mut Batch, header: &BatchHeader, spares: &mut Spares) {
        if batch.bytes() >= LARGE_BYTES_MIN {
            self.chunks.push_back(batch.take_encoded(header, spares.take()));
            self.is_open = false;
            return;
        }
        let is_full = self.chunks.back().is_none_or(|last| last.len() >= CHUNK_BYTES);
        if is_full || !self.is_open {
            self.chunks.push_back(spares.take());
            self.is_open = true;
        }
        let last = self.chunks.back_mut().expect("one was added if there was none");
        last.extend_from_slice(&header.encode());
        batch.body().into_iter().for_each(|part| last.extend_from_slice(part));
    }

    /// The oldest chunk.
    pub fn first(&self) -> Option<&[u8]> {
        self.chunks.front().map(Vec::as_slice)
    }

    /// So many bytes of the oldest chunk are written.
    pub fn advance(&mut self, bytes: usize, spares: &mut Spares) {
        let Some(first) = self.chunks.front_mut() else { return };
        if bytes < first.len() {
            first.drain(..bytes);
        } else if let Some(written) = self.chunks.pop_front() {
            spares.give(written);
        }
    }
}

/// Memory for the next chunks.
#[derive(Debug)]
pub(crate) struct Spares {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
    bytes_max: usize,
}

impl Default for Spares {
    fn default() -> Self {
        Self { buffers: Vec::new(), bytes: 0, bytes_max: SPARE_BYTES_MAX }
    }
}

impl Spares {
    /// Keeps so many bytes at most.
    pub fn bound(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max.min(SPARE_BYTES_MAX);
        while self.bytes > self.bytes_max {
            self.take();
        }
    }

    fn take(&mut self) -> Vec<u8> {
        let spare = self.buffers.pop().unwrap_or_default();
        self.bytes -= spare.capacity();
        spare
    }

    fn give(&mut self, mut buffer: Vec<u8>) {
        if self.bytes + buffer.capacity() <= self.bytes_max {
            buffer.clear();
            self.bytes += buffer.capacity();
            self.buffers.push(buffer);
        }
    }

    /// Moves all to others.
    pub fn give_all(&mut self, to: &mut Self) {
        self.bytes = 0;
        self.buffers.drain(..).for_each(|buffer| to.give(buffer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Flags;
    use crate::run::Run;

    fn batch(payload_bytes: usize) -> Batch {
        let mut batch = Batch::new();
        batch.begin("publisher", 1);
        batch.push(Flags::new(0, false), "topic", &[], &vec![7; payload_bytes]);
        batch.records().extend([9; 5]);
        batch
    }

    #[test]
    fn small_batches_share_a_chunk_and_a_large_one_is_moved_in_its_place() {
        let (mut chunks, mut spares) = (Chunks::default(), Spares::default());
        let mut expected = Vec::new();
        for (offset, bytes) in [10, 20, 100_000, 30, 40].into_iter().enumerate() {
            let mut batch = batch(bytes);
            let header = batch.header(offset as u64, None, batch.checksum());
            expected.extend_from_slice(&header.encode());
            expected.extend(batch.body().concat());
            chunks.push(&mut batch, &header, &mut spares);
        }
        let lengths: Vec<_> = chunks.chunks.iter().map(|chunk| chunk.len() > 100_000).collect();
        assert_eq!(lengths, [false, true, false]);
        let mut found = Vec::new();
        while let Some(first) = chunks.first() {
            let run = Run::first(first, |_, _| true);
            assert_eq!(run.bytes, first);
            found.extend_from_slice(&first[..first.len() / 2]);
            let half = first.len() / 2;
            chunks.advance(half, &mut spares);
            let rest = chunks.first().unwrap();
            found.extend_from_slice(rest);
            chunks.advance(rest.len(), &mut spares);
        }
        assert_eq!(found, expected);
        assert_eq!(spares.buffers.len(), 3);
    }

    #[test]
    fn a_batch_that_left_its_memory_can_be_used_again() {
        let (mut chunks, mut spares) = (Chunks::default(), Spares::default());
        let mut large = batch(100_000);
        let header = large.header(0, None, large.checksum());
        chunks.push(&mut large, &header, &mut spares);
        large.clear();
        assert!(large.is_empty());
        large.begin("publisher", 1);
        large.push(Flags::new(0, false), "topic", &[], &[7; 8]);
        assert_eq!(large.body()[0], batch(8).body()[0]);
    }

    #[test]
    fn no_more_memory_is_kept_than_the_bound() {
        let (mut spares, mut others) = (Spares::default(), Spares::default());
        (0..100).for_each(|_| spares.give(Vec::with_capacity(1 << 20)));
        assert_eq!(spares.bytes, SPARE_BYTES_MAX);
        spares.give_all(&mut others);
        assert_eq!((spares.bytes, spares.buffers.len(), others.bytes), (0, 0, SPARE_BYTES_MAX));
        while others.bytes > 0 {
            assert_eq!(others.take().len(), 0);
        }
    }
}
