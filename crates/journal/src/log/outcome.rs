//! How far the log has come, and what became of bytes to be written. Holds no state.

use std::io::{self, ErrorKind};

use crate::segment::Position;
use crate::status::Mark;

/// A place behind whole batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    pub at: Position,
    pub mark: Mark,
}

/// What became of bytes to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrote {
    /// Whole batches written, from the first on.
    pub bytes: usize,
    /// Why the rest is not written, and can be tried again.
    pub no_space: Option<String>,
}

/// The oldest segments that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gone {
    pub segments: usize,
    pub bytes: u64,
    /// Where the journal begins without them.
    pub first_offset: u64,
}

/// Why a write did not go on.
pub(super) enum Halt {
    /// The log ends with a whole batch; the rest can be tried again.
    NoSpace(String),
    Failed(io::Error),
}

/// For everything but writes; a sync that fails is final whatever its reason.
impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl Halt {
    pub fn of_write(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::NoSpace(error.to_string()),
            _ => Self::Failed(error),
        }
    }

    pub fn failure(self) -> Option<io::Error> {
        match self {
            Self::NoSpace(_) => None,
            Self::Failed(error) => Some(error),
        }
    }
}
