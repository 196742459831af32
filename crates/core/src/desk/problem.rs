//! The problems of a request: a code for programs, a message for people.

use serde::{Serialize, Serializer};

use crate::{Limit, shortened};

/// The most problems that one answer lists.
pub(crate) const PROBLEMS_MAX: usize = 100;
/// How many bytes of a JSON parser's message are shown.
const JSON_BYTES_SHOWN: usize = 512;
/// How many bytes of a name are shown.
const NAME_BYTES_SHOWN: usize = 256;

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal;)*) => {
        /// The kind of a problem.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ProblemCode { $($(#[$doc])* $code,)* }

        impl ProblemCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];

            /// Its name in JSON.
            pub fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }
        }
    };
}

codes! {
    /// The request is not the expected JSON.
    Malformed = "malformed";
    /// The desk has no request of this name.
    Request = "request";
    /// The request, or its answer, would be too large.
    TooLarge = "too_large";
    /// No parameter or stream can have this name.
    Name = "name";
    /// The request has the same name twice.
    Duplicate = "duplicate";
    /// The type does not exist.
    Type = "type";
    /// The labels of an enumeration are wrong.
    Labels = "labels";
    /// The unit is too long.
    Unit = "unit";
    /// The description is too long.
    Description = "description";
    /// The source is too long.
    Source = "source";
    /// The range is wrong.
    Range = "range";
    /// The limits are wrong.
    Limits = "limits";
    /// The rate is wrong.
    Rate = "rate";
    /// The media type of a stream is wrong.
    Media = "media";
    /// The buffer of a stream is too small or too large.
    Buffer = "buffer";
    /// The name is used already: for another type, unit, labels or media type, or by another desk.
    Clash = "clash";
    /// The desk has no room for more.
    Full = "full";
    /// The user or the address has used up its quota.
    Quota = "quota";
    /// The rest is reserved for users and addresses that have little.
    Reserved = "reserved";
    /// The journal cannot record it now.
    Journal = "journal";
    /// A filter is malformed.
    Filter = "filter";
    /// No parameter or stream has this name.
    Unknown = "unknown";
    /// The parameter was removed.
    Removed = "removed";
    /// Another client publishes it.
    Published = "published";
    /// The client has no right to do this.
    NotAllowed = "not_allowed";
}

impl ProblemCode {
    /// The code and the message for a quota that is used up; None for another limit.
    pub(crate) fn of_quota(limit: Limit, what: &str) -> Option<(Self, String)> {
        let (code, why) = match limit {
            Limit::ReservePercent => {
                (Self::Reserved, "the last are reserved for users and addresses that have few")
            }
            Limit::OwnerParameters | Limit::OwnerStreams => {
                (Self::Quota, "this user or address has as many as one may have; remove some first")
            }
            Limit::QuotaParameters => (
                Self::Quota,
                "this user or address has as many as its quota allows; remove some first",
            ),
            _ => return None,
        };
        Some((code, format!("no more {what}: {why} ({})", limit.path())))
    }
}

impl Serialize for ProblemCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One problem of one entry of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The position of the entry in the request, from 0.
    pub at: usize,
    /// The name, shortened if it is very long.
    pub name: String,
    /// For programs.
    pub code: ProblemCode,
    /// For people.
    pub message: String,
}

impl Problem {
    /// A problem of one entry.
    pub fn new(at: usize, name: &str, code: ProblemCode, message: impl Into<String>) -> Self {
        Self { at, name: shown(name), code, message: message.into() }
    }
}

/// A name, shortened for people.
pub(crate) fn shown(name: &str) -> String {
    shortened(name, NAME_BYTES_SHOWN)
}

/// A JSON parser's message, shortened because it can repeat parts of the text.
pub(crate) fn json_error(error: &serde_json::Error) -> String {
    shortened(&error.to_string(), JSON_BYTES_SHOWN)
}

/// Why a request is refused as a whole: it changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RequestRefusal {
    /// For programs.
    pub code: ProblemCode,
    /// For people.
    pub message: String,
    /// Its first problems.
    pub problems: Vec<Problem>,
}

impl RequestRefusal {
    /// A refusal that is not about one entry.
    pub fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), problems: Vec::new() }
    }

    /// A refusal for these problems, at least one, ordered by entry. Its code is that of the first.
    pub(crate) fn of(mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.at);
        let first = problems.first().expect("a refusal has a problem");
        let more = match problems.len() - 1 {
            0 => String::new(),
            1 => "; and one more problem".to_owned(),
            more => format!("; and {more} more problems"),
        };
        let message = format!("{} (entry {}): {}{more}", first.name, first.at, first.message);
        let code = first.code;
        problems.truncate(PROBLEMS_MAX);
        Self { code, message, problems }
    }
}

/// Refuses a request that has problems.
pub(crate) fn refuse(problems: Vec<Problem>) -> Result<(), RequestRefusal> {
    if problems.is_empty() { Ok(()) } else { Err(RequestRefusal::of(problems)) }
}
