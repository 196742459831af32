//! MQTT 5 properties: any bytes as the properties of every packet that has some.

use std::collections::HashMap;

use slipring_wire::{Packet, Properties, PropertiesBuf, PropertyId, RawPacket, Version};

use crate::wire::lists;

/// The first byte of a packet, the bytes before its properties, and the bytes behind them.
const PACKETS: &[(u8, &[u8], &[u8])] = &[
    (0x10, b"\0\x04MQTT\x05\x02\0\x0a", b"\0\x01c"),
    (0x10, b"\0\x04MQTT\x05\x06\0\x0a\0\0\x01c", b"\0\x01t\0\x01p"),
    (0x20, b"\0\0", b""),
    (0x30, b"\0\x01t", b"payload"),
    (0x40, b"\0\x01\0", b""),
    (0x50, b"\0\x01\0", b""),
    (0x62, b"\0\x01\0", b""),
    (0x70, b"\0\x01\0", b""),
    (0x82, b"\0\x01", b"\0\x01f\0"),
    (0x90, b"\0\x01", b"\0"),
    (0xa2, b"\0\x01", b"\0\x01f"),
    (0xb0, b"\0\x01", b"\0"),
    (0xe0, b"\0", b""),
    (0xf0, b"\0", b""),
];

/// A length of this many bytes takes at most two bytes itself.
const BYTES_MAX: usize = 0x3fff;

/// The bytes are the properties themselves, without their length.
pub fn properties(data: &[u8]) {
    if data.len() > BYTES_MAX {
        return;
    }
    for (first, before, behind) in PACKETS {
        let body = [before, &length(data.len())[..], data, behind].concat();
        let whole = RawPacket { first: *first, body: &body, length: body.len() };
        if let Ok(packet) = Packet::decode(&whole, Version::V5) {
            let found = lists(&packet);
            assert!(found.iter().any(|list| list.encoded() == data), "lost: {packet:?}");
            found.into_iter().for_each(check);
        }
    }
}

fn length(bytes: usize) -> Vec<u8> {
    let (low, high) = ((bytes & 0x7f) as u8, (bytes >> 7) as u8);
    if high == 0 { vec![low] } else { vec![low | 0x80, high] }
}

/// Accepted properties can be read and written again. Only those that may repeat do.
fn check(list: Properties<'_>) {
    let (mut again, mut seen) = (PropertiesBuf::new(), HashMap::new());
    for (id, value) in list.iter() {
        again.push(id, value);
        *seen.entry(id).or_insert(0) += 1;
    }
    assert_eq!(again.borrow(), list, "other bytes when written again");
    let repeats = [PropertyId::UserProperty, PropertyId::SubscriptionIdentifier];
    assert!(seen.iter().all(|(id, times)| *times == 1 || repeats.contains(id)), "{seen:?}");
}
