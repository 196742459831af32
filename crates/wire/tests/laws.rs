//! Laws of the codec: what is encoded is decoded, however the bytes arrive, and no bytes panic.

mod packets;

use proptest::prelude::*;
use slipring_wire::{Framed, Packet, Version, frame};

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
        while let Framed::Whole(whole) = frame(&bytes[start..end], LENGTH_MAX).unwrap() {
            Packet::decode(&whole, version).unwrap().encode(version, &mut again);
            start += whole.length;
        }
    }
    again
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded((version, bytes, shown) in packets::encoded()) {
        let Framed::Whole(whole) = frame(&bytes, LENGTH_MAX).unwrap() else {
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
        if let Ok(Framed::Whole(whole)) = frame(&bytes, LENGTH_MAX) {
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
        if let Ok(Framed::Whole(whole)) = frame(&bytes, LENGTH_MAX) {
            let _ = Packet::decode(&whole, version);
        }
    }
}
