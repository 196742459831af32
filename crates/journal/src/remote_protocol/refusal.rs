//! Refusals: why a request was not answered.

use super::{VERSION, put_numbers, take_u64};
use crate::error::ReadError;

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $byte:literal;)*) => {
        /// Why a request was refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RefusalReason { $($(#[$doc])* $name,)* }

        impl RefusalReason {
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
    /// Retention removed the offsets; the numbers are the offset asked for and the oldest.
    Gap = 1;
    /// The journal is not synced that far; the numbers are the offset asked for and the synced end.
    Beyond = 2;
    /// The range touches damage; the numbers are the first offset that cannot be read and the one behind it.
    Damaged = 3;
    /// The user may not read the journal.
    NotAllowed = 4;
    /// The broker has no journal.
    NoJournal = 5;
    /// Too many requests at once: retry a little later.
    Busy = 6;
    /// The request cannot be decoded.
    Malformed = 7;
    /// The message is larger than an answer may be; the numbers are its offset and its bytes.
    TooLarge = 8;
    /// The request is about another journal than the broker's.
    OtherJournal = 9;
    /// The journal could not be read or written.
    Failed = 10;
    /// Other messages have the offsets before a position by now; the numbers are the position and the
    /// epoch that was stored with it.
    OtherHistory = 11;
}

/// The answer to a refused request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct JournalRefusal {
    /// The reason.
    pub why: RefusalReason,
    /// The numbers that belong to the reason; zeros where it has none.
    pub numbers: [u64; 2],
    /// A message for a person.
    pub text: String,
}

impl JournalRefusal {
    /// A refusal without numbers.
    pub fn new(why: RefusalReason, text: impl Into<String>) -> Self {
        Self { why, numbers: [0, 0], text: text.into() }
    }

    /// The bytes of the refusal.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = vec![VERSION, self.why.byte(), 0, 0];
        put_numbers(&mut body, &self.numbers);
        body.extend_from_slice(self.text.as_bytes());
        body
    }

    /// An unknown status of a newer broker decodes as a failure: its text says more.
    pub(super) fn decode(status: u8, mut rest: &[u8]) -> Option<Self> {
        let why = RefusalReason::from_byte(status).unwrap_or(RefusalReason::Failed);
        let numbers = [take_u64(&mut rest)?, take_u64(&mut rest)?];
        Some(Self { why, numbers, text: std::str::from_utf8(rest).ok()?.to_owned() })
    }
}

impl From<&ReadError> for JournalRefusal {
    fn from(error: &ReadError) -> Self {
        let (why, numbers) = match error {
            ReadError::Gap { asked, first } => (RefusalReason::Gap, [*asked, *first]),
            ReadError::Beyond { asked, end, .. } => (RefusalReason::Beyond, [*asked, *end]),
            ReadError::OtherHistory { offset, epoch, .. } => {
                (RefusalReason::OtherHistory, [*offset, *epoch])
            }
            ReadError::Damaged(damage) => {
                (RefusalReason::Damaged, [damage.offsets.start, damage.offsets.end])
            }
            _ => (RefusalReason::Failed, [0, 0]),
        };
        Self { why, numbers, text: error.to_string() }
    }
}
