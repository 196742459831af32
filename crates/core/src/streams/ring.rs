//! The last chunks of one stream, bounded in bytes: the oldest go. Only in memory.

use std::collections::VecDeque;
use std::sync::Arc;

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
}

impl Ring {
    /// An empty one for so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self { chunks: VecDeque::new(), bytes: 0, bytes_max, next: 0 }
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
    }

    /// Adds a chunk that fits; the oldest make room.
    pub fn push(&mut self, arrival: u64, time_ns: i64, media: Arc<str>, payload: &[u8]) {
        let cost = Chunk::cost(payload.len());
        debug_assert!(cost <= self.bytes_max);
        self.make_room(cost);
        let (sequence, payload) = (self.next, payload.into());
        self.chunks.push_back(Chunk { sequence, arrival, time_ns, media, payload });
        self.bytes += cost;
        self.next += 1;
    }

    fn make_room(&mut self, cost: usize) {
        while self.bytes + cost > self.bytes_max {
            let Some(gone) = self.chunks.pop_front() else { return };
            self.bytes -= Chunk::cost(gone.payload.len());
        }
        if self.chunks.is_empty() {
            self.bytes = 0;
        }
    }
}
