//! How often a subscriber wants a topic.

use std::num::NonZeroU32;

/// The highest rate at which somebody wants a topic. A higher rate contains a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WantedRate(NonZeroU32);

impl WantedRate {
    /// Every sample, whatever its rate.
    pub const EVERY_SAMPLE: Self = Self(NonZeroU32::MAX);

    /// So many thousandths of a sample in a second. The greatest number means every sample.
    pub const fn from_mhz(rate_mhz: NonZeroU32) -> Self {
        Self(rate_mhz)
    }

    /// The rate in thousandths of a sample in a second; None for every sample.
    pub fn rate_mhz(self) -> Option<NonZeroU32> {
        (self != Self::EVERY_SAMPLE).then_some(self.0)
    }

    pub(crate) fn to_wire(self) -> u32 {
        self.0.get()
    }

    pub(crate) fn from_wire(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }
}
