//! The errors of the journal. Plain values with their messages.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use thiserror::Error;

use crate::format::{FORMAT_VERSION, Flaw, JournalIdentity};
use crate::segment::SegmentId;

/// Offsets of the journal that cannot be read, and where they should be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "damaged journal: segment {segment}.seg at byte {position}, offsets {} to {}: {flaw}",
    offsets.start, offsets.end
)]
pub struct Damage {
    /// The segment.
    pub segment: SegmentId,
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
    /// A segment's header is damaged, and no other file holds the journal's identity.
    #[error("{0}; restore its directory from a copy, or use another one")]
    Damaged(#[from] Damage),
    /// Another version of Slipring wrote it.
    #[error("{}", wrong_version(*segment, *version))]
    Version {
        /// The segment.
        segment: SegmentId,
        /// The version it has.
        version: u32,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why a journal could not be salvaged.
#[derive(Debug, Error)]
pub enum SalvageError {
    /// No file holds the journal's identity.
    #[error("there is no journal in {}, or none of its files holds its identity any more", .0.display())]
    NoJournal(PathBuf),
    /// The folder for the new journal is not empty.
    #[error("{} is not empty: name a folder that does not exist yet", .0.display())]
    NotEmpty(PathBuf),
    /// A broker has it open, or the new folder cannot be locked.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A write or a sync failed; nothing is written afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the journal failed: {message}")]
pub struct JournalFailure {
    /// The kind, which tells a full disk from a broken one.
    pub kind: io::ErrorKind,
    /// What failed and where.
    pub message: String,
}

impl JournalFailure {
    /// The committer's thread has panicked.
    pub(crate) fn panicked() -> Self {
        Self { kind: io::ErrorKind::Other, message: "its thread panicked".to_owned() }
    }
}

impl From<&io::Error> for JournalFailure {
    fn from(error: &io::Error) -> Self {
        Self { kind: error.kind(), message: error.to_string() }
    }
}

/// Why a batch was not appended. The batch is unchanged in every case.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AppendError {
    /// Too many bytes wait to be written: wait for progress, then retry.
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
    Failed(#[from] JournalFailure),
    /// The journal was closed.
    #[error("the journal is closed")]
    Closed,
}

impl ReadError {
    /// Whether a file was removed.
    pub(crate) fn is_removed(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

/// Why a journal could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The directory holds no journal, or none yet.
    #[error("there is no journal in {}", .0.display())]
    NoJournal(PathBuf),
    /// The offsets were removed by retention.
    #[error(
        "gap: offset {asked} was asked for, but the journal begins at {first}: retention has removed \
         {} messages; read on from {first}, and name a consumer so that nothing unread is removed",
        first - asked
    )]
    Gap {
        /// The offset asked for.
        asked: u64,
        /// The oldest offset there is.
        first: u64,
    },
    /// The offsets do not exist yet, or a power cut lost their messages.
    #[error("{}", beyond(*asked, *end, *written))]
    Beyond {
        /// The end of the range asked for.
        asked: u64,
        /// One past the newest synced offset.
        end: u64,
        /// One past the newest written offset.
        written: u64,
    },
    /// Other messages have the offsets before a position by now.
    #[error("{}", other_history(*offset, *epoch, *newest, *written_in))]
    OtherHistory {
        /// The position.
        offset: u64,
        /// The epoch that was stored with it.
        epoch: u64,
        /// The newest epoch of the journal.
        newest: u64,
        /// The epoch in which the message before the position was written; 0 if it is unknown.
        written_in: u64,
    },
    /// The file `durable` is damaged, so that the synced end is unknown.
    #[error(
        "the file `durable` of the journal cannot be used: {flaw}; a broker writes it anew when it \
         starts; if no broker will run here any more, remove it"
    )]
    Durable {
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// The range touches damage. Ranges without these offsets can be read.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// The snapshot cannot be used: follow the journal from its start.
    #[error("the snapshot of the state is damaged: {flaw}")]
    Snapshot {
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// The directory holds a segment of another journal.
    #[error("segment {segment}.seg belongs to journal {found}, not {expected}")]
    Foreign {
        /// The segment.
        segment: SegmentId,
        /// The identity in that segment.
        found: JournalIdentity,
        /// The identity of the journal.
        expected: JournalIdentity,
    },
    /// Another version of Slipring wrote it.
    #[error("{}", wrong_version(*segment, *version))]
    Version {
        /// The segment.
        segment: SegmentId,
        /// The version it has.
        version: u32,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn wrong_version(segment: SegmentId, version: u32) -> String {
    format!(
        "segment {segment}.seg has format version {version}, and this Slipring reads only version \
         {FORMAT_VERSION}: read it with the Slipring that wrote it, or use another directory"
    )
}

fn beyond(asked: u64, end: u64, written: u64) -> String {
    let what_to_do = if asked <= written {
        "the rest is written, but not synced yet: try again, and start the broker if none is running"
            .to_owned()
    } else {
        format!(
            "it lost messages that were read, or is an older copy: begin again at {end} or before, with a \
             new checkpoint"
        )
    };
    format!(
        "offset {asked} was asked for, but the journal is synced up to {end} only; {what_to_do}"
    )
}

fn other_history(offset: u64, epoch: u64, newest: u64, written_in: u64) -> String {
    let found = if epoch > newest {
        format!("but the journal is in epoch {newest}: it is an older copy")
    } else {
        format!(
            "but the message before it was written in epoch {written_in}: what was read then is lost"
        )
    };
    format!(
        "offset {offset} was stored in epoch {epoch}, {found}, and other messages have these offsets; \
         begin again at an offset before the loss, with a new checkpoint"
    )
}
