//! The bytes of a `.idx` file, as `docs/journal.md` specifies them. Pure: never reads a file.
//! The file may be torn, old or hostile: what does not add up is refused, and the segment is walked.

use std::fmt;

use crate::format::{Identity, OFFSET_MAX};
use crate::index::{Index, Place};
use crate::segment::SegmentId;

const MAGIC: [u8; 8] = *b"SLIPRIDX";
const VERSION: u32 = 1;
/// What stands before the places: enough to know a segment's times without reading them.
pub(crate) const HEADER_BYTES: usize = 88;
const PLACE_BYTES: usize = 24;
const CHECKSUM_BYTES: usize = 4;

/// Which segment an index is of; another opening for writing makes another segment of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Of {
    pub identity: Identity,
    pub epoch: u64,
    pub segment: SegmentId,
}

/// Why an index file is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexFlaw {
    /// It is cut short, a checksum is wrong, or its numbers do not ascend.
    Damaged,
    /// It is whole, but of another segment or of another length.
    Stale,
    /// Another Slipring wrote it.
    Version(u32),
}

impl fmt::Display for IndexFlaw {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => out.write_str("the index is damaged"),
            Self::Stale => out.write_str("the index is of another segment"),
            Self::Version(version) => write!(out, "the index has version {version}"),
        }
    }
}

/// The whole file.
pub(crate) fn encode(of: &Of, index: &Index) -> Vec<u8> {
    let bytes = HEADER_BYTES + index.places.len() * PLACE_BYTES + CHECKSUM_BYTES;
    let mut out = Vec::with_capacity(bytes);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&of.segment.part.to_le_bytes());
    out.extend_from_slice(&of.identity.0);
    out.extend_from_slice(&of.epoch.to_le_bytes());
    out.extend_from_slice(&of.segment.offset.to_le_bytes());
    put_place(&mut out, &index.end);
    out.extend_from_slice(&index.oldest_ns.to_le_bytes());
    out.extend_from_slice(&(index.places.len() as u32).to_le_bytes());
    seal(&mut out, 0);
    index.places.iter().for_each(|place| put_place(&mut out, place));
    seal(&mut out, HEADER_BYTES);
    out
}

/// The index in a file, which must be of this segment with this many bytes.
pub(crate) fn decode(file: &[u8], of: &Of, segment_bytes: u64) -> Result<Index, IndexFlaw> {
    let (mut index, count) = decode_header(file, of, segment_bytes)?;
    let places = checked(&file[HEADER_BYTES..]).ok_or(IndexFlaw::Damaged)?;
    if places.len() != count as usize * PLACE_BYTES {
        return Err(IndexFlaw::Damaged);
    }
    index.places = places.chunks_exact(PLACE_BYTES).map(|bytes| place_at(bytes, 0)).collect();
    if ascends(of, &index) { Ok(index) } else { Err(IndexFlaw::Damaged) }
}

/// The index without its places, from the first bytes of a file, and how many places there are.
pub(crate) fn decode_header(
    file: &[u8],
    of: &Of,
    segment_bytes: u64,
) -> Result<(Index, u32), IndexFlaw> {
    let bytes = file.get(..HEADER_BYTES).and_then(checked).ok_or(IndexFlaw::Damaged)?;
    if bytes[..8] != MAGIC {
        return Err(IndexFlaw::Damaged);
    }
    let version = u32::from_le_bytes(array_at(bytes, 8));
    if version != VERSION {
        return Err(IndexFlaw::Version(version));
    }
    let segment = SegmentId {
        offset: u64::from_le_bytes(array_at(bytes, 40)),
        part: u32::from_le_bytes(array_at(bytes, 12)),
    };
    let epoch = u64::from_le_bytes(array_at(bytes, 32));
    let found = Of { identity: Identity(array_at(bytes, 16)), epoch, segment };
    let end = place_at(bytes, 48);
    if found != *of || end.position != segment_bytes {
        return Err(IndexFlaw::Stale);
    }
    let oldest_ns = i64::from_le_bytes(array_at(bytes, 72));
    let count = u32::from_le_bytes(array_at(bytes, 80));
    Ok((Index { end, oldest_ns, places: Vec::new() }, count))
}

fn ascends(of: &Of, index: &Index) -> bool {
    let mut at = Index::new(of.segment).end;
    index.places.iter().chain([&index.end]).all(|place| {
        let further = place.position >= at.position && place.offset >= at.offset;
        let newer = place.newest_ns >= at.newest_ns;
        at = *place;
        further && newer && place.offset <= OFFSET_MAX
    })
}

