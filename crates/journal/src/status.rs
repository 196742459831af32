//! What a journal reports: the result of an append, its progress, its figures. Plain values.

use std::ops::Range;

use crate::error::JournalFailure;

/// How many bytes were appended since the journal was opened. A batch with a lower mark is earlier on disk.
pub type JournalMark = u64;

/// The offsets and the mark of an appended batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The offsets of its messages.
    pub offsets: Range<u64>,
    /// The end of the batch: it is written or synced when progress has reached this mark.
    pub mark: JournalMark,
}

/// How far the journal is written and synced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitProgress {
    /// Everything up to this mark survives a kill of the process.
    pub written: JournalMark,
    /// Everything up to this mark survives a power cut.
    pub synced: JournalMark,
    /// Why there is no space. The journal retries the write until there is.
    pub no_space: Option<String>,
    /// Why a write or a sync failed; there is no progress afterwards.
    pub failed: Option<JournalFailure>,
}

/// The journal's figures, for a person or a metric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalFigures {
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
    /// The limit on `bytes`, if there is one.
    pub bytes_max: Option<u64>,
    /// Segment files.
    pub segments: usize,
    /// Bytes that wait to be written.
    pub pending_bytes: usize,
    /// Why there is no space, if so.
    pub no_space: Option<String>,
    /// Why a write or a sync failed, if so.
    pub failure: Option<JournalFailure>,
}
