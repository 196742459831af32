//! The requests, by the name that each has in its topic.

use super::{take, take_u64};
use crate::consumers::NAME_BYTES_MAX;
use crate::format::JournalIdentity;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalRequest<'a> {
    /// `about`: which journal it is, and which offsets it holds.
    About,
    /// `read`: the messages of a range of offsets.
    Read {
        /// The first offset.
        from: u64,
        /// One past the last.
        to: u64,
        /// About how many bytes the answer may have.
        bytes_max: u32,
    },
    /// `samples`: which messages of a range were samples of parameters when they were received.
    Samples {
        /// The first offset.
        from: u64,
        /// One past the last.
        to: u64,
    },
    /// `at`: the lowest offset received at a time or later.
    At {
        /// Nanoseconds since the Unix epoch, UTC.
        ns: i64,
    },
    /// `position`: whether a reader that stored an offset can resume there.
    Position {
        /// The first offset not yet read.
        offset: u64,
        /// The epoch that was stored with it; 0 if none was.
        epoch: u64,
    },
    /// `commit`: how far a consumer has read.
    Commit {
        /// The journal that the offset belongs to.
        journal: JournalIdentity,
        /// The first offset not yet read.
        offset: u64,
        /// The epoch in which it was read; 0 if that is unknown.
        epoch: u64,
        /// The consumer's name.
        consumer: &'a str,
    },
}

/// Why a request cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedRequest {
    /// There is no request of this name.
    #[error("there is no such request; ask for about, read, samples, at, position or commit")]
    Name,
    /// The body is too short, too long, or not text where it should be.
    #[error("the body of the request is malformed")]
    Body,
}

impl<'a> JournalRequest<'a> {
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

    /// The body of the request.
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

    /// Decodes the request of this name.
    pub fn decode(name: &str, body: &'a [u8]) -> Result<Self, MalformedRequest> {
        let mut rest = body;
        let request = match name {
            "about" => Some(Self::About),
            "read" => take_read(&mut rest),
            "samples" => take_samples(&mut rest),
            "at" => take(&mut rest).map(|ns| Self::At { ns: i64::from_le_bytes(ns) }),
            "position" => take_position(&mut rest),
            "commit" => take_commit(&mut rest),
            _ => return Err(MalformedRequest::Name),
        };
        request.filter(|_| rest.is_empty()).ok_or(MalformedRequest::Body)
    }
}

fn take_read(rest: &mut &[u8]) -> Option<JournalRequest<'static>> {
    let (from, to) = (take_u64(rest)?, take_u64(rest)?);
    let bytes_max = u32::from_le_bytes(take(rest)?);
    Some(JournalRequest::Read { from, to, bytes_max })
}

fn take_samples(rest: &mut &[u8]) -> Option<JournalRequest<'static>> {
    Some(JournalRequest::Samples { from: take_u64(rest)?, to: take_u64(rest)? })
}

fn take_position(rest: &mut &[u8]) -> Option<JournalRequest<'static>> {
    Some(JournalRequest::Position { offset: take_u64(rest)?, epoch: take_u64(rest)? })
}

fn take_commit<'a>(rest: &mut &'a [u8]) -> Option<JournalRequest<'a>> {
    let (journal, offset) = (JournalIdentity(take(rest)?), take_u64(rest)?);
    let epoch = take_u64(rest)?;
    let (consumer, _) = rest.split_at_checked(rest.len().min(NAME_BYTES_MAX))?;
    *rest = &rest[consumer.len()..];
    let consumer = std::str::from_utf8(consumer).ok()?;
    Some(JournalRequest::Commit { journal, offset, epoch, consumer })
}
