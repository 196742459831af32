//! The bytes of a segment, as `docs/journal.md` specifies them. Pure: never reads a file or a clock.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::segment::SegmentId;

/// The first bytes of every segment file.
const SEGMENT_MAGIC: [u8; 8] = *b"SLIPRSEG";
/// The first bytes of every batch, so that a reader can find the next one behind damage.
pub(crate) const BATCH_MAGIC: [u8; 4] = *b"SLPB";
/// The version of everything in this module.
pub(crate) const FORMAT_VERSION: u32 = 2;
/// Size of a segment's header.
pub(crate) const SEGMENT_HEADER_BYTES: usize = 64;
/// Size of a batch's header.
pub(crate) const BATCH_HEADER_BYTES: usize = 44;
/// The smallest message: flags, and the lengths of topic, properties and payload.
pub(crate) const MESSAGE_BYTES_MIN: u64 = 11;
/// The largest body a batch may have: two of MQTT's largest packets.
pub(crate) const BODY_BYTES_MAX: usize = 512 << 20;

/// No journal has larger offsets: one beyond is damage. The headroom above it means that adding to a
/// recovered offset cannot overflow.
pub(crate) const OFFSET_MAX: u64 = 1 << 62;

/// Which journal this is: 16 random bytes, the same in every segment, shown as hex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JournalIdentity(pub [u8; 16]);

impl fmt::Display for JournalIdentity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// Text that is not 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidIdentity;

impl FromStr for JournalIdentity {
    type Err = InvalidIdentity;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(InvalidIdentity);
        let digits: [u8; 32] = text.as_bytes().try_into().map_err(|_| InvalidIdentity)?;
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Ok(Self(bytes))
    }
}

/// The flags of a message: quality of service in bits 0 and 1, retain in bit 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageFlags(u8);

impl MessageFlags {
    /// Panics when `qos` is not 0, 1 or 2, which the packet decoder refuses.
    pub fn new(qos: u8, retain: bool) -> Self {
        assert!(qos <= 2, "QoS {qos} does not exist");
        Self(qos | u8::from(retain) << 2)
    }

    /// The quality of service the publisher used.
    pub fn qos(self) -> u8 {
        self.0 & 0b11
    }

    /// Whether the publisher asked for the message to be retained.
    pub fn retain(self) -> bool {
        self.0 & 0b100 != 0
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    pub(crate) fn from_bits(bits: u8) -> Option<Self> {
        (bits < 8 && bits & 0b11 != 0b11).then_some(Self(bits))
    }
}

/// What is wrong with bytes that should have been a segment header or a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The file ends inside a header.
    #[error("the file ends inside a header")]
    HeaderShort,
    /// The header's magic or checksum is wrong.
    #[error("the header's checksum is wrong")]
    HeaderDamaged,
    /// The header is whole but belongs to another offset.
    #[error("the header names another offset")]
    WrongOffset,
    /// The file ends inside the body.
    #[error("the file ends inside a batch")]
    BodyShort,
    /// The body's checksum is wrong.
    #[error("the batch's checksum is wrong")]
    BodyDamaged,
    /// The body's checksum is right, but its content is malformed.
    #[error("the batch's content is malformed")]
    BodyMalformed,
    /// The segment ends before the next one begins, or does not exist.
    #[error("the segment ends too early")]
    Missing,
    /// It was written by another journal, or in another version.
    #[error("it belongs to another journal or version")]
    Foreign,
}

/// The first bytes of a segment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub identity: JournalIdentity,
    pub epoch: u64,
    /// As in the file's name.
    pub segment: SegmentId,
    /// How many offsets directly before the first one no message has. Recovery skipped them, because
    /// readers may have seen other messages there.
    pub skipped: u64,
}

impl SegmentHeader {
    pub fn encode(&self) -> [u8; SEGMENT_HEADER_BYTES] {
        let mut bytes = [0; SEGMENT_HEADER_BYTES];
        bytes[0..8].copy_from_slice(&SEGMENT_MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.segment.part.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.identity.0);
        bytes[32..40].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.segment.offset.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.skipped.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..60]);
        bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The version and the header. Another version is no flaw, so that a newer journal is not called
    /// damaged.
    pub fn decode(bytes: &[u8]) -> Result<(u32, Self), Flaw> {
        let bytes = bytes.first_chunk::<SEGMENT_HEADER_BYTES>().ok_or(Flaw::HeaderShort)?;
        if bytes[..8] != SEGMENT_MAGIC || u32_at(bytes, 60) != crc32c::crc32c(&bytes[..60]) {
            return Err(Flaw::HeaderDamaged);
        }
        let segment = SegmentId { offset: u64_at(bytes, 40), part: u32_at(bytes, 12) };
        let identity = JournalIdentity(array_at(bytes, 16));
        // A hostile header must not claim more offsets than there are before the segment.
        let skipped = u64_at(bytes, 48).min(segment.offset);
        let header = Self { identity, epoch: u64_at(bytes, 32), segment, skipped };
        Ok((u32_at(bytes, 8), header))
    }
}

/// The bit in a batch's flags that says that it holds a retained message.
const RETAINED: u32 = 1;
/// The other bits of the flags are `unsynced` plus one; zero where that is unknown.
const UNSYNCED_SHIFT: u32 = 1;

/// `unsynced` of a batch header, for a batch that begins so many bytes behind the synced end. Unknown for
/// 2 GiB and more.
pub(crate) fn unsynced_bytes(bytes: u64) -> Option<u32> {
    u32::try_from(bytes).ok().filter(|bytes| *bytes < (u32::MAX >> UNSYNCED_SHIFT))
}

