//! Laws of the codec: what is encoded is decoded, however the bytes arrive, and no bytes panic.

mod packets;

use packets::properties::{TABLE, WILL};
use proptest::prelude::*;
use slipring_wire::{Packet, PacketSplit, PropertiesBuf, RawPacket, Version, split_packet};

const LENGTH_MAX: usize = 1 << 20;

fn version() -> impl Strategy<Value = Version> {
    prop_oneof![Just(Version::V311), Just(Version::V5)]
}

/// Re-encodes every packet of a stream that arrives in pieces cut at `cuts`.
fn through_pieces(bytes: &[u8], cuts: &[usize], version: Version) -> Vec<u8> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    let (mut start, mut again) = (0, Vec::new());
    for end in ends {
        while let PacketSplit::Whole(whole) = split_packet(&bytes[start..end], LENGTH_MAX).unwrap()
        {
            Packet::decode(&whole, version).unwrap().encode(version, &mut again);
            start += whole.length;
        }
    }
    again
}

proptest! {
    #[test]
    fn encoded_packets_decode_to_the_same((version, bytes, shown) in packets::encoded()) {
        let PacketSplit::Whole(whole) = split_packet(&bytes, LENGTH_MAX).unwrap() else {
            panic!("not a whole packet")
        };
        prop_assert_eq!(whole.length, bytes.len());
        let decoded = Packet::decode(&whole, version).unwrap();
        prop_assert_eq!(format!("{decoded:?}"), shown);
    }

    #[test]
    fn any_split_of_the_input_gives_the_same_packets(
        version in version(),
        stream in prop::collection::vec(packets::encoded(), 1..6),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let bytes: Vec<u8> = stream.iter().filter(|(of, ..)| *of == version)
            .flat_map(|(_, bytes, _)| bytes.clone()).collect();
        prop_assert_eq!(through_pieces(&bytes, &cuts, version), bytes);
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(
        version in version(),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        if let Ok(PacketSplit::Whole(whole)) = split_packet(&bytes, LENGTH_MAX) {
            let _ = Packet::decode(&whole, version);
        }
    }

    #[test]
    fn a_damaged_packet_is_refused_or_read_but_never_panics(
        (version, mut bytes, _) in packets::encoded(),
        position in any::<usize>(),
        damage in 1u8..,
    ) {
        let position = position % bytes.len();
        bytes[position] ^= damage;
        if let Ok(PacketSplit::Whole(whole)) = split_packet(&bytes, LENGTH_MAX) {
            let _ = Packet::decode(&whole, version);
        }
    }
}

/// For each packet type with properties: what stands before them, and what stands behind.
const AROUND: &[(u8, u8, &[u8], &[u8])] = &[
    (1, 0x10, b"\0\x04MQTT\x05\x02\0\x0a", b"\0\x01c"),
    (WILL, 0x10, b"\0\x04MQTT\x05\x06\0\x0a\0\0\x01c", b"\0\x01t\0\x01p"),
    (2, 0x20, b"\0\0", b""),
    (3, 0x30, b"\0\x01t", b""),
    (4, 0x40, b"\0\x01\0", b""),
    (5, 0x50, b"\0\x01\0", b""),
    (6, 0x62, b"\0\x01\0", b""),
    (7, 0x70, b"\0\x01\0", b""),
    (8, 0x82, b"\0\x01", b"\0\x01f\0"),
    (9, 0x90, b"\0\x01", b"\0"),
    (10, 0xa2, b"\0\x01", b"\0\x01f"),
    (11, 0xb0, b"\0\x01", b"\0"),
    (14, 0xe0, b"\0", b""),
    (15, 0xf0, b"\0", b""),
];

/// The length of a list as a variable byte integer of at most two bytes.
fn length(list: &[u8]) -> Vec<u8> {
    let (low, high) = ((list.len() & 0x7f) as u8, (list.len() >> 7) as u8);
    if high == 0 { vec![low] } else { vec![low | 0x80, high] }
}

proptest! {
    #[test]
    fn a_property_is_taken_where_it_may_stand_and_nowhere_else_cve_2026_67418(
        values in packets::properties::values(),
    ) {
        for (id, shape, kinds) in TABLE {
            let mut list = PropertiesBuf::new();
            list.push(*id, values.value(*shape));
            for (kind, first, before, behind) in AROUND {
                let encoded = list.borrow().encoded();
                let body = [before, &length(encoded)[..], encoded, behind].concat();
                let whole = RawPacket { first: *first, body: &body, length: body.len() };
                let taken = Packet::decode(&whole, Version::V5).is_ok();
                prop_assert_eq!(taken, kinds.contains(kind), "{:?} in packet type {}", id, kind);
            }
        }
    }
}
