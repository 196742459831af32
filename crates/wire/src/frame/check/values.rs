//! Reads the values of a run.

use super::{FaultAt, RunReader};
use crate::frame::run::RunValues;
use crate::frame::varint::{self, Unreadable, Varints};
use crate::frame::{Fault, Kind, bits};

/// Reads `rows` rows of `row` values each.
pub(super) fn read<'a>(
    reader: &mut RunReader<'a>,
    kind: Kind,
    rows: usize,
    row: usize,
) -> Result<RunValues<'a>, FaultAt> {
    let (start, rest) = (reader.at, &reader.run[reader.at..]);
    let values = take_values(kind, rows, row, rest).map_err(|(fault, at)| match fault {
        Fault::Cut => (Fault::RunBytes(reader.run.len() as u32), start + at),
        other => (other, start + at),
    })?;
    reader.at += values.bytes.len();
    Ok(values)
}

/// The values at the start of `bytes`: `rows` rows of `row` values each.
pub(in crate::frame) fn take_values(
    kind: Kind,
    rows: usize,
    row: usize,
    bytes: &[u8],
) -> Result<RunValues<'_>, FaultAt> {
    let row_bytes = match kind {
        Kind::Text | Kind::Bytes => return take_items(kind, rows * row, bytes),
        _ => kind.width().map_or(row.div_ceil(8), |width| row.saturating_mul(width)),
    };
    let taken = row_bytes.checked_mul(rows).and_then(|length| bytes.get(..length));
    let taken = taken.ok_or((Fault::Cut, bytes.len()))?;
    if kind == Kind::Bool && !taken.chunks(row_bytes).all(|bits| bits::spare_are_zero(bits, row)) {
        return Err((Fault::NotZero, 0));
    }
    Ok(RunValues { bytes: taken, lengths: &[], data: &[] })
}

fn take_items(kind: Kind, items: usize, bytes: &[u8]) -> Result<RunValues<'_>, FaultAt> {
    let mut at = 0;
    let mut length = 0usize;
    for _ in 0..items {
        let (number, width) =
            varint::read(&bytes[at..]).map_err(|unreadable| match unreadable {
                Unreadable::Cut => (Fault::Cut, bytes.len()),
                Unreadable::Wrong => (Fault::Varint, at),
            })?;
        length = length.saturating_add(usize::try_from(number).unwrap_or(usize::MAX));
        at += width;
    }
    let (lengths, rest) = bytes.split_at(at);
    let data = rest.get(..length).ok_or((Fault::Cut, bytes.len()))?;
    if kind == Kind::Text && !are_texts(lengths, data) {
        return Err((Fault::Utf8, at));
    }
    Ok(RunValues { bytes: &bytes[..at + length], lengths, data })
}

/// Whether the content is UTF-8, and no item ends inside a character.
fn are_texts(lengths: &[u8], data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let mut end = 0;
    Varints::new(lengths).all(|length| {
        end += length as usize;
        text.is_char_boundary(end)
    })
}