/// The header of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BatchHeader {
    /// Bytes of publisher, messages and records together.
    pub body_bytes: u32,
    pub base_offset: u64,
    pub count: u32,
    pub receive_ns: i64,
    /// Bytes of the records, which end the body.
    pub state_bytes: u32,
    pub retained: bool,
    /// How many bytes before this batch were not synced when it was appended. So the batch proves that
    /// everything earlier was synced: damage there is not a torn write.
    pub unsynced: Option<u32>,
    pub body_checksum: u32,
}

impl BatchHeader {
    pub fn encode(&self) -> [u8; BATCH_HEADER_BYTES] {
        let mut bytes = [0; BATCH_HEADER_BYTES];
        let unsynced = self.unsynced.map_or(0, |bytes| bytes + 1) << UNSYNCED_SHIFT;
        let flags = if self.retained { unsynced | RETAINED } else { unsynced };
        bytes[0..4].copy_from_slice(&BATCH_MAGIC);
        bytes[4..8].copy_from_slice(&self.body_bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.base_offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.count.to_le_bytes());
        bytes[20..28].copy_from_slice(&self.receive_ns.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.state_bytes.to_le_bytes());
        bytes[32..36].copy_from_slice(&flags.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.body_checksum.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..40]);
        bytes[40..44].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, Flaw> {
        let bytes = bytes.first_chunk::<BATCH_HEADER_BYTES>().ok_or(Flaw::HeaderShort)?;
        if bytes[..4] != BATCH_MAGIC || u32_at(bytes, 40) != crc32c::crc32c(&bytes[..40]) {
            return Err(Flaw::HeaderDamaged);
        }
        let header = Self {
            body_bytes: u32_at(bytes, 4),
            base_offset: u64_at(bytes, 8),
            count: u32_at(bytes, 16),
            receive_ns: i64::from_le_bytes(array_at(bytes, 20)),
            state_bytes: u32_at(bytes, 28),
            retained: u32_at(bytes, 32) & RETAINED != 0,
            unsynced: (u32_at(bytes, 32) >> UNSYNCED_SHIFT).checked_sub(1),
            body_checksum: u32_at(bytes, 36),
        };
        match header {
            Self { base_offset, .. } if base_offset > OFFSET_MAX => Err(Flaw::WrongOffset),
            Self { state_bytes, body_bytes, .. } if state_bytes > body_bytes => {
                Err(Flaw::BodyMalformed)
            }
            header => Ok(header),
        }
    }

    /// Splits a body into publisher and messages, and the records.
    pub fn split<'a>(&self, body: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        body.split_at(body.len() - self.state_bytes as usize)
    }

    pub fn offsets(&self) -> Range<u64> {
        self.base_offset..self.base_offset + u64::from(self.count)
    }

    /// Bytes of header and body together.
    pub fn batch_bytes(&self) -> u64 {
        BATCH_HEADER_BYTES as u64 + u64::from(self.body_bytes)
    }
}

pub(crate) fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("the slice has N bytes")
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BATCH: BatchHeader = BatchHeader {
        body_bytes: 7,
        base_offset: OFFSET_MAX - 9,
        count: 9,
        receive_ns: -1,
        state_bytes: 5,
        retained: true,
        unsynced: Some(12),
        body_checksum: 0xdead_beef,
    };

    #[test]
    fn encoded_headers_decode_to_the_same() {
        let segment = SegmentId { offset: 42, part: 1 };
        let identity = JournalIdentity([7; 16]);
        let header = SegmentHeader { identity, epoch: 3, segment, skipped: 40 };
        assert_eq!(SegmentHeader::decode(&header.encode()), Ok((FORMAT_VERSION, header)));
        for unsynced in [None, unsynced_bytes(0), unsynced_bytes(u64::from(u32::MAX / 2 - 1))] {
            let batch = BatchHeader { unsynced, ..BATCH };
            assert_eq!(BatchHeader::decode(&batch.encode()), Ok(batch));
        }
        assert_eq!(unsynced_bytes(u64::from(u32::MAX / 2)), None);
    }

    #[test]
    fn an_identity_is_read_back_from_its_text() {
        let identity = JournalIdentity(std::array::from_fn(|index| (index * 17) as u8));
        assert_eq!(identity.to_string().parse(), Ok(identity));
        for wrong in ["", "00", &"x".repeat(32), &"0".repeat(33)] {
            assert_eq!(wrong.parse::<JournalIdentity>(), Err(InvalidIdentity), "{wrong}");
        }
    }

    #[test]
    fn any_single_bit_flip_in_a_batch_header_is_found() {
        for bit in 0..BATCH_HEADER_BYTES * 8 {
            let mut bytes = BATCH.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(BatchHeader::decode(&bytes), Err(Flaw::HeaderDamaged), "bit {bit}");
        }
    }

    #[test]
    fn more_records_than_body_do_not_decode() {
        let header = BatchHeader { state_bytes: 8, ..BATCH };
        assert_eq!(BatchHeader::decode(&header.encode()), Err(Flaw::BodyMalformed));
    }

    #[test]
    fn flags_hold_qos_and_retain_and_nothing_else() {
        let flags = MessageFlags::new(2, true);
        assert_eq!((flags.qos(), flags.retain()), (2, true));
        assert_eq!(MessageFlags::from_bits(flags.bits()), Some(flags));
        assert_eq!(MessageFlags::from_bits(0b011), None);
        assert_eq!(MessageFlags::from_bits(0b1000), None);
    }
}
