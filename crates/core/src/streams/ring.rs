//! The last chunks of one stream, bounded in bytes: the oldest go. Only in memory.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::memory::Counted;

/// What a chunk counts at least, so that empty ones are bounded too.
const CHUNK_BYTES_MIN: usize = 64;

/// An ordered piece of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its number in the stream: one more than the chunk before it.
    pub sequence: u64,
    /// Its number among the chunks of all streams: who reads several gets them in this order.
    pub arrival: u64,
    /// When it was made, as its publisher says, or when it was received.
    pub time_ns: i64,
    /// The media type that the stream had then.
    pub media: Arc<str>,
    /// As published.
    pub payload: Arc<[u8]>,
}

impl Chunk {
    /// What a chunk with so many bytes counts.
    pub fn cost(bytes: usize) -> usize {
        bytes.max(CHUNK_BYTES_MIN)
    }
}

/// The last chunks.
#[derive(Debug)]
pub struct Ring {
    chunks: VecDeque<Chunk>,
    bytes: usize,
    bytes_max: usize,
    /// The number that the next chunk gets.
    next: u64,
    /// Bytes of all chunks so far, and when the last one was received.
    received_bytes: u64,
    received_ns: Option<i64>,
    /// The memory of the chunks.
    counted: Counted,
}

impl Ring {
    /// An empty one for so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        let chunks = VecDeque::new();
        let counted = Counted::default();
        Self { chunks, bytes: 0, bytes_max, next: 0, received_bytes: 0, received_ns: None, counted }
    }

    /// What its chunks count.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What they may count.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The number that the next chunk gets.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Bytes of all chunks so far, also of those that are gone.
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// When the last chunk was received.
    pub fn received_ns(&self) -> Option<i64> {
        self.received_ns
    }

    /// The number of the oldest chunk that is there, or of the next one.
    pub fn first(&self) -> u64 {
        self.next - self.chunks.len() as u64
    }

    /// The newest chunk.
    pub fn newest(&self) -> Option<&Chunk> {
        self.chunks.back()
    }

    /// The oldest chunk with this number or a later one.
    pub fn from(&self, sequence: u64) -> Option<&Chunk> {
        let at = sequence.saturating_sub(self.first());
        self.chunks.get(usize::try_from(at).ok()?)
    }

    /// Another bound; what has no room goes.
    pub fn resize(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
        self.make_room(0);
        self.count();
    }

    /// Adds a chunk that fits and gives it its number; the oldest make room.
    pub fn push(&mut self, chunk: Chunk, receive_ns: i64) {
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

    /// Gives memory back: of the chunks, the newest stay within so many bytes.
    pub fn shrink(&mut self, bytes: usize) {
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
