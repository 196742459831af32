//! Which kinds of properties a packet has, so that nobody searches for others.

use crate::PropertyId;

/// The kinds of properties that a packet has: a bit for each identifier.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PropertyKinds(u64);

impl PropertyKinds {
    /// Of no properties.
    pub(crate) const NONE: Self = Self(0);

    #[inline]
    pub(crate) fn add(&mut self, id: u8) {
        self.0 |= 1 << (id & 63);
    }

    #[inline]
    pub(crate) fn has(self, id: PropertyId) -> bool {
        self.0 & (1 << (id as u8)) != 0
    }
}
