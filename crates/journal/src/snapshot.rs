//! The bytes of a snapshot: the state of everything before a position, with a checksum.
//! Knows nothing of what the state means.

use crate::format::{FORMAT_VERSION, Flaw, JournalIdentity, u32_at, u64_at};
use crate::segment::JournalPosition;

/// Its file name.
pub(crate) const SNAPSHOT: &str = "state.snap";
const MAGIC: [u8; 8] = *b"SLIPSNAP";
const HEADER_BYTES: usize = 72;

pub(crate) fn encode(identity: JournalIdentity, at: JournalPosition, state: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + state.len());
    bytes.extend(at.encode(MAGIC, FORMAT_VERSION, identity));
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
    JournalPosition::decode(header, FORMAT_VERSION, identity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::SegmentId;
    use proptest::prelude::*;

    const OURS: JournalIdentity = JournalIdentity([7; 16]);

    fn taken_at() -> JournalPosition {
        JournalPosition { segment: SegmentId { offset: 42, part: 3 }, position: 1234, offset: 45 }
    }

    proptest! {
        #[test]
        fn an_encoded_snapshot_decodes_to_the_same(state in prop::collection::vec(any::<u8>(), 0..99)) {
            let bytes = encode(OURS, taken_at(), &state);
            prop_assert_eq!(position(&bytes, OURS), Ok(taken_at()));
            prop_assert_eq!(decode(bytes, OURS), Ok((taken_at(), state)));
        }

        #[test]
        fn a_cut_or_changed_snapshot_is_refused(bit in 0..100 * 8_usize, length in 0..100_usize) {
            let whole = encode(OURS, taken_at(), &[9; 28]);
            prop_assert!(decode(whole[..length].to_vec(), OURS).is_err());
            let mut changed = whole;
            changed[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode(changed, OURS).is_err());
        }
    }

    #[test]
    fn a_position_that_no_journal_has_is_refused() {
        let nowhere = JournalPosition { offset: 41, ..taken_at() };
        assert_eq!(decode(encode(OURS, nowhere, &[]), OURS), Err(Flaw::WrongOffset));
    }

    #[test]
    fn the_snapshot_of_another_journal_is_not_ours() {
        let bytes = encode(JournalIdentity([8; 16]), taken_at(), &[]);
        assert_eq!(decode(bytes, OURS), Err(Flaw::Foreign));
    }
}