fn put_place(out: &mut Vec<u8>, place: &Place) {
    out.extend_from_slice(&place.offset.to_le_bytes());
    out.extend_from_slice(&place.position.to_le_bytes());
    out.extend_from_slice(&place.newest_ns.to_le_bytes());
}

fn place_at(bytes: &[u8], at: usize) -> Place {
    Place {
        offset: u64::from_le_bytes(array_at(bytes, at)),
        position: u64::from_le_bytes(array_at(bytes, at + 8)),
        newest_ns: i64::from_le_bytes(array_at(bytes, at + 16)),
    }
}

/// Adds the checksum of all bytes from `start` on.
fn seal(out: &mut Vec<u8>, start: usize) {
    let checksum = crc32c::crc32c(&out[start..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// The bytes before a checksum that holds.
fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    (crc32c::crc32c(content) == u32::from_le_bytes(*checksum)).then_some(content)
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("the slice has N bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::SEGMENT_HEADER_BYTES;
    use proptest::prelude::*;

    const SEGMENT: SegmentId = SegmentId { offset: 42, part: 1 };
    const OF: Of = Of { identity: Identity([7; 16]), epoch: 3, segment: SEGMENT };
    const FIRST: u64 = SEGMENT_HEADER_BYTES as u64;

    fn indexes() -> impl Strategy<Value = Index> {
        let step = (0..1000_u64, 1..100_000_u64, 0..1000_i64);
        prop::collection::vec(step, 0..20).prop_map(|steps| {
            let mut index = Index::new(SEGMENT);
            index.end.newest_ns = -500;
            index.oldest_ns = -600;
            for (messages, bytes, ns) in steps {
                index.end.offset += messages;
                index.end.position += bytes;
                index.end.newest_ns += ns;
                index.places.push(index.end);
            }
            index
        })
    }

    proptest! {
        #[test]
        fn an_index_comes_back_as_it_went(index in indexes()) {
            let file = encode(&OF, &index);
            let bytes = index.end.position;
            prop_assert_eq!(decode(&file, &OF, bytes), Ok(index.clone()));
            let (header, count) = decode_header(&file[..HEADER_BYTES], &OF, bytes).unwrap();
            prop_assert_eq!((header.end, header.oldest_ns), (index.end, index.oldest_ns));
            prop_assert_eq!(count as usize, index.places.len());
        }

        #[test]
        fn a_flipped_bit_or_a_cut_is_found(index in indexes(), at in any::<prop::sample::Index>()) {
            let mut file = encode(&OF, &index);
            let bit = at.index(file.len() * 8);
            prop_assert!(decode(&file[..bit / 8], &OF, index.end.position).is_err());
            file[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode(&file, &OF, index.end.position).is_err(), "bit {}", bit);
        }

        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(decode(&bytes, &OF, 64), Err(IndexFlaw::Damaged));
        }

        #[test]
        fn places_that_do_not_ascend_are_damage_even_under_a_right_checksum(
            index in indexes(), at in any::<prop::sample::Index>(),
        ) {
            prop_assume!(index.places.len() > 1);
            let mut index = index;
            let place = at.index(index.places.len() - 1);
            index.places[place].position = index.end.position + 1;
            let file = encode(&OF, &index);
            prop_assert_eq!(decode(&file, &OF, index.end.position), Err(IndexFlaw::Damaged));
        }
    }

    #[test]
    fn an_index_of_another_segment_epoch_or_length_is_stale() {
        let file = encode(&OF, &Index::new(SEGMENT));
        assert!(decode(&file, &OF, FIRST).is_ok());
        assert_eq!(decode(&file, &OF, FIRST + 1), Err(IndexFlaw::Stale));
        let other = |offset, part| Of { segment: SegmentId { offset, part }, ..OF };
        for of in [Of { epoch: 4, ..OF }, other(42, 0), other(43, 1)] {
            assert_eq!(decode(&file, &of, FIRST), Err(IndexFlaw::Stale));
        }
    }

    #[test]
    fn a_newer_version_is_not_called_damage() {
        let mut file = encode(&OF, &Index::new(SEGMENT));
        file[8] = 9;
        let checksum = crc32c::crc32c(&file[..84]);
        file[84..88].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(decode(&file, &OF, FIRST), Err(IndexFlaw::Version(9)));
    }
}
