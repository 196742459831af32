//! What the selections of each owner may remember.

use super::Table;
use super::whole::Chosen;
use crate::{Holder, Limit, Owner, Shares};

impl Table {
    /// How much it takes to remember what a session would be sent; the limit in its way. `taken` is spoken
    /// for already.
    pub fn room_for(
        &mut self,
        session: u64,
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

    /// What a session chooses from now on is this owner's.
    pub fn own_selections(&mut self, session: u64, owner: &Owner) {
        self.groups.own(session, owner);
    }

    /// What the selections of each owner remember, in bytes.
    pub fn selection_shares(&self) -> &Shares {
        self.groups.shares()
    }
}
