//! Fills columns with a whole run at once: each column in a loop of its own, without a branch per sample.

use std::iter::repeat_n;

use slipring_wire::frame::{Kind, Layout, Qualities, RunView, Sample, ValueView};

use crate::columns::{SampleColumns, WantedColumns};
use crate::parameters::KnownParameters;

/// The message that samples came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub offset: i64,
    pub receive_ns: i64,
}

/// A message with samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub arrived: Arrived,
    /// The row behind its last sample.
    pub end: usize,
}

impl SampleColumns {
    /// Appends all samples of a run.
    pub(crate) fn push_run(
        &mut self,
        run: &RunView<'_>,
        arrived: Arrived,
        wanted: WantedColumns,
        parameters: &KnownParameters,
    ) {
        let begin = self.len();
        self.push_indices(run);
        self.push_times(run);
        self.push_arrived(run.samples(), arrived, wanted);
        if wanted.quality {
            match run.qualities() {
                Qualities::All(quality) => {
                    self.quality.extend(repeat_n(i16::from(quality.0), run.samples()));
                }
                Qualities::Each(bytes) => {
                    self.quality.extend(bytes.iter().map(|byte| i16::from(*byte)));
                }
            }
        }
        if wanted.value {
            self.push_numbers(run);
        }
        if wanted.integer {
            match run.kind {
                Kind::I64 => {
                    self.integer.extend(numbers(run, |bytes| i64::from_le_bytes(bytes).into()));
                }
                Kind::U64 => {
                    self.integer.extend(numbers(run, |bytes| u64::from_le_bytes(bytes).into()));
                }
                _ => self.integer.skip(run.samples()),
            }
        }
        if wanted.text {
            self.push_texts(run, begin, parameters);
        }
        if wanted.bytes {
            match run.kind {
                Kind::Bytes => run.items().for_each(|item| self.bytes.push(Some(item))),
                _ => self.bytes.skip(run.samples()),
            }
        }
    }

    /// Appends one sample.
    pub(crate) fn push(
        &mut self,
        sample: &Sample<'_>,
        arrived: Arrived,
        wanted: WantedColumns,
        parameters: &KnownParameters,
    ) {
        self.index.push(sample.index as i32);
        self.source_ns.push(sample.time_ns);
        self.push_arrived(1, arrived, wanted);
        if wanted.quality {
            self.quality.push(i16::from(sample.quality.0));
        }
        if wanted.value {
            self.value.push(sample.value.as_f64());
        }
        if wanted.integer {
            self.integer.push(match sample.value {
                ValueView::I64(value) => Some(value.into()),
                ValueView::U64(value) => Some(value.into()),
                _ => None,
            });
        }
        if wanted.text {
            let text = match sample.value {
                ValueView::Text(text) => Some(text),
                ValueView::U8(number) => parameters.label(sample.index, number.into()),
                ValueView::U16(number) => parameters.label(sample.index, number.into()),
                ValueView::U32(number) => parameters.label(sample.index, number),
                _ => None,
            };
            self.text.push(text.map(str::as_bytes));
        }
        if wanted.bytes {
            let ValueView::Bytes(bytes) = sample.value else { return self.bytes.push(None) };
            self.bytes.push(Some(bytes));
        }
    }

    fn push_arrived(&mut self, count: usize, arrived: Arrived, wanted: WantedColumns) {
        if wanted.receive {
            self.receive_ns.extend(repeat_n(arrived.receive_ns, count));
        }
        if wanted.offset {
            self.offset.extend(repeat_n(arrived.offset, count));
        }
    }

    fn push_indices(&mut self, run: &RunView<'_>) {
        if run.layout == Layout::Ragged {
            for (index, count) in run.indices().zip(run.counts()) {
                self.index.extend(repeat_n(index as i32, count as usize));
            }
            return;
        }
        let begin = self.index.len();
        for range in run.ranges() {
            self.index.extend(range.start as i32..range.end as i32);
        }
        let row = begin..self.index.len();
        for _ in 1..run.rows().unwrap_or(1) {
            self.index.extend_from_within(row.clone());
        }
    }

