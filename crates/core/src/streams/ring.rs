//! The buffer of one stream: its newest chunks, bounded in bytes, in memory only. A new chunk replaces the oldest.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::memory::Counted;

/// The bytes that even an empty chunk counts as, so that the number of chunks is bounded too.
const CHUNK_BYTES_MIN: usize = 64;

/// A piece of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its number in the stream: one more than the chunk before it.
    pub sequence: u64,
    /// Its number among the chunks of all streams. A reader of several streams gets their chunks in this order.
    pub arrival: u64,
    /// The source time that its publisher gave; else the receive time.
    pub time_ns: i64,
    /// The media type of the stream when the chunk arrived.
    pub media: Arc<str>,
    /// The payload as published.
    pub payload: Arc<[u8]>,
}

impl Chunk {
    /// How many bytes of a buffer a chunk of this length uses.
    pub(super) fn cost(bytes: usize) -> usize {
        bytes.max(CHUNK_BYTES_MIN)
    }
}

/// The chunks of one buffer, oldest first.
#[derive(Debug)]
pub struct Ring {
    chunks: VecDeque<Chunk>,
    bytes: usize,
    bytes_max: usize,
    /// The sequence of the next chunk.
    next: u64,
    /// The bytes of all chunks so far, including dropped ones.
    pub(super) received_bytes: u64,
    /// When the last chunk was received.
    pub(super) received_ns: Option<i64>,
    /// The memory of the chunks.
    counted: Counted,
}

impl Ring {
    /// An empty buffer of this size.
    pub(super) fn new(bytes_max: usize) -> Self {
        let chunks = VecDeque::new();
        let counted = Counted::default();
        Self { chunks, bytes: 0, bytes_max, next: 0, received_bytes: 0, received_ns: None, counted }
    }

    /// How many bytes are used.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The size of the buffer.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The sequence of the next chunk.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The sequence of the oldest chunk; of the next one if the buffer is empty.
    pub fn first(&self) -> u64 {
        self.next - self.chunks.len() as u64
    }

    /// The newest chunk.
    pub fn newest(&self) -> Option<&Chunk> {
        self.chunks.back()
    }

    /// The oldest chunk with this sequence or a later one.
    pub(super) fn from(&self, sequence: u64) -> Option<&Chunk> {
        let at = sequence.saturating_sub(self.first());
        self.chunks.get(usize::try_from(at).ok()?)
    }

    /// Changes the size. The oldest chunks are dropped if they do not fit any more.
    pub(super) fn resize(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
        self.make_room(0);
        self.count();
    }

    /// Adds a chunk, which must fit, and gives it its sequence. The oldest chunks make room for it.
    pub(super) fn push(&mut self, chunk: Chunk, receive_ns: i64) {
        let cost = Chunk::cost(chunk.payload.len());
        debug_assert!(cost <= self.bytes_max);
        self.make_room(cost);
        self.received_bytes += chunk.payload.len() as u64;
        self.received_ns = Some(receive_ns);
        self.chunks.push_back(Chunk { sequence: self.next, ..chunk });
        self.bytes += cost;
        self.next += 1;
        self.count();
    }

    /// Frees memory: only the newest chunks stay, within so many bytes.
    pub(super) fn shrink(&mut self, bytes: usize) {
        self.make_room(self.bytes_max.saturating_sub(bytes));
        self.chunks.shrink_to_fit();
        self.count();
    }

    fn count(&mut self) {
        self.counted.set(self.bytes + self.chunks.capacity() * size_of::<Chunk>());
    }

    fn make_room(&mut self, cost: usize) {
        while self.bytes + cost > self.bytes_max {
            let Some(gone) = self.chunks.pop_front() else { return };
            self.bytes -= Chunk::cost(gone.payload.len());
        }
    }
}
