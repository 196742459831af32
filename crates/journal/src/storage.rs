//! Where segments live: the traits the journal writes and reads through. The real directory and the
//! simulated disk are behind them. Know nothing of what the bytes mean.

use std::fmt;
use std::io;

use crate::consumers::Consumer;
use crate::format::Identity;
use crate::segment::SegmentId;

/// Reading segments.
pub trait ReadSegments: fmt::Debug {
    /// All segments, ascending.
    fn segments(&self) -> io::Result<Vec<SegmentId>>;
    /// Bytes in a segment.
    fn size(&self, segment: SegmentId) -> io::Result<u64>;
    /// Fills `into` from `position`, and says how much of it there was.
    fn read_at(&self, segment: SegmentId, position: u64, into: &mut [u8]) -> io::Result<usize>;
    /// The bytes last put under a name; none when there never were any.
    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>>;
}

/// Writing segments. Only the newest one grows.
pub trait WriteSegments: ReadSegments {
    /// Makes a segment that holds just these bytes, or lets one that is there hold them instead.
    /// After a crash at any moment all is as before or the segment holds them; when this returns,
    /// that survives a power cut.
    fn begin(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()>;
    /// Adds bytes at the end of a segment; after an error, some of them may be there.
    fn append(&mut self, segment: SegmentId, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a segment to `size` bytes.
    fn truncate(&mut self, segment: SegmentId, size: u64) -> io::Result<()>;
    /// Keeps a copy of a segment from `position` on, outside the journal, for a person to look at.
    fn set_aside(&mut self, segment: SegmentId, position: u64) -> io::Result<()>;
    /// Returns when everything appended to the segment survives a power cut.
    fn sync(&mut self, segment: SegmentId) -> io::Result<()>;
    /// Writes other bytes of the same length over those that were put under a name. Readers see
    /// them at once; a power cut may bring older ones back.
    fn note(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Fails when what is appended to the segment is in no journal any more, because the segment,
    /// the folder or its lock was removed or replaced.
    fn verify(&mut self, segment: SegmentId) -> io::Result<()>;
}

/// All that a journal needs of the place it is kept in.
pub trait Storage: WriteSegments + Send {
    /// Replaces the bytes under a name. After a crash at any moment the old ones or the new ones
    /// are there; when this returns, the new ones survive a power cut.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// The same for what can be made again: a power cut may lose it, or leave only a part.
    fn leave(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Removes a segment for good, with its index. When this returns, it survives a power cut.
    fn remove(&self, segment: SegmentId) -> io::Result<()>;
    /// Who reads the journal from outside.
    fn consumers(&self) -> io::Result<Vec<Consumer>>;
    /// Sixteen bytes that no other journal has.
    fn fresh_identity(&self) -> io::Result<Identity>;
    /// The time, in milliseconds since 1970; it may jump.
    fn now_ms(&self) -> u64;
    /// Another handle on the same place, for reading.
    fn clone_reader(&self) -> Box<dyn ReadSegments + Send>;
    /// Another handle on the same place, for `put` and `remove` beside the one that writes.
    fn clone_storage(&self) -> Box<dyn Storage>;
}
