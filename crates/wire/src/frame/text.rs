//! Values as plain text, for clients that know nothing of frames.

use super::{Kind, OwnedValue, ValueView};

/// Why text is not a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Not written as a value of this kind.
    #[error("the text is not a value of {0}")]
    NotA(Kind),
    /// Written well, but the kind cannot hold it.
    #[error("the number is out of the range of {0}")]
    Range(Kind),
}

/// Appends a value as people read it, and as Python reads it back.
pub fn text(_value: &ValueView<'_>, _out: &mut Vec<u8>) {
    unimplemented!()
}

/// Reads what [`text`] writes.
pub fn parse_text(_kind: Kind, _text: &[u8]) -> Result<OwnedValue, TextError> {
    unimplemented!()
}
