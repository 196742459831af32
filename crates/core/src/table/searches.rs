//! Searches for the parameters that wide filters match, a part of the table at a time, so that no subscription blocks
//! the table for long. Results are kept for a while and are updated as the table changes.
//!
//! An example: `plant/#` matches 150,000 of 190,000 parameters. The search takes 24 turns of 8,000 indices each;
//! others use the table between them. A parameter that is declared meanwhile is found too: the search finds an
//! index it has not reached yet, and one it has passed is added when it is declared.

use std::collections::HashMap;

use slipring_wire::frame::RangeSet;
use slipring_wire::matches;

use super::entries::Entries;
use super::finding::ALL;
use super::registry::TableChange;
use crate::{ParameterIndex, Work};

/// The most searches that are kept. Beyond it the one that was used longest ago is forgotten.
const KEPT_MAX: usize = 16;
/// A search that did not continue while others were called this often is abandoned. Far more than the clients
/// that search at the same time: else they would drop each other's searches.
const ABANDONED: u64 = 1_024;
/// Indices that are searched between two checks whether the turn is over.
const PART: u32 = 256;

/// The searches.
#[derive(Debug, Default)]
pub(super) struct Searches {
    by_filter: HashMap<Box<str>, Search>,
    /// How often a search continued or waited.
    asked: u64,
}

#[derive(Debug, Default)]
struct Search {
    found: RangeSet,
    /// Indices below this have been searched.
    next: u32,
    is_done: bool,
    asked: u64,
}

impl Searches {
    /// The parameters that a filter matches, if its search has finished.
    pub fn known(&self, filter: &str) -> Option<&RangeSet> {
        self.by_filter.get(filter).filter(|search| search.is_done).map(|search| &search.found)
    }

    /// Whether there is a search for a filter, finished or not.
    pub fn has(&self, filter: &str) -> bool {
        self.by_filter.contains_key(filter)
    }

    /// Continues a search until the turn is over; returns whether it has finished. If there are too many searches,
    /// this one waits until another has finished.
    pub fn go_on(&mut self, filter: &str, entries: &Entries, work: &mut Work) -> bool {
        self.asked += 1;
        if !self.has(filter) && !self.make_room() {
            work.end();
            return false;
        }
        let search = self.by_filter.entry(filter.into()).or_default();
        search.asked = self.asked;
        while !search.is_done {
            search.step(filter, entries);
            work.add(PART as usize * Work::ENTRY / 2);
            // Checked after a step, so that every turn makes progress.
            if work.is_over() {
                break;
            }
        }
        search.is_done
    }

    /// Updates the searches after parameters were added or removed.
    pub fn follow(&mut self, change: &TableChange, entries: &Entries) {
        for (filter, search) in &mut self.by_filter {
            search.follow(filter, change, entries);
        }
    }

    fn make_room(&mut self) -> bool {
        if self.by_filter.len() < KEPT_MAX {
            return true;
        }
        let is_free = |search: &&Search| search.is_done || search.asked + ABANDONED < self.asked;
        let free = self.by_filter.iter().filter(|(_, search)| is_free(search));
        let oldest = free.min_by_key(|(_, search)| search.asked).map(|(filter, _)| filter.clone());
        oldest.and_then(|filter| self.by_filter.remove(&filter)).is_some()
    }
}

impl Search {
    fn step(&mut self, filter: &str, entries: &Entries) {
        let end = self.next.saturating_add(PART);
        for (index, entry, exists) in entries.known_in(self.next..end) {
            if exists && is_match(filter, &entry.name) {
                self.found.extend([index.get()]);
            }
        }
        self.next = end;
        self.is_done = end >= entries.end().get();
    }

    fn follow(&mut self, filter: &str, change: &TableChange, entries: &Entries) {
        self.found.take_away(&change.removed);
        for index in change.added.indices().chain(change.revived.indices()) {
            let is_passed = self.is_done || index < self.next;
            let entry = entries.get(ParameterIndex::new(index));
            if is_passed && entry.is_some_and(|entry| is_match(filter, &entry.name)) {
                self.found.insert(index..index + 1);
            }
        }
    }
}

fn is_match(filter: &str, name: &str) -> bool {
    filter == ALL || matches(filter, name)
}

#[cfg(test)]
mod tests {
    use super::super::{Definition, Registry, Table};
    use super::*;
    use crate::desk::{DeclaredEntry, Desk};
    use crate::{Limits, SessionKey};

