//! Samples as Parquet files of the lake's table `samples`, sorted by parameter and time.
//!
//! A general writer takes each column row by row. Here nearly every column is made of runs: of a parameter, of a message,
//! and source times are the same from parameter to parameter. So most columns are places in a dictionary, found once for
//! all columns that have the same runs (decision 0078).

mod chunk;
mod codes;
mod columns;
mod footer;
mod group;
mod hybrid;
mod items;
mod rows;
mod split;
mod thrift;

use self::chunk::ChunkSink;
use self::footer::{MAGIC, write_footer};
use self::group::GroupWriter;
use self::rows::FileRows;
use crate::columns::SampleColumns;
use crate::few_texts::FewTexts;
use crate::parameters::KnownParameters;
use crate::runs::Arrival;

/// How files are laid out.
#[derive(Clone, Copy, Debug)]
pub struct FileLayout<'a> {
    /// The identity of the journal, which every row has.
    pub journal: &'a str,
    /// Rows of a row group.
    pub group_rows: usize,
    /// Rows of a page: what is compressed together.
    pub page_rows: usize,
    /// Of zstd.
    pub level: i32,
}

/// A file with the samples that were received on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleFile {
    /// Days since 1970, UTC.
    pub day: i64,
    /// How many samples it has.
    pub rows: usize,
    /// The whole file.
    pub bytes: Vec<u8>,
    /// The types of its parameters.
    pub kind: TextBounds,
    /// Their units.
    pub unit: TextBounds,
}

/// The first and the last of texts that a file has; none if all rows are null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextBounds {
    /// The first and the last one.
    pub texts: Option<(String, String)>,
    /// Rows without a text.
    pub nulls: usize,
}

/// Writes a file for each day. All columns are needed but receive time and offset, which are the messages'.
pub(crate) fn sample_files(
    samples: &SampleColumns,
    arrivals: &[Arrival],
    parameters: &KnownParameters,
    layout: &FileLayout<'_>,
) -> Vec<SampleFile> {
    let sorted = FileRows::sorted(samples, arrivals);
    let of_days = sorted.by_day(arrivals);
    let files = of_days.into_iter().map(|(day, rows)| {
        let (count, bytes) = (rows.len(), file_bytes(samples, arrivals, parameters, layout, &rows));
        let kind = TextBounds::of(parameters.types(), &rows);
        let unit = TextBounds::of(parameters.units(), &rows);
        SampleFile { day, rows: count, bytes, kind, unit }
    });
    files.collect()
}

fn file_bytes(
    samples: &SampleColumns,
    arrivals: &[Arrival],
    parameters: &KnownParameters,
    layout: &FileLayout<'_>,
    rows: &FileRows,
) -> Vec<u8> {
    let mut sink = ChunkSink::new(layout.level);
    sink.out.extend_from_slice(MAGIC);
    let mut groups = Vec::new();
    for begin in (0..rows.len()).step_by(layout.group_rows) {
        let range = begin..rows.len().min(begin + layout.group_rows);
        let group =
            GroupWriter { sink: &mut sink, samples, arrivals, parameters, layout, rows, range };
        groups.push(group.write());
    }
    write_footer(&mut sink.out, &groups);
    sink.out
}

impl TextBounds {
    fn of(texts: &FewTexts, rows: &FileRows) -> Self {
        let mut found = Self::default();
        let mut has = vec![false; texts.len()];
        for (index, count) in rows.runs(0..rows.len()) {
            match texts.place(index) {
                Some(place) => has[place] = true,
                None => found.nulls += count,
            }
        }
        let used = || (0..has.len()).filter(|place| has[*place]).map(|place| texts.text(place));
        found.texts =
            used().min().zip(used().max()).map(|(least, most)| (least.into(), most.into()));
        found
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
