//! Thrift's compact protocol, as far as Parquet's headers and footers need it.

/// The types of fields and items.
#[derive(Clone, Copy)]
pub(super) enum ThriftType {
    I32 = 5,
    Binary = 8,
    Struct = 12,
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const LIST: u8 = 9;

/// Writes one struct, and those in it. Fields must come in ascending order.
pub(super) struct ThriftWriter<'a> {
    out: &'a mut Vec<u8>,
    /// The last field of each open struct.
    last: Vec<u8>,
}

impl<'a> ThriftWriter<'a> {
    /// Begins a struct.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, last: vec![0] }
    }

    pub fn i32(&mut self, field: u8, value: i32) {
        self.field(field, ThriftType::I32 as u8);
        varint(self.out, zigzag(value.into()));
    }

    pub fn i64(&mut self, field: u8, value: i64) {
        self.field(field, I64);
        varint(self.out, zigzag(value));
    }

    pub fn i16(&mut self, field: u8, value: i16) {
        self.field(field, I16);
        varint(self.out, zigzag(value.into()));
    }

    pub fn byte(&mut self, field: u8, value: u8) {
        self.field(field, BYTE);
        self.out.push(value);
    }

    pub fn bool(&mut self, field: u8, value: bool) {
        self.field(field, if value { TRUE } else { FALSE });
    }

    pub fn binary(&mut self, field: u8, value: &[u8]) {
        self.field(field, ThriftType::Binary as u8);
        self.binary_item(value);
    }

    /// Begins a list; that many items follow.
    pub fn list(&mut self, field: u8, items: ThriftType, count: usize) {
        self.field(field, LIST);
        if count < 15 {
            self.out.push((count as u8) << 4 | items as u8);
        } else {
            self.out.push(0xf0 | items as u8);
            varint(self.out, count as u64);
        }
    }

    pub fn i32_item(&mut self, value: i32) {
        varint(self.out, zigzag(value.into()));
    }

    pub fn binary_item(&mut self, value: &[u8]) {
        varint(self.out, value.len() as u64);
        self.out.extend_from_slice(value);
    }

    /// An item of a list.
    pub fn struct_item(&mut self, fields: impl FnOnce(&mut Self)) {
        self.last.push(0);
        fields(self);
        self.end();
    }

    pub fn nested(&mut self, field: u8, fields: impl FnOnce(&mut Self)) {
        self.field(field, ThriftType::Struct as u8);
        self.struct_item(fields);
    }

    /// Ends the struct.
    pub fn end(&mut self) {
        self.out.push(0);
        self.last.pop();
    }

    fn field(&mut self, field: u8, code: u8) {
        let last = self.last.last_mut().expect("a struct is open");
        debug_assert!((1..16).contains(&(field - *last)), "fields ascend");
        self.out.push((field - *last) << 4 | code);
        *last = field;
    }
}

/// Seven bits in each byte, the lowest first.
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_struct_is_its_fields_and_a_stop() {
        let mut out = Vec::new();
        let mut thrift = ThriftWriter::new(&mut out);
        thrift.i32(1, -1);
        thrift.i64(3, 300);
        thrift.bool(4, true);
        thrift.nested(5, |inner| inner.binary(1, b"ab"));
        thrift.list(6, ThriftType::I32, 2);
        thrift.i32_item(1);
        thrift.i32_item(-2);
        thrift.end();
        let expected =
            [0x15, 1, 0x26, 0xd8, 0x04, 0x11, 0x1c, 0x18, 2, b'a', b'b', 0, 0x19, 0x25, 2, 3, 0];
        assert_eq!(out, expected);
    }

    #[test]
    fn a_long_list_has_its_length_apart() {
        let mut out = Vec::new();
        ThriftWriter::new(&mut out).list(1, ThriftType::Struct, 200);
        assert_eq!(out, [0x19, 0xfc, 0xc8, 1]);
    }
}
