//! Reading from a socket that never blocks: whole packets are taken, the beginning of the next is kept.

use std::io::{ErrorKind, Read};

use crate::Result;

/// Bytes that one read brings at most.
const READ_BYTES_MAX: usize = 256 << 10;

/// Room for one read, shared by all clients of a loop.
pub fn scratch() -> Vec<u8> {
    vec![0; READ_BYTES_MAX]
}

/// From this many bytes on, the beginning of a packet has a buffer of its own, so that it is not copied with every
/// read.
const LARGE_BYTES_MIN: usize = 16 << 10;

/// The beginning of a packet whose end has not come yet.
#[derive(Default)]
pub struct Inlet {
    rest: Vec<u8>,
    /// Room for a packet that is large; kept for the next one.
    large: Vec<u8>,
    /// Bytes in `large`; where it has some, `rest` is empty.
    begun: usize,
}

/// What one read brought.
enum Got {
    /// So many bytes, and the room for them was filled.
    All,
    /// The socket is empty: epoll tells when more comes.
    Some,
    /// Nothing was there.
    Nothing,
    End,
}

impl Inlet {
    /// Reads until nothing is left. `take` gets the bytes and says how many it used; whether the
    /// stream has not ended.
    pub fn read(
        &mut self,
        stream: &mut impl Read,
        scratch: &mut [u8],
        mut take: impl FnMut(&[u8]) -> Result<usize>,
    ) -> Result<bool> {
        loop {
            let got = if self.begun > 0 {
                self.read_large(stream, &mut take)?
            } else {
                self.read_small(stream, scratch, &mut take)?
            };
            match got {
                Got::All => {}
                Got::Some | Got::Nothing => return Ok(true),
                Got::End => return Ok(false),
            }
        }
    }

    fn read_small(
        &mut self,
        stream: &mut impl Read,
        scratch: &mut [u8],
        take: &mut impl FnMut(&[u8]) -> Result<usize>,
    ) -> Result<Got> {
        let kept = self.rest.len();
        scratch[..kept].copy_from_slice(&self.rest);
        let (end, got) = fill(stream, scratch, kept)?;
        if matches!(got, Got::Nothing | Got::End) {
            return Ok(got);
        }
        let used = take(&scratch[..end])?;
        self.keep(&scratch[used..end], scratch.len());
        Ok(got)
    }

    /// Reads behind the beginning of a large packet.
    fn read_large(
        &mut self,
        stream: &mut impl Read,
        take: &mut impl FnMut(&[u8]) -> Result<usize>,
    ) -> Result<Got> {
        if self.begun == self.large.len() {
            self.large.resize(self.begun * 2, 0);
        }
        let (end, got) = fill(stream, &mut self.large, self.begun)?;
        if matches!(got, Got::Nothing | Got::End) {
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

/// Reads once behind what is there; where the bytes then end.
fn fill(stream: &mut impl Read, room: &mut [u8], kept: usize) -> Result<(usize, Got)> {
    loop {
        return match stream.read(&mut room[kept..]) {
            Ok(0) => Ok((kept, Got::End)),
            Ok(count) if kept + count < room.len() => Ok((kept + count, Got::Some)),
            Ok(count) => Ok((kept + count, Got::All)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok((kept, Got::Nothing)),
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
    fn packets_are_the_same_however_the_reads_are_cut() {
        for room in [1, 3, 5, 6, 7, 100] {
            let (mut inlet, mut found) = (Inlet::default(), Vec::new());
            let is_open =
                inlet.read(&mut Waiting(b"abcdabcdabcdab"), &mut vec![0; room], |bytes| {
                    found.extend(bytes.chunks_exact(4).map(<[u8]>::to_vec));
                    Ok(bytes.len() / 4 * 4)
                });
            assert!(is_open.unwrap());
            assert_eq!(found, [b"abcd"; 3], "{room} bytes of room");
            assert_eq!([&inlet.rest[..], &inlet.large[..inlet.begun]].concat(), b"ab");
        }
    }

    #[test]
    fn a_packet_larger_than_a_read_comes_whole_and_the_next_one_too() {
        let packet: Vec<u8> = (0..=255).cycle().take(3 * READ_BYTES_MAX + 7).collect();
        let bytes = packet.repeat(3);
        let (mut inlet, mut found) = (Inlet::default(), 0);
        for part in bytes.chunks(100_000) {
            let is_open = inlet.read(&mut Waiting(part), &mut scratch(), |bytes| {
                let whole = bytes.len() / packet.len();
                assert!(bytes.chunks_exact(packet.len()).all(|bytes| bytes == packet));
                found += whole;
                Ok(whole * packet.len())
            });
            assert!(is_open.unwrap());
        }
        assert_eq!((found, inlet.rest.len(), inlet.begun), (3, 0, 0));
    }

    #[test]
    fn an_ended_stream_is_told() {
        let mut inlet = Inlet::default();
        let is_open = inlet.read(&mut std::io::empty(), &mut [0; 9], |bytes| Ok(bytes.len()));
        assert!(!is_open.unwrap());
    }
}
