//! Who is charged for what groups remember: of those that share a group, the first.

use std::collections::HashMap;

use super::Groups;
use crate::{Owner, Shares};

/// What the groups of each owner remember.
#[derive(Debug, Default)]
pub(super) struct Payers {
    /// The owner of each subscriber that has one.
    owners: HashMap<u64, Owner>,
    /// Who is charged for a group, and how much.
    groups: HashMap<u64, (Owner, usize)>,
    shares: Shares,
}

impl Payers {
    /// All that a subscriber chose has ended.
    pub fn forget(&mut self, subscriber: u64) {
        self.owners.remove(&subscriber);
    }

    /// A group remembers so much now, and has these subscribers.
    fn settle(&mut self, group: u64, bytes: usize, mut subscribers: impl Iterator<Item = u64>) {
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
    /// What a subscriber chooses from now on is this owner's.
    pub fn own(&mut self, subscriber: u64, owner: &Owner) {
        self.payers.owners.insert(subscriber, owner.clone());
    }

    /// What the groups of each owner remember, in bytes.
    pub fn shares(&self) -> &Shares {
        &self.payers.shares
    }

    /// A group came, went, or has other subscribers or parameters.
    pub(super) fn settle(&mut self, id: u64) {
        match self.all.get(&id) {
            Some(group) => self.payers.settle(id, group.sent_bytes(), group.subscribers()),
            None => self.payers.settle(id, 0, std::iter::empty()),
        }
    }
}
