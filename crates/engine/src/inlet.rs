//! The bytes read from one socket and not understood yet.
//!
//! Small packets are read many at a time into one buffer. A large one gets a buffer of its own, which its
//! subscribers then share: its payload is never moved.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, ready};

use slipring_core::memory::{self, Counted};
use slipring_core::{SharedBytes, recycled};
use slipring_wire::{Framed, RawPacket, Violation, frame};
use tokio::io::{AsyncRead, AsyncReadExt};

/// What a quiet connection holds on to.
const BYTES_MIN: usize = 2 << 10;
/// What one read takes at most while packets are small.
const BYTES_READ_MAX: usize = 64 << 10;
/// What one read of a large packet takes at most.
const LARGE_READ_MAX: usize = 256 << 10;
/// From this length on a packet that is not all there gets a buffer of its own.
const LARGE_BYTES_MIN: usize = 32 << 10;
/// What is read after a large packet to see how long the next one is, where no buffer of its length is at hand.
const PEEK_BYTES: usize = 512;

/// A buffer that grows with the traffic and shrinks when it is quiet.
#[derive(Debug)]
pub(crate) struct Inlet {
    bytes: Vec<u8>,
    start: usize,
    /// A packet with a buffer of its own.
    large: Large,
    /// The length of the last packet if it was a large one: the next one is likely to be as long. Else 0.
    expected: usize,
    counted: Counted,
}

/// A packet too large for the common buffer.
#[derive(Debug, Default)]
enum Large {
    #[default]
    None,
    /// Room for a packet as long as the last one. It is there while a read is tried, and no longer.
    Guessed(Vec<u8>),
    /// So many bytes are to come in all.
    Coming(Vec<u8>, usize),
    /// All of it is there.
    Whole(SharedBytes),
}

impl Inlet {
    pub fn new() -> Self {
        let bytes = Vec::with_capacity(BYTES_MIN);
        let (large, counted) = (Large::None, Counted::new(BYTES_MIN));
        Self { bytes, start: 0, large, expected: 0, counted }
    }

    /// Reads once; how many bytes came, 0 at the end of the stream.
    pub fn poll_read<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<std::io::Result<usize>> {
        let most = self.make_room()?;
        let buffer = match &mut self.large {
            Large::Coming(bytes, _) | Large::Guessed(bytes) => bytes,
            _ => &mut self.bytes,
        };
        let mut limited = stream.take(most as u64);
        let read = pin!(limited.read_buf(buffer)).poll(cx);
        self.settle_guess();
        let count = ready!(read)?;
        self.filled();
        Poll::Ready(Ok(count))
    }

    /// Makes room for the next read; how many bytes it may bring, at least one.
    fn make_room(&mut self) -> std::io::Result<usize> {
        self.set_apart();
        if let Large::Coming(bytes, length) = &mut self.large {
            if memory::is_exhausted() {
                return Err(std::io::ErrorKind::OutOfMemory.into());
            }
            let left = *length - bytes.len();
            if bytes.len() == bytes.capacity() {
                make_larger(bytes, *length)?;
            }
            let room = left.min(bytes.capacity() - bytes.len()).min(LARGE_READ_MAX);
            self.count();
            return Ok(room);
        }
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        if self.bytes.len() == self.bytes.capacity() {
            self.grow();
        }
        if self.expected > 0 && self.bytes.is_empty() && self.guess() {
            return Ok(self.expected.min(LARGE_READ_MAX));
        }
        let room = (self.bytes.capacity() - self.bytes.len()).min(BYTES_READ_MAX);
        Ok(if self.expected > 0 && self.bytes.is_empty() { room.min(PEEK_BYTES) } else { room })
    }

    /// Takes room for a packet as long as the last one; false where there is none at hand.
    fn guess(&mut self) -> bool {
        let found = recycled::take(self.expected);
        let is_short = self.expected <= LARGE_READ_MAX;
        let buffer = found.or_else(|| is_short.then(|| Vec::with_capacity(self.expected)));
        let Some(buffer) = buffer else { return false };
        self.large = Large::Guessed(buffer);
        true
    }

    /// After a read: the packet has begun in a buffer that fits it, or what came is something else.
    fn settle_guess(&mut self) {
        let Large::Guessed(bytes) = &mut self.large else { return };
        let bytes = std::mem::take(bytes);
        let length = match frame(&bytes, usize::MAX) {
            Ok(Framed::Incomplete(length)) => length,
            Ok(Framed::Whole(whole)) if whole.length == bytes.len() => whole.length,
            _ => 0,
        };
        // Who holds a packet must not hold much more memory than that.
        let fits = length >= LARGE_BYTES_MIN && bytes.capacity() <= length + length / 2;
        self.large = Large::None;
        if bytes.is_empty() {
            recycled::give(bytes);
        } else if fits {
            self.large = Large::Coming(bytes, length);
        } else {
            self.bytes = bytes;
        }
        self.count();
    }

