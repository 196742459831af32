//! Bytes that many share without a copy: a large payload, usually as a part of the buffer it was read into.

use std::ops::Deref;
use std::sync::Arc;

use crate::memory::Counted;
use crate::recycled;

/// From this size on subscribers share a payload; copying a smaller one is cheaper.
pub const SHARED_BYTES_MIN: usize = 4 << 10;

/// A part of a buffer. The memory budget counts the buffer once, however many parts of it there are.
#[derive(Clone, Debug)]
pub struct SharedBytes {
    buffer: Arc<Buffer>,
    start: u32,
    end: u32,
}

#[derive(Debug)]
struct Buffer {
    bytes: Vec<u8>,
    counted: Counted,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.counted.set(0);
        recycled::give(std::mem::take(&mut self.bytes));
    }
}

impl SharedBytes {
    /// A copy of some bytes.
    pub fn copied(bytes: &[u8]) -> Self {
        let mut copy = recycled::take_or_new(bytes.len());
        copy.extend_from_slice(bytes);
        Self::from(copy)
    }

    /// These bytes as a part of this buffer; None if they are not in it.
    pub fn part(&self, bytes: &[u8]) -> Option<Self> {
        let (whole, part) = (self.buffer.bytes.as_ptr_range(), bytes.as_ptr_range());
        let is_inside = whole.start <= part.start && part.end <= whole.end;
        is_inside.then(|| {
            let start = part.start.addr() - whole.start.addr();
            let end = start + bytes.len();
            Self { buffer: Arc::clone(&self.buffer), start: start as u32, end: end as u32 }
        })
    }

    /// Bytes of the whole buffer, which this part keeps allocated.
    pub fn held_bytes(&self) -> usize {
        self.buffer.bytes.capacity()
    }

    /// Whether both are parts of one buffer.
    pub fn is_beside(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.buffer, &other.buffer)
    }

    /// Moves the start forward.
    pub fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.len());
        self.start += count as u32;
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> Self {
        let end = u32::try_from(bytes.len()).expect("a packet is smaller than 4 GiB");
        let counted = Counted::new(bytes.capacity());
        Self { buffer: Arc::new(Buffer { bytes, counted }), start: 0, end }
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer.bytes[self.start as usize..self.end as usize]
    }
}

/// A message's payload.
#[derive(Clone, Debug)]
pub(crate) enum Payload {
    Copied(Box<[u8]>),
    Shared(SharedBytes),
}

impl Payload {
    /// Memory that belongs to this payload alone.
    pub(crate) fn own_bytes(&self) -> usize {
        match self {
            Self::Copied(bytes) => bytes.len(),
            Self::Shared(_) => 0,
        }
    }
}

impl From<&[u8]> for Payload {
    fn from(bytes: &[u8]) -> Self {
        if bytes.len() < SHARED_BYTES_MIN {
            Self::Copied(bytes.into())
        } else {
            Self::Shared(SharedBytes::copied(bytes))
        }
    }
}

impl Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Copied(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_in_its_own_buffer_only() {
        let packet = SharedBytes::from(b"head payload".to_vec());
        let payload = packet.part(&packet[5..]).unwrap();
        assert_eq!(&*payload, b"payload");
        assert_eq!(&*payload.part(&payload[3..]).unwrap(), b"load");
        assert!(packet.part(b"payload").is_none());
    }
}
