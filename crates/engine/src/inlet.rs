//! The bytes read from one stream and not taken as packets yet.
//!
//! Small packets are read many at a time into one buffer. A large one gets a buffer of its own, which its
//! subscribers then share: its payload is never moved. Packets between the two are read many at a time into a buffer
//! that is shared by the subscribers of all of them.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, ready};

use slipring_core::memory::{self, Counted};
use slipring_core::{SharedBytes, recycled};
use slipring_wire::{PacketSplit, RawPacket, Violation, split_packet};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The buffer of a quiet connection.
const BYTES_MIN: usize = 2 << 10;
/// Bytes of one read at most while packets are small.
const BYTES_READ_MAX: usize = 64 << 10;
/// Bytes of one read of a large packet at most.
const LARGE_READ_MAX: usize = 256 << 10;
/// An incomplete packet of at least this length gets a buffer of its own.
const LARGE_BYTES_MIN: usize = 32 << 10;
/// Packets of at least this length are read into a buffer that can be shared.
const MIDDLE_BYTES_MIN: usize = 8 << 10;
/// Bytes read after a large packet to learn the length of the next one, if no buffer of that length is at hand.
const PEEK_BYTES: usize = 512;

/// A buffer that grows with the traffic and shrinks when it is quiet.
#[derive(Debug)]
pub(crate) struct Inlet {
    bytes: Vec<u8>,
    /// How many bytes of `bytes`, or of a shared buffer, were taken as packets.
    start: usize,
    /// Packets that are not in `bytes`.
    apart: Apart,
    /// The length of the last packet, as a guess for the next one; 0 if it was small.
    expected: usize,
    /// The size of the buffer for the next read of several packets of middle length.
    shared_room: usize,
    counted: Counted,
}

/// Packets that are too large for the common buffer.
#[derive(Debug, Default)]
enum Apart {
    #[default]
    None,
    /// A buffer for packets of the expected length, which begins with a copy of `bytes`. It exists only during a
    /// read.
    Guessed(Vec<u8>),
    /// A large packet that is incomplete, and its whole length.
    Coming(Vec<u8>, usize),
    /// One whole packet, or several of middle length and the beginning of the next one.
    Shared(SharedBytes),
}

impl Inlet {
    pub fn new() -> Self {
        let bytes = Vec::with_capacity(BYTES_MIN);
        let counted = Counted::new(BYTES_MIN);
        let (apart, shared_room) = (Apart::None, BYTES_READ_MAX);
        Self { bytes, start: 0, apart, expected: 0, shared_room, counted }
    }

    /// Reads once. Returns the number of bytes, 0 at the end of the stream.
    pub fn poll_read<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<std::io::Result<usize>> {
        let most = self.make_room()?;
        let buffer = match &mut self.apart {
            Apart::Coming(bytes, _) | Apart::Guessed(bytes) => bytes,
            _ => &mut self.bytes,
        };
        let mut limited = stream.take(most as u64);
        let read = pin!(limited.read_buf(buffer)).poll(cx);
        self.settle_guess();
        let count = ready!(read)?;
        self.filled();
        Poll::Ready(Ok(count))
    }

