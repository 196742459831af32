//! The bytes before a frame in its packet: the fixed header, whose length is known before it is written.

/// How much comes before a frame with such a head.
pub(super) fn front_bytes(head: usize, frame: usize) -> usize {
    1 + varint_bytes(head + frame) + head
}

fn varint_bytes(value: usize) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        _ => 4,
    }
}

/// Fills all of this with a number, which takes just as much.
pub(super) fn put_varint(mut value: u32, out: &mut [u8]) {
    let last = out.len() - 1;
    for byte in &mut out[..last] {
        *byte = value as u8 | 0x80;
        value >>= 7;
    }
    out[last] = value as u8;
}
