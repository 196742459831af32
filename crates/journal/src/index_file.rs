//! The bytes of a `.idx` file, as `docs/journal.md` specifies them. Pure: never reads a file.
//! The file may be torn, old or hostile: an inconsistent file is refused, and the segment is walked.

use crate::format::{JournalIdentity, OFFSET_MAX, SegmentHeader, array_at, u32_at, u64_at};
use crate::index::{IndexEntry, SegmentIndex};
use crate::segment::SegmentId;

const MAGIC: [u8; 8] = *b"SLIPRIDX";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 88;
const ENTRY_BYTES: usize = 24;
const CHECKSUM_BYTES: usize = 4;

/// Why an index file is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexFlaw {
    /// It is cut short, a checksum is wrong, or its numbers do not ascend.
    #[error("the index is damaged")]
    Damaged,
    /// It is whole, but belongs to another segment or to another length of this one.
    #[error("the index is of another segment")]
    Stale,
    /// Another version of Slipring wrote it.
    #[error("the index has version {0}")]
    Version(u32),
}

/// The file for the segment with this header. The epoch is part of it: a later opening for writing can
/// create another segment of the same name.
pub(crate) fn encode(header: &SegmentHeader, index: &SegmentIndex) -> Vec<u8> {
    let bytes = HEADER_BYTES + index.entries.len() * ENTRY_BYTES + CHECKSUM_BYTES;
    let mut out = Vec::with_capacity(bytes);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&header.segment.part.to_le_bytes());
    out.extend_from_slice(&header.identity.0);
    out.extend_from_slice(&header.epoch.to_le_bytes());
    out.extend_from_slice(&header.segment.offset.to_le_bytes());
    put_entry(&mut out, &index.end);
    out.extend_from_slice(&index.oldest_ns.to_le_bytes());
    out.extend_from_slice(&(index.entries.len() as u32).to_le_bytes());
    put_checksum(&mut out, 0);
    index.entries.iter().for_each(|entry| put_entry(&mut out, entry));
    put_checksum(&mut out, HEADER_BYTES);
    out
}

/// The index in a file, which must belong to the segment with this header and this many bytes.
pub(crate) fn decode(
    file: &[u8],
    header: &SegmentHeader,
    segment_bytes: u64,
) -> Result<SegmentIndex, IndexFlaw> {
    let (mut index, count) = decode_header(file, header, segment_bytes)?;
    let entries = checked(&file[HEADER_BYTES..]).ok_or(IndexFlaw::Damaged)?;
    if entries.len() != count as usize * ENTRY_BYTES {
        return Err(IndexFlaw::Damaged);
    }
    index.entries = entries.chunks_exact(ENTRY_BYTES).map(|bytes| entry_at(bytes, 0)).collect();
    if ascends(header.segment, &index) { Ok(index) } else { Err(IndexFlaw::Damaged) }
}

/// The index without its entries, and how many of them follow.
fn decode_header(
    file: &[u8],
    header: &SegmentHeader,
    segment_bytes: u64,
) -> Result<(SegmentIndex, u32), IndexFlaw> {
    let bytes = file.get(..HEADER_BYTES).and_then(checked).ok_or(IndexFlaw::Damaged)?;
    if bytes[..8] != MAGIC {
        return Err(IndexFlaw::Damaged);
    }
    let version = u32_at(bytes, 8);
    if version != VERSION {
        return Err(IndexFlaw::Version(version));
    }
    let segment = SegmentId { offset: u64_at(bytes, 40), part: u32_at(bytes, 12) };
    let found = (JournalIdentity(array_at(bytes, 16)), u64_at(bytes, 32), segment);
    let end = entry_at(bytes, 48);
    if found != (header.identity, header.epoch, header.segment) || end.position != segment_bytes {
        return Err(IndexFlaw::Stale);
    }
    let oldest_ns = i64::from_le_bytes(array_at(bytes, 72));
    Ok((SegmentIndex { end, oldest_ns, entries: Vec::new() }, u32_at(bytes, 80)))
}

fn ascends(segment: SegmentId, index: &SegmentIndex) -> bool {
    let mut before = SegmentIndex::new(segment).end;
    index.entries.iter().chain([&index.end]).all(|entry| {
        let further = entry.position >= before.position && entry.offset >= before.offset;
        let newer = entry.newest_ns >= before.newest_ns;
        before = *entry;
        further && newer && entry.offset <= OFFSET_MAX
    })
}

