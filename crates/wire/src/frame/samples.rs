//! Arranges any samples of one kind into few and small runs.
//!
//! An example: parameters 0 to 9 have a sample each at time 100, and parameter 20 has samples at 90, 95 and 80.
//! The sample at 80 goes back in time, so it gets a run of its own. The others are one ragged run, because
//! not every parameter has the same times. Without parameter 20 the first ten would be one run of the layout
//! *one*.

use super::bits::BitSink;
use super::run::{Layout, Qualities};
use super::write::{RunHead, RunWriter};
use super::{Kind, PushError, Sample, ValueView, varint};

/// From this many samples on, those of one time get a run of their own: its header costs as much as their
/// counts and times in a ragged run.
const RUN_OF_ITS_OWN: usize = 8;

/// Receives the samples of one run, in order, and its layout.
type Take<'t> = dyn FnMut(&[Sample<'_>], Layout) -> Result<(), PushError> + 't;

/// Whether all samples are of this kind and have a valid index.
pub(super) fn check(kind: Kind, samples: &[Sample<'_>]) -> Result<(), PushError> {
    if samples.iter().any(|sample| sample.index == u32::MAX) {
        return Err(PushError::Ranges);
    }
    match samples.iter().map(|sample| sample.value.kind()).find(|found| *found != kind) {
        Some(found) => Err(PushError::Kind { found, kind }),
        None => Ok(()),
    }
}

/// Sorts samples, and gives `take` those of each run.
pub(super) fn arrange(samples: &mut [Sample<'_>], take: &mut Take<'_>) -> Result<(), PushError> {
    if !samples.is_sorted_by_key(|sample| sample.index) {
        samples.sort_by_key(|sample| sample.index);
    }
    if samples.windows(2).any(|pair| is_step_back(&pair[0], &pair[1])) {
        arrange_layers(samples, take)
    } else {
        arrange_forward(samples, take)
    }
}

/// Arranges sorted samples of parameters that do not go back in time.
fn arrange_forward(samples: &mut [Sample<'_>], take: &mut Take<'_>) -> Result<(), PushError> {
    if samples.is_empty() {
        Ok(())
    } else if samples.is_sorted_by(|one, next| one.index < next.index) {
        arrange_singles(samples, take)
    } else if is_grid(samples) {
        take(samples, Layout::Grid)
    } else {
        take(samples, Layout::Ragged)
    }
}

fn have_one_time(samples: &[Sample<'_>]) -> bool {
    samples.iter().all(|sample| sample.time_ns == samples[0].time_ns)
}

/// Arranges samples in which each parameter occurs once. Many samples of the same time get a run of their
/// own; the others share a ragged one.
fn arrange_singles(samples: &mut [Sample<'_>], take: &mut Take<'_>) -> Result<(), PushError> {
    if have_one_time(samples) {
        return take(samples, Layout::One);
    }
    samples.sort_unstable_by_key(|sample| (sample.time_ns, sample.index));
    let (mut start, mut few) = (0, 0);
    while start < samples.len() {
        let time_ns = samples[start].time_ns;
        let same = samples[start..].partition_point(|sample| sample.time_ns == time_ns);
        if same >= RUN_OF_ITS_OWN {
            take(&samples[start..start + same], Layout::One)?;
        } else {
            samples.copy_within(start..start + same, few);
            few += same;
        }
        start += same;
    }
    let few = &mut samples[..few];
    few.sort_unstable_by_key(|sample| sample.index);
    match few {
        [] => Ok(()),
        few if have_one_time(few) => take(few, Layout::One),
        few => take(few, Layout::Ragged),
    }
}

/// Whether `next` is an older sample of the same parameter.
fn is_step_back(one: &Sample<'_>, next: &Sample<'_>) -> bool {
    one.index == next.index && next.time_ns < one.time_ns
}

/// The times of a parameter must not go back within a run, so samples behind a step back go into a later run.
fn arrange_layers(samples: &[Sample<'_>], take: &mut Take<'_>) -> Result<(), PushError> {
    let mut layered: Vec<(usize, Sample<'_>)> = Vec::with_capacity(samples.len());
    for sample in samples {
        let layer = match layered.last() {
            Some((layer, last)) if last.index == sample.index => {
                layer + usize::from(is_step_back(last, sample))
            }
            _ => 0,
        };
        layered.push((layer, *sample));
    }
    layered.sort_by_key(|(layer, _)| *layer);
    let mut together = Vec::new();
    for layer in layered.chunk_by(|one, next| one.0 == next.0) {
        together.clear();
        together.extend(layer.iter().map(|(_, sample)| *sample));
        arrange_forward(&mut together, take)?;
    }
    Ok(())
}

/// Whether every parameter has the same times.
fn is_grid(samples: &[Sample<'_>]) -> bool {
    let rows = samples.partition_point(|sample| sample.index == samples[0].index);
    let times = |parameter: &[Sample<'_>]| {
        let same = parameter.iter().zip(samples).all(|(one, first)| one.time_ns == first.time_ns);
        same && parameter.iter().all(|sample| sample.index == parameter[0].index)
    };
    let parameters = || samples.chunks(rows);
    let differ = || parameters().is_sorted_by(|one, next| one[0].index < next[0].index);
    samples.len() % rows == 0 && parameters().all(times) && differ()
}

/// Appends a run. The samples are sorted by index and fit the layout.
pub(super) fn write(
    kind: Kind,
    samples: &[Sample<'_>],
    layout: Layout,
    out: &mut Vec<u8>,
) -> Result<(), PushError> {
    let rows = match layout {
        Layout::Grid => samples.partition_point(|sample| sample.index == samples[0].index),
        Layout::One | Layout::Ragged => 1,
    };
    let same = samples.iter().all(|sample| sample.quality == samples[0].quality);
    let qualities = if same { Qualities::All(samples[0].quality) } else { Qualities::Each(&[]) };
    let time_ns = samples[0].time_ns;
    let parameters = || samples.chunk_by(|one, next| one.index == next.index);
    let ranges = parameters().map(|parameter| parameter[0].index..parameter[0].index + 1);
    let mut writer = RunWriter::begin(out, &RunHead { kind, layout, time_ns, qualities }, ranges);
    match layout {
        Layout::One => {}
        Layout::Grid => {
            varint::put(writer.out, rows as u64);
            writer.times(time_ns, samples[..rows].iter().map(|sample| sample.time_ns));
        }
        Layout::Ragged => {
            parameters().for_each(|parameter| varint::put(writer.out, parameter.len() as u64));
            writer.times(time_ns, samples.iter().map(|sample| sample.time_ns));
        }
    }
    let in_order = || in_order(samples, rows);
    if !same {
        writer.out.extend(in_order().map(|sample| sample.quality.0));
    }
    writer.qualities(qualities, std::iter::empty());
    write_values(kind, samples.len() / rows, in_order(), writer.out);
    writer.end()
}

/// The samples in the order of a run. They are sorted by parameter, while a grid is stored row by row.
fn in_order<'s, 'a>(
    samples: &'s [Sample<'a>],
    rows: usize,
) -> impl Iterator<Item = &'s Sample<'a>> + Clone {
    (0..rows).flat_map(move |row| samples[row..].iter().step_by(rows))
}

fn write_values<'s, 'a: 's>(
    kind: Kind,
    row: usize,
    samples: impl Iterator<Item = &'s Sample<'a>> + Clone,
    out: &mut Vec<u8>,
) {
    match kind {
        Kind::Bool => write_bits(row, samples, out),
        Kind::Text | Kind::Bytes => {
            samples.clone().for_each(|sample| varint::put(out, item(&sample.value).len() as u64));
            samples.for_each(|sample| out.extend_from_slice(item(&sample.value)));
        }
        _ => samples.for_each(|sample| sample.value.put_number(out)),
    }
}

fn write_bits<'s, 'a: 's>(
    row: usize,
    samples: impl Iterator<Item = &'s Sample<'a>>,
    out: &mut Vec<u8>,
) {
    let mut sink = BitSink::new(out);
    for (position, sample) in samples.enumerate() {
        if position % row == 0 {
            sink.end_byte();
        }
        sink.push(sample.value == ValueView::Bool(true));
    }
    sink.end_byte();
}

fn item<'a>(value: &ValueView<'a>) -> &'a [u8] {
    match value {
        ValueView::Text(text) => text.as_bytes(),
        ValueView::Bytes(bytes) => bytes,
        _ => &[],
    }
}
