//! Two small files beside the segments, as `docs/journal.md` specifies them: `durable`, up to where
//! readers may read, and `reserved`, up to where offsets may have been given. Never writes.

use std::io;

use crate::format::{Flaw, JournalIdentity, array_at, u32_at};
use crate::segment::{JournalPosition, POSITION_HEADER_BYTES};
use crate::storage::ReadSegments;

/// The file that notes the synced end of the journal after each sync.
pub(crate) const DURABLE: &str = "durable";
/// The file that reserves offsets before they are given.
pub(crate) const RESERVED: &str = "reserved";

/// Size of both files. It never changes, so that they can be overwritten in place.
const FILE_BYTES: usize = 64;
const CHECKED_BYTES: usize = 60;
const DURABLE_MAGIC: [u8; 8] = *b"SLIPRDUR";
const RESERVED_MAGIC: [u8; 8] = *b"SLIPRRES";
const VERSION: u32 = 1;
/// How often a damaged `durable` is read again: its writer may just be overwriting it.
const READ_TRIES: usize = 16;

/// The bytes of `durable`: everything before `at` survives a power cut.
pub(crate) fn encode_durable(identity: JournalIdentity, at: JournalPosition) -> [u8; FILE_BYTES] {
    encode(DURABLE_MAGIC, identity, at)
}

/// The bytes of `reserved`: offsets below `offset` may have been given.
pub(crate) fn encode_reserved(identity: JournalIdentity, offset: u64) -> [u8; FILE_BYTES] {
    encode(RESERVED_MAGIC, identity, JournalPosition { offset, ..JournalPosition::default() })
}

/// Up to where the journal is synced. `None` if there is no such file: an older Slipring wrote the journal.
pub(crate) fn durable(
    source: &dyn ReadSegments,
    identity: JournalIdentity,
) -> io::Result<Option<Result<JournalPosition, Flaw>>> {
    let mut found = None;
    for _ in 0..READ_TRIES {
        let Some(bytes) = source.get(DURABLE)? else { return Ok(None) };
        found = Some(decode(&bytes, DURABLE_MAGIC, identity));
        if !matches!(found, Some(Err(Flaw::HeaderShort | Flaw::HeaderDamaged))) {
            break;
        }
    }
    Ok(found)
}

/// The first offset that was never given; `None` if there is no such file.
pub(crate) fn reserved(
    source: &dyn ReadSegments,
    identity: JournalIdentity,
) -> io::Result<Option<Result<u64, Flaw>>> {
    let Some(bytes) = source.get(RESERVED)? else { return Ok(None) };
    Ok(Some(decode(&bytes, RESERVED_MAGIC, identity).map(|at| at.offset)))
}

/// The journal's identity from either file, for a journal whose segment headers are all unreadable.
pub(crate) fn owner(source: &dyn ReadSegments) -> io::Result<Option<JournalIdentity>> {
    for (name, magic) in [(DURABLE, DURABLE_MAGIC), (RESERVED, RESERVED_MAGIC)] {
        let bytes = source.get(name)?.unwrap_or_default();
        if let Ok(bytes) = check(&bytes, magic) {
            return Ok(Some(JournalIdentity(array_at(bytes, 16))));
        }
    }
    Ok(None)
}

fn encode(magic: [u8; 8], identity: JournalIdentity, at: JournalPosition) -> [u8; FILE_BYTES] {
    let mut bytes = [0; FILE_BYTES];
    bytes[..POSITION_HEADER_BYTES].copy_from_slice(&at.encode(magic, VERSION, identity));
    let checksum = crc32c::crc32c(&bytes[..CHECKED_BYTES]);
    bytes[CHECKED_BYTES..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The file's bytes, if length, magic and checksum are right.
fn check(bytes: &[u8], magic: [u8; 8]) -> Result<&[u8; FILE_BYTES], Flaw> {
    let bytes: &[u8; FILE_BYTES] = bytes.try_into().map_err(|_| Flaw::HeaderShort)?;
    let checksum = crc32c::crc32c(&bytes[..CHECKED_BYTES]);
    let whole = bytes[..8] == magic && u32_at(bytes, CHECKED_BYTES) == checksum;
    if whole { Ok(bytes) } else { Err(Flaw::HeaderDamaged) }
}

fn decode(
    bytes: &[u8],
    magic: [u8; 8],
    identity: JournalIdentity,
) -> Result<JournalPosition, Flaw> {
    JournalPosition::decode(check(bytes, magic)?, VERSION, identity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::SegmentId;

    const OURS: JournalIdentity = JournalIdentity([7; 16]);

    fn position() -> JournalPosition {
        JournalPosition { segment: SegmentId { offset: 42, part: 3 }, position: 1234, offset: 45 }
    }

    #[test]
    fn both_encoded_files_decode_to_the_same_and_are_not_taken_for_each_other() {
        let (durable, reserved) = (encode_durable(OURS, position()), encode_reserved(OURS, 9));
        assert_eq!(decode(&durable, DURABLE_MAGIC, OURS), Ok(position()));
        assert_eq!(decode(&reserved, RESERVED_MAGIC, OURS).map(|at| at.offset), Ok(9));
        assert_eq!(decode(&reserved, DURABLE_MAGIC, OURS), Err(Flaw::HeaderDamaged));
        assert_eq!(decode(&durable, DURABLE_MAGIC, JournalIdentity([8; 16])), Err(Flaw::Foreign));
    }

    #[test]
    fn any_flipped_bit_and_any_other_length_is_found() {
        let whole = encode_durable(OURS, position());
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&bytes, DURABLE_MAGIC, OURS), Err(Flaw::HeaderDamaged), "{bit}");
        }
        assert_eq!(decode(&whole[..63], DURABLE_MAGIC, OURS), Err(Flaw::HeaderShort));
    }
}
