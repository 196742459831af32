//! Encoded packets in the order of sending: small ones are copied into chunks, a large payload is shared.
//!
//! Example: two packets of 100 bytes, a packet with a head of 20 bytes and a shared payload of 1 MB, and a further
//! packet of 100 bytes are two pieces and the tail: a chunk of 220 bytes, the payload, and a tail of 100 bytes. One
//! vectored write sends them all.

use std::io::IoSlice;

use crate::memory::Counted;
use crate::pieces::{Piece, Pieces};
use crate::shared_bytes::SharedBytes;

/// Bytes of a full chunk. Memory is freed in whole chunks, so it exceeds a bound on waiting bytes by two chunks at
/// most.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;
/// Fewer bytes are copied behind others, so that both are one slice.
const COPIED_BYTES_MAX: usize = 4 << 10;
/// Bytes that a quiet connection keeps allocated.
const RESTING_BYTES: usize = 4 << 10;
/// Bytes of a chunk for the head of one packet, in front of its shared payload.
const HEAD_BYTES: usize = 128;

/// Packets that wait to be written, or are being written.
#[derive(Debug, Default)]
pub struct Packets {
    pieces: Pieces,
    /// The newest chunk, behind all pieces, and how many packets begin in it.
    tail: Vec<u8>,
    begun_in_tail: u32,
    /// Bytes of the first piece (of the tail if there are no pieces) that were sent or dropped.
    start: usize,
    /// The capacity of the chunks, and of the list of pieces. A shared payload counts itself.
    counted: Counted,
}

/// The oldest packet: all its bytes, or its head and its shared payload.
pub(crate) struct FirstPacket<'a> {
    pub bytes: &'a [u8],
    pub payload: Option<&'a SharedBytes>,
}

impl Packets {
    /// Bytes that were not sent.
    #[inline]
    pub fn len(&self) -> usize {
        self.pieces.len() + self.tail.len() - self.start
    }

    /// Whether all bytes were sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a packet by copying it.
    #[inline]
    pub fn push(&mut self, packet: &[u8]) {
        if self.tail.len() + packet.len() > self.tail.capacity() {
            self.make_room(packet.len());
        }
        self.tail.extend_from_slice(packet);
        self.begun_in_tail += 1;
    }

    /// The buffer to encode a packet into.
    pub fn tail(&mut self) -> &mut Vec<u8> {
        if self.tail.len() >= CHUNK_BYTES {
            self.seal();
        }
        &mut self.tail
    }

    /// Adds the payload of the packet whose head was encoded last.
    pub fn attach(&mut self, payload: SharedBytes) {
        self.seal();
        self.pieces.push(Piece::Shared(payload));
    }

    /// Bytes of all buffers that parts are kept of, with this part added.
    pub(crate) fn buffers_bytes_with(&self, part: &SharedBytes) -> usize {
        self.pieces.buffers_bytes_with(part)
    }

    /// Moves everything to the end of `out`.
    pub fn append_to(&mut self, out: &mut Self) {
        if out.is_empty() {
            out.clear();
            std::mem::swap(self, out);
        } else if self.pieces.is_empty() && self.len() < COPIED_BYTES_MAX {
            out.tail().extend_from_slice(&self.tail[self.start..]);
            self.clear();
        } else {
            self.move_pieces(out, usize::MAX);
        }
    }

    /// Moves the oldest packets to the end of `out` until it has `bytes`, and returns how many packets.
    pub(crate) fn take(&mut self, out: &mut Self, bytes: usize) -> u64 {
        if out.len() + self.len() > bytes && !self.pieces.is_empty() {
            return self.move_pieces(out, bytes);
        }
        let packets = self.packets();
        self.append_to(out);
        packets
    }

    fn packets(&self) -> u64 {
        let chunks = self.pieces.iter().map(|piece| match piece {
            Piece::Chunk(_, packets) => u64::from(*packets),
            Piece::Shared(_) => 0,
        });
        chunks.sum::<u64>() + u64::from(self.begun_in_tail)
    }

    /// Moves pieces to `out` until it has `bytes`. A payload stays with its head.
    fn move_pieces(&mut self, out: &mut Self, bytes: usize) -> u64 {
        if bytes == usize::MAX {
            self.seal();
        }
        if !self.pieces.is_empty() {
            self.pieces.cut_front(std::mem::take(&mut self.start)); // only whole pieces can move
        }
        out.seal();
        let mut packets = 0;
        while out.len() < bytes || matches!(self.pieces.front(), Some(Piece::Shared(_))) {
            let Some(piece) = self.pieces.pop() else { break };
            if let Piece::Chunk(_, count) = &piece {
                packets += u64::from(*count);
            }
            out.pieces.push(piece);
        }
        self.recount();
        out.recount();
        packets
    }

