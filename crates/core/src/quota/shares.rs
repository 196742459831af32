//! How much of one thing each owner holds.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::Owner;

/// How much each owner holds, and the sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// Only owners that hold something.
    held: HashMap<Owner, usize>,
    total: usize,
}

impl Shares {
    /// Adds to what an owner holds.
    pub fn take(&mut self, owner: &Owner, amount: usize) {
        if amount == 0 {
            return;
        }
        self.total += amount;
        match self.held.get_mut(owner) {
            Some(held) => *held += amount,
            None => drop(self.held.insert(owner.clone(), amount)),
        }
    }

    /// Subtracts from what an owner holds, at most all of it.
    pub fn give(&mut self, owner: &Owner, amount: usize) {
        let Some(held) = self.held.get_mut(owner) else {
            debug_assert_eq!(amount, 0, "{owner} gives back what it does not hold");
            return;
        };
        debug_assert!(*held >= amount, "{owner} gives back more than it holds");
        let given = amount.min(*held);
        *held -= given;
        self.total -= given;
        if *held == 0 {
            self.held.remove(owner);
        }
    }

    /// One owner, if any, gives so much back, and another one, if any, holds so much more.
    pub(crate) fn hand_over(&mut self, from: Option<&Owner>, to: Option<&Owner>, amount: usize) {
        if let Some(owner) = from {
            self.give(owner, amount);
        }
        if let Some(owner) = to {
            self.take(owner, amount);
        }
    }

    /// What an owner holds.
    pub fn held(&self, owner: &Owner) -> usize {
        self.held.get(owner).copied().unwrap_or_default()
    }

    /// What all owners hold together.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The number of owners that hold something.
    pub fn owners(&self) -> usize {
        self.held.len()
    }

    /// The `most` owners that hold most, the greatest first.
    pub fn greatest(&self, most: usize) -> Vec<(Owner, usize)> {
        let mut all: Vec<(Reverse<usize>, &Owner)> =
            self.held.iter().map(|(owner, held)| (Reverse(*held), owner)).collect();
        if most < all.len() {
            all.select_nth_unstable(most);
            all.truncate(most);
        }
        all.sort_unstable();
        all.into_iter().map(|(held, owner)| (owner.clone(), held.0)).collect()
    }
}
