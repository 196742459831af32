//! Writes to a non-blocking socket, and buffers what the socket does not accept.

use std::io::{ErrorKind, Result, Write};

/// Bytes that wait for a socket.
#[derive(Default)]
pub struct SendBuffer {
    bytes: Vec<u8>,
    written: usize,
}

impl SendBuffer {
    /// The buffer, to append to.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Writes what waits. Says whether everything is written.
    pub fn flush(&mut self, stream: &mut impl Write) -> Result<bool> {
        self.written += write_some(&self.bytes[self.written..], stream)?;
        if self.written < self.bytes.len() {
            return Ok(false);
        }
        self.bytes.clear();
        self.written = 0;
        Ok(true)
    }

    /// Writes bytes directly if nothing waits before them, and buffers what the socket does not accept.
    pub fn send(&mut self, bytes: &[u8], stream: &mut impl Write) -> Result<()> {
        let written = if self.bytes.is_empty() { write_some(bytes, stream)? } else { 0 };
        self.bytes.extend_from_slice(&bytes[written..]);
        Ok(())
    }
}

/// Writes until the socket is full. Returns how many bytes it accepted.
pub fn write_some(bytes: &[u8], stream: &mut impl Write) -> Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match stream.write(&bytes[written..]) {
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket that accepts a limited number of bytes.
    struct Narrow {
        room: usize,
        got: Vec<u8>,
    }

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            if self.room == 0 {
                return Err(ErrorKind::WouldBlock.into());
            }
            let count = self.room.min(bytes.len());
            self.room -= count;
            self.got.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn bytes_leave_in_order_through_a_socket_that_fills_up() {
        let mut stream = Narrow { room: 4, got: Vec::new() };
        let mut unsent = SendBuffer::default();
        unsent.send(b"abcdef", &mut stream).unwrap();
        unsent.send(b"ghi", &mut stream).unwrap();
        unsent.bytes().extend_from_slice(b"jk");
        assert!(!unsent.flush(&mut stream).unwrap());
        stream.room = 3;
        assert!(!unsent.flush(&mut stream).unwrap());
        stream.room = 100;
        assert!(unsent.flush(&mut stream).unwrap());
        assert_eq!(stream.got, b"abcdefghijk");
    }
}
