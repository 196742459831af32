//! What a subscriber chooses, and what it gets first.

use std::sync::Arc;

use slipring_wire::frame::RangeSet;

use crate::table::Needs;

/// What a subscriber chose and how it wants it.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The filter of the subscription.
    pub filter: Arc<str>,
    /// The parameters that it matches now.
    pub chosen: RangeSet,
    /// The identifier of the subscription; 0 where it has none.
    pub identifier: u32,
    /// What it needs.
    pub needs: Needs,
    /// The largest packet that the subscriber takes.
    pub packet_bytes_max: usize,
}

/// The values that a new subscriber gets first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct First {
    /// Encoded packets, one after the other.
    pub packets: Vec<u8>,
    /// How many.
    pub messages: u32,
    /// Whether that is all; the rest is sent in portions, see [`Groups::mend`].
    pub is_whole: bool,
}
