//! The table's parameters, found by index, name and filter. An index is given once and stays.

use std::ops::Range;

use slipring_wire::frame::{Kind, RangeSet};

use super::Names;
use super::definition::Definition;
use super::entries::{Entries, Entry};
use super::problem::{Code, PROBLEMS_MAX, Problem, shown};
use super::searches::Searches;
use crate::Owner;
use crate::publishers::Publishers;
use crate::topics::Topics;

/// How much a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Parameters; a further one is refused.
    pub parameters: usize,
    /// Bytes of their names and definitions, about.
    pub bytes: usize,
    /// Bytes of a name.
    pub name_bytes: usize,
    /// Levels of a name.
    pub name_levels: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { parameters: 200_000, bytes: 256 << 20, name_bytes: 1_024, name_levels: 32 }
    }
}

/// The parameters, and who publishes them.
#[derive(Debug, Default)]
pub struct Registry {
    pub(super) entries: Entries,
    /// The indices of those that are there, by topic.
    pub(super) tree: Topics<u32>,
    pub(super) publishers: Publishers,
    pub(super) searches: Searches,
}

/// What a request did to the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// New parameters.
    pub added: RangeSet,
    /// Described again: the same type, unit and labels, something else is different.
    pub changed: RangeSet,
    /// Removed earlier, and there again.
    pub revived: RangeSet,
    /// Gone.
    pub removed: RangeSet,
    /// What the session publishes from now on, and did not before. Of the table nothing is different by
    /// that.
    pub entered: RangeSet,
}

impl Change {
    /// Whether nothing of the table is different.
    pub fn is_empty(&self) -> bool {
        [&self.added, &self.changed, &self.revived, &self.removed].iter().all(|set| set.is_empty())
    }
}

impl Registry {
    /// An empty table. The id is random and never 0, so that indices are not taken for another's.
    pub fn new(id: u32) -> Self {
        Self { entries: Entries::new(id), ..Self::default() }
    }

    /// The table that the journal knows. Nobody publishes yet.
    pub fn restore(entries: Entries) -> Self {
        let tree = by_topic(entries.iter_from(0));
        Self { entries, tree, ..Self::default() }
    }

    /// The parameters that are there, and those that were.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Parameters that are there are this owner's.
    pub fn own(&mut self, parameters: &RangeSet, owner: &Owner) {
        parameters.indices().for_each(|index| self.entries.own(index, Some(owner)));
    }

    /// Who publishes them.
    pub fn publishers(&self) -> &Publishers {
        &self.publishers
    }

    /// The table's number: indices mean nothing in another.
    pub fn id(&self) -> u32 {
        self.entries.id()
    }

    /// How often it changed.
    pub fn revision(&self) -> u64 {
        self.entries.revision()
    }

    /// The index that the next new parameter gets.
    pub fn end(&self) -> u32 {
        self.entries.end()
    }

    /// How many parameters there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A parameter that is there.
    pub fn get(&self, index: u32) -> Option<&Entry> {
        self.entries.get(index)
    }

    /// The index of a parameter that is there.
    pub fn index_of(&self, name: &str) -> Option<u32> {
        self.entries.index_of(name)
    }

    /// Those of these that are there, by topic.
    pub(super) fn tree_of(&self, some: &RangeSet) -> Topics<u32> {
        by_topic(some.indices().filter_map(|index| Some((index, self.get(index)?))))
    }

    /// A session's client is gone; the parameters that nobody publishes any more. What it declared
    /// stays its own if the session is kept.
    pub fn leave(&mut self, session: u64, is_kept: bool) -> RangeSet {
        self.publishers.leave(session, is_kept)
    }

    /// A session's client is back, and publishes what it declared.
    pub fn come_back(&mut self, session: u64) {
        self.publishers.come_back(session);
    }

    /// A session of an earlier run has declared these, and its client is away: those that are still
    /// there are its own.
    pub fn restore_publisher(&mut self, session: u64, client: &str, declared: &RangeSet) {
        let given: RangeSet = std::iter::once(0..self.end()).collect();
        let given = declared.intersect(&given);
        let declared = given.indices().filter(|index| self.get(*index).is_some()).collect();
        self.publishers.restore(session, client, declared);
    }

