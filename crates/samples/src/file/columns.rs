//! The columns of the lake's table `samples`, as a file names them. Other files of the table are written by Arrow, and
//! have the same.

use super::thrift::{ThriftType, ThriftWriter};

/// The bytes of `integer`: as many as 20 digits take.
pub(super) const INTEGER_BYTES: usize = 9;
const INTEGER_DIGITS: i32 = 20;

/// How values are stored.
#[derive(Clone, Copy)]
pub(super) enum Stored {
    Int32 = 1,
    Int64 = 2,
    Double = 5,
    Bytes = 6,
    Fixed = 7,
}

/// What they mean.
#[derive(Clone, Copy)]
enum Meaning {
    Itself,
    Text,
    Microseconds,
    Decimal,
    Int16,
}

/// A column.
pub(super) struct FileColumn {
    pub name: &'static str,
    pub stored: Stored,
    meaning: Meaning,
    pub is_optional: bool,
}

const fn required(name: &'static str, stored: Stored, meaning: Meaning) -> FileColumn {
    FileColumn { name, stored, meaning, is_optional: false }
}

const fn optional(name: &'static str, stored: Stored, meaning: Meaning) -> FileColumn {
    FileColumn { name, stored, meaning, is_optional: true }
}

/// All columns, in the order of the table.
pub(super) static COLUMNS: [FileColumn; 15] = [
    required("journal", Stored::Bytes, Meaning::Text),
    required("parameter", Stored::Bytes, Meaning::Text),
    required("index", Stored::Int32, Meaning::Itself),
    required("source_time", Stored::Int64, Meaning::Microseconds),
    required("source_ns", Stored::Int64, Meaning::Itself),
    required("receive_time", Stored::Int64, Meaning::Microseconds),
    required("receive_ns", Stored::Int64, Meaning::Itself),
    optional("value", Stored::Double, Meaning::Itself),
    optional("integer", Stored::Fixed, Meaning::Decimal),
    optional("text", Stored::Bytes, Meaning::Text),
    optional("bytes", Stored::Bytes, Meaning::Itself),
    required("quality", Stored::Int32, Meaning::Int16),
    required("kind", Stored::Bytes, Meaning::Text),
    optional("unit", Stored::Bytes, Meaning::Text),
    required("offset", Stored::Int64, Meaning::Itself),
];

impl FileColumn {
    /// Writes the fields of Parquet's `SchemaElement`.
    pub fn write(&self, thrift: &mut ThriftWriter<'_>) {
        thrift.i32(1, self.stored as i32);
        if let Stored::Fixed = self.stored {
            thrift.i32(2, INTEGER_BYTES as i32);
        }
        thrift.i32(3, self.is_optional.into());
        thrift.binary(4, self.name.as_bytes());
        // The meaning, for older readers and for newer ones.
        match self.meaning {
            Meaning::Itself => {}
            Meaning::Text => {
                thrift.i32(6, 0);
                thrift.nested(10, |logical| logical.nested(1, |_| {}));
            }
            Meaning::Microseconds => {
                thrift.i32(6, 10);
                thrift.nested(10, |logical| {
                    logical.nested(8, |time| {
                        time.bool(1, true);
                        time.nested(2, |unit| unit.nested(2, |_| {}));
                    });
                });
            }
            Meaning::Decimal => {
                thrift.i32(6, 5);
                thrift.i32(7, 0);
                thrift.i32(8, INTEGER_DIGITS);
                thrift.nested(10, |logical| {
                    logical.nested(5, |decimal| {
                        decimal.i32(1, 0);
                        decimal.i32(2, INTEGER_DIGITS);
                    });
                });
            }
            Meaning::Int16 => {
                thrift.i32(6, 16);
                thrift.nested(10, |logical| {
                    logical.nested(10, |integer| {
                        integer.byte(1, 16);
                        integer.bool(2, true);
                    });
                });
            }
        }
    }
}

/// Writes the list of all columns as a field.
pub(super) fn write_columns(thrift: &mut ThriftWriter<'_>, field: u8) {
    thrift.list(field, ThriftType::Struct, COLUMNS.len() + 1);
    thrift.struct_item(|root| {
        root.i32(3, 0);
        root.binary(4, b"schema");
        root.i32(5, COLUMNS.len() as i32);
    });
    for column in &COLUMNS {
        thrift.struct_item(|element| column.write(element));
    }
}
