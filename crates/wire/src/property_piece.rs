//! Looks into one encoded property, without checking its text again.

use crate::PropertyId;

/// The name and the text of a user property as [`Properties::pieces`] has it; None for other properties.
#[inline]
pub fn pair_piece(id: PropertyId, piece: &[u8]) -> Option<(&[u8], &[u8])> {
    if id != PropertyId::UserProperty {
        return None;
    }
    let length = piece.get(1..3)?;
    let (name, rest) =
        piece[3..].split_at_checked(usize::from(u16::from_be_bytes([length[0], length[1]])))?;
    Some((name, rest.get(2..)?))
}

/// The text or the bytes of a property as [`Properties::pieces`] has it, if it is a single one.
#[inline]
pub fn bytes_piece(piece: &[u8]) -> Option<&[u8]> {
    piece.get(3..)
}
