//! The log's positions and the results of its writes. Plain values.

use std::io;

use crate::directory::is_no_space;
use crate::segment::JournalPosition;
use crate::status::JournalMark;

/// The end of a batch: its position, and its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogPosition {
    pub at: JournalPosition,
    pub mark: JournalMark,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WriteOutcome {
    /// Bytes written: whole batches, from the first on.
    pub bytes: usize,
    /// Why the rest found no space; it can be retried.
    pub no_space: Option<String>,
}

/// The oldest segments that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RemovedSegments {
    pub segments: usize,
    pub bytes: u64,
    /// The journal's first offset without them.
    pub first_offset: u64,
}

/// Why a write stopped.
pub(super) enum WriteHalt {
    /// The log ends with a whole batch, and the rest can be retried.
    NoSpace(String),
    Failed(io::Error),
}

/// For everything but writes: a failed sync is final, whatever its reason.
impl From<io::Error> for WriteHalt {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl WriteHalt {
    pub fn of_write(error: io::Error) -> Self {
        if is_no_space(&error) { Self::NoSpace(error.to_string()) } else { Self::Failed(error) }
    }

    pub fn failure(self) -> Option<io::Error> {
        match self {
            Self::NoSpace(_) => None,
            Self::Failed(error) => Some(error),
        }
    }
}