    fn push_times(&mut self, run: &RunView<'_>) {
        match run.layout {
            Layout::Ragged => self.source_ns.extend(run.times()),
            Layout::One | Layout::Grid => {
                run.times().for_each(|time| self.source_ns.extend(repeat_n(time, run.parameters)));
            }
        }
    }

    fn push_numbers(&mut self, run: &RunView<'_>) {
        let value = &mut self.value;
        match run.kind {
            Kind::Bool => {
                // Each row of a grid begins with a new byte.
                let rows = run.rows().unwrap_or(1);
                let (count, bytes) = (run.samples() / rows, run.values());
                for row in bytes.chunks_exact(count.div_ceil(8)) {
                    value.extend((0..count).map(|at| f64::from(row[at / 8] >> (at % 8) & 1)));
                }
            }
            Kind::U8 => value.extend(numbers(run, |bytes| u8::from_le_bytes(bytes).into())),
            Kind::U16 => value.extend(numbers(run, |bytes| u16::from_le_bytes(bytes).into())),
            Kind::U32 => value.extend(numbers(run, |bytes| u32::from_le_bytes(bytes).into())),
            Kind::U64 => value.extend(numbers(run, |bytes| u64::from_le_bytes(bytes) as f64)),
            Kind::I8 => value.extend(numbers(run, |bytes| i8::from_le_bytes(bytes).into())),
            Kind::I16 => value.extend(numbers(run, |bytes| i16::from_le_bytes(bytes).into())),
            Kind::I32 => value.extend(numbers(run, |bytes| i32::from_le_bytes(bytes).into())),
            Kind::I64 => value.extend(numbers(run, |bytes| i64::from_le_bytes(bytes) as f64)),
            Kind::F32 => value.extend(numbers(run, |bytes| f32::from_le_bytes(bytes).into())),
            Kind::F64 => value.extend(numbers(run, f64::from_le_bytes)),
            Kind::Text | Kind::Bytes => value.skip(run.samples()),
        }
    }

    /// Texts, and the labels of enumerations; `begin` is the row of the run's first sample.
    fn push_texts(&mut self, run: &RunView<'_>, begin: usize, parameters: &KnownParameters) {
        let has_labels = || run.indices().any(|index| parameters.has_labels(index));
        match run.kind {
            Kind::Text => run.items().for_each(|item| self.text.push(Some(item))),
            Kind::U8 if has_labels() => {
                self.push_labels(
                    begin,
                    parameters,
                    numbers(run, |bytes| u8::from_le_bytes(bytes).into()),
                );
            }
            Kind::U16 if has_labels() => {
                self.push_labels(
                    begin,
                    parameters,
                    numbers(run, |bytes| u16::from_le_bytes(bytes).into()),
                );
            }
            Kind::U32 if has_labels() => {
                self.push_labels(begin, parameters, numbers(run, u32::from_le_bytes));
            }
            _ => self.text.skip(run.samples()),
        }
    }

    fn push_labels(
        &mut self,
        begin: usize,
        parameters: &KnownParameters,
        numbers: impl Iterator<Item = u32>,
    ) {
        for (index, number) in self.index[begin..].iter().zip(numbers) {
            let label = parameters.label(*index as u32, number);
            self.text.push(label.map(str::as_bytes));
        }
    }
}

/// The values of a run with a fixed width.
fn numbers<'a, const WIDTH: usize, T, R: Fn([u8; WIDTH]) -> T>(
    run: &RunView<'a>,
    read: R,
) -> impl ExactSizeIterator<Item = T> + use<'a, WIDTH, T, R> {
    run.values().chunks_exact(WIDTH).map(move |bytes| read(bytes.try_into().expect("exact chunks")))
}
