//! The answers that are no refusals.

use super::{HEAD_BYTES, Refusal, VERSION, take, take_u64};
use crate::format::Identity;

/// What an answer to `read` has before its batches, and one to `samples` before its pairs.
pub const READ_ANSWER_BYTES: usize = HEAD_BYTES + 16 + 8;
/// What an answer to `samples` has for each of them.
pub const PAIR_BYTES: usize = 8 + 4;

/// An answer that is no refusal; each begins with which journal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// To `about`.
    About {
        /// Which journal.
        journal: Identity,
        /// The oldest offset.
        first: u64,
        /// One past the newest.
        end: u64,
        /// When the newest message was received; 0 where there is none.
        newest_ns: i64,
        /// Which opening for writing is the newest.
        epoch: u64,
        /// One past the newest message that is written, safe on the disk or not yet.
        written: u64,
    },
    /// To `read`.
    Read {
        /// Which journal.
        journal: Identity,
        /// Where to read on.
        end: u64,
        /// An [`Excerpt`](crate::Excerpt)'s batches.
        batches: &'a [u8],
    },
    /// To `samples`.
    Samples {
        /// Which journal.
        journal: Identity,
        /// Where to go on.
        end: u64,
        /// For each sample the offset (eight bytes) and the parameter's index (four), ascending.
        pairs: &'a [u8],
    },
    /// To `at`.
    At {
        /// Which journal.
        journal: Identity,
        /// The offset; the end of the journal where nothing is as new.
        offset: u64,
    },
    /// To `position`: a reader can go on there.
    Position {
        /// Which journal.
        journal: Identity,
        /// Which opening for writing is the newest.
        epoch: u64,
    },
    /// To `commit`.
    Committed {
        /// Which journal.
        journal: Identity,
    },
}

impl<'a> Answer<'a> {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = vec![VERSION, 0, 0, 0];
        match self {
            Self::About { journal, first, end, newest_ns, epoch, written } => {
                body.extend_from_slice(&journal.0);
                body.extend_from_slice(&first.to_le_bytes());
                body.extend_from_slice(&end.to_le_bytes());
                body.extend_from_slice(&newest_ns.to_le_bytes());
                body.extend_from_slice(&epoch.to_le_bytes());
                body.extend_from_slice(&written.to_le_bytes());
            }
            Self::Read { journal, end, batches: content }
            | Self::Samples { journal, end, pairs: content } => {
                body.reserve(READ_ANSWER_BYTES + content.len());
                body.extend_from_slice(&journal.0);
                body.extend_from_slice(&end.to_le_bytes());
                body.extend_from_slice(content);
            }
            Self::At { journal, offset } => {
                body.extend_from_slice(&journal.0);
                body.extend_from_slice(&offset.to_le_bytes());
            }
            Self::Position { journal, epoch } => {
                body.extend_from_slice(&journal.0);
                body.extend_from_slice(&epoch.to_le_bytes());
            }
            Self::Committed { journal } => body.extend_from_slice(&journal.0),
        }
        body
    }

    /// The answer to a request of this name. `None` is no answer we know.
    pub fn decode(name: &str, body: &'a [u8]) -> Option<Result<Self, Refusal>> {
        let mut rest = body;
        let [VERSION, status, 0, 0] = take(&mut rest)? else { return None };
        if status != 0 {
            return Refusal::decode(status, rest).map(Err);
        }
        let journal = Identity(take(&mut rest)?);
        let answer = match name {
            "about" => {
                let (first, end) = (take_u64(&mut rest)?, take_u64(&mut rest)?);
                let newest_ns = i64::from_le_bytes(take(&mut rest)?);
                let (epoch, written) = (take_u64(&mut rest)?, take_u64(&mut rest)?);
                Self::About { journal, first, end, newest_ns, epoch, written }
            }
            "read" => {
                let end = take_u64(&mut rest)?;
                Self::Read { journal, end, batches: std::mem::take(&mut rest) }
            }
            "samples" => {
                let end = take_u64(&mut rest)?;
                let pairs = std::mem::take(&mut rest);
                (pairs.len() % PAIR_BYTES == 0).then_some(Self::Samples { journal, end, pairs })?
            }
            "at" => Self::At { journal, offset: take_u64(&mut rest)? },
            "position" => Self::Position { journal, epoch: take_u64(&mut rest)? },
            "commit" => Self::Committed { journal },
            _ => return None,
        };
        rest.is_empty().then_some(Ok(answer))
    }
}
