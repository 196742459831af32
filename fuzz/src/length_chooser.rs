//! Answers a session's questions about filters by their length: some filters are allowed, some name a list,
//! some find room, others do not.

use slipring_core::table::Needs;
use slipring_core::{Limit, SubscriptionChecks};

/// Answers yes for about every other length.
pub(crate) struct LengthChooser;

impl SubscriptionChecks for LengthChooser {
    fn may_subscribe(&self, filter: &str, _is_selection: bool) -> bool {
        filter.len() % 7 > 0
    }

    fn has_quota(&mut self) -> bool {
        true
    }

    fn may_serve(&self, topics: &str) -> bool {
        topics.len() % 7 > 0
    }

    fn is_list(&mut self, filter: &str) -> bool {
        filter.len() & 1 == 1
    }

    fn is_read(&mut self, filter: &str) -> bool {
        filter.len() % 2 == 1
    }

    fn has_memory_for(&mut self, filter: &str) -> bool {
        filter.len() % 5 > 0
    }

    fn check_room(&mut self, filter: &str, identifier: u32, _needs: Needs) -> Result<(), Limit> {
        let has_room = (filter.len() as u32 ^ identifier) & 1 == 1;
        if has_room { Ok(()) } else { Err(Limit::SelectionBytes) }
    }
}
