//! The fixed header: splits a stream of bytes into packets.

use crate::{Reason, Violation};

/// The bytes of one packet, not decoded yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawPacket<'a> {
    /// Packet type and flags: the first byte.
    pub first: u8,
    /// Everything after the remaining length.
    pub body: &'a [u8],
    /// Header and body together.
    pub length: usize,
}

/// What was found at the start of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketSplit<'a> {
    /// More bytes are needed: this many in all, as far as is known yet.
    Incomplete(usize),
    /// A whole packet.
    Whole(RawPacket<'a>),
}

/// Finds the packet at the start of `bytes`, without looking into it.
///
/// A packet larger than `length_max` is refused as soon as its length is known (CVE-2017-7651).
#[inline]
pub fn split_packet(bytes: &[u8], length_max: usize) -> Result<PacketSplit<'_>, Violation> {
    let mut remaining = 0usize;
    for position in 1..=4 {
        let Some(&byte) = bytes.get(position) else {
            return Ok(PacketSplit::Incomplete(position + 1));
        };
        remaining |= usize::from(byte & 0x7f) << (7 * (position - 1));
        if byte & 0x80 != 0 {
            continue;
        }
        if byte == 0 && position > 1 {
            return Err(Violation::malformed("remaining length longer than needed"));
        }
        return whole(bytes, position + 1, remaining, length_max);
    }
    Err(Violation::malformed("remaining length longer than four bytes"))
}

#[inline]
fn whole(
    bytes: &[u8],
    header: usize,
    remaining: usize,
    length_max: usize,
) -> Result<PacketSplit<'_>, Violation> {
    let length = header + remaining;
    if length > length_max {
        return Err(Violation {
            reason: Reason::PacketTooLarge,
            what: "the packet is larger than the limit",
        });
    }
    Ok(match bytes.get(header..length) {
        Some(body) => PacketSplit::Whole(RawPacket { first: bytes[0], body, length }),
        None => PacketSplit::Incomplete(length),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_found_only_when_all_of_it_is_there() {
        let ping = [0xc0, 0x00, 0xff];
        assert_eq!(split_packet(&ping[..0], 10), Ok(PacketSplit::Incomplete(2)));
        assert_eq!(split_packet(&ping[..1], 10), Ok(PacketSplit::Incomplete(2)));
        let whole = RawPacket { first: 0xc0, body: &[], length: 2 };
        assert_eq!(split_packet(&ping, 10), Ok(PacketSplit::Whole(whole)));
    }

    #[test]
    fn a_five_byte_length_is_refused_cve_2026_21888() {
        assert!(split_packet(&[0x30, 0xff, 0xff, 0xff, 0xff, 0x01], usize::MAX).is_err());
    }

    #[test]
    fn a_huge_length_is_refused_before_its_body_arrives_cve_2017_7651() {
        let refused = split_packet(&[0x10, 0xff, 0xff, 0xff, 0x7f], 1 << 20).unwrap_err();
        assert_eq!(refused.reason, Reason::PacketTooLarge);
    }
}
