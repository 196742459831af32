//! Why a question is not answered with what it asked for.

use std::fmt;

use super::{VERSION, take_u64};
use crate::error::ReadError;

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
    /// Other messages have the offsets before a position by now; the numbers are the position and the
    /// epoch that was noted with it.
    OtherHistory = 11;
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
    pub(super) fn decode(status: u8, mut rest: &[u8]) -> Option<Self> {
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
            ReadError::Beyond { asked, end, .. } => (Why::Beyond, [*asked, *end]),
            ReadError::OtherHistory { offset, epoch, .. } => (Why::OtherHistory, [*offset, *epoch]),
            ReadError::Damaged(damage) => {
                (Why::Damaged, [damage.offsets.start, damage.offsets.end])
            }
            _ => (Why::Failed, [0, 0]),
        };
        Self { why, numbers, text: error.to_string() }
    }
}