    /// Gives a large packet that has begun a buffer of its own.
    fn set_apart(&mut self) {
        let begun = &self.bytes[self.start..];
        if begun.is_empty() || !matches!(self.large, Large::None) {
            return;
        }
        let Ok(Framed::Incomplete(length)) = frame(begun, usize::MAX) else { return };
        if length >= LARGE_BYTES_MIN {
            let mut bytes = recycled::take(length)
                .unwrap_or_else(|| Vec::with_capacity(length.min(begun.len() + LARGE_READ_MAX)));
            bytes.extend_from_slice(begun);
            self.large = Large::Coming(bytes, length);
            self.bytes.clear();
            self.start = 0;
        }
    }

    fn grow(&mut self) {
        self.bytes.reserve_exact(self.bytes.capacity());
        self.count();
    }

    /// Takes note of what a read brought.
    fn filled(&mut self) {
        match std::mem::take(&mut self.large) {
            Large::Coming(bytes, length) if bytes.len() == length => {
                self.large = Large::Whole(SharedBytes::from(bytes));
                self.count();
            }
            Large::None => {
                let is_full = self.bytes.len() == self.bytes.capacity();
                if is_full && self.bytes.len() < BYTES_READ_MAX {
                    self.grow();
                }
            }
            large => self.large = large,
        }
    }

    /// Bytes that were read and not understood yet.
    pub fn len(&self) -> usize {
        let large = match &self.large {
            Large::None => 0,
            Large::Guessed(bytes) | Large::Coming(bytes, _) => bytes.len(),
            Large::Whole(bytes) => bytes.len(),
        };
        self.bytes.len() - self.start + large
    }

    /// The next whole packet, if it is there.
    #[inline]
    pub fn next(&self, length_max: usize) -> Result<Option<RawPacket<'_>>, Violation> {
        let bytes = match &self.large {
            Large::None => &self.bytes[self.start..],
            Large::Whole(bytes) => bytes,
            Large::Guessed(_) | Large::Coming(..) => return Ok(None),
        };
        match frame(bytes, length_max)? {
            Framed::Whole(whole) => Ok(Some(whole)),
            Framed::Incomplete(_) => Ok(None),
        }
    }

    /// The buffer of the next whole packet, if it has one of its own.
    #[inline]
    pub fn large(&self) -> Option<&SharedBytes> {
        match &self.large {
            Large::Whole(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Moves past a packet.
    #[inline]
    pub fn consume(&mut self, length: usize) {
        self.expected = if length >= LARGE_BYTES_MIN { length } else { 0 };
        if self.large().is_some() {
            self.large = Large::None;
            return;
        }
        self.start += length;
        debug_assert!(self.start <= self.bytes.len());
    }

    /// Forgets what was not understood.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.start = 0;
        self.large = Large::None;
        self.count();
    }

    /// Gives memory back after a small read, once everything was understood.
    pub fn rest_after(&mut self, count: usize) {
        if count < BYTES_MIN && self.is_grown() {
            recycled::give(std::mem::take(&mut self.bytes));
            *self = Self { expected: self.expected, ..Self::new() };
        }
    }

    /// Whether it holds memory that nothing needs now.
    pub fn is_grown(&self) -> bool {
        let is_empty = self.start == self.bytes.len() && matches!(self.large, Large::None);
        is_empty && self.bytes.capacity() > BYTES_MIN
    }

    /// Gives that memory back.
    pub fn rest(&mut self) {
        if self.is_grown() {
            *self = Self { expected: self.expected, ..Self::new() };
        }
    }

    fn count(&mut self) {
        let large = match &self.large {
            Large::Guessed(bytes) | Large::Coming(bytes, _) => bytes.capacity(),
            Large::None | Large::Whole(_) => 0, // a shared buffer counts itself
        };
        self.counted.set(self.bytes.capacity() + large);
    }
}

/// Gives a packet of this length more room: a buffer that is at hand, or one that grows with what has arrived, not
/// with what was announced.
fn make_larger(bytes: &mut Vec<u8>, length: usize) -> std::io::Result<()> {
    if let Some(mut larger) = recycled::take(length) {
        larger.extend_from_slice(bytes);
        recycled::give(std::mem::replace(bytes, larger));
        return Ok(());
    }
    let more = (length - bytes.len()).min(bytes.len().max(LARGE_READ_MAX));
    bytes.try_reserve_exact(more).map_err(|_| std::io::ErrorKind::OutOfMemory.into())
}

#[cfg(test)]
#[path = "inlet_tests.rs"]
mod tests;
