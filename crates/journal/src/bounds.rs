//! Two small files beside the segments, as `docs/journal.md` specifies them: `durable`, up to where
//! readers may read, and `reserved`, up to where offsets may have been given. Pure: reads no file.

use std::io;

use crate::error::ReadError;
use crate::format::{Flaw, Identity, array_at, u32_at, u64_at};
use crate::segment::{Position, SegmentId};
use crate::storage::ReadSegments;

/// Where the synced end of the journal is noted after each sync.
pub(crate) const DURABLE: &str = "durable";
/// Where offsets are reserved before they are given.
pub(crate) const RESERVED: &str = "reserved";

/// Size of both files, so that one is overwritten in place.
const FILE_BYTES: usize = 64;
const CHECKED_BYTES: usize = 60;
const VERSION: u32 = 1;
/// How often a file is read again that its writer may be overwriting just now.
const READ_TRIES: usize = 16;

/// Which of the two a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Durable,
    Reserved,
}

impl Kind {
    fn magic(self) -> [u8; 8] {
        match self {
            Self::Durable => *b"SLIPRDUR",
            Self::Reserved => *b"SLIPRRES",
        }
    }
}

/// The file that says: what is before `at` survives a power cut.
pub(crate) fn encode_durable(identity: Identity, at: Position) -> [u8; FILE_BYTES] {
    encode(Kind::Durable, identity, at)
}

/// The file that says: offsets below `offset` may have been given.
pub(crate) fn encode_reserved(identity: Identity, offset: u64) -> [u8; FILE_BYTES] {
    encode(Kind::Reserved, identity, Position { offset, ..Position::default() })
}

/// Up to where a journal is known to be on the disk. A journal that an older Slipring wrote has no
/// such file.
pub(crate) fn durable(
    source: &dyn ReadSegments,
    identity: Identity,
) -> io::Result<Option<Result<Position, Flaw>>> {
    let mut found = None;
    for _ in 0..READ_TRIES {
        let Some(bytes) = source.get(DURABLE)? else { return Ok(None) };
        found = Some(decode(&bytes, Kind::Durable, identity));
        if !matches!(found, Some(Err(Flaw::HeaderShort | Flaw::HeaderDamaged))) {
            break;
        }
    }
    Ok(found)
}

/// The same for a reader, which reads nothing where it is not known.
pub(crate) fn durable_for_readers(
    source: &dyn ReadSegments,
    identity: Identity,
) -> Result<Option<Position>, ReadError> {
    let found = durable(source, identity)?;
    found.transpose().map_err(|flaw| ReadError::Durable { flaw })
}

/// The first offset that was never given; none where no file says so.
pub(crate) fn reserved(
    source: &dyn ReadSegments,
    identity: Identity,
) -> io::Result<Option<Result<u64, Flaw>>> {
    let Some(bytes) = source.get(RESERVED)? else { return Ok(None) };
    Ok(Some(decode(&bytes, Kind::Reserved, identity).map(|at| at.offset)))
}

/// Whose journal it is, by either file: for when no segment tells.
pub(crate) fn owner(source: &dyn ReadSegments) -> io::Result<Option<Identity>> {
    for (name, kind) in [(DURABLE, Kind::Durable), (RESERVED, Kind::Reserved)] {
        let bytes = source.get(name)?.unwrap_or_default();
        if let Ok(bytes) = check(&bytes, kind) {
            return Ok(Some(Identity(array_at(bytes, 16))));
        }
    }
    Ok(None)
}

fn encode(kind: Kind, identity: Identity, at: Position) -> [u8; FILE_BYTES] {
    let mut bytes = [0; FILE_BYTES];
    bytes[0..8].copy_from_slice(&kind.magic());
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&at.segment.part.to_le_bytes());
    bytes[16..32].copy_from_slice(&identity.0);
    bytes[32..40].copy_from_slice(&at.segment.offset.to_le_bytes());
    bytes[40..48].copy_from_slice(&at.position.to_le_bytes());
    bytes[48..56].copy_from_slice(&at.offset.to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[..CHECKED_BYTES]);
    bytes[CHECKED_BYTES..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The bytes, where they are whole.
fn check(bytes: &[u8], kind: Kind) -> Result<&[u8; FILE_BYTES], Flaw> {
    let bytes: &[u8; FILE_BYTES] = bytes.try_into().map_err(|_| Flaw::HeaderShort)?;
    let checksum = crc32c::crc32c(&bytes[..CHECKED_BYTES]);
    let whole = bytes[..8] == kind.magic() && u32_at(bytes, CHECKED_BYTES) == checksum;
    if whole { Ok(bytes) } else { Err(Flaw::HeaderDamaged) }
}

fn decode(bytes: &[u8], kind: Kind, identity: Identity) -> Result<Position, Flaw> {
    let bytes = check(bytes, kind)?;
    if u32_at(bytes, 8) != VERSION || array_at(bytes, 16) != identity.0 {
        return Err(Flaw::Foreign);
    }
    let segment = SegmentId { offset: u64_at(bytes, 32), part: u32_at(bytes, 12) };
    let at = Position { segment, position: u64_at(bytes, 40), offset: u64_at(bytes, 48) };
    if at.is_plausible() { Ok(at) } else { Err(Flaw::WrongOffset) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: Identity = Identity([7; 16]);

    fn place() -> Position {
        Position { segment: SegmentId { offset: 42, part: 3 }, position: 1234, offset: 45 }
    }

    #[test]
    fn both_files_come_back_as_they_went_and_are_not_taken_for_each_other() {
        let (durable, reserved) = (encode_durable(OURS, place()), encode_reserved(OURS, 9));
        assert_eq!(decode(&durable, Kind::Durable, OURS), Ok(place()));
        assert_eq!(decode(&reserved, Kind::Reserved, OURS).map(|at| at.offset), Ok(9));
        assert_eq!(decode(&reserved, Kind::Durable, OURS), Err(Flaw::HeaderDamaged));
        assert_eq!(decode(&durable, Kind::Durable, Identity([8; 16])), Err(Flaw::Foreign));
    }

    #[test]
    fn any_flipped_bit_and_any_other_length_is_found() {
        let whole = encode_durable(OURS, place());
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&bytes, Kind::Durable, OURS), Err(Flaw::HeaderDamaged), "{bit}");
        }
        assert_eq!(decode(&whole[..63], Kind::Durable, OURS), Err(Flaw::HeaderShort));
    }
}
