//! Bytes that nobody has checked become a run, or a fault. Work and memory are bounded by the bytes
//! that are there, never by what they claim.

use super::bits;
use super::run::{Layout, Qualities, RunTimes, RunView, Values};
use super::varint::{self, Times, Unreadable, Varints};
use super::{Fault, Kind, Quality};

/// Bytes of a run before its ranges.
pub(super) const RUN_HEAD: usize = 24;
/// Bytes of the smallest run.
pub(super) const RUN_BYTES_MIN: usize = 40;

/// What is wrong, and how many bytes from where the reader began.
pub(super) type Broken = (Fault, usize);

/// Reads the parts of one run.
struct Reader<'a> {
    run: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn fault(&self, fault: Fault) -> Broken {
        (fault, self.at)
    }

    /// The run is there as a whole, so its parts are longer than it says.
    fn short(&self) -> Broken {
        self.fault(Fault::RunBytes(self.run.len() as u32))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Broken> {
        let taken = self.run[self.at..].get(..length).ok_or_else(|| self.short())?;
        self.at += length;
        Ok(taken)
    }

    fn varint(&mut self, max: u64) -> Result<u64, Broken> {
        match varint::read(&self.run[self.at..]) {
            Ok((value, length)) if value <= max => {
                self.at += length;
                Ok(value)
            }
            Err(Unreadable::Cut) => Err(self.short()),
            Ok(_) | Err(Unreadable::Wrong) => Err(self.fault(Fault::Varint)),
        }
    }

    /// Numbers one after the other, each shown; the bytes they have together.
    fn varints(
        &mut self,
        count: usize,
        max: u64,
        mut see: impl FnMut(u64) -> Result<(), Fault>,
    ) -> Result<&'a [u8], Broken> {
        let start = self.at;
        for _ in 0..count {
            let place = self.at;
            let number = self.varint(max)?;
            see(number).map_err(|fault| (fault, place))?;
        }
        Ok(&self.run[start..self.at])
    }

    fn pad(&mut self) -> Result<(), Broken> {
        let padding = self.take(self.at.next_multiple_of(8) - self.at)?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err((Fault::NotZero, self.at - padding.len()));
        }
        Ok(())
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default())
}

pub(super) fn i64_at(bytes: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

/// The run at the start of `body`. Places of faults count from there.
pub(super) fn read_run(body: &[u8], samples_max: usize) -> Result<RunView<'_>, Broken> {
    let head = body.get(..RUN_HEAD).ok_or((Fault::Cut, body.len()))?;
    let kind = Kind::from_code(head[0]).ok_or((Fault::Kind(head[0]), 0))?;
    let layout = Layout::from_code(head[1]).ok_or((Fault::Layout(head[1]), 1))?;
    if head[3] != 0 {
        return Err((Fault::NotZero, 3));
    }
    let length = u32_at(head, 4);
    if length % 8 != 0 || (length as usize) < RUN_BYTES_MIN {
        return Err((Fault::RunBytes(length), 4));
    }
    let run = body.get(..length as usize).ok_or((Fault::Cut, body.len()))?;
    let time_ns = i64_at(head, 16);
    let mut reader = Reader { run, at: RUN_HEAD };
    let (parameters, ranges) = read_ranges(&mut reader, u32_at(head, 8), u32_at(head, 12))?;
    let (samples, times) = read_times(&mut reader, layout, time_ns, parameters, samples_max)?;
    let qualities = read_qualities(&mut reader, head[2], samples)?;
    reader.pad()?;
    let rows = times.rows.max(1);
    let values = read_values(&mut reader, kind, rows, samples / rows)?;
    reader.pad()?;
    if reader.at != run.len() {
        return Err(reader.short());
    }
    Ok(RunView {
        kind,
        layout,
        time_ns,
        parameters,
        bytes: run,
        ranges,
        times,
        samples,
        qualities,
        values,
    })
}

/// Ascending ranges that neither overlap nor touch, and have as many indices as the run says.
fn read_ranges<'a>(
    reader: &mut Reader<'a>,
    parameters: u32,
    ranges: u32,
) -> Result<(usize, &'a [u8]), Broken> {
    if parameters == 0 || ranges == 0 {
        return Err((Fault::Empty, 8));
    }
    let (mut end, mut found, mut is_gap, mut is_first) = (0u32, 0u32, true, true);
    let numbers = (ranges as usize).saturating_mul(2);
    let bytes = reader.varints(numbers, u32::MAX.into(), |number| {
        let number = number as u32;
        let next = if is_gap {
            let touches = number == 0 && !is_first;
            end.checked_add(number).filter(|_| !touches)
        } else {
            found =
                number.checked_add(1).and_then(|n| found.checked_add(n)).ok_or(Fault::Ranges)?;
            number.checked_add(1).and_then(|length| end.checked_add(length))
        };
        end = next.filter(|_| found <= parameters).ok_or(Fault::Ranges)?;
        (is_gap, is_first) = (!is_gap, false);
        Ok(())
    })?;
    if found != parameters {
        return Err((Fault::Ranges, 8));
    }
    Ok((parameters as usize, bytes))
}

