//! The answers to requests that were not refused.

use super::{HEAD_BYTES, JournalRefusal, VERSION, put_numbers, take, take_u64};
use crate::format::JournalIdentity;

/// Bytes before the batches of an answer to `read`, and before the pairs of one to `samples`.
pub const READ_ANSWER_HEADER_BYTES: usize = HEAD_BYTES + 16 + 8;
/// Bytes of each pair in an answer to `samples`.
pub const SAMPLE_PAIR_BYTES: usize = 8 + 4;

/// An answer to a request that was not refused. Each begins with the journal's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalAnswer<'a> {
    /// To `about`.
    About {
        /// Which journal.
        journal: JournalIdentity,
        /// The oldest offset.
        first: u64,
        /// One past the newest.
        end: u64,
        /// When the newest message was received; 0 if there is none.
        newest_ns: i64,
        /// The newest epoch.
        epoch: u64,
        /// One past the newest written message, synced or not.
        written: u64,
    },
    /// To `read`.
    Read {
        /// Which journal.
        journal: JournalIdentity,
        /// Where the next read starts.
        end: u64,
        /// The batches, as in a segment but without records.
        batches: &'a [u8],
    },
    /// To `samples`.
    Samples {
        /// Which journal.
        journal: JournalIdentity,
        /// Where the next request starts.
        end: u64,
        /// For each sample the offset (eight bytes) and the parameter's index (four), ascending.
        pairs: &'a [u8],
    },
    /// To `at`.
    At {
        /// Which journal.
        journal: JournalIdentity,
        /// The offset, or the end of the journal if every message is older.
        offset: u64,
    },
    /// To `position`: a reader can resume there.
    Position {
        /// Which journal.
        journal: JournalIdentity,
        /// The newest epoch.
        epoch: u64,
    },
    /// To `commit`.
    Committed {
        /// Which journal.
        journal: JournalIdentity,
    },
}

impl<'a> JournalAnswer<'a> {
    /// The bytes of the answer.
    pub fn encode(&self) -> Vec<u8> {
        let (journal, numbers, content): (_, &[u64], &[u8]) = match self {
            Self::About { journal, first, end, newest_ns, epoch, written } => {
                let newest_ns = u64::from_le_bytes(newest_ns.to_le_bytes());
                (journal, &[*first, *end, newest_ns, *epoch, *written], &[])
            }
            Self::Read { journal, end, batches: content }
            | Self::Samples { journal, end, pairs: content } => (journal, &[*end], content),
            Self::At { journal, offset: number } | Self::Position { journal, epoch: number } => {
                (journal, &[*number], &[])
            }
            Self::Committed { journal } => (journal, &[], &[]),
        };
        let mut body = Vec::with_capacity(READ_ANSWER_HEADER_BYTES + content.len());
        body.extend([VERSION, 0, 0, 0]);
        body.extend(journal.0);
        put_numbers(&mut body, numbers);
        body.extend_from_slice(content);
        body
    }

    /// Decodes the answer to a request of this name. `None` if it is malformed.
    pub fn decode(name: &str, body: &'a [u8]) -> Option<Result<Self, JournalRefusal>> {
        let mut rest = body;
        let [VERSION, status, 0, 0] = take(&mut rest)? else { return None };
        if status != 0 {
            return JournalRefusal::decode(status, rest).map(Err);
        }
        let journal = JournalIdentity(take(&mut rest)?);
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
                let (end, pairs) = (take_u64(&mut rest)?, std::mem::take(&mut rest));
                let samples = Self::Samples { journal, end, pairs };
                (pairs.len() % SAMPLE_PAIR_BYTES == 0).then_some(samples)?
            }
            "at" => Self::At { journal, offset: take_u64(&mut rest)? },
            "position" => Self::Position { journal, epoch: take_u64(&mut rest)? },
            "commit" => Self::Committed { journal },
            _ => return None,
        };
        rest.is_empty().then_some(Ok(answer))
    }
}
