//! What a session asks its broker about selections, answered by lengths: some lists are there and some
//! selections find room, others not.

use slipring_core::Choosing;
use slipring_core::table::Needs;

/// Says yes to every other length.
pub(crate) struct Odd;

impl Choosing for Odd {
    fn is_list(&mut self, filter: &str) -> bool {
        filter.len() & 1 == 1
    }

    fn has_room(&mut self, filter: &str, identifier: u32, _needs: Needs) -> bool {
        (filter.len() as u32 ^ identifier) & 1 == 1
    }
}
