//! What a reader elsewhere asks of a journal, and what it is answered, as `docs/remote.md` specifies
//! the bytes. Pure: never reads a file, and knows nothing of how the bytes travel.

use std::fmt;

use crate::consumers::NAME_BYTES_MAX;
use crate::error::ReadError;
use crate::format::Identity;

/// The version of everything in this module; the first byte of every answer.
const VERSION: u8 = 1;
/// What stands before the content of an answer.
const HEAD_BYTES: usize = 4;
/// What an answer to `read` has before its batches.
pub const READ_ANSWER_BYTES: usize = HEAD_BYTES + 16 + 8;

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
    /// `commit`: how far a consumer has come.
    Commit {
        /// The journal that the offset counts in.
        journal: Identity,
        /// The first offset not yet read.
        offset: u64,
        /// The consumer's name.
        consumer: &'a str,
    },
}

/// Why a request cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Nobody asks that.
    #[error("there is no such request; ask for about, read or commit")]
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
            Self::Commit { journal, offset, consumer } => {
                body.extend_from_slice(&journal.0);
                body.extend_from_slice(&offset.to_le_bytes());
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

fn take_commit<'a>(rest: &mut &'a [u8]) -> Option<Request<'a>> {
    let (journal, offset) = (Identity(take(rest)?), take_u64(rest)?);
    let (consumer, _) = rest.split_at_checked(rest.len().min(NAME_BYTES_MAX))?;
    *rest = &rest[consumer.len()..];
    let consumer = std::str::from_utf8(consumer).ok()?;
    Some(Request::Commit { journal, offset, consumer })
}

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
            Self::About { journal, first, end, newest_ns } => {
                body.extend_from_slice(&journal.0);
                body.extend_from_slice(&first.to_le_bytes());
                body.extend_from_slice(&end.to_le_bytes());
                body.extend_from_slice(&newest_ns.to_le_bytes());
            }
            Self::Read { journal, end, batches } => {
                body.reserve(READ_ANSWER_BYTES + batches.len());
                body.extend_from_slice(&journal.0);
                body.extend_from_slice(&end.to_le_bytes());
                body.extend_from_slice(batches);
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
                Self::About { journal, first, end, newest_ns: i64::from_le_bytes(take(&mut rest)?) }
            }
            "read" => {
                let end = take_u64(&mut rest)?;
                Self::Read { journal, end, batches: std::mem::take(&mut rest) }
            }
            "commit" => Self::Committed { journal },
            _ => return None,
        };
        rest.is_empty().then_some(Ok(answer))
    }
}

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $byte:literal;)*) => {
        /// Why a request is not answered with what it asked for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Why { $($(#[$doc])* $name,)* }

        impl Why {
            fn byte(self) -> u8 {
                match self { $(Self::$name => $byte,)* }
            }

            fn from_byte(byte: u8) -> Option<Self> {
                match byte { $($byte => Some(Self::$name),)* _ => None }
            }
        }
    };
}

refusals! {
    /// The offsets were removed; the numbers are what was asked for and the oldest there is.
    Gap = 1;
    /// The offsets do not exist (yet); the numbers are what was asked for and the end.
    Beyond = 2;
    /// The range touches damage; the numbers are the offsets that cannot be read.
    Damaged = 3;
    /// The user may not read the journal.
    NotAllowed = 4;
    /// The broker has no journal.
    NoJournal = 5;
    /// Too many requests at once: ask again a little later.
    Busy = 6;
    /// The request cannot be read.
    Malformed = 7;
    /// The message is larger than an answer may be; the numbers are its offset and its bytes.
    TooLarge = 8;
    /// Another journal was meant than the broker has.
    OtherJournal = 9;
    /// The journal could not be read or written.
    Failed = 10;
}

/// A request that was not answered with what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub why: Why,
    /// What the reason is about; zeros where it is about no numbers.
    pub numbers: [u64; 2],
    /// For a person.
    pub text: String,
}

impl Refusal {
    /// A refusal without numbers.
    pub fn new(why: Why, text: impl Into<String>) -> Self {
        Self { why, numbers: [0, 0], text: text.into() }
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = vec![VERSION, self.why.byte(), 0, 0];
        self.numbers.iter().for_each(|number| body.extend_from_slice(&number.to_le_bytes()));
        body.extend_from_slice(self.text.as_bytes());
        body
    }

    /// A status that is not known here is a failure: the text says more.
    fn decode(status: u8, mut rest: &[u8]) -> Option<Self> {
        let why = Why::from_byte(status).unwrap_or(Why::Failed);
        let numbers = [take_u64(&mut rest)?, take_u64(&mut rest)?];
        Some(Self { why, numbers, text: std::str::from_utf8(rest).ok()?.to_owned() })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl From<&ReadError> for Refusal {
    fn from(error: &ReadError) -> Self {
        let (why, numbers) = match error {
            ReadError::Gap { asked, first } => (Why::Gap, [*asked, *first]),
            ReadError::Beyond { asked, end } => (Why::Beyond, [*asked, *end]),
            ReadError::Damaged(damage) => {
                (Why::Damaged, [damage.offsets.start, damage.offsets.end])
            }
            _ => (Why::Failed, [0, 0]),
        };
        Self { why, numbers, text: error.to_string() }
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*taken)
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    take(rest).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const JOURNAL: Identity = Identity([7; 16]);

    #[test]
    fn requests_come_back_as_they_went() {
        for request in [
            Request::About,
            Request::Read { from: 1, to: u64::MAX, bytes_max: 9 },
            Request::Commit { journal: JOURNAL, offset: 42, consumer: "lake" },
        ] {
            assert_eq!(Request::decode(request.name(), &request.encode()), Ok(request));
            let long = [&request.encode()[..], &[0xff]].concat();
            assert_eq!(Request::decode(request.name(), &long), Err(Malformed::Body));
        }
        assert_eq!(Request::decode("write", &[]), Err(Malformed::Name));
    }

    #[test]
    fn answers_come_back_as_they_went() {
        for (name, answer) in [
            ("about", Answer::About { journal: JOURNAL, first: 1, end: 2, newest_ns: -3 }),
            ("read", Answer::Read { journal: JOURNAL, end: 5, batches: b"batches" }),
            ("commit", Answer::Committed { journal: JOURNAL }),
        ] {
            assert_eq!(Answer::decode(name, &answer.encode()), Some(Ok(answer)));
        }
        let answer = Answer::Read { journal: JOURNAL, end: 5, batches: b"" };
        assert_eq!(answer.encode().len(), READ_ANSWER_BYTES);
    }

    #[test]
    fn a_refusal_has_its_reason_its_numbers_and_its_words() {
        let refusal = Refusal { why: Why::Gap, numbers: [3, 8], text: "gap".to_owned() };
        assert_eq!(Answer::decode("read", &refusal.encode()), Some(Err(refusal)));
        let mut unknown = Refusal::new(Why::Busy, "later").encode();
        unknown[1] = 200;
        let known = Refusal::new(Why::Failed, "later");
        assert_eq!(Answer::decode("about", &unknown), Some(Err(known)));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for name in ["about", "read", "commit", ""] {
                let _ = Request::decode(name, &bytes);
                let _ = Answer::decode(name, &bytes);
            }
        }
    }
}