    /// Makes room for the next read. Returns how many bytes it may bring, at least one.
    fn make_room(&mut self) -> std::io::Result<usize> {
        self.set_apart();
        if let Apart::Coming(bytes, length) = &mut self.apart {
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
        self.take_rest();
        if let Some(room) = self.guess() {
            return Ok(room);
        }
        if self.bytes.len() == self.bytes.capacity() {
            self.grow();
        }
        let room = (self.bytes.capacity() - self.bytes.len()).min(BYTES_READ_MAX);
        let is_large_expected = self.expected >= LARGE_BYTES_MIN && self.bytes.is_empty();
        Ok(if is_large_expected { room.min(PEEK_BYTES) } else { room })
    }

    /// Moves the bytes that were not taken to the beginning of `bytes`, and lets go of a shared buffer.
    fn take_rest(&mut self) {
        if let Apart::Shared(shared) = &self.apart {
            self.bytes.extend_from_slice(&shared[self.start..]);
            self.apart = Apart::None;
        } else if self.start > 0 {
            self.bytes.drain(..self.start);
        }
        self.start = 0;
    }

    /// Takes a buffer for packets as long as the last one. Returns its room, or None if small packets are expected or
    /// no such buffer is at hand.
    fn guess(&mut self) -> Option<usize> {
        let (expected, begun) = (self.expected, self.bytes.len());
        let is_middle = (MIDDLE_BYTES_MIN..LARGE_BYTES_MIN).contains(&expected);
        let buffer = if is_middle && !memory::is_short() {
            let mut buffer = recycled::take_or_new(self.shared_room.max(2 * begun));
            buffer.extend_from_slice(&self.bytes);
            buffer
        } else if expected >= LARGE_BYTES_MIN && begun == 0 {
            let is_short = expected <= LARGE_READ_MAX;
            let found = recycled::take(expected);
            found.or_else(|| is_short.then(|| Vec::with_capacity(expected)))?
        } else {
            return None;
        };
        let room = (buffer.capacity() - begun).min(LARGE_READ_MAX);
        self.apart = Apart::Guessed(buffer);
        Some(if expected < LARGE_BYTES_MIN { room } else { room.min(expected) })
    }

    /// After a read: moves the bytes to a buffer that fits them.
    fn settle_guess(&mut self) {
        let Apart::Guessed(bytes) = &mut self.apart else { return };
        let bytes = std::mem::take(bytes);
        self.apart = Apart::None;
        if bytes.len() == self.bytes.len() {
            recycled::give(bytes); // nothing came
        } else if self.expected < LARGE_BYTES_MIN {
            self.shared_room = next_room(bytes.len(), bytes.capacity());
            self.bytes.clear();
            self.apart = Apart::Shared(bytes.into());
        } else if let Some(length) = fitting_length(&bytes) {
            self.apart = Apart::Coming(bytes, length);
        } else {
            self.bytes = bytes;
        }
        self.count();
    }

    /// Gives a large packet that has begun a buffer of its own.
    fn set_apart(&mut self) {
        let begun = match &self.apart {
            Apart::None => &self.bytes[self.start..],
            Apart::Shared(shared) => &shared[self.start..],
            Apart::Guessed(_) | Apart::Coming(..) => return,
        };
        if begun.is_empty() {
            return;
        }
        let Ok(PacketSplit::Incomplete(length)) = split_packet(begun, usize::MAX) else { return };
        if length >= LARGE_BYTES_MIN {
            let mut bytes = recycled::take(length)
                .unwrap_or_else(|| Vec::with_capacity(length.min(begun.len() + LARGE_READ_MAX)));
            bytes.extend_from_slice(begun);
            self.apart = Apart::Coming(bytes, length);
            self.bytes.clear();
            self.start = 0;
        }
    }

    fn grow(&mut self) {
        self.bytes.reserve_exact(self.bytes.capacity());
        self.count();
    }

    /// After a read: shares a packet that is complete, or grows a full buffer.
    fn filled(&mut self) {
        match std::mem::take(&mut self.apart) {
            Apart::Coming(bytes, length) if bytes.len() == length => {
                self.apart = Apart::Shared(SharedBytes::from(bytes));
                self.count();
            }
            Apart::None => {
                let is_full = self.bytes.len() == self.bytes.capacity();
                if is_full && self.bytes.len() < BYTES_READ_MAX {
                    self.grow();
                }
            }
            apart => self.apart = apart,
        }
    }

    /// How many bytes were read and not taken yet.
    pub fn len(&self) -> usize {
        let apart = match &self.apart {
            Apart::None => 0,
            Apart::Guessed(bytes) | Apart::Coming(bytes, _) => bytes.len(),
            Apart::Shared(bytes) => bytes.len(),
        };
        self.bytes.len() + apart - self.start
    }

    /// The next packet, if it is complete.
    #[inline]
    pub fn next(&self, length_max: usize) -> Result<Option<RawPacket<'_>>, Violation> {
        let bytes = match &self.apart {
            Apart::None => &*self.bytes,
            Apart::Shared(bytes) => bytes,
            // It may be longer than the client may send.
            Apart::Guessed(bytes) | Apart::Coming(bytes, _) => bytes,
        };
        match split_packet(&bytes[self.start..], length_max)? {
            PacketSplit::Whole(whole) => Ok(Some(whole)),
            PacketSplit::Incomplete(_) => Ok(None),
        }
    }

