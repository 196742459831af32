//! The bytes of a snapshot: the state of everything before a position, with a checksum.
//! Knows nothing of what the state means.

use crate::format::{FORMAT_VERSION, Flaw, JournalIdentity, array_at, u32_at, u64_at};
use crate::segment::{JournalPosition, SegmentId};

/// Its file name.
pub(crate) const SNAPSHOT: &str = "state.snap";
const MAGIC: [u8; 8] = *b"SLIPSNAP";
const HEADER_BYTES: usize = 72;

pub(crate) fn encode(identity: JournalIdentity, at: JournalPosition, state: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + state.len());
    bytes.extend(MAGIC);
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend(at.segment.part.to_le_bytes());
    bytes.extend(identity.0);
    bytes.extend(at.segment.offset.to_le_bytes());
    bytes.extend(at.position.to_le_bytes());
    bytes.extend(at.offset.to_le_bytes());
    bytes.extend((state.len() as u64).to_le_bytes());
    bytes.extend(crc32c::crc32c(state).to_le_bytes());
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    bytes.extend_from_slice(state);
    bytes
}

/// The position and the state.
pub(crate) fn decode(
    mut bytes: Vec<u8>,
    identity: JournalIdentity,
) -> Result<(JournalPosition, Vec<u8>), Flaw> {
    let at = position(&bytes, identity)?;
    let header = bytes[..HEADER_BYTES].to_vec();
    bytes.drain(..HEADER_BYTES);
    if u64_at(&header, 56) != bytes.len() as u64 {
        return Err(Flaw::BodyShort);
    }
    if u32_at(&header, 64) != crc32c::crc32c(&bytes) {
        return Err(Flaw::BodyDamaged);
    }
    Ok((at, bytes))
}

/// The position alone, from the header.
pub(crate) fn position(bytes: &[u8], identity: JournalIdentity) -> Result<JournalPosition, Flaw> {
    let header = bytes.first_chunk::<HEADER_BYTES>().ok_or(Flaw::HeaderShort)?;
    if header[..8] != MAGIC || u32_at(header, 68) != crc32c::crc32c(&header[..68]) {
        return Err(Flaw::HeaderDamaged);
    }
    if u32_at(header, 8) != FORMAT_VERSION || array_at(header, 16) != identity.0 {
        return Err(Flaw::Foreign);
    }
    let segment = SegmentId { offset: u64_at(header, 32), part: u32_at(header, 12) };
    let at = JournalPosition { segment, position: u64_at(header, 40), offset: u64_at(header, 48) };
    if at.is_plausible() { Ok(at) } else { Err(Flaw::WrongOffset) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OURS: JournalIdentity = JournalIdentity([7; 16]);

    fn place() -> JournalPosition {
        JournalPosition { segment: SegmentId { offset: 42, part: 3 }, position: 1234, offset: 45 }
    }

    proptest! {
        #[test]
        fn a_snapshot_comes_back_as_it_went(state in prop::collection::vec(any::<u8>(), 0..99)) {
            let bytes = encode(OURS, place(), &state);
            prop_assert_eq!(position(&bytes, OURS), Ok(place()));
            prop_assert_eq!(decode(bytes, OURS), Ok((place(), state)));
        }

        #[test]
        fn a_cut_or_changed_snapshot_is_none(bit in 0..100 * 8_usize, length in 0..100_usize) {
            let whole = encode(OURS, place(), &[9; 28]);
            prop_assert!(decode(whole[..length].to_vec(), OURS).is_err());
            let mut changed = whole;
            changed[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode(changed, OURS).is_err());
        }
    }

    #[test]
    fn a_place_that_no_journal_has_is_refused() {
        let nowhere = JournalPosition { offset: 41, ..place() };
        assert_eq!(decode(encode(OURS, nowhere, &[]), OURS), Err(Flaw::WrongOffset));
    }

    #[test]
    fn the_snapshot_of_another_journal_is_not_ours() {
        let bytes = encode(JournalIdentity([8; 16]), place(), &[]);
        assert_eq!(decode(bytes, OURS), Err(Flaw::Foreign));
    }
}
