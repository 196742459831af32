//! The requests, by the name that each has in its topic.

use super::{put_numbers, take, take_u64};
use crate::consumers::{NAME_BYTES_MAX, NOTE_BYTES_MAX};
use crate::format::JournalIdentity;

/// Stands between a consumer's name, in which it cannot be, and its note.
const NAME_END: u8 = 0;

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
    /// `definitions`: what was declared, and where in the journal it held.
    Definitions {
        /// The index to begin with; beyond the last one, only the revision is answered.
        index: u32,
        /// Of that parameter, the first offset of the version to begin with.
        since: u64,
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
        /// What it says of its work; empty if nothing.
        note: &'a str,
    },
}

/// Why a request cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedRequest {
    /// There is no request of this name.
    #[error(
        "there is no such request; ask for about, read, samples, definitions, at, position or commit"
    )]
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
            Self::Definitions { .. } => "definitions",
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
                put_numbers(&mut body, &[*from, *to]);
                body.extend_from_slice(&bytes_max.to_le_bytes());
            }
            Self::Samples { from, to } => put_numbers(&mut body, &[*from, *to]),
            Self::Definitions { index, since } => {
                body.extend_from_slice(&index.to_le_bytes());
                put_numbers(&mut body, &[*since]);
            }
            Self::At { ns } => body.extend_from_slice(&ns.to_le_bytes()),
            Self::Position { offset, epoch } => put_numbers(&mut body, &[*offset, *epoch]),
            Self::Commit { journal, offset, epoch, consumer, note } => {
                body.extend_from_slice(&journal.0);
                put_numbers(&mut body, &[*offset, *epoch]);
                body.extend_from_slice(consumer.as_bytes());
                if !note.is_empty() {
                    body.push(NAME_END);
                    body.extend_from_slice(note.as_bytes());
                }
            }
        }
        body
    }

    /// Decodes the request of this name.
    pub fn decode(name: &str, body: &'a [u8]) -> Result<Self, MalformedRequest> {
        let mut rest = body;
        let request = match name {
            "about" => Some(Self::About),
            "read" => take_pair(&mut rest).and_then(|(from, to)| {
                let bytes_max = u32::from_le_bytes(take(&mut rest)?);
                Some(Self::Read { from, to, bytes_max })
            }),
            "samples" => take_pair(&mut rest).map(|(from, to)| Self::Samples { from, to }),
            "definitions" => take(&mut rest).and_then(|index| {
                let (index, since) = (u32::from_le_bytes(index), take_u64(&mut rest)?);
                Some(Self::Definitions { index, since })
            }),
            "at" => take(&mut rest).map(|ns| Self::At { ns: i64::from_le_bytes(ns) }),
            "position" => {
                take_pair(&mut rest).map(|(offset, epoch)| Self::Position { offset, epoch })
            }
            "commit" => take_commit(&mut rest),
            _ => return Err(MalformedRequest::Name),
        };
        request.filter(|_| rest.is_empty()).ok_or(MalformedRequest::Body)
    }
}

fn take_pair(rest: &mut &[u8]) -> Option<(u64, u64)> {
    Some((take_u64(rest)?, take_u64(rest)?))
}

fn take_commit<'a>(rest: &mut &'a [u8]) -> Option<JournalRequest<'a>> {
    let journal = JournalIdentity(take(rest)?);
    let (offset, epoch) = take_pair(rest)?;
    let mut parts = std::mem::take(rest).splitn(2, |byte| *byte == NAME_END);
    let consumer = text(parts.next().unwrap_or_default(), NAME_BYTES_MAX)?;
    let note = text(parts.next().unwrap_or_default(), NOTE_BYTES_MAX)?;
    Some(JournalRequest::Commit { journal, offset, epoch, consumer, note })
}

fn text(bytes: &[u8], bytes_max: usize) -> Option<&str> {
    if bytes.len() > bytes_max { None } else { std::str::from_utf8(bytes).ok() }
}
