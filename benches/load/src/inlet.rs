//! Reading from a socket that never blocks: whole packets are taken, the beginning of the next is kept.

use std::io::{ErrorKind, Read};

use crate::Result;

/// Bytes that one read brings at most.
const READ_BYTES_MAX: usize = 256 << 10;

/// Room for one read, shared by all clients of a loop.
pub fn scratch() -> Vec<u8> {
    vec![0; READ_BYTES_MAX]
}

/// The beginning of a packet whose end has not come yet.
#[derive(Default)]
pub struct Inlet {
    rest: Vec<u8>,
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
            let kept = self.rest.len();
            scratch[..kept].copy_from_slice(&self.rest);
            let end = match stream.read(&mut scratch[kept..]) {
                Ok(0) => return Ok(false),
                Ok(count) => kept + count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let used = take(&scratch[..end])?;
            self.rest.clear();
            self.rest.extend_from_slice(&scratch[used..end]);
            // A short read has emptied the socket: epoll tells when more comes.
            if end < scratch.len() {
                return Ok(true);
            }
        }
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
        for room in [5, 6, 7, 100] {
            let (mut inlet, mut found) = (Inlet::default(), Vec::new());
            let is_open =
                inlet.read(&mut Waiting(b"abcdabcdabcdab"), &mut vec![0; room], |bytes| {
                    found.extend(bytes.chunks_exact(4).map(<[u8]>::to_vec));
                    Ok(bytes.len() / 4 * 4)
                });
            assert!(is_open.unwrap());
            assert_eq!(found, [b"abcd"; 3], "{room} bytes of room");
            assert_eq!(inlet.rest, b"ab");
        }
    }

    #[test]
    fn an_ended_stream_is_told() {
        let mut inlet = Inlet::default();
        let is_open = inlet.read(&mut std::io::empty(), &mut [0; 9], |bytes| Ok(bytes.len()));
        assert!(!is_open.unwrap());
    }
}
