//! A row group: all columns of some rows of a file.

use std::ops::Range;

use super::FileLayout;
use super::chunk::{ChunkEntry, ChunkSink, Encoding, PackedPage};
use super::codes::{Codes, small_codes, time_codes};
use super::columns::{COLUMNS, FileColumn, Stored};
use super::footer::GroupEntry;
use super::hybrid::{HybridEncoder, packed_header, width_below};
use super::rows::FileRows;
use super::thrift::varint;
use crate::columns::SampleColumns;
use crate::few_texts::FewTexts;
use crate::parameters::KnownParameters;
use crate::runs::Arrival;

/// Writes one row group.
pub(super) struct GroupWriter<'a> {
    pub sink: &'a mut ChunkSink,
    pub samples: &'a SampleColumns,
    pub arrivals: &'a [Arrival],
    pub parameters: &'a KnownParameters,
    pub layout: &'a FileLayout<'a>,
    pub rows: &'a FileRows,
    /// Which of the rows.
    pub range: Range<usize>,
}

/// The rows of several columns that have the same places in their dictionaries.
pub(super) struct CodedRows<T> {
    /// What the dictionary is made of.
    pub values: Vec<T>,
    pub pages: Vec<PackedPage>,
}

impl GroupWriter<'_> {
    /// Writes all columns, in their order.
    pub fn write(mut self) -> GroupEntry {
        let rows = self.rows;
        let source_ns = &rows.source_ns[self.range.clone()];
        let message = &rows.message[self.range.clone()];
        let parameter = self.coded_runs();
        let source = time_codes(source_ns).map(|codes| self.coded(codes));
        let arrived = small_codes(message.iter().copied(), self.arrivals.len());
        let arrived = arrived.map(|codes| self.coded(codes));
        let arrivals = self.arrivals;
        let received = |message: u32| arrivals[message as usize].arrived.receive_ns;
        let offset = |message: u32| arrivals[message as usize].arrived.offset;
        let chunks = COLUMNS.iter().map(|column| match column.name {
            "journal" => self.journal(column),
            "parameter" => self.names(column, &parameter),
            "index" => self.numbers(column, Some(&parameter), &[], Into::into),
            "source_time" => {
                self.numbers(column, source.as_ref(), source_ns, |time| time.div_euclid(1_000))
            }
            "source_ns" => self.numbers(column, source.as_ref(), source_ns, |time| time),
            "receive_time" => self.numbers(column, arrived.as_ref(), message, |message| {
                received(message).div_euclid(1_000)
            }),
            "receive_ns" => self.numbers(column, arrived.as_ref(), message, received),
            "value" => self.values(column),
            "integer" => self.integers(column),
            "text" => self.texts(column),
            "bytes" => self.bytes(column),
            "quality" => self.qualities(column),
            "kind" => self.few_texts(column, self.parameters.types()),
            "unit" => self.few_texts(column, self.parameters.units()),
            "offset" => self.numbers(column, arrived.as_ref(), message, offset),
            name => unreachable!("{name} is no column"),
        });
        GroupEntry { chunks: chunks.collect(), rows: self.range.len() }
    }

    /// The ranges of rows that are pages.
    pub(super) fn pages(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (range, page_rows) = (self.range.clone(), self.layout.page_rows);
        range.clone().step_by(page_rows).map(move |begin| begin..range.end.min(begin + page_rows))
    }

    /// The same text in all rows.
    fn journal(&mut self, column: &'static FileColumn) -> ChunkEntry {
        let mut dictionary = Vec::new();
        plain_bytes(&mut dictionary, self.layout.journal.as_bytes());
        let pages: Vec<_> = self
            .pages()
            .map(|page| {
                let mut places = HybridEncoder::new(1);
                places.push(0, page.len());
                self.sink.pack(&dictionary_body(1, places), page.len())
            })
            .collect();
        self.sink.write(column, Some((&dictionary, 1)), Encoding::Dictionary, &pages)
    }

    /// Each parameter of the group has a place of its own.
    fn coded_runs(&mut self) -> CodedRows<u32> {
        let values: Vec<u32> = self.rows.runs(self.range.clone()).map(|(index, _)| index).collect();
        let width = width_below(values.len());
        let mut place = 0;
        let pages = self.pages().map(|page| {
            let mut places = HybridEncoder::new(width);
            let rows = page.len();
            for (index, count) in self.rows.runs(page) {
                // A page may begin within the parameter with which the one before ended.
                place += u32::from(values[place as usize] != index);
                places.push(place, count);
            }
            self.sink.pack(&dictionary_body(width, places), rows)
        });
        CodedRows { pages: pages.collect(), values }
    }

    fn coded<T>(&mut self, codes: Codes<T>) -> CodedRows<T> {
        let Codes { values, places } = codes;
        let mut body = Vec::new();
        let pages = places.chunks(self.layout.page_rows).map(|places| {
            body.clear();
            write_places(&mut body, places, values.len());
            self.sink.pack(&body, places.len())
        });
        CodedRows { pages: pages.collect(), values }
    }

    fn names(&mut self, column: &'static FileColumn, coded: &CodedRows<u32>) -> ChunkEntry {
        let names = || coded.values.iter().map(|index| self.parameters.name(*index).as_bytes());
        let mut dictionary = Vec::new();
        names().for_each(|name| plain_bytes(&mut dictionary, name));
        let bounds = names().min().zip(names().max());
        let bounds = bounds.map(|(least, most)| (least.to_vec(), most.to_vec()));
        let dictionary = Some((&dictionary[..], coded.values.len()));
        self.sink
            .write(column, dictionary, Encoding::Dictionary, &coded.pages)
            .with_bounds(bounds, 0)
    }

    /// Numbers with a dictionary, or plain if they have none.
    fn numbers<T: Copy>(
        &mut self,
        column: &'static FileColumn,
        coded: Option<&CodedRows<T>>,
        rows: &[T],
        number: impl Fn(T) -> i64,
    ) -> ChunkEntry {
        let width = if let Stored::Int32 = column.stored { 4 } else { 8 };
        let plain = |values: &[T]| -> Vec<u8> {
            let mut body = Vec::with_capacity(values.len() * width);
            for one in values {
                body.extend_from_slice(&number(*one).to_le_bytes()[..width]);
            }
            body
        };
        let values = coded.map_or(rows, |coded| &coded.values);
        let all = || values.iter().map(|one| number(*one));
        let bytes = |number: i64| number.to_le_bytes()[..width].to_vec();
        let bounds = all().min().zip(all().max()).map(|(least, most)| (bytes(least), bytes(most)));
        let entry = if let Some(coded) = coded {
            let dictionary = plain(values);
            let dictionary = Some((&dictionary[..], values.len()));
            self.sink.write(column, dictionary, Encoding::Dictionary, &coded.pages)
        } else {
            let pages = rows.chunks(self.layout.page_rows);
            let pages: Vec<_> =
                pages.map(|page| self.sink.pack(&plain(page), page.len())).collect();
            self.sink.write(column, None, Encoding::Plain, &pages)
        };
        entry.with_bounds(bounds, 0)
    }

    fn qualities(&mut self, column: &'static FileColumn) -> ChunkEntry {
        let positions = &self.rows.positions[self.range.clone()];
        let qualities = positions.iter().map(|at| self.samples.quality[*at as usize] as u32);
        let qualities: Vec<u32> = qualities.collect();
        let places = small_codes(qualities.iter().copied(), 1 << u8::BITS);
        let coded = places.map(|places| self.coded(places));
        self.numbers(column, coded.as_ref(), &qualities, Into::into)
    }

    /// Types or units: one for each parameter.
    fn few_texts(&mut self, column: &'static FileColumn, texts: &FewTexts) -> ChunkEntry {
        let mut known = vec![None; texts.len()];
        let (mut dictionary, mut count) = (Vec::new(), 0);
        for (index, _) in self.rows.runs(self.range.clone()) {
            if let Some(place) = texts.place(index)
                && known[place].is_none()
            {
                known[place] = Some(count);
                plain_bytes(&mut dictionary, texts.text(place).as_bytes());
                count += 1;
            }
        }
        if count == 0 {
            return self.nulls(column);
        }
        let width = width_below(count as usize);
        let pages = self.pages().map(|page| {
            let (mut levels, mut places) = (HybridEncoder::new(1), HybridEncoder::new(width));
            let length = page.len();
            for (index, rows) in self.rows.runs(page) {
                let place = texts.place(index).and_then(|place| known[place]);
                levels.push(place.is_some().into(), rows);
                if let Some(place) = place {
                    places.push(place, rows);
                }
            }
            let mut body = Vec::new();
            if column.is_optional {
                write_levels(&mut body, levels);
            }
            body.extend_from_slice(&dictionary_body(width, places));
            self.sink.pack(&body, length)
        });
        let pages: Vec<_> = pages.collect();
        let dictionary = Some((&dictionary[..], count as usize));
        self.sink.write(column, dictionary, Encoding::Dictionary, &pages)
    }
}

