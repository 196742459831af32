//! Column chunks: their pages, compressed, and what the footer says of them.

use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

use super::columns::{FileColumn, Stored};
use super::thrift::{ThriftType, ThriftWriter};

/// How a page has its values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Plain = 0,
    Levels = 3,
    Dictionary = 8,
    Split = 9,
}

const ZSTD: i32 = 6;
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

/// The values of a page, compressed.
pub(super) struct PackedPage {
    /// With those that are null.
    pub rows: usize,
    bytes: Vec<u8>,
    /// As many as there were.
    raw_bytes: usize,
}

/// The least and the greatest value of a chunk as the footer has them; none if it has no value.
pub(super) type ChunkBounds = Option<(Vec<u8>, Vec<u8>)>;

/// The file so far. Compresses with the same memory again and again.
pub(super) struct ChunkSink {
    pub out: Vec<u8>,
    zstd: Compressor<'static>,
    packed: Vec<u8>,
}

/// What the footer says of a chunk.
pub(super) struct ChunkEntry {
    pub column: &'static FileColumn,
    encoding: Encoding,
    rows: usize,
    /// Where the dictionary begins, if there is one.
    dictionary: Option<usize>,
    /// Where the first page of values begins.
    data: usize,
    pub raw_bytes: usize,
    pub bytes: usize,
    pub bounds: ChunkBounds,
    /// Rows without a value. None if the footer says nothing of the values.
    pub nulls: Option<usize>,
}

impl ChunkSink {
    /// An empty file.
    pub fn new(level: i32) -> Self {
        let zstd = Compressor::new(level).expect("zstd takes every level");
        Self { out: Vec::new(), zstd, packed: Vec::new() }
    }

    /// Compresses a page.
    pub fn pack(&mut self, body: &[u8], rows: usize) -> PackedPage {
        self.packed.clear();
        self.packed.reserve(compress_bound(body.len()));
        self.zstd.compress_to_buffer(body, &mut self.packed).expect("there is room for the worst");
        PackedPage { rows, bytes: self.packed.clone(), raw_bytes: body.len() }
    }

    /// Writes a chunk: the values of a dictionary with their count, then pages.
    pub fn write(
        &mut self,
        column: &'static FileColumn,
        dictionary: Option<(&[u8], usize)>,
        encoding: Encoding,
        pages: &[PackedPage],
    ) -> ChunkEntry {
        let begin = self.out.len();
        let mut raw_bytes = 0;
        if let Some((values, count)) = dictionary {
            let page = self.pack(values, count);
            raw_bytes += self.page(&page, None);
        }
        let data = self.out.len();
        raw_bytes += pages.iter().map(|page| self.page(page, Some(encoding))).sum::<usize>();
        ChunkEntry {
            column,
            encoding,
            rows: pages.iter().map(|page| page.rows).sum(),
            dictionary: dictionary.map(|_| begin),
            data,
            raw_bytes,
            bytes: self.out.len() - begin,
            bounds: None,
            nulls: None,
        }
    }

    /// Returns how long it would be if it were not compressed. Without an encoding it is a dictionary.
    fn page(&mut self, page: &PackedPage, encoding: Option<Encoding>) -> usize {
        let begin = self.out.len();
        let mut header = ThriftWriter::new(&mut self.out);
        header.i32(1, if encoding.is_some() { DATA_PAGE } else { DICTIONARY_PAGE });
        header.i32(2, page.raw_bytes as i32);
        header.i32(3, page.bytes.len() as i32);
        match encoding {
            Some(encoding) => header.nested(5, |data| {
                data.i32(1, page.rows as i32);
                data.i32(2, encoding as i32);
                data.i32(3, Encoding::Levels as i32);
                data.i32(4, Encoding::Levels as i32);
            }),
            None => header.nested(7, |dictionary| {
                dictionary.i32(1, page.rows as i32);
                dictionary.i32(2, Encoding::Plain as i32);
            }),
        }
        header.end();
        let raw_bytes = self.out.len() - begin + page.raw_bytes;
        self.out.extend_from_slice(&page.bytes);
        raw_bytes
    }
}

impl ChunkEntry {
    /// The same with what the footer says of the values.
    pub fn with_bounds(self, bounds: ChunkBounds, nulls: usize) -> Self {
        Self { bounds, nulls: Some(nulls), ..self }
    }

    /// Where it begins.
    pub fn begin(&self) -> usize {
        self.dictionary.unwrap_or(self.data)
    }

    /// Writes the fields of Parquet's `ColumnChunk`.
    pub fn write(&self, thrift: &mut ThriftWriter<'_>) {
        thrift.i64(2, 0);
        thrift.nested(3, |meta| {
            meta.i32(1, self.column.stored as i32);
            self.write_encodings(meta);
            meta.list(3, ThriftType::Binary, 1);
            meta.binary_item(self.column.name.as_bytes());
            meta.i32(4, ZSTD);
            meta.i64(5, self.rows as i64);
            meta.i64(6, self.raw_bytes as i64);
            meta.i64(7, self.bytes as i64);
            meta.i64(9, self.data as i64);
            if let Some(dictionary) = self.dictionary {
                meta.i64(11, dictionary as i64);
            }
            if let Some(nulls) = self.nulls {
                meta.nested(12, |statistics| self.write_bounds(statistics, nulls));
            }
        });
    }

    fn write_encodings(&self, meta: &mut ThriftWriter<'_>) {
        let mut encodings = vec![Encoding::Levels, self.encoding];
        if self.encoding == Encoding::Dictionary {
            encodings.push(Encoding::Plain);
        }
        meta.list(2, ThriftType::I32, encodings.len());
        for one in encodings {
            meta.i32_item(one as i32);
        }
    }

    fn write_bounds(&self, statistics: &mut ThriftWriter<'_>, nulls: usize) {
        // Numbers have the same order in the fields that older readers know.
        let is_number =
            matches!(self.column.stored, Stored::Int32 | Stored::Int64 | Stored::Double);
        if let Some((least, most)) = self.bounds.as_ref().filter(|_| is_number) {
            statistics.binary(1, most);
            statistics.binary(2, least);
        }
        statistics.i64(3, nulls as i64);
        if let Some((least, most)) = &self.bounds {
            statistics.binary(5, most);
            statistics.binary(6, least);
        }
    }
}
