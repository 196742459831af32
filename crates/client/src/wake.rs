//! A wake-up through a file descriptor, for an event loop that is not ours. Never blocks.
//!
//! Any number of events is one byte: the first `raise` after a `clear` makes the descriptor readable.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct Wake {
    reader: UnixStream,
    writer: UnixStream,
    raised: AtomicBool,
}

impl Wake {
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Self { reader, writer, raised: AtomicBool::new(false) })
    }

    /// The descriptor to watch for reading.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// Call after the event is queued.
    pub fn raise(&self) {
        if !self.raised.swap(true, Ordering::AcqRel) {
            // The socket is never full: there is at most one byte for each clear.
            let _ = (&self.writer).write(&[1]);
        }
    }

    /// Call before the events are taken from their queue.
    pub fn clear(&self) {
        let mut bytes = [0; 16];
        // There may be nothing to read: the owner may look without being woken.
        let _ = (&self.reader).read(&mut bytes);
        self.raised.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_events_are_one_byte() {
        let wake = Wake::new().unwrap();
        for _ in 0..1000 {
            wake.raise();
        }
        let mut bytes = [0; 16];
        assert_eq!((&wake.reader).read(&mut bytes).unwrap(), 1);
    }

    #[test]
    fn after_a_clear_the_next_event_wakes_again() {
        let wake = Wake::new().unwrap();
        wake.raise();
        wake.clear();
        assert!((&wake.reader).read(&mut [0]).is_err());
        wake.raise();
        assert_eq!((&wake.reader).read(&mut [0]).unwrap(), 1);
    }
}
