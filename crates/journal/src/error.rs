//! What can go wrong, in words for a person. Holds no logic.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use thiserror::Error;

use crate::format::{Flaw, Identity};

/// A place in the journal that should hold messages and does not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "damaged journal: segment {segment:020}.seg at byte {position}, offsets {} to {}: {flaw}",
    offsets.start, offsets.end
)]
pub struct Damage {
    /// The segment, by its base offset.
    pub segment: u64,
    /// Where in the segment the damage begins.
    pub position: u64,
    /// The offsets that cannot be read.
    pub offsets: Range<u64>,
    /// What is wrong there.
    pub flaw: Flaw,
}

/// Why a journal could not be opened for writing.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Another broker holds the directory.
    #[error("the journal in {} belongs to a broker that is running; stop it or use another directory", .0.display())]
    Locked(PathBuf),
    /// A segment's header is damaged although batches follow it.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// A newer Slipring wrote it.
    #[error("segment {segment:020}.seg has format version {version}; this Slipring writes {known}")]
    Version {
        /// The segment, by its base offset.
        segment: u64,
        /// The version it has.
        version: u32,
        /// The version we know.
        known: u32,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A write or a sync failed, and nothing after it is promised.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the journal failed: {message}")]
pub struct Failure {
    /// The kind, to tell a full disk from a broken one.
    pub kind: io::ErrorKind,
    /// What failed and where.
    pub message: String,
}

impl From<&io::Error> for Failure {
    fn from(error: &io::Error) -> Self {
        Self { kind: error.kind(), message: error.to_string() }
    }
}

/// Why a batch was not appended. The batch is intact in every case.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AppendError {
    /// Too many bytes wait to be written: wait for progress and try again.
    #[error("the journal has {pending_bytes} bytes waiting to be written")]
    Full {
        /// Bytes waiting.
        pending_bytes: usize,
    },
    /// The batch is larger than a batch may be.
    #[error("a batch of {bytes} bytes is larger than {} bytes", crate::format::BODY_BYTES_MAX)]
    TooLarge {
        /// Bytes of the batch.
        bytes: usize,
    },
    /// A write or a sync failed earlier.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// The journal was closed.
    #[error("the journal is closed")]
    Closed,
}

/// Why a journal could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The directory holds no journal, or none yet.
    #[error("there is no journal in {}", .0.display())]
    NoJournal(PathBuf),
    /// The offsets were removed by retention.
    #[error("gap: offset {asked} was asked for, but the journal begins at {first}")]
    Gap {
        /// The offset asked for.
        asked: u64,
        /// The oldest offset there is.
        first: u64,
    },
    /// The offsets do not exist (yet), or a power cut took them back.
    #[error("offset {asked} was asked for, but the journal ends at {end}")]
    Beyond {
        /// The end of the range asked for.
        asked: u64,
        /// One past the newest offset.
        end: u64,
    },
    /// Damage in the middle. Ranges without these offsets can be read.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// A segment of another journal stands in the directory.
    #[error("segment {segment:020}.seg belongs to journal {found}, not {expected}")]
    Foreign {
        /// The segment, by its base offset.
        segment: u64,
        /// The identity in that segment.
        found: Identity,
        /// The identity of the journal.
        expected: Identity,
    },
    /// A newer Slipring wrote it.
    #[error("segment {segment:020}.seg has format version {version}, which is unknown here")]
    Version {
        /// The segment, by its base offset.
        segment: u64,
        /// The version it has.
        version: u32,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What recovery did: one line for a person when displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Which journal it is.
    pub identity: Identity,
    /// Counts the times the journal was opened for writing, this one included.
    pub epoch: u64,
    /// The oldest offset.
    pub first_offset: u64,
    /// The offset the next message gets.
    pub next_offset: u64,
    /// Segment files, the active one included.
    pub segments: usize,
    /// What was cut from the tail, if anything.
    pub cut: Option<Cut>,
}

impl Receipt {
    /// Messages in the journal.
    pub fn records(&self) -> u64 {
        self.next_offset - self.first_offset
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first_offset, next_offset, segments, .. } = self;
        write!(out, "journal {}: {} messages kept", self.identity, self.records())?;
        write!(out, ", offsets {first_offset} to {next_offset}, {segments} segments, ")?;
        match &self.cut {
            None => out.write_str("nothing cut"),
            Some(cut) => cut.fmt(out),
        }
    }
}

/// The tail that recovery cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The segment, by its base offset.
    pub segment: u64,
    /// Where the cut was made.
    pub position: u64,
    /// Bytes cut.
    pub bytes: u64,
    /// Why.
    pub flaw: Flaw,
    /// Whether whole batches stood behind the damage; then the bytes were copied to a `.cut` file.
    pub set_aside: bool,
}

impl fmt::Display for Cut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { segment, position, bytes, flaw, .. } = self;
        write!(out, "{bytes} bytes cut from segment {segment:020}.seg at byte {position}: {flaw}")?;
        if self.set_aside {
            write!(out, "; whole batches stood behind it, kept in {segment:020}.{position}.cut")?;
        }
        Ok(())
    }
}
