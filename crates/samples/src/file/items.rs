//! The columns in which rows may have no value: numbers, texts and bytes.

use std::collections::HashMap;

use super::chunk::{ChunkEntry, Encoding};
use super::columns::{FileColumn, INTEGER_BYTES};
use super::group::{GroupWriter, dictionary_body, plain_bytes, write_levels};
use super::hybrid::{HybridEncoder, width_below};
use super::split::write_split;
use crate::optional::{OptionalBytes, OptionalColumn};

/// A page of texts or bytes ends when it has so many.
const PAGE_BYTES: usize = 1 << 20;
/// Longer dictionaries are not worth it.
const DICTIONARY_BYTES_MAX: usize = 1 << 20;

impl<'a> GroupWriter<'a> {
    pub(super) fn values(&mut self, column: &'static FileColumn) -> ChunkEntry {
        let samples = &self.samples.value;
        if samples.values().is_empty() {
            return self.nulls(column).with_bounds(None, self.range.len());
        }
        let (mut found, mut body) = (Vec::new(), Vec::new());
        let (mut least, mut most, mut nulls) = (f64::INFINITY, f64::NEG_INFINITY, 0);
        let pages = self.pages().map(|page| {
            let positions = &self.rows.positions[page];
            body.clear();
            write_levels(&mut body, present(samples, positions, &mut found));
            nulls += positions.len() - found.len();
            // What is not a number is neither below nor above.
            for value in &found {
                least = if *value < least { *value } else { least };
                most = if *value > most { *value } else { most };
            }
            let bits: Vec<u64> = found.iter().map(|value| value.to_bits()).collect();
            write_split(&mut body, &bits);
            self.sink.pack(&body, positions.len())
        });
        let pages: Vec<_> = pages.collect();
        // Zero has two signs; the bounds have room for both.
        let least = if least == 0.0 { -0.0 } else { least };
        let most = if most == 0.0 { 0.0 } else { most };
        let bounds =
            (least <= most).then(|| (least.to_le_bytes().to_vec(), most.to_le_bytes().to_vec()));
        self.sink.write(column, None, Encoding::Split, &pages).with_bounds(bounds, nulls)
    }

    pub(super) fn integers(&mut self, column: &'static FileColumn) -> ChunkEntry {
        let samples = &self.samples.integer;
        if samples.values().is_empty() {
            return self.nulls(column).with_bounds(None, self.range.len());
        }
        let (mut found, mut body) = (Vec::new(), Vec::new());
        let (mut bounds, mut nulls): (Option<(i128, i128)>, usize) = (None, 0);
        let pages = self.pages().map(|page| {
            let positions = &self.rows.positions[page];
            body.clear();
            write_levels(&mut body, present(samples, positions, &mut found));
            nulls += positions.len() - found.len();
            for value in &found {
                let (least, most) = bounds.unwrap_or((*value, *value));
                bounds = Some((least.min(*value), most.max(*value)));
                body.extend_from_slice(&fixed(*value));
            }
            self.sink.pack(&body, positions.len())
        });
        let pages: Vec<_> = pages.collect();
        let bounds = bounds.map(|(least, most)| (fixed(least).to_vec(), fixed(most).to_vec()));
        self.sink.write(column, None, Encoding::Plain, &pages).with_bounds(bounds, nulls)
    }

    pub(super) fn texts(&mut self, column: &'static FileColumn) -> ChunkEntry {
        let samples = &self.samples.text;
        if !samples.has_values() {
            return self.nulls(column).with_bounds(None, self.range.len());
        }
        let Some(texts) = TextPlaces::of(samples, &self.rows.positions[self.range.clone()]) else {
            let (least, most, nulls) = self.text_bounds();
            let bounds = least.zip(most).map(|(least, most)| (least.to_vec(), most.to_vec()));
            return self.plain_items(column, samples).with_bounds(bounds, nulls);
        };
        if texts.texts.is_empty() {
            return self.nulls(column).with_bounds(None, self.range.len());
        }
        let bounds = texts.texts.iter().min().zip(texts.texts.iter().max());
        let bounds = bounds.map(|(least, most)| (least.to_vec(), most.to_vec()));
        let nulls = texts.places.iter().filter(|place| place.is_none()).count();
        let mut dictionary = Vec::new();
        texts.texts.iter().for_each(|text| plain_bytes(&mut dictionary, text));
        let width = width_below(texts.texts.len());
        let pages = texts.places.chunks(self.layout.page_rows).map(|page| {
            let (mut levels, mut places) = (HybridEncoder::new(1), HybridEncoder::new(width));
            for place in page {
                levels.push(place.is_some().into(), 1);
                if let Some(place) = place {
                    places.push(*place, 1);
                }
            }
            let mut body = Vec::new();
            write_levels(&mut body, levels);
            body.extend_from_slice(&dictionary_body(width, places));
            self.sink.pack(&body, page.len())
        });
        let pages: Vec<_> = pages.collect();
        let dictionary = Some((&dictionary[..], texts.texts.len()));
        self.sink.write(column, dictionary, Encoding::Dictionary, &pages).with_bounds(bounds, nulls)
    }