fn put_entry(out: &mut Vec<u8>, entry: &IndexEntry) {
    out.extend_from_slice(&entry.offset.to_le_bytes());
    out.extend_from_slice(&entry.position.to_le_bytes());
    out.extend_from_slice(&entry.newest_ns.to_le_bytes());
}

fn entry_at(bytes: &[u8], at: usize) -> IndexEntry {
    IndexEntry {
        offset: u64_at(bytes, at),
        position: u64_at(bytes, at + 8),
        newest_ns: i64::from_le_bytes(array_at(bytes, at + 16)),
    }
}

/// Appends the checksum of all bytes from `start` on.
fn put_checksum(out: &mut Vec<u8>, start: usize) {
    let checksum = crc32c::crc32c(&out[start..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// The bytes before a checksum, if it is right.
fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    (crc32c::crc32c(content) == u32::from_le_bytes(*checksum)).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::SEGMENT_HEADER_BYTES;
    use proptest::prelude::*;

    const SEGMENT: SegmentId = SegmentId { offset: 42, part: 1 };
    const HEADER: SegmentHeader = SegmentHeader {
        identity: JournalIdentity([7; 16]),
        epoch: 3,
        segment: SEGMENT,
        skipped: 0,
    };
    const FIRST: u64 = SEGMENT_HEADER_BYTES as u64;

    fn indexes() -> impl Strategy<Value = SegmentIndex> {
        let step = (0..1000_u64, 1..100_000_u64, 0..1000_i64);
        prop::collection::vec(step, 0..20).prop_map(|steps| {
            let mut index = SegmentIndex::new(SEGMENT);
            index.end.newest_ns = -500;
            index.oldest_ns = -600;
            for (messages, bytes, ns) in steps {
                index.end.offset += messages;
                index.end.position += bytes;
                index.end.newest_ns += ns;
                index.entries.push(index.end);
            }
            index
        })
    }

    proptest! {
        #[test]
        fn an_encoded_index_decodes_to_the_same(index in indexes()) {
            let file = encode(&HEADER, &index);
            let bytes = index.end.position;
            prop_assert_eq!(decode(&file, &HEADER, bytes), Ok(index.clone()));
            let (header, count) = decode_header(&file[..HEADER_BYTES], &HEADER, bytes).unwrap();
            prop_assert_eq!((header.end, header.oldest_ns), (index.end, index.oldest_ns));
            prop_assert_eq!(count as usize, index.entries.len());
        }

        #[test]
        fn a_flipped_bit_or_a_cut_is_found(index in indexes(), at in any::<prop::sample::Index>()) {
            let mut file = encode(&HEADER, &index);
            let bit = at.index(file.len() * 8);
            prop_assert!(decode(&file[..bit / 8], &HEADER, index.end.position).is_err());
            file[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode(&file, &HEADER, index.end.position).is_err(), "bit {}", bit);
        }

        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(decode(&bytes, &HEADER, 64), Err(IndexFlaw::Damaged));
        }

        #[test]
        fn entries_that_do_not_ascend_are_damage_even_under_a_right_checksum(
            index in indexes(), at in any::<prop::sample::Index>(),
        ) {
            prop_assume!(index.entries.len() > 1);
            let mut index = index;
            let entry = at.index(index.entries.len() - 1);
            index.entries[entry].position = index.end.position + 1;
            let file = encode(&HEADER, &index);
            prop_assert_eq!(decode(&file, &HEADER, index.end.position), Err(IndexFlaw::Damaged));
        }
    }

    #[test]
    fn an_index_of_another_segment_epoch_or_length_is_stale() {
        let file = encode(&HEADER, &SegmentIndex::new(SEGMENT));
        assert!(decode(&file, &HEADER, FIRST).is_ok());
        assert_eq!(decode(&file, &HEADER, FIRST + 1), Err(IndexFlaw::Stale));
        let other = |offset, part| SegmentHeader { segment: SegmentId { offset, part }, ..HEADER };
        for header in [SegmentHeader { epoch: 4, ..HEADER }, other(42, 0), other(43, 1)] {
            assert_eq!(decode(&file, &header, FIRST), Err(IndexFlaw::Stale));
        }
    }

    #[test]
    fn a_newer_version_is_not_called_damage() {
        let mut file = encode(&HEADER, &SegmentIndex::new(SEGMENT));
        file[8] = 9;
        let checksum = crc32c::crc32c(&file[..84]);
        file[84..88].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(decode(&file, &HEADER, FIRST), Err(IndexFlaw::Version(9)));
    }
}
