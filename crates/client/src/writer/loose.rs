//! Samples that came one by one, until they become runs of a frame. Pure.

use slipring_wire::frame::{FrameBuf, Kind, OwnedValue, PushError, Sample, ValueView};

/// Memory of a sample beside its text, near enough for a bound.
const SAMPLE_BYTES: usize = size_of::<Kept>() + 16;

#[derive(Debug)]
struct Kept {
    index: u32,
    time_ns: i64,
    quality: slipring_wire::frame::Quality,
    value: OwnedValue,
}

/// Samples of any kinds, in the order they came.
#[derive(Debug, Default)]
pub(super) struct LooseSamples {
    kept: Vec<Kept>,
    bytes: usize,
}

impl LooseSamples {
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn samples(&self) -> usize {
        self.kept.len()
    }

    pub fn add(&mut self, sample: &Sample<'_>) {
        let Sample { index, time_ns, quality, value } = *sample;
        self.bytes += loose_bytes(&value);
        self.kept.push(Kept { index, time_ns, quality, value: value.to_owned() });
    }

    pub fn clear(&mut self) {
        self.kept.clear();
        self.bytes = 0;
    }

    /// Moves the samples to a frame, as one or more runs for each kind.
    pub fn push_to(&mut self, frame: &mut FrameBuf) -> Result<(), PushError> {
        let mut samples: Vec<_> = self.kept.iter().map(Kept::sample).collect();
        samples.sort_by_key(|sample| sample.value.kind());
        let same = |one: &Sample<'_>, other: &Sample<'_>| one.value.kind() == other.value.kind();
        let pushed = samples.chunk_by_mut(same).try_for_each(|run| {
            let kind: Kind = run[0].value.kind();
            frame.push_samples(kind, run)
        });
        self.clear();
        pushed
    }
}

impl Kept {
    fn sample(&self) -> Sample<'_> {
        let Self { index, time_ns, quality, value } = self;
        Sample { index: *index, time_ns: *time_ns, quality: *quality, value: value.view() }
    }
}

/// Memory of one sample.
pub(super) fn loose_bytes(value: &ValueView<'_>) -> usize {
    SAMPLE_BYTES
        + match value {
            ValueView::Text(text) => text.len(),
            ValueView::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
}
