//! The questions, by the name each has in a topic.

use super::{take, take_u64};
use crate::consumers::NAME_BYTES_MAX;
use crate::format::Identity;

/// A question, by the name it has in a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// `about`: which journal it is, and how far it goes.
    About,
    /// `read`: the messages of a range of offsets.
    Read {
        /// The first offset.
        from: u64,
        /// One past the last.
        to: u64,
        /// About how many bytes to answer with at once.
        bytes_max: u32,
    },
    /// `samples`: which messages of a range were samples of parameters when they came.
    Samples {
        /// The first offset.
        from: u64,
        /// One past the last.
        to: u64,
    },
    /// `at`: the first offset received at a time or later.
    At {
        /// Nanoseconds since the Unix epoch, UTC.
        ns: i64,
    },
    /// `position`: whether a reader that has noted an offset can go on there.
    Position {
        /// The first offset not yet read.
        offset: u64,
        /// The epoch that was noted with it; 0 where none was.
        epoch: u64,
    },
    /// `commit`: how far a consumer has come.
    Commit {
        /// The journal that the offset counts in.
        journal: Identity,
        /// The first offset not yet read.
        offset: u64,
        /// The epoch in which it was read; 0 where that is not known.
        epoch: u64,
        /// The consumer's name.
        consumer: &'a str,
    },
}

/// Why a request cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Nobody asks that.
    #[error("there is no such request; ask for about, read, samples, at, position or commit")]
    Name,
    /// The body is too short, too long, or not text where it should be.
    #[error("the request's body has not the bytes it should have")]
    Body,
}

impl<'a> Request<'a> {
    /// The name of the request.
    pub fn name(&self) -> &'static str {
        match self {
            Self::About => "about",
            Self::Read { .. } => "read",
            Self::Samples { .. } => "samples",
            Self::At { .. } => "at",
            Self::Position { .. } => "position",
            Self::Commit { .. } => "commit",
        }
    }

    /// The body that goes with the name.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        match self {
            Self::About => {}
            Self::Read { from, to, bytes_max } => {
                body.extend_from_slice(&from.to_le_bytes());
                body.extend_from_slice(&to.to_le_bytes());
                body.extend_from_slice(&bytes_max.to_le_bytes());
            }
            Self::Samples { from, to } => {
                body.extend_from_slice(&from.to_le_bytes());
                body.extend_from_slice(&to.to_le_bytes());
            }
            Self::At { ns } => body.extend_from_slice(&ns.to_le_bytes()),
            Self::Position { offset, epoch } => {
                body.extend_from_slice(&offset.to_le_bytes());
                body.extend_from_slice(&epoch.to_le_bytes());
            }
            Self::Commit { journal, offset, epoch, consumer } => {
                body.extend_from_slice(&journal.0);
                body.extend_from_slice(&offset.to_le_bytes());
                body.extend_from_slice(&epoch.to_le_bytes());
                body.extend_from_slice(consumer.as_bytes());
            }
        }
        body
    }

    /// The request that a name and a body are.
    pub fn decode(name: &str, body: &'a [u8]) -> Result<Self, Malformed> {
        let mut rest = body;
        let request = match name {
            "about" => Some(Self::About),
            "read" => take_read(&mut rest),
            "samples" => take_samples(&mut rest),
            "at" => take(&mut rest).map(|ns| Self::At { ns: i64::from_le_bytes(ns) }),
            "position" => take_position(&mut rest),
            "commit" => take_commit(&mut rest),
            _ => return Err(Malformed::Name),
        };
        request.filter(|_| rest.is_empty()).ok_or(Malformed::Body)
    }
}

fn take_read(rest: &mut &[u8]) -> Option<Request<'static>> {
    let (from, to) = (take_u64(rest)?, take_u64(rest)?);
    let bytes_max = u32::from_le_bytes(take(rest)?);
    Some(Request::Read { from, to, bytes_max })
}

fn take_samples(rest: &mut &[u8]) -> Option<Request<'static>> {
    Some(Request::Samples { from: take_u64(rest)?, to: take_u64(rest)? })
}

fn take_position(rest: &mut &[u8]) -> Option<Request<'static>> {
    Some(Request::Position { offset: take_u64(rest)?, epoch: take_u64(rest)? })
}

fn take_commit<'a>(rest: &mut &'a [u8]) -> Option<Request<'a>> {
    let (journal, offset) = (Identity(take(rest)?), take_u64(rest)?);
    let epoch = take_u64(rest)?;
    let (consumer, _) = rest.split_at_checked(rest.len().min(NAME_BYTES_MAX))?;
    *rest = &rest[consumer.len()..];
    let consumer = std::str::from_utf8(consumer).ok()?;
    Some(Request::Commit { journal, offset, epoch, consumer })
}
