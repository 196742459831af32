//! Which owner's quota pays for the memory of a group: that of its first subscriber with an owner.

use std::collections::HashMap;

use super::Groups;
use crate::{Owner, SessionKey, Shares};

/// The remembered bytes of each owner's groups.
#[derive(Debug, Default)]
pub(super) struct GroupCharges {
    /// The owner of each subscriber that has one.
    owners: HashMap<SessionKey, Owner>,
    /// For each group the owner that is charged, and the bytes.
    groups: HashMap<u64, (Owner, usize)>,
    shares: Shares,
}

impl GroupCharges {
    /// Forgets a subscriber whose last selection has ended.
    pub fn forget(&mut self, subscriber: SessionKey) {
        self.owners.remove(&subscriber);
    }

    /// Charges a group's bytes to the first of its subscribers that has an owner, instead of the earlier charge.
    fn charge(
        &mut self,
        group: u64,
        bytes: usize,
        mut subscribers: impl Iterator<Item = SessionKey>,
    ) {
        if let Some((owner, before)) = self.groups.remove(&group) {
            self.shares.give(&owner, before);
        }
        let owner = subscribers.find_map(|subscriber| self.owners.get(&subscriber));
        if let (Some(owner), true) = (owner, bytes > 0) {
            self.shares.take(owner, bytes);
            self.groups.insert(group, (owner.clone(), bytes));
        }
    }
}

impl Groups {
    /// Counts this subscriber's later selections for an owner.
    pub fn own(&mut self, subscriber: SessionKey, owner: &Owner) {
        self.charges.owners.insert(subscriber, owner.clone());
    }

    /// The remembered bytes of each owner's groups.
    pub fn shares(&self) -> &Shares {
        &self.charges.shares
    }

    /// Updates the charge after a group was created or removed, or its subscribers or parameters changed.
    pub(super) fn recharge(&mut self, id: u64) {
        match self.all.get(&id) {
            Some(group) => self.charges.charge(id, group.remembered_bytes(), group.subscribers()),
            None => self.charges.charge(id, 0, std::iter::empty()),
        }
    }
}
