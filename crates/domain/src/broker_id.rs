//! Which broker it is: the identity of its journal. Two brokers never share one; who copies a data folder makes two that
//! do, and both are refused.

use std::fmt;

/// The identity of a broker's journal. Ties in the domain are decided by its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrokerId(u128);

impl BrokerId {
    /// How many bytes an identity has.
    pub const BYTES: usize = 16;

    /// The identity that these bytes are, the most significant first.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// Its bytes, the most significant first.
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for BrokerId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", self.0)
    }
}
