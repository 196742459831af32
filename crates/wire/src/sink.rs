//! Appends MQTT's primitive fields to a byte vector.

use crate::VARINT_MAX;

/// Appends MQTT's primitive fields.
pub(crate) trait Sink {
    fn put_u8(&mut self, value: u8);
    fn put_u16(&mut self, value: u16);
    fn put_u32(&mut self, value: u32);
    fn put_varint(&mut self, value: u32);
    fn put_binary(&mut self, bytes: &[u8]);
    fn put_text(&mut self, text: &str) {
        self.put_binary(text.as_bytes());
    }
}

impl Sink for Vec<u8> {
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_varint(&mut self, mut value: u32) {
        debug_assert!(value <= VARINT_MAX);
        loop {
            let byte = (value & 0x7f) as u8;
            value >>= 7;
            if value == 0 {
                return self.push(byte);
            }
            self.push(byte | 0x80);
        }
    }

    /// A field with its length in front. Panics beyond 65,535 bytes.
    fn put_binary(&mut self, bytes: &[u8]) {
        let length = u16::try_from(bytes.len()).expect("a field of at most 65,535 bytes");
        self.put_u16(length);
        self.extend_from_slice(bytes);
    }
}

/// How many bytes a variable byte integer takes.
pub(crate) fn varint_length(value: u32) -> usize {
    match value {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        0x4000..=0x1f_ffff => 3,
        _ => 4,
    }
}
