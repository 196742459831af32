//! The table's parameters, found by index, name and filter. An index is given once and stays.

use slipring_wire::frame::{Kind, RangeSet};

use super::Names;
use super::declare::sorted;
use super::definition::Definition;
use super::entries::{Entries, Entry};
use super::searches::Searches;
use crate::desk::{PROBLEMS_MAX, Problem, ProblemCode, shown};
use crate::publishers::Publishers;
use crate::topics::Topics;
use crate::{Owner, ParameterIndex, SessionKey};

/// The parameters, and who publishes them.
#[derive(Debug, Default)]
pub struct Registry {
    pub(super) entries: Entries,
    /// The indices of those that are there, by topic.
    pub(super) tree: Topics<ParameterIndex>,
    /// Who publishes them.
    pub publishers: Publishers<ParameterIndex>,
    pub(super) searches: Searches,
}

/// What a request did to the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableChange {
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

impl TableChange {
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
        let tree = by_topic(entries.iter_from(ParameterIndex::new(0)));
        Self { entries, tree, ..Self::default() }
    }

    /// The parameters that are there, and those that were.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Parameters that are there are this owner's.
    pub fn own(&mut self, parameters: &RangeSet, owner: &Owner) {
        parameters
            .indices()
            .for_each(|index| self.entries.own(ParameterIndex::new(index), Some(owner)));
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
    pub fn end(&self) -> ParameterIndex {
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
    pub fn get(&self, index: ParameterIndex) -> Option<&Entry> {
        self.entries.get(index)
    }

    /// The index of a parameter that is there.
    pub fn index_of(&self, name: &str) -> Option<ParameterIndex> {
        self.entries.index_of(name)
    }

    /// Those of these that are there, by topic.
    pub(super) fn tree_of(&self, some: &RangeSet) -> Topics<ParameterIndex> {
        by_topic(
            some.indices()
                .map(ParameterIndex::new)
                .filter_map(|index| Some((index, self.get(index)?))),
        )
    }

    /// A session of an earlier run has declared these, and its client is away: those that are still
    /// there are its own.
    pub fn restore_publisher(&mut self, session: SessionKey, client: &str, declared: &RangeSet) {
        let is_there = |index: &u32| self.entries.get(ParameterIndex::new(*index)).is_some();
        self.publishers.restore(session, client, declared, self.entries.end().get(), is_there);
    }

    /// Removes parameters, except those that are not there and, without `force`, those that others
    /// publish. They are remembered: a name that is declared again with the same type has its old
    /// index.
    pub fn remove<N: AsRef<str>>(
        &mut self,
        session: SessionKey,
        names: &[N],
        force: bool,
    ) -> (TableChange, Vec<Problem>) {
        let (mut indices, mut problems) = (Vec::new(), Vec::new());
        for (at, name) in names.iter().enumerate() {
            match self.find(at, name.as_ref()) {
                Ok(index) if force || self.publishers.others(session, index) == 0 => {
                    indices.push(index);
                }
                // Who it is takes a search, so only those that are told say it.
                Ok(index) if problems.len() < PROBLEMS_MAX => {
                    let text = self.published_by(session, index);
                    problems.push(Problem::new(at, name.as_ref(), ProblemCode::Published, text));
                }
                Ok(_) => problems.push(Problem::new(at, name.as_ref(), ProblemCode::Published, "")),
                Err(problem) => problems.push(problem),
            }
        }
        // In the order of the records, because the order of removal counts.
        let removed = sorted(indices);
        removed.indices().for_each(|index| self.take_out(ParameterIndex::new(index)));
        self.publishers.forget(&removed);
        let change = TableChange { removed, ..TableChange::default() };
        self.revise(&change);
        (change, problems)
    }

    /// Which others publish a parameter, for people.
    fn published_by(&self, session: SessionKey, index: ParameterIndex) -> String {
        let first = shown(self.publishers.other(session, index));
        let who = match self.publishers.others(session, index) {
            0 | 1 => "publishes".to_owned(),
            others => format!("and {} more publish", others - 1),
        };
        let until = "it can go when nobody else publishes it, or with \"force\": true";
        format!("the client {first} {who} it now; {until}")
    }

    fn take_out(&mut self, index: ParameterIndex) {
        if let Some(entry) = self.entries.get(index) {
            self.tree.remove(&entry.name);
            self.entries.remove(index);
        }
    }

    /// The index of a parameter that is asked for.
    pub(super) fn find(&self, at: usize, name: &str) -> Result<ParameterIndex, Problem> {
        let known = self.entries.known_index(name);
        match known.filter(|index| self.get(*index).is_some()) {
            Some(index) => Ok(index),
            None if known.is_some() => {
                Err(Problem::new(at, name, ProblemCode::Removed, "this parameter was removed"))
            }
            None => Err(Problem::new(at, name, ProblemCode::Unknown, "no parameter has this name")),
        }
    }

    /// Counts a change, if it is one.
    pub(super) fn revise(&mut self, change: &TableChange) {
        if !change.is_empty() {
            self.entries.revise();
            self.searches.follow(change, &self.entries);
        }
    }

    /// The definition of a parameter that is there.
    pub fn definition(&self, index: ParameterIndex) -> Option<&Definition> {
        self.get(index).map(|entry| &*entry.definition)
    }
}

fn by_topic<'a>(some: impl Iterator<Item = (ParameterIndex, &'a Entry)>) -> Topics<ParameterIndex> {
    let mut tree = Topics::default();
    for (index, entry) in some {
        *tree.place(&entry.name) = Some(index);
    }
    tree
}

impl Names for Registry {
    fn name(&self, index: ParameterIndex) -> Option<&str> {
        self.entries.name(index)
    }

    fn kind(&self, index: ParameterIndex) -> Option<Kind> {
        self.entries.kind(index)
    }

    fn is_enumeration(&self, index: ParameterIndex) -> bool {
        self.entries.is_enumeration(index)
    }

    fn label(&self, index: ParameterIndex, value: u32) -> Option<&str> {
        self.entries.label(index, value)
    }

    fn rate_hz(&self, index: ParameterIndex) -> Option<f64> {
        self.entries.rate_hz(index)
    }
}
