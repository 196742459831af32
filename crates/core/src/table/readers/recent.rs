//! The recent samples of parameters whose readers get every sample, in the order they arrived.
//!
//! Their number and bytes are limited. A reader that has not received a sample before it is dropped here gets
//! newest values instead.

use std::collections::VecDeque;

use slipring_wire::frame::{OwnedValue, Quality, Sample};

use crate::SessionKey;

/// The most samples that are kept.
const SAMPLES_MAX: usize = 16_384;
/// The most bytes of their texts.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// A sample, its publisher and its change of the table.
#[derive(Debug)]
pub(super) struct RecentSample {
    pub index: u32,
    pub time_ns: i64,
    pub quality: Quality,
    pub value: OwnedValue,
    /// The change of the table that brought it; samples of one run have the same.
    pub change: u64,
    /// The session that published it.
    pub publisher: SessionKey,
}

impl RecentSample {
    pub fn sample(&self) -> Sample<'_> {
        let Self { index, time_ns, quality, .. } = *self;
        Sample { index, time_ns, quality, value: self.value.view() }
    }

    fn text_bytes(&self) -> usize {
        match &self.value {
            OwnedValue::Text(text) => text.len(),
            OwnedValue::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

/// The samples, with ascending numbers.
#[derive(Debug, Default)]
pub(super) struct RecentSamples {
    samples: VecDeque<RecentSample>,
    /// The number of the oldest sample that is kept.
    first: u64,
    text_bytes: usize,
}

impl RecentSamples {
    /// The most samples that are kept for one reader, so that there is room for the samples of others.
    pub const OWED_MAX: usize = SAMPLES_MAX / 2;

    pub fn push(&mut self, sample: RecentSample) {
        self.text_bytes += sample.text_bytes();
        self.samples.push_back(sample);
        while self.samples.len() > SAMPLES_MAX || self.text_bytes > TEXT_BYTES_MAX {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.samples.pop_front() {
            self.first += 1;
            self.text_bytes -= oldest.text_bytes();
        }
    }

    /// The number that the next sample gets.
    pub fn end(&self) -> u64 {
        self.first + self.samples.len() as u64
    }

    /// Whether the sample of this number has been dropped.
    pub fn has_dropped(&self, number: u64) -> bool {
        number < self.first
    }

    /// Drops all samples, with their memory.
    pub fn clear(&mut self) {
        self.first = self.end();
        self.samples = VecDeque::new();
        self.text_bytes = 0;
    }

    /// The samples from a number on.
    pub fn from(&self, number: u64) -> impl Iterator<Item = &RecentSample> {
        let skipped = number.saturating_sub(self.first) as usize;
        self.samples.range(skipped.min(self.samples.len())..)
    }

    pub fn get(&self, number: u64) -> Option<&RecentSample> {
        self.samples.get(number.checked_sub(self.first)? as usize)
    }
}
