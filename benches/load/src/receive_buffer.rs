//! Reads from a non-blocking socket. The caller takes whole packets; the beginning of the next one is kept.

use std::io::{ErrorKind, Read};

use slipring_wire::{PacketSplit, RawPacket, split_packet};

use crate::Result;

/// The most bytes of one read.
const READ_BYTES_MAX: usize = 256 << 10;

/// A scratch buffer for one read, shared by all clients of a loop.
pub fn scratch() -> Vec<u8> {
    vec![0; READ_BYTES_MAX]
}

/// From this many bytes on, the beginning of a packet gets a buffer of its own, so that it is not copied at every
/// read.
const LARGE_BYTES_MIN: usize = 16 << 10;

/// The beginning of a packet whose end has not arrived yet.
#[derive(Default)]
pub struct ReceiveBuffer {
    rest: Vec<u8>,
    /// The buffer for large packets, which is reused.
    large: Vec<u8>,
    /// Bytes in `large`; if there are any, `rest` is empty.
    begun: usize,
}

/// The result of one read.
enum ReadOutcome {
    /// The buffer was filled: there may be more.
    All,
    /// The socket is empty now: epoll reports when more arrives.
    Some,
    /// There was nothing to read.
    Nothing,
    End,
}

impl ReceiveBuffer {
    /// Reads until the socket is empty. `take` gets the bytes and returns how many it used. A closed connection is
    /// an error.
    pub fn read(
        &mut self,
        stream: &mut impl Read,
        scratch: &mut [u8],
        mut take: impl FnMut(&[u8]) -> Result<usize>,
    ) -> Result<()> {
        loop {
            let got = if self.begun > 0 {
                self.read_large(stream, &mut take)?
            } else {
                self.read_small(stream, scratch, &mut take)?
            };
            match got {
                ReadOutcome::All => {}
                ReadOutcome::Some | ReadOutcome::Nothing => return Ok(()),
                ReadOutcome::End => return Err("the broker closed the connection".into()),
            }
        }
    }

    fn read_small(
        &mut self,
        stream: &mut impl Read,
        scratch: &mut [u8],
        take: &mut impl FnMut(&[u8]) -> Result<usize>,
    ) -> Result<ReadOutcome> {
        let kept = self.rest.len();
        scratch[..kept].copy_from_slice(&self.rest);
        let (end, got) = fill(stream, scratch, kept)?;
        if matches!(got, ReadOutcome::Nothing | ReadOutcome::End) {
            return Ok(got);
        }
        let used = take(&scratch[..end])?;
        self.keep(&scratch[used..end], scratch.len());
        Ok(got)
    }

    /// Reads more of a large packet.
    fn read_large(
        &mut self,
        stream: &mut impl Read,
        take: &mut impl FnMut(&[u8]) -> Result<usize>,
    ) -> Result<ReadOutcome> {
        if self.begun == self.large.len() {
            self.large.resize(self.begun * 2, 0);
        }
        let (end, got) = fill(stream, &mut self.large, self.begun)?;
        if matches!(got, ReadOutcome::Nothing | ReadOutcome::End) {
            return Ok(got);
        }
        let used = take(&self.large[..end])?;
        self.large.copy_within(used..end, 0);
        self.begun = end - used;
        if self.begun < LARGE_BYTES_MIN && used > 0 {
            self.rest.extend_from_slice(&self.large[..self.begun]);
            self.begun = 0;
        }
        Ok(got)
    }

    fn keep(&mut self, rest: &[u8], scratch_bytes: usize) {
        self.rest.clear();
        if rest.len() < LARGE_BYTES_MIN.min(scratch_bytes) {
            self.rest.extend_from_slice(rest);
            return;
        }
        if self.large.len() < rest.len().max(scratch_bytes) {
            self.large.resize(rest.len().max(scratch_bytes), 0);
        }
        self.large[..rest.len()].copy_from_slice(rest);
        self.begun = rest.len();
    }
}

/// Calls `each` with every whole packet. Returns how many bytes they took.
pub fn each_packet(
    bytes: &[u8],
    mut each: impl FnMut(&RawPacket<'_>) -> Result<()>,
) -> Result<usize> {
    let mut used = 0;
    while let PacketSplit::Whole(packet) = split_packet(&bytes[used..], usize::MAX)? {
        each(&packet)?;
        used += packet.length;
    }
    Ok(used)
}

/// Reads once behind the first `kept` bytes. Returns the end of the bytes.
fn fill(stream: &mut impl Read, room: &mut [u8], kept: usize) -> Result<(usize, ReadOutcome)> {
    loop {
        return match stream.read(&mut room[kept..]) {
            Ok(0) => Ok((kept, ReadOutcome::End)),
            Ok(count) if kept + count < room.len() => Ok((kept + count, ReadOutcome::Some)),
            Ok(count) => Ok((kept + count, ReadOutcome::All)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok((kept, ReadOutcome::Nothing)),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error.into()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket with some bytes in it.
    struct Waiting<'a>(&'a [u8]);

    impl Read for Waiting<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.0.read(buffer)
        }
    }

    #[test]
    fn packets_do_not_depend_on_how_the_reads_are_cut() {
        for room in [1, 3, 5, 6, 7, 100] {
            let (mut received, mut found) = (ReceiveBuffer::default(), Vec::new());
            received
                .read(&mut Waiting(b"abcdabcdabcdab"), &mut vec![0; room], |bytes| {
                    found.extend(bytes.chunks_exact(4).map(<[u8]>::to_vec));
                    Ok(bytes.len() / 4 * 4)
                })
                .unwrap();
            assert_eq!(found, [b"abcd"; 3], "{room} bytes of room");
            assert_eq!([&received.rest[..], &received.large[..received.begun]].concat(), b"ab");
        }
    }

    #[test]
    fn a_packet_larger_than_a_read_comes_whole_and_the_next_one_too() {
        let packet: Vec<u8> = (0..=255).cycle().take(3 * READ_BYTES_MAX + 7).collect();
        let bytes = packet.repeat(3);
        let (mut received, mut found) = (ReceiveBuffer::default(), 0);
        for part in bytes.chunks(100_000) {
            let read = received.read(&mut Waiting(part), &mut scratch(), |bytes| {
                let whole = bytes.len() / packet.len();
                assert!(bytes.chunks_exact(packet.len()).all(|bytes| bytes == packet));
                found += whole;
                Ok(whole * packet.len())
            });
            read.unwrap();
        }
        assert_eq!((found, received.rest.len(), received.begun), (3, 0, 0));
    }

    #[test]
    fn a_closed_connection_is_an_error() {
        let mut received = ReceiveBuffer::default();
        let read = received.read(&mut std::io::empty(), &mut [0; 9], |bytes| Ok(bytes.len()));
        assert!(read.is_err());
    }
}
