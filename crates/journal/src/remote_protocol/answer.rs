//! The answers to requests that were not refused.

use super::{HEAD_BYTES, JournalRefusal, VERSION, put_numbers, take, take_u64};
use crate::format::JournalIdentity;

/// Bytes before the batches of an answer to `read`, and before the pairs of one to `samples`.
pub const READ_ANSWER_HEADER_BYTES: usize = HEAD_BYTES + 16 + 8;
/// Bytes before the rows of an answer to `definitions`.
pub const DEFINITIONS_ANSWER_HEADER_BYTES: usize = HEAD_BYTES + 16 + 5 * 8;
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
    /// To `definitions`.
    Definitions {
        /// Which journal.
        journal: JournalIdentity,
        /// What the versions belong to.
        edition: DefinitionsEdition,
        /// The index and the offset where the next request starts; None at the end.
        next: Option<(u32, u64)>,
        /// The versions as JSON objects, with commas between them.
        rows: &'a str,
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

/// Which table some definitions are from, and in which state it was. Two equal ones mean the same definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DefinitionsEdition {
    /// The table; 0 if there is none.
    pub table: u32,
    /// How often it has changed.
    pub revision: u64,
    /// The epoch of the journal: a crash may take back changes, and others may follow.
    pub epoch: u64,
}

/// The index where the next request for definitions starts, if there is none.
const NO_INDEX: u64 = u32::MAX as u64;

impl<'a> JournalAnswer<'a> {
    /// The bytes of the answer.
    pub fn encode(&self) -> Vec<u8> {
        let numbers: [u64; 5];
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
            Self::Definitions { journal, edition, next, rows } => {
                let DefinitionsEdition { table, revision, epoch } = *edition;
                let (index, since) =
                    next.map_or((NO_INDEX, 0), |(index, since)| (u64::from(index), since));
                numbers = [u64::from(table), revision, epoch, index, since];
                (journal, &numbers, rows.as_bytes())
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
            "definitions" => take_definitions(journal, &mut rest)?,
            "at" => Self::At { journal, offset: take_u64(&mut rest)? },
            "position" => Self::Position { journal, epoch: take_u64(&mut rest)? },
            "commit" => Self::Committed { journal },
            _ => return None,
        };
        rest.is_empty().then_some(Ok(answer))
    }
}

fn take_definitions<'a>(
    journal: JournalIdentity,
    rest: &mut &'a [u8],
) -> Option<JournalAnswer<'a>> {
    let table = u32::try_from(take_u64(rest)?).ok()?;
    let (revision, epoch) = (take_u64(rest)?, take_u64(rest)?);
    let (index, since) = (take_u64(rest)?, take_u64(rest)?);
    let next = match (index, since) {
        (NO_INDEX, 0) => None,
        (NO_INDEX, _) => return None,
        (index, since) => Some((u32::try_from(index).ok()?, since)),
    };
    let rows = std::str::from_utf8(std::mem::take(rest)).ok()?;
    let edition = DefinitionsEdition { table, revision, epoch };
    Some(JournalAnswer::Definitions { journal, edition, next, rows })
}