    /// The footer says nothing of bytes.
    pub(super) fn bytes(&mut self, column: &'static FileColumn) -> ChunkEntry {
        let samples = &self.samples.bytes;
        if samples.has_values() { self.plain_items(column, samples) } else { self.nulls(column) }
    }

    /// A column without any value.
    pub(super) fn nulls(&mut self, column: &'static FileColumn) -> ChunkEntry {
        let pages = self.pages().map(|page| {
            let mut levels = HybridEncoder::new(1);
            levels.push(0, page.len());
            let mut body = Vec::new();
            write_levels(&mut body, levels);
            self.sink.pack(&body, page.len())
        });
        let pages: Vec<_> = pages.collect();
        self.sink.write(column, None, Encoding::Plain, &pages)
    }

    fn plain_items(&mut self, column: &'static FileColumn, items: &OptionalBytes) -> ChunkEntry {
        let (mut pages, mut body) = (Vec::new(), Vec::new());
        let mut left = &self.rows.positions[self.range.clone()];
        while !left.is_empty() {
            let (mut levels, mut values, mut rows) = (HybridEncoder::new(1), Vec::new(), 0);
            while rows < left.len().min(self.layout.page_rows) && values.len() < PAGE_BYTES {
                let item = items.get(left[rows] as usize);
                levels.push(item.is_some().into(), 1);
                if let Some(item) = item {
                    plain_bytes(&mut values, item);
                }
                rows += 1;
            }
            body.clear();
            write_levels(&mut body, levels);
            body.extend_from_slice(&values);
            pages.push(self.sink.pack(&body, rows));
            left = &left[rows..];
        }
        self.sink.write(column, None, Encoding::Plain, &pages)
    }

    /// The first and the last text, and how many rows have none.
    fn text_bounds(&self) -> (Option<&'a [u8]>, Option<&'a [u8]>, usize) {
        let (samples, positions) = (&self.samples.text, &self.rows.positions[self.range.clone()]);
        let texts = || positions.iter().filter_map(|at| samples.get(*at as usize));
        (texts().min(), texts().max(), positions.len() - texts().count())
    }
}

/// Texts that repeat.
struct TextPlaces<'a> {
    texts: Vec<&'a [u8]>,
    /// For each row the place of its text, if it has one.
    places: Vec<Option<u32>>,
}

impl<'a> TextPlaces<'a> {
    /// None if they are not worth a dictionary.
    fn of(samples: &'a OptionalBytes, positions: &[u32]) -> Option<Self> {
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        let mut found = Self { texts: Vec::new(), places: Vec::with_capacity(positions.len()) };
        let (mut bytes, mut last) = (0, (&[][..], None));
        for at in positions {
            let Some(text) = samples.get(*at as usize) else {
                found.places.push(None);
                continue;
            };
            if last.1.is_none() || last.0 != text {
                let place = *known.entry(text).or_insert_with(|| {
                    bytes += text.len();
                    found.texts.push(text);
                    found.texts.len() as u32 - 1
                });
                if bytes > DICTIONARY_BYTES_MAX {
                    return None;
                }
                last = (text, Some(place));
            }
            found.places.push(last.1);
        }
        Some(found)
    }
}

/// Finds the values of the rows that have one; returns which have.
fn present<T: Copy + Default>(
    column: &OptionalColumn<T>,
    positions: &[u32],
    found: &mut Vec<T>,
) -> HybridEncoder {
    let mut levels = HybridEncoder::new(1);
    found.clear();
    if column.has_gaps() {
        for at in positions {
            let value = column.get(*at as usize);
            levels.push(value.is_some().into(), 1);
            found.extend(value);
        }
    } else {
        let values = column.values();
        levels.push(1, positions.len());
        found.extend(positions.iter().map(|at| values[*at as usize]));
    }
    levels
}

/// As decimals are stored: the highest byte first.
fn fixed(value: i128) -> [u8; INTEGER_BYTES] {
    let bytes = value.to_be_bytes();
    bytes[size_of::<i128>() - INTEGER_BYTES..].try_into().expect("so many are left")
}