fn read_times<'a>(
    reader: &mut Reader<'a>,
    layout: Layout,
    time_ns: i64,
    parameters: usize,
    samples_max: usize,
) -> Result<(usize, RunTimes<'a>), Broken> {
    let one =
        RunTimes { rows: 1, counts: &[], deltas: &[], oldest_ns: time_ns, newest_ns: time_ns };
    let start = reader.at;
    let (samples, times) = match layout {
        Layout::One => (Some(parameters), one),
        Layout::Grid => read_rows(reader, one, parameters)?,
        Layout::Ragged => read_counts(reader, one, parameters)?,
    };
    let samples = samples.filter(|samples| *samples <= samples_max);
    let samples = samples.ok_or((Fault::Samples, start))?;
    match layout {
        Layout::One => Ok((samples, times)),
        Layout::Grid => Ok((samples, read_grid_times(reader, times, time_ns)?)),
        Layout::Ragged => Ok((samples, read_ragged_times(reader, times, time_ns, samples)?)),
    }
}

type Counted<'a> = (Option<usize>, RunTimes<'a>);

fn read_rows<'a>(
    reader: &mut Reader<'a>,
    times: RunTimes<'a>,
    parameters: usize,
) -> Result<Counted<'a>, Broken> {
    let start = reader.at;
    let rows = reader.varint(u32::MAX.into())? as usize;
    if rows == 0 {
        return Err((Fault::Empty, start));
    }
    Ok((rows.checked_mul(parameters), RunTimes { rows, ..times }))
}

fn read_counts<'a>(
    reader: &mut Reader<'a>,
    times: RunTimes<'a>,
    parameters: usize,
) -> Result<Counted<'a>, Broken> {
    let mut samples = Some(0usize);
    let counts = reader.varints(parameters, u32::MAX.into(), |count| {
        samples = samples.and_then(|sum| sum.checked_add(count as usize));
        if count == 0 { Err(Fault::Empty) } else { Ok(()) }
    })?;
    Ok((samples, RunTimes { rows: 0, counts, ..times }))
}

fn read_grid_times<'a>(
    reader: &mut Reader<'a>,
    times: RunTimes<'a>,
    base_ns: i64,
) -> Result<RunTimes<'a>, Broken> {
    let start = reader.at;
    let deltas = reader.varints(times.rows, u64::MAX, |_| Ok(()))?;
    let all = Times::new(base_ns, deltas);
    if !all.clone().is_sorted() {
        return Err((Fault::Times, start));
    }
    let oldest_ns = all.clone().next().unwrap_or(base_ns);
    let newest_ns = all.last().unwrap_or(base_ns);
    Ok(RunTimes { deltas, oldest_ns, newest_ns, ..times })
}

fn read_ragged_times<'a>(
    reader: &mut Reader<'a>,
    times: RunTimes<'a>,
    base_ns: i64,
    samples: usize,
) -> Result<RunTimes<'a>, Broken> {
    let start = reader.at;
    let deltas = reader.varints(samples, u64::MAX, |_| Ok(()))?;
    let mut all = Times::new(base_ns, deltas);
    let (mut oldest_ns, mut newest_ns) = (i64::MAX, i64::MIN);
    for count in Varints::new(times.counts) {
        let mut last_ns = i64::MIN;
        for time_ns in all.by_ref().take(count as usize) {
            if time_ns < last_ns {
                return Err((Fault::Times, start));
            }
            last_ns = time_ns;
            oldest_ns = oldest_ns.min(time_ns);
        }
        newest_ns = newest_ns.max(last_ns);
    }
    Ok(RunTimes { deltas, oldest_ns, newest_ns, ..times })
}

fn read_qualities<'a>(
    reader: &mut Reader<'a>,
    form: u8,
    samples: usize,
) -> Result<Qualities<'a>, Broken> {
    match form {
        0 => Ok(Qualities::All(Quality::GOOD)),
        1 => Ok(Qualities::All(Quality(reader.take(1)?[0]))),
        2 => Ok(Qualities::Each(reader.take(samples)?)),
        _ => Err((Fault::Qualities(form), 2)),
    }
}

fn read_values<'a>(
    reader: &mut Reader<'a>,
    kind: Kind,
    rows: usize,
    row: usize,
) -> Result<Values<'a>, Broken> {
    let (start, rest) = (reader.at, &reader.run[reader.at..]);
    let values = take_values(kind, rows, row, rest).map_err(|(fault, at)| match fault {
        Fault::Cut => (Fault::RunBytes(reader.run.len() as u32), start + at),
        other => (other, start + at),
    })?;
    reader.at += values.bytes.len();
    Ok(values)
}

/// The values at the start of `bytes`: so many rows with so many values each.
pub(super) fn take_values(
    kind: Kind,
    rows: usize,
    row: usize,
    bytes: &[u8],
) -> Result<Values<'_>, Broken> {
    let row_bytes = match kind {
        Kind::Text | Kind::Bytes => return take_items(kind, rows * row, bytes),
        _ => kind.width().map_or(row.div_ceil(8), |width| row.saturating_mul(width)),
    };
    let taken = row_bytes.checked_mul(rows).and_then(|length| bytes.get(..length));
    let taken = taken.ok_or((Fault::Cut, bytes.len()))?;
    if kind == Kind::Bool && !taken.chunks(row_bytes).all(|bits| bits::spare_are_zero(bits, row)) {
        return Err((Fault::NotZero, 0));
    }
    Ok(Values { bytes: taken, lengths: &[], data: &[] })
}

fn take_items(kind: Kind, items: usize, bytes: &[u8]) -> Result<Values<'_>, Broken> {
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
    Ok(Values { bytes: &bytes[..at + length], lengths, data })
}

/// Text as a whole, and no item ends inside a character.
fn are_texts(lengths: &[u8], data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let mut end = 0;
    Varints::new(lengths).all(|length| {
        end += length as usize;
        text.is_char_boundary(end)
    })
}
