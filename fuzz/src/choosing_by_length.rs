//! What a session asks its broker about filters, answered by their length: some are allowed, some name a
//! list, some find room, others not.

use slipring_core::table::Needs;
use slipring_core::{Choosing, Limit};

/// Says yes to every other length.
pub(crate) struct Odd;

impl Choosing for Odd {
    fn may_subscribe(&self, filter: &str) -> bool {
        filter.len() % 7 > 0
    }

    fn is_list(&mut self, filter: &str) -> bool {
        filter.len() & 1 == 1
    }

    fn is_read(&mut self, filter: &str) -> bool {
        filter.len() % 2 == 1
    }

    fn check_room(&mut self, filter: &str, identifier: u32, _needs: Needs) -> Result<(), Limit> {
        let has_room = (filter.len() as u32 ^ identifier) & 1 == 1;
        if has_room { Ok(()) } else { Err(Limit::SelectionBytes) }
    }
}