    fn declare(registry: &mut Registry, names: impl Iterator<Item = String>) {
        let definition = Definition::from_json(r#"{"type": "u8"}"#).unwrap();
        let asked: Vec<_> = (0..)
            .zip(names)
            .map(|(at, name)| DeclaredEntry::new(at, name, definition.clone()))
            .collect();
        let bounds = Table::bounds(&Limits::default());
        registry.declare(SessionKey::new(1), "c", &asked, &bounds, Vec::new()).unwrap();
    }

    /// Searches for a filter until the search has finished; returns how many turns it took. `meanwhile` is called
    /// between them.
    fn turns(
        registry: &mut Registry,
        filter: &str,
        mut meanwhile: impl FnMut(&mut Registry),
    ) -> usize {
        let (mut work, mut turns) = (Work::default(), 1);
        while !registry.search(filter, &mut work) {
            assert!(work.is_over());
            meanwhile(registry);
            work.begin();
            turns += 1;
        }
        turns
    }

    #[test]
    fn a_wide_filter_is_searched_in_several_turns_and_a_narrow_one_in_one() {
        let mut registry = Registry::new(7);
        declare(&mut registry, (0..60_000).map(|number| format!("a/{}/{number}", number % 7)));
        assert_eq!(turns(&mut registry, "a/3/77", |_| ()), 1);
        for filter in ["a/#", "#", "+/3/+", "+/+/+/nothing"] {
            assert!(turns(&mut registry, filter, |_| ()) > 5, "{filter}");
            assert_eq!(turns(&mut registry, filter, |_| ()), 1, "{filter} is known now");
        }
        assert_eq!(registry.matching("a/#").len(), 60_000);
        assert_eq!(registry.matching("+/3/+").len(), 60_000 / 7);
        assert!(registry.matching("+/+/+/nothing").is_empty());
    }

    #[test]
    fn a_search_follows_parameters_that_are_declared_and_removed_meanwhile() {
        let mut registry = Registry::new(7);
        declare(&mut registry, (0..60_000).map(|number| format!("a/{number}")));
        registry.remove(SessionKey::new(1), &["a/5"], false);
        let mut turn = 0;
        turns(&mut registry, "a/#", |registry| {
            turn += 1;
            declare(registry, std::iter::once(format!("a/new/{turn}")));
            declare(registry, std::iter::once(format!("b/new/{turn}")));
            match turn {
                2 => declare(registry, std::iter::once("a/5".to_owned())),
                3 => drop(registry.remove(SessionKey::new(1), &["a/7", "a/59999"], false)),
                _ => {}
            }
        });
        declare(&mut registry, ["a/last".to_owned(), "b/last".to_owned()].into_iter());
        let matching = |(index, entry): (ParameterIndex, &super::super::Entry)| {
            matches("a/#", &entry.name).then_some(index.get())
        };
        let expected: RangeSet =
            registry.entries().iter_from(ParameterIndex::new(0)).filter_map(matching).collect();
        assert_eq!(registry.matching("a/#"), expected);
        assert!(expected.contains(5) && !expected.contains(7));
    }

    #[test]
    fn a_search_makes_progress_even_if_the_turn_was_over_before_it_began() {
        let mut registry = Registry::new(7);
        declare(&mut registry, (0..20_000).map(|number| format!("a/{number}")));
        let mut work = Work::default();
        work.end();
        let found = (0..1_000).find(|_| registry.search("a/#", &mut work));
        assert!(found.is_some(), "the search has not finished after a thousand turns");
    }

    #[test]
    fn abandoned_searches_do_not_block_others() {
        let mut registry = Registry::new(7);
        declare(&mut registry, (0..20_000).map(|number| format!("a/{number}")));
        let mut work = Work::default();
        for number in 0..KEPT_MAX {
            work.end();
            assert!(!registry.search(&format!("+/+/{number}"), &mut work));
        }
        let turns = turns(&mut registry, "a/#", |_| ());
        assert!(registry.searches.known("a/#").is_some(), "it was searched in parts");
        assert!(turns < 2_000, "{turns}");
    }

    #[test]
    fn more_searches_than_are_kept_still_give_their_results() {
        let mut registry = Registry::new(7);
        declare(&mut registry, (0..20_000).map(|number| format!("a/{number}")));
        let filters: Vec<String> =
            (0..40).map(|number| format!("+/+/{}#", "+/".repeat(number))).collect();
        let mut work = Work::default();
        for filter in &filters {
            work.end();
            registry.search(filter, &mut work);
        }
        assert_eq!(registry.matching(&filters[39]).len(), 0);
        assert_eq!(registry.matching(&filters[0]).len(), 20_000);
    }
}
