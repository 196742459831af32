//! The bytes read from one socket and not understood yet.

use slipring_wire::{Framed, RawPacket, Violation, frame};

/// What a quiet connection holds on to.
const BYTES_MIN: usize = 2 << 10;
/// What one read takes at most while packets are small.
const BYTES_READ_MAX: usize = 256 << 10;

/// A buffer that grows with the traffic and shrinks when it is quiet.
#[derive(Debug)]
pub(crate) struct Inlet {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Inlet {
    pub fn new() -> Self {
        Self { bytes: vec![0; BYTES_MIN], start: 0, end: 0 }
    }

    /// Where the next read goes. Never empty.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// Takes note of what a read brought.
    pub fn filled(&mut self, count: usize) {
        self.end += count;
        if self.end == self.bytes.len() && self.bytes.len() < BYTES_READ_MAX {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
    }

    /// The next whole packet, if it is there.
    pub fn next(&self, length_max: usize) -> Result<Option<RawPacket<'_>>, Violation> {
        match frame(&self.bytes[self.start..self.end], length_max)? {
            Framed::Whole(whole) => Ok(Some(whole)),
            Framed::Incomplete(_) => Ok(None),
        }
    }

    /// Moves past a packet.
    pub fn consume(&mut self, length: usize) {
        self.start += length;
        debug_assert!(self.start <= self.end);
    }

    /// Forgets what was not understood.
    pub fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    /// Gives memory back after a small read, once everything was understood.
    pub fn rest_after(&mut self, count: usize) {
        if count < BYTES_MIN && self.start == self.end && self.bytes.len() > BYTES_MIN {
            *self = Self::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(inlet: &mut Inlet, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = inlet.space();
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            inlet.filled(count);
            bytes = &bytes[count..];
        }
    }

    #[test]
    fn packets_larger_than_the_buffer_come_out_whole() {
        let mut inlet = Inlet::new();
        let mut packet = vec![0x30, 0xa0, 0x8d, 0x06]; // 100,000 bytes follow
        packet.extend(vec![7; 100_000]);
        for _ in 0..3 {
            feed(&mut inlet, &packet);
            let found = inlet.next(1 << 20).unwrap().unwrap();
            assert_eq!(found.length, packet.len());
            inlet.consume(packet.len());
        }
        inlet.rest_after(1);
        assert_eq!(inlet.bytes.len(), BYTES_MIN);
    }

    #[test]
    fn half_a_packet_waits_for_the_rest() {
        let mut inlet = Inlet::new();
        feed(&mut inlet, &[0xc0, 0x00, 0xc0]);
        inlet.consume(inlet.next(10).unwrap().unwrap().length);
        assert_eq!(inlet.next(10), Ok(None));
        feed(&mut inlet, &[0x00]);
        assert_eq!(inlet.next(10).unwrap().unwrap().length, 2);
    }
}
