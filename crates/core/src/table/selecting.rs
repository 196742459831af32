//! The quota of each owner for the change memory of its selections.

use super::Table;
use super::value_table::Chosen;
use crate::{Holder, Limit, Owner, SessionKey, Shares};

impl Table {
    /// The bytes of change memory that a selection would add; the error is the limit it would exceed. `taken`
    /// bytes are reserved already.
    pub fn room_for(
        &mut self,
        session: SessionKey,
        chosen: &Chosen<'_>,
        taken: usize,
        holder: Holder<'_, 1>,
    ) -> Result<usize, Limit> {
        if !chosen.needs.compares() {
            return Ok(0);
        }
        let choice = self.choice(session, chosen);
        let growth = self.groups.growth(session, &choice, &self.current);
        if growth > 0 {
            let Holder { owner, quotas: [quota] } = holder;
            if !self.groups.has_room(taken + growth) {
                return Err(Limit::SelectionBytes);
            }
            quota.check(self.groups.shares(), owner, taken + growth)?;
        }
        Ok(growth)
    }

    /// Counts this session's later selections for an owner.
    pub fn own_selections(&mut self, session: SessionKey, owner: &Owner) {
        self.groups.own(session, owner);
    }

    /// The bytes of change memory of each owner's selections.
    pub fn selection_shares(&self) -> &Shares {
        self.groups.shares()
    }
}
