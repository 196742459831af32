//! What is wrong with a request: a code for programs, words for people.

use serde::{Serialize, Serializer};

use crate::{Limit, shortened};

/// Problems that one answer tells, at most.
pub const PROBLEMS_MAX: usize = 100;
/// Bytes of a JSON parser's message that are shown.
const JSON_BYTES_SHOWN: usize = 512;
/// Bytes of a name that are shown.
const NAME_BYTES_SHOWN: usize = 256;

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal;)*) => {
        /// What kind of problem it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ProblemCode { $($(#[$doc])* $code,)* }

        impl ProblemCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];

            /// As programs know it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }
        }
    };
}

codes! {
    /// It is not the JSON that was asked for.
    Malformed = "malformed";
    /// There is no request of this name.
    Request = "request";
    /// The answer would be larger than the client takes.
    TooLarge = "too_large";
    /// It cannot be the name of a parameter.
    Name = "name";
    /// The same name is there twice.
    Duplicate = "duplicate";
    /// There is no such type.
    Type = "type";
    /// The labels of an enumeration.
    Labels = "labels";
    /// The unit.
    Unit = "unit";
    /// The description.
    Description = "description";
    /// The source.
    Source = "source";
    /// The range.
    Range = "range";
    /// The limits.
    Limits = "limits";
    /// The rate.
    Rate = "rate";
    /// The media type of a stream.
    Media = "media";
    /// The buffer of a stream.
    Buffer = "buffer";
    /// The parameter is declared with another type, unit or labels.
    Clash = "clash";
    /// There is no room for more.
    Full = "full";
    /// The user or the address has as much as one may have.
    Quota = "quota";
    /// The rest is kept back for others.
    Reserved = "reserved";
    /// It cannot be written down.
    Journal = "journal";
    /// A filter is none.
    Filter = "filter";
    /// No parameter has this name.
    Unknown = "unknown";
    /// The parameter was removed.
    Removed = "removed";
    /// Somebody publishes it.
    Published = "published";
}

impl ProblemCode {
    /// What to say of a quota that is in the way of further ones; None if it is another limit.
    pub(crate) fn of_quota(limit: Limit, what: &str) -> Option<(Self, String)> {
        let (code, why) = match limit {
            Limit::ReservePercent => {
                (Self::Reserved, "the last are kept for users and addresses that have few")
            }
            Limit::OwnerParameters | Limit::OwnerStreams => {
                (Self::Quota, "this user or address has as many as one may have; remove some first")
            }
            _ => return None,
        };
        Some((code, format!("no more {what}: {why} (limits.{})", limit.name())))
    }
}

impl Serialize for ProblemCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One problem, and which entry of the request has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its place among the names or parameters of the request, from 0.
    pub at: usize,
    /// The name, cut where it is very long.
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

/// A name as it is shown.
pub(crate) fn shown(name: &str) -> String {
    shortened(name, NAME_BYTES_SHOWN)
}

/// What is wrong with JSON, shortened: the parser's message repeats parts of the text.
pub(crate) fn json_error(error: &serde_json::Error) -> String {
    shortened(&error.to_string(), JSON_BYTES_SHOWN)
}

/// A request that is refused as a whole: nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RequestRefusal {
    /// For programs.
    pub code: ProblemCode,
    /// For people.
    pub message: String,
    /// The first of its problems.
    pub problems: Vec<Problem>,
}

impl RequestRefusal {
    /// A refusal that is not about one entry.
    pub fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), problems: Vec::new() }
    }

    /// A refusal for these problems; None if there are none. It has the code of the first.
    pub fn of(mut problems: Vec<Problem>) -> Option<Self> {
        let first = problems.first()?;
        let more = match problems.len() - 1 {
            0 => String::new(),
            1 => "; and one more problem".to_owned(),
            more => format!("; and {more} more problems"),
        };
        let message = format!("{} (entry {}): {}{more}", first.name, first.at, first.message);
        let code = first.code;
        problems.truncate(PROBLEMS_MAX);
        Some(Self { code, message, problems })
    }
}