    /// A session whose client is away is over: what it declared is its own no more.
    pub fn forget_session(&mut self, session: u64) {
        self.publishers.end(session);
    }

    /// Whether a session has declared all of these; else the first index that it has not.
    pub fn may_publish(
        &self,
        session: u64,
        ranges: impl Iterator<Item = Range<u32>>,
    ) -> Result<(), u32> {
        self.publishers.may_publish(session, ranges)
    }

    /// Removes parameters, except those that are not there and, without `force`, those that others
    /// publish. They are remembered: a name that is declared again with the same type has its old
    /// index.
    pub fn remove<N: AsRef<str>>(
        &mut self,
        session: u64,
        names: &[N],
        force: bool,
    ) -> (Change, Vec<Problem>) {
        let (mut indices, mut problems) = (Vec::new(), Vec::new());
        for (at, name) in names.iter().enumerate() {
            match self.find(at, name.as_ref()) {
                Ok(index) if force || self.publishers.others(session, index) == 0 => {
                    indices.push(index);
                }
                // Who it is takes a search, so only those that are told say it.
                Ok(index) if problems.len() < PROBLEMS_MAX => {
                    let text = self.published_by(session, index);
                    problems.push(Problem::new(at, name.as_ref(), Code::Published, text));
                }
                Ok(_) => problems.push(Problem::new(at, name.as_ref(), Code::Published, "")),
                Err(problem) => problems.push(problem),
            }
        }
        // In the order of the records, because the order of removal counts.
        indices.sort_unstable();
        let removed: RangeSet = indices.into_iter().collect();
        removed.indices().for_each(|index| self.take_out(index));
        self.publishers.forget(&removed);
        let change = Change { removed, ..Change::default() };
        self.revise(&change);
        (change, problems)
    }

    /// Which others publish a parameter, for people.
    fn published_by(&self, session: u64, index: u32) -> String {
        let first = shown(self.publishers.other(session, index));
        let who = match self.publishers.others(session, index) {
            0 | 1 => "publishes".to_owned(),
            others => format!("and {} more publish", others - 1),
        };
        let until = "it can go when nobody else publishes it, or with \"force\": true";
        format!("the client {first} {who} it now; {until}")
    }

    fn take_out(&mut self, index: u32) {
        if let Some(entry) = self.entries.get(index) {
            self.tree.remove(&entry.name);
            self.entries.remove(index);
        }
    }

    /// The index of a parameter that is asked for.
    pub(super) fn find(&self, at: usize, name: &str) -> Result<u32, Problem> {
        let known = self.entries.known_index(name);
        match known.filter(|index| self.get(*index).is_some()) {
            Some(index) => Ok(index),
            None if known.is_some() => {
                Err(Problem::new(at, name, Code::Removed, "this parameter was removed"))
            }
            None => Err(Problem::new(at, name, Code::Unknown, "no parameter has this name")),
        }
    }

    /// Counts a change, if it is one.
    pub(super) fn revise(&mut self, change: &Change) {
        if !change.is_empty() {
            self.entries.revise();
            self.searches.follow(change, &self.entries);
        }
    }

    /// The definition of a parameter that is there.
    pub fn definition(&self, index: u32) -> Option<&Definition> {
        self.get(index).map(|entry| &*entry.definition)
    }
}

fn by_topic<'a>(some: impl Iterator<Item = (u32, &'a Entry)>) -> Topics<u32> {
    let mut tree = Topics::default();
    for (index, entry) in some {
        *tree.place(&entry.name) = Some(index);
    }
    tree
}

impl Names for Registry {
    fn name(&self, index: u32) -> Option<&str> {
        self.entries.name(index)
    }

    fn kind(&self, index: u32) -> Option<Kind> {
        self.entries.kind(index)
    }

    fn is_enumeration(&self, index: u32) -> bool {
        self.entries.is_enumeration(index)
    }

    fn label(&self, index: u32, value: u32) -> Option<&str> {
        self.entries.label(index, value)
    }

    fn rate_hz(&self, index: u32) -> Option<f64> {
        self.entries.rate_hz(index)
    }
}
