//! What a journal tells of itself: where an append ended, how far it is written and synced, its
//! figures. Holds no logic.

use std::ops::Range;

use crate::error::Failure;

/// A place in the stream of appended bytes, counted from the opening of this journal. What has a
/// lower mark is before it on the disk, too.
pub type Mark = u64;

/// Where a batch went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The offsets of its messages.
    pub offsets: Range<u64>,
    /// The end of the batch: it is safe when progress has come here.
    pub mark: Mark,
}

/// How far the journal has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is before survives a kill of the process.
    pub written: Mark,
    /// What is before survives a power cut.
    pub synced: Mark,
    /// Why nothing can be written for now; it is tried again and heals by itself.
    pub no_space: Option<String>,
    /// Set once a write or a sync has failed; there is no progress after it.
    pub failed: Option<Failure>,
}

/// The journal's figures, for a person or a metric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The oldest offset.
    pub first_offset: u64,
    /// The offset the next message gets.
    pub next_offset: u64,
    /// One past the newest offset that survives a kill of the process.
    pub written: u64,
    /// One past the newest offset that survives a power cut.
    pub synced: u64,
    /// Bytes of all segments.
    pub bytes: u64,
    /// The bound on `bytes`, where there is one.
    pub bytes_max: Option<u64>,
    /// Segment files.
    pub segments: usize,
    /// Bytes that wait to be written.
    pub pending_bytes: usize,
    /// Why nothing can be written for now.
    pub no_space: Option<String>,
    /// What failed, if anything did.
    pub failure: Option<Failure>,
}
