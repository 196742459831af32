//! The footer of a Parquet file.

use super::chunk::ChunkEntry;
use super::columns::{COLUMNS, write_columns};
use super::thrift::{ThriftType, ThriftWriter};

/// At the beginning and at the end of a file.
pub(super) const MAGIC: &[u8; 4] = b"PAR1";
/// Of Parquet: with its newer encodings.
const VERSION: i32 = 2;
const CREATED_BY: &str = concat!("slipring version ", env!("CARGO_PKG_VERSION"));

/// A row group that is written.
pub(super) struct GroupEntry {
    pub rows: usize,
    pub chunks: Vec<ChunkEntry>,
}

/// Ends the file.
pub(super) fn write_footer(out: &mut Vec<u8>, groups: &[GroupEntry]) {
    let begin = out.len();
    let mut thrift = ThriftWriter::new(out);
    thrift.i32(1, VERSION);
    write_columns(&mut thrift, 2);
    thrift.i64(3, groups.iter().map(|group| group.rows as i64).sum());
    thrift.list(4, ThriftType::Struct, groups.len());
    for (place, group) in (0_i16..).zip(groups) {
        thrift.struct_item(|entry| group.write(entry, place));
    }
    thrift.binary(6, CREATED_BY.as_bytes());
    // Each column has the order of its type.
    thrift.list(7, ThriftType::Struct, COLUMNS.len());
    for _ in &COLUMNS {
        thrift.struct_item(|order| order.nested(1, |_| {}));
    }
    thrift.end();
    let length = (out.len() - begin) as u32;
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(MAGIC);
}

impl GroupEntry {
    /// Writes the fields of Parquet's `RowGroup`.
    fn write(&self, thrift: &mut ThriftWriter<'_>, place: i16) {
        thrift.list(1, ThriftType::Struct, self.chunks.len());
        for chunk in &self.chunks {
            thrift.struct_item(|entry| chunk.write(entry));
        }
        let total = |of: fn(&ChunkEntry) -> usize| self.chunks.iter().map(of).sum::<usize>() as i64;
        thrift.i64(2, total(|chunk| chunk.raw_bytes));
        thrift.i64(3, self.rows as i64);
        if let Some(first) = self.chunks.first() {
            thrift.i64(5, first.begin() as i64);
        }
        thrift.i64(6, total(|chunk| chunk.bytes));
        thrift.i16(7, place);
    }
}