    /// The oldest packet.
    pub(crate) fn first(&self) -> Option<FirstPacket<'_>> {
        let (chunk, payload) = match self.pieces.front() {
            Some(Piece::Chunk(chunk, _)) => (chunk, self.pieces.iter().nth(1)),
            Some(Piece::Shared(_)) => unreachable!("a payload follows its head"),
            None => (&self.tail, None),
        };
        let rest = chunk.get(self.start..).filter(|rest| !rest.is_empty())?;
        let length = packet_length(rest);
        let payload = match payload {
            Some(Piece::Shared(payload)) if length > rest.len() => Some(payload),
            _ => None,
        };
        Some(FirstPacket { bytes: &rest[..length.min(rest.len())], payload })
    }

    /// Drops the oldest packet; false if there is none.
    pub(crate) fn drop_first(&mut self) -> bool {
        let Some(FirstPacket { bytes, payload }) = self.first() else { return false };
        let length = bytes.len() + payload.map_or(0, |payload| payload.len());
        if self.pieces.is_empty() {
            self.begun_in_tail -= 1;
        } else {
            self.pieces.forget_packet();
        }
        self.advance(length);
        true
    }

    /// Fills in the slices to write next, and returns how many.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let pieces = self.pieces.iter().map(Piece::bytes).chain([&*self.tail]);
        let mut start = self.start;
        let unsent = pieces.map(|bytes| &bytes[std::mem::take(&mut start)..]);
        let mut count = 0;
        for (slice, bytes) in slices.iter_mut().zip(unsent.filter(|bytes| !bytes.is_empty())) {
            *slice = IoSlice::new(bytes);
            count += 1;
        }
        count
    }

    /// All bytes, if they lie in one piece.
    pub fn as_slice(&self) -> Option<&[u8]> {
        self.pieces.is_empty().then(|| &self.tail[self.start..])
    }

    /// Notes that `count` bytes were sent, and frees chunks that were sent completely.
    pub fn advance(&mut self, count: usize) {
        self.start += count;
        while let Some(piece) = self.pieces.front() {
            let length = piece.bytes().len();
            if self.start < length {
                return;
            }
            self.start -= length;
            if let Some(Piece::Chunk(..)) = self.pieces.pop() {
                self.recount();
            }
        }
        if self.start == self.tail.len() {
            self.tail.clear();
            (self.start, self.begun_in_tail) = (0, 0);
        }
    }

    /// Removes everything, but keeps a small chunk for the next packets.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.tail.clear();
        if self.tail.capacity() > CHUNK_BYTES {
            self.tail = Vec::new();
        }
        (self.start, self.begun_in_tail) = (0, 0);
        self.recount();
    }

    /// Whether it is empty and holds more memory than a quiet connection should.
    pub fn is_grown(&self) -> bool {
        self.is_empty() && self.counted.bytes() > RESTING_BYTES
    }

    /// Frees that memory.
    pub fn rest(&mut self) {
        if self.is_grown() {
            *self = Self::default();
        }
    }

    /// Memory of the chunks.
    #[cfg(test)]
    pub(crate) fn chunks_bytes(&self) -> usize {
        self.pieces.chunks_bytes() + self.tail.capacity()
    }

    /// All bytes, one after the other.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut slices = vec![IoSlice::new(&[]); self.pieces.iter().count() + 1];
        let count = self.slices(&mut slices);
        slices[..count].iter().flat_map(|slice| slice.iter().copied()).collect()
    }

    /// Makes a piece of the tail.
    fn seal(&mut self) {
        if self.tail.is_empty() {
            return;
        }
        let chunk = std::mem::take(&mut self.tail);
        let begun = std::mem::take(&mut self.begun_in_tail);
        self.pieces.push(Piece::Chunk(chunk, begun));
        self.recount();
    }

    #[cold]
    fn make_room(&mut self, bytes: usize) {
        let is_full = self.tail.len() + bytes > CHUNK_BYTES;
        // Behind a full chunk, another one will fill up. Behind the head of a payload, mostly another head follows.
        let next =
            if is_full && self.tail.len() > CHUNK_BYTES / 2 { CHUNK_BYTES } else { HEAD_BYTES };
        if is_full {
            self.seal();
        }
        let room = (self.tail.len() * 2).clamp(next, CHUNK_BYTES).max(self.tail.len() + bytes);
        self.tail.reserve_exact(room - self.tail.len());
        self.recount();
    }

    /// Counts its memory again; after encoding into the tail.
    pub fn recount(&mut self) {
        self.counted.set(self.pieces.own_bytes() + self.tail.capacity());
    }
}

impl From<Vec<u8>> for Packets {
    fn from(tail: Vec<u8>) -> Self {
        let mut packets = Self { tail, ..Self::default() };
        packets.recount();
        packets
    }
}

/// Bytes of the packet that begins here, also of a payload that is not here. We encoded it: its length is right.
pub(crate) fn packet_length(packets: &[u8]) -> usize {
    let mut length = 0;
    for (at, byte) in packets.iter().enumerate().skip(1).take(4) {
        length |= usize::from(byte & 0x7f) << (7 * (at - 1));
        if byte & 0x80 == 0 {
            return at + 1 + length;
        }
    }
    packets.len()
}