/// A value of a column of bytes or texts.
pub(super) fn plain_bytes(out: &mut Vec<u8>, value: &[u8]) {
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.extend_from_slice(value);
}

/// Which rows have a value.
pub(super) fn write_levels(out: &mut Vec<u8>, levels: HybridEncoder) {
    plain_bytes(out, &levels.finish());
}

/// Places in a dictionary, with their width.
pub(super) fn dictionary_body(width: u8, places: HybridEncoder) -> Vec<u8> {
    let mut body = vec![width];
    body.extend_from_slice(&places.finish());
    body
}

/// The same for places that change from row to row. In whole bytes, so that zstd finds those that repeat.
fn write_places(out: &mut Vec<u8>, places: &[u16], count: usize) {
    let is_short = count <= 1 << u8::BITS;
    out.push(if is_short { 8 } else { 16 });
    if count == 1 {
        varint(out, (places.len() as u64) << 1);
        out.push(0);
        return;
    }
    packed_header(out, places.len());
    let filled = places.len().next_multiple_of(8) - places.len();
    if is_short {
        out.extend(places.iter().map(|place| *place as u8));
        out.extend(std::iter::repeat_n(0, filled));
    } else {
        out.extend(places.iter().flat_map(|place| place.to_le_bytes()));
        out.extend(std::iter::repeat_n(0, 2 * filled));
    }
}