    /// The buffer of the next packet, if it can be shared.
    #[inline]
    pub fn shared(&self) -> Option<&SharedBytes> {
        match &self.apart {
            Apart::Shared(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Moves past a packet.
    #[inline]
    pub fn consume(&mut self, length: usize) {
        self.expected = if length >= MIDDLE_BYTES_MIN { length } else { 0 };
        self.start += length;
        let Apart::Shared(shared) = &self.apart else {
            debug_assert!(self.start <= self.bytes.len());
            return;
        };
        if self.start == shared.len() {
            self.apart = Apart::None;
            self.start = 0;
        }
    }

    /// Drops all bytes.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.start = 0;
        self.apart = Apart::None;
        self.count();
    }

    /// Gives memory back after a small read, once all bytes were taken.
    pub fn rest_after(&mut self, count: usize) {
        if count < BYTES_MIN && self.is_grown() {
            recycled::give(std::mem::take(&mut self.bytes));
            self.renew();
        }
    }

    /// Whether it holds memory that it does not need now.
    pub fn is_grown(&self) -> bool {
        let is_empty = self.start == self.bytes.len() && matches!(self.apart, Apart::None);
        is_empty && self.bytes.capacity() > BYTES_MIN
    }

    /// Gives that memory back.
    pub fn rest(&mut self) {
        if self.is_grown() {
            self.renew();
        }
    }

    fn renew(&mut self) {
        let Self { expected, shared_room, .. } = *self;
        *self = Self { expected, shared_room, ..Self::new() };
    }

    /// Bytes of a large packet that has begun and not ended.
    pub fn unfinished_bytes(&self) -> usize {
        match &self.apart {
            Apart::Coming(bytes, _) => bytes.capacity(),
            _ => 0,
        }
    }

    fn count(&mut self) {
        let apart = match &self.apart {
            Apart::Guessed(bytes) | Apart::Coming(bytes, _) => bytes.capacity(),
            Apart::None | Apart::Shared(_) => 0, // a shared buffer counts itself
        };
        self.counted.set(self.bytes.capacity() + apart);
    }
}

/// The length of the large packet that these bytes begin or are, if their buffer is not much longer: a subscriber that
/// holds the packet must not hold much more memory.
fn fitting_length(bytes: &Vec<u8>) -> Option<usize> {
    let length = match split_packet(bytes, usize::MAX) {
        Ok(PacketSplit::Incomplete(length)) => length,
        Ok(PacketSplit::Whole(whole)) if whole.length == bytes.len() => whole.length,
        _ => return None,
    };
    let fits = length >= LARGE_BYTES_MIN && bytes.capacity() <= length + length / 2;
    fits.then_some(length)
}

/// The size of the next buffer, after a read of so many bytes into one of this capacity.
fn next_room(bytes: usize, capacity: usize) -> usize {
    let room = match bytes {
        _ if bytes == capacity => 2 * capacity,
        _ if bytes < capacity / 4 => capacity / 2,
        _ => capacity,
    };
    room.clamp(BYTES_READ_MAX, LARGE_READ_MAX)
}

/// Gives a packet of this length more room: a buffer that is at hand, or one that grows with the bytes that have
/// arrived, not with the announced length.
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
