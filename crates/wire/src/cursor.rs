//! Reads the fields of one packet. Never reads past its end.

use crate::Violation;

type Read<T> = Result<T, Violation>;

/// The unread rest of a packet's bytes.
#[derive(Clone, Copy)]
pub(crate) struct PacketCursor<'a> {
    rest: &'a [u8],
}

impl<'a> PacketCursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Everything not yet read.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }

    pub fn take(&mut self, length: usize) -> Read<&'a [u8]> {
        let (head, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(Violation::malformed("a field reaches past the end of the packet"))?;
        self.rest = rest;
        Ok(head)
    }

    pub fn u8(&mut self) -> Read<u8> {
        Ok(self.take(1)?[0])
    }

    pub fn u16(&mut self) -> Read<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub fn u32(&mut self) -> Read<u32> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A variable byte integer: at most four bytes, the shortest form only (MQTT-1.5.5-1).
    pub fn varint(&mut self) -> Read<u32> {
        let mut value = 0;
        for shift in [0, 7, 14, 21] {
            let byte = self.u8()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                if byte == 0 && shift > 0 {
                    return Err(Violation::malformed("variable byte integer longer than needed"));
                }
                return Ok(value);
            }
        }
        Err(Violation::malformed("variable byte integer longer than four bytes"))
    }

    pub fn binary(&mut self) -> Read<&'a [u8]> {
        let length = self.u16()?;
        self.take(usize::from(length))
    }

    /// A UTF-8 string without U+0000 (MQTT-1.5.4-1, MQTT-1.5.4-2).
    pub fn text(&mut self) -> Read<&'a str> {
        let bytes = self.binary()?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Violation::malformed("a string is not valid UTF-8"))?;
        // Most strings are short, so that this branch-free loop is faster than a search.
        if bytes.iter().fold(0, |found, byte| found | u8::from(*byte == 0)) > 0 {
            return Err(Violation::malformed("a string holds the null character"));
        }
        Ok(text)
    }
}
