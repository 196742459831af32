//! Encoded batches that wait to be written, in order. Small ones are copied into a shared buffer, a large one is
//! moved with its own memory. Never does I/O.
//!
//! An example: three batches of 100 bytes, one of 160 kB and one more of 100 bytes take three buffers: 300 bytes,
//! the memory of the large batch, and 100 bytes.

use std::collections::VecDeque;

use crate::batch::Batch;
use crate::format::BatchHeader;

/// A batch of at least this size keeps its own memory.
const LARGE_BYTES_MIN: usize = 32 << 10;
/// A buffer of small batches takes no more once it is this long.
const BUFFER_BYTES: usize = 1 << 20;
/// Bytes of spare buffers, so that a rare flood does not keep its memory.
const SPARE_BYTES_MAX: usize = 8 << 20;

/// Buffers of whole batches.
#[derive(Debug, Default)]
pub(crate) struct WriteQueue {
    buffers: VecDeque<Vec<u8>>,
    /// Whether the last buffer holds small batches, so that another one can be added.
    is_open: bool,
}

impl WriteQueue {
    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// Adds a batch. A large one gives its memory to the queue and gets a spare buffer instead.
    pub fn push(&mut self, batch: &mut Batch, header: &BatchHeader, spares: &mut SpareBuffers) {
        if batch.bytes() >= LARGE_BYTES_MIN {
            self.buffers.push_back(batch.take_encoded(header, spares.take()));
            self.is_open = false;
            return;
        }
        let is_full = self.buffers.back().is_none_or(|last| last.len() >= BUFFER_BYTES);
        if is_full || !self.is_open {
            self.buffers.push_back(spares.take());
            self.is_open = true;
        }
        let last = self.buffers.back_mut().expect("one was added if there was none");
        last.extend_from_slice(&header.encode());
        batch.body().into_iter().for_each(|part| last.extend_from_slice(part));
    }

    /// The oldest buffer.
    pub fn first(&self) -> Option<&[u8]> {
        self.buffers.front().map(Vec::as_slice)
    }

    /// Removes written bytes from the start of the oldest buffer.
    pub fn advance(&mut self, bytes: usize, spares: &mut SpareBuffers) {
        let Some(first) = self.buffers.front_mut() else { return };
        if bytes < first.len() {
            first.drain(..bytes);
        } else if let Some(written) = self.buffers.pop_front() {
            spares.give(written);
        }
    }
}

/// Empty buffers for the next batches.
#[derive(Debug)]
pub(crate) struct SpareBuffers {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
    bytes_max: usize,
}

impl Default for SpareBuffers {
    fn default() -> Self {
        Self { buffers: Vec::new(), bytes: 0, bytes_max: SPARE_BYTES_MAX }
    }
}

impl SpareBuffers {
    /// Limits how many bytes are kept.
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

    /// Moves all buffers to another set.
    pub fn give_all(&mut self, to: &mut Self) {
        self.bytes = 0;
        self.buffers.drain(..).for_each(|buffer| to.give(buffer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoded_batches::EncodedBatches;
    use crate::format::MessageFlags;

    fn batch(payload_bytes: usize) -> Batch {
        let mut batch = Batch::new();
        batch.begin("publisher", 1);
        batch.push(MessageFlags::new(0, false), "topic", &[], &vec![7; payload_bytes]);
        batch.records().extend([9; 5]);
        batch
    }

    #[test]
    fn small_batches_share_a_buffer_and_a_large_one_is_moved_between_them() {
        let (mut queue, mut spares) = (WriteQueue::default(), SpareBuffers::default());
        let mut expected = Vec::new();
        for (offset, bytes) in [10, 20, 100_000, 30, 40].into_iter().enumerate() {
            let mut batch = batch(bytes);
            let header = batch.header(offset as u64, None, batch.checksum());
            expected.extend_from_slice(&header.encode());
            expected.extend(batch.body().concat());
            queue.push(&mut batch, &header, &mut spares);
        }
        let lengths: Vec<_> = queue.buffers.iter().map(|buffer| buffer.len() > 100_000).collect();
        assert_eq!(lengths, [false, true, false]);
        let mut found = Vec::new();
        while let Some(first) = queue.first() {
            let batches = EncodedBatches::first(first, |_, _| true);
            assert_eq!(batches.bytes, first);
            found.extend_from_slice(&first[..first.len() / 2]);
            let half = first.len() / 2;
            queue.advance(half, &mut spares);
            let rest = queue.first().unwrap();
            found.extend_from_slice(rest);
            queue.advance(rest.len(), &mut spares);
        }
        assert_eq!(found, expected);
        assert_eq!(spares.buffers.len(), 3);
    }

    #[test]
    fn a_batch_that_left_its_memory_can_be_used_again() {
        let (mut queue, mut spares) = (WriteQueue::default(), SpareBuffers::default());
        let mut large = batch(100_000);
        let header = large.header(0, None, large.checksum());
        queue.push(&mut large, &header, &mut spares);
        large.clear();
        assert!(large.is_empty());
        large.begin("publisher", 1);
        large.push(MessageFlags::new(0, false), "topic", &[], &[7; 8]);
        assert_eq!(large.body()[0], batch(8).body()[0]);
    }

    #[test]
    fn no_more_memory_is_kept_than_the_bound() {
        let (mut spares, mut others) = (SpareBuffers::default(), SpareBuffers::default());
        (0..100).for_each(|_| spares.give(Vec::with_capacity(1 << 20)));
        assert_eq!(spares.bytes, SPARE_BYTES_MAX);
        spares.give_all(&mut others);
        assert_eq!((spares.bytes, spares.buffers.len(), others.bytes), (0, 0, SPARE_BYTES_MAX));
        while others.bytes > 0 {
            assert_eq!(others.take().len(), 0);
        }
    }
}
