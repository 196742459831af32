//! A selection as a subscriber asks for it, and the first values it gets in return.

use std::sync::Arc;

use slipring_wire::frame::RangeSet;

use crate::access::ClientRights;
use crate::table::Needs;

/// The parameters that a subscriber selects, and its needs.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The filter of the subscription.
    pub filter: Arc<str>,
    /// The parameters that it matches now.
    pub chosen: RangeSet,
    /// The identifier of the subscription; 0 if it has none.
    pub identifier: u32,
    /// Its needs.
    pub needs: Needs,
    /// The largest packet that the subscriber accepts.
    pub packet_bytes_max: usize,
    /// The rights that narrowed it; parameters that are declared later are narrowed by them, too.
    pub rights: Option<Arc<ClientRights>>,
}

/// The newest values of all chosen parameters, which a new subscriber gets first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstValues {
    /// Encoded packets, one after the other.
    pub packets: Vec<u8>,
    /// How many packets.
    pub messages: u32,
    /// Whether these are all values. If not, [`super::Groups::mend`] sends the rest in portions.
    pub is_whole: bool,
}
