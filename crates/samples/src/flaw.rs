//! What could not be decoded.

/// A message, or some of its samples, that has no rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The offset of the message.
    pub offset: i64,
    /// Why, for people.
    pub reason: String,
}
