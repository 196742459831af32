//! Decides which parameters of a wide filter a client may use, a part of the table at a time, so that no subscription of
//! a client with few rights blocks the table for long. Results are kept for a while and follow the table.
//!
//! An example: `#` matches 200,000 parameters, and a client may select those of one plant. To ask the rules about each
//! of them takes some 50 milliseconds: it does so in 25 turns, and others use the table between them.

use std::sync::{Arc, Weak};

use slipring_wire::frame::RangeSet;
use slipring_wire::matches;

use super::entries::{Entries, Entry};
use super::finding::ALL;
use super::registry::TableChange;
use crate::access::{AccessPolicy, ClientRights, Right};
use crate::{ParameterIndex, Work};

/// The most searches that are kept. Beyond it the one that was used longest ago is forgotten.
const KEPT_MAX: usize = 16;
/// A search that did not continue while others were called this often is abandoned.
const ABANDONED: u64 = 4_096;
/// Parameters that are looked at between two checks whether the turn is over.
const PART: u32 = 256;

/// The searches.
#[derive(Debug, Default)]
pub(super) struct NarrowedSearches {
    all: Vec<NarrowedSearch>,
    /// How often a search continued or waited.
    asked: u64,
}

#[derive(Debug)]
struct NarrowedSearch {
    filter: Box<str>,
    right: Right,
    rights: Arc<ClientRights>,
    /// What the rights are decided by. It may be gone; by another policy the result is void.
    policy: Weak<AccessPolicy>,
    usable: RangeSet,
    /// Indices below this have been looked at.
    next: u32,
    is_done: bool,
    asked: u64,
}

impl NarrowedSearches {
    /// Those parameters of a filter that somebody may use, if they are known by the policy in force.
    pub fn known(
        &self,
        filter: &str,
        right: Right,
        is_whose: impl Fn(&Arc<ClientRights>) -> bool,
    ) -> Option<&RangeSet> {
        let is_it = |one: &&NarrowedSearch| {
            one.is_done
                && one.right == right
                && *one.filter == *filter
                && one.rights.are_by(&one.policy)
                && is_whose(&one.rights)
        };
        self.all.iter().find(is_it).map(|one| &one.usable)
    }

    /// Continues a search until the turn is over; returns whether it has finished. If there are too many searches, this
    /// one waits until another has finished.
    pub fn go_on(
        &mut self,
        filter: &str,
        (rights, right): (&Arc<ClientRights>, Right),
        entries: &Entries,
        work: &mut Work,
    ) -> bool {
        self.asked += 1;
        let is_it = |one: &NarrowedSearch| {
            one.right == right && *one.filter == *filter && Arc::ptr_eq(&one.rights, rights)
        };
        let at = self.all.iter().position(is_it).or_else(|| self.begin(filter, rights, right));
        let Some(search) = at.map(|at| &mut self.all[at]) else {
            work.end();
            return false;
        };
        search.asked = self.asked;
        if !rights.are_by(&search.policy) {
            search.begin_again();
        }
        while !search.is_done {
            search.step(entries);
            work.add(PART as usize * Work::ENTRY);
            // Checked after a step, so that every turn makes progress.
            if work.is_over() {
                break;
            }
        }
        search.is_done
    }

    /// Updates the searches after parameters were added or removed.
    pub fn follow(&mut self, change: &TableChange, entries: &Entries) {
        self.all.iter_mut().for_each(|search| search.follow(change, entries));
    }

    fn begin(&mut self, filter: &str, rights: &Arc<ClientRights>, right: Right) -> Option<usize> {
        if self.all.len() >= KEPT_MAX {
            let asked = self.asked;
            let free = self.all.iter().enumerate();
            let free = free.filter(|(_, one)| one.is_done || one.asked + ABANDONED < asked);
            let (oldest, _) = free.min_by_key(|(_, one)| one.asked)?;
            self.all.swap_remove(oldest);
        }
        self.all.push(NarrowedSearch {
            filter: filter.into(),
            right,
            rights: Arc::clone(rights),
            policy: rights.policy(),
            usable: RangeSet::new(),
            next: 0,
            is_done: false,
            asked: self.asked,
        });
        Some(self.all.len() - 1)
    }
}

impl NarrowedSearch {
    fn begin_again(&mut self) {
        self.policy = self.rights.policy();
        self.usable.clear();
        (self.next, self.is_done) = (0, false);
    }

    fn step(&mut self, entries: &Entries) {
        let end = self.next.saturating_add(PART);
        for (index, entry, exists) in entries.known_in(self.next..end) {
            if exists && self.takes(entry) {
                self.usable.extend([index.get()]);
            }
        }
        self.next = end;
        self.is_done = end >= entries.end().get();
    }

    fn follow(&mut self, change: &TableChange, entries: &Entries) {
        self.usable.take_away(&change.removed);
        for index in change.added.indices().chain(change.revived.indices()) {
            let is_passed = self.is_done || index < self.next;
            let entry = entries.get(ParameterIndex::new(index));
            if is_passed && entry.is_some_and(|entry| self.takes(entry)) {
                self.usable.insert(index..index + 1);
            }
        }
    }

    fn takes(&self, entry: &Entry) -> bool {
        (*self.filter == *ALL || matches(&self.filter, &entry.name))
            && self.rights.allow(self.right, &entry.name)
    }
}

#[cfg(test)]
#[path = "narrowed_tests.rs"]
mod tests;
