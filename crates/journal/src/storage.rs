//! The traits through which the journal reads and writes. A directory implements them, and a simulated
//! disk. They know nothing of what the bytes mean.

use std::fmt;
use std::io;

use crate::consumers::Consumer;
use crate::format::JournalIdentity;
use crate::segment::SegmentId;

/// Reading segments.
pub trait ReadSegments: fmt::Debug {
    /// All segments, ascending.
    fn segments(&self) -> io::Result<Vec<SegmentId>>;
    /// Bytes in a segment.
    fn size(&self, segment: SegmentId) -> io::Result<u64>;
    /// Reads from `position` into `into`. Returns how many bytes there were.
    fn read_at(&self, segment: SegmentId, position: u64, into: &mut [u8]) -> io::Result<usize>;
    /// The bytes of the file with a name; `None` if there is no such file.
    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>>;
}

/// Writing segments. Only the newest one grows.
pub trait WriteSegments: ReadSegments {
    /// Creates or replaces a segment with these bytes. After a crash at any moment the segment is as
    /// before, or it holds the bytes. When this returns, they survive a power cut.
    fn begin(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()>;
    /// Appends bytes to a segment; after an error, some of them may be written.
    fn append(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a segment to `size` bytes.
    fn truncate(&mut self, segment: SegmentId, size: u64) -> io::Result<()>;
    /// Copies a segment from `position` on to a file outside the journal, for a person to look at.
    fn set_aside(&mut self, segment: SegmentId, position: u64) -> io::Result<()>;
    /// Returns when everything appended to the segment survives a power cut.
    fn sync(&mut self, segment: SegmentId) -> io::Result<()>;
    /// Overwrites the file with a name in place, with bytes of the same length. Readers see them at once;
    /// a power cut may bring older ones back.
    fn overwrite(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Fails when the segment, the folder or its lock was removed or replaced, so that what is appended
    /// would be lost.
    fn verify(&mut self, segment: SegmentId) -> io::Result<()>;
}

/// Everything that a journal needs from its storage.
pub trait Storage: WriteSegments + Send {
    /// Creates or replaces the file with a name. After a crash at any moment the file is as before, or it
    /// holds the bytes. When this returns, they survive a power cut.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// The same without a sync, for a file that can be made again: a power cut may lose it or a part of it.
    fn put_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Removes a segment and its index. When this returns, the removal survives a power cut.
    fn remove(&self, segment: SegmentId) -> io::Result<()>;
    /// The consumers of the journal.
    fn consumers(&self) -> io::Result<Vec<Consumer>>;
    /// Sixteen bytes that no other journal has.
    fn fresh_identity(&self) -> io::Result<JournalIdentity>;
    /// The time, in milliseconds since 1970; it may jump.
    fn now_ms(&self) -> u64;
    /// Another handle on the same storage, for reading.
    fn clone_reader(&self) -> Box<dyn ReadSegments + Send>;
    /// Another handle on the same storage, for `put` and `remove` beside the one that appends.
    fn clone_storage(&self) -> Box<dyn Storage>;
}
