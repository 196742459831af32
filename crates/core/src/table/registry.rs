//! The table's parameters, found by index, name and filter. An index is given once and stays.

use slipring_wire::frame::RangeSet;

use super::declare::sorted;
use super::entries::{Entries, Entry};
use super::narrowed::NarrowedSearches;
use super::searches::Searches;
use crate::access::Right;
use crate::desk::Requester;
use crate::desk::{PROBLEMS_MAX, Problem, ProblemCode, shown};
use crate::publishers::Publishers;
use crate::topics::Topics;
use crate::{Owner, ParameterIndex, SessionKey};

/// The parameters and their publishers.
#[derive(Debug, Default)]
pub struct Registry {
    pub(crate) entries: Entries,
    /// The indices of existing parameters, by topic.
    pub(super) tree: Topics<ParameterIndex>,
    /// The publishers of the parameters.
    pub publishers: Publishers<ParameterIndex>,
    pub(super) searches: Searches,
    pub(super) narrowed: NarrowedSearches,
}

/// What a request changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableChange {
    /// New parameters.
    pub added: RangeSet,
    /// Parameters with another description; their type, unit and labels are the same.
    pub changed: RangeSet,
    /// Parameters that were removed earlier, and exist again.
    pub revived: RangeSet,
    /// Removed parameters.
    pub removed: RangeSet,
    /// Parameters that the session publishes from now on, and did not before. This alone does not change the table.
    pub entered: RangeSet,
}

impl TableChange {
    /// Whether the table has not changed.
    pub fn is_empty(&self) -> bool {
        [&self.added, &self.changed, &self.revived, &self.removed].iter().all(|set| set.is_empty())
    }
}

impl Registry {
    /// An empty table. The id is random and never 0, so that indices of another table are recognised.
    pub fn new(id: u32) -> Self {
        Self { entries: Entries::new(id), ..Self::default() }
    }

    /// The parameters that the journal knows. They have no publishers yet.
    pub fn restore(entries: Entries) -> Self {
        let tree = by_topic(entries.iter_from(ParameterIndex::new(0)));
        Self { entries, tree, ..Self::default() }
    }

    /// The existing and the removed parameters.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Sets the owner of existing parameters.
    pub(super) fn own(&mut self, parameters: &RangeSet, owner: &Owner) {
        parameters
            .indices()
            .for_each(|index| self.entries.own(ParameterIndex::new(index), Some(owner)));
    }

    /// Those of these parameters that exist, by topic.
    pub(super) fn tree_of(&self, some: &RangeSet) -> Topics<ParameterIndex> {
        by_topic(
            some.indices()
                .map(ParameterIndex::new)
                .filter_map(|index| Some((index, self.entries.get(index)?))),
        )
    }

    /// Restores what a session of an earlier run declared, as far as it still exists. Its client is away.
    pub fn restore_publisher(&mut self, session: SessionKey, client_id: &str, declared: &RangeSet) {
        let exists = |index: &u32| self.entries.get(ParameterIndex::new(*index)).is_some();
        self.publishers.restore(session, client_id, declared, self.entries.end().get(), exists);
    }

    /// Removes parameters, except those that do not exist and, without `force`, those that other clients publish.
    /// Removed ones are remembered: a name that is declared again with the same type gets its old index.
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
                // To name the publishers takes a search, so it is only done for problems that are listed.
                Ok(index) if problems.len() < PROBLEMS_MAX => {
                    let text = self.published_by(session, index);
                    problems.push(Problem::new(at, name.as_ref(), ProblemCode::Published, text));
                }
                Ok(_) => problems.push(Problem::new(at, name.as_ref(), ProblemCode::Published, "")),
                Err(problem) => problems.push(problem),
            }
        }
        // In the order of the records, because the order of removal decides which are forgotten first.
        let removed = sorted(indices);
        removed.indices().for_each(|index| self.take_out(ParameterIndex::new(index)));
        self.publishers.forget(&removed);
        let change = TableChange { removed, ..TableChange::default() };
        self.revise(&change);
        (change, problems)
    }

    /// Which other clients publish a parameter, for people.
    fn published_by(&self, session: SessionKey, index: ParameterIndex) -> String {
        let first = shown(self.publishers.other(session, index));
        let who = match self.publishers.others(session, index) {
            0 | 1 => "publishes".to_owned(),
            others => format!("and {} more publish", others - 1),
        };
        let how = "remove it when no other client publishes it, or with \"force\": true";
        format!("the client {first} {who} it now; {how}")
    }

    fn take_out(&mut self, index: ParameterIndex) {
        if let Some(entry) = self.entries.get(index) {
            self.tree.remove(&entry.name);
            self.entries.remove(index);
        }
    }

    /// The index of each name, None if it has a problem; and the problems.
    pub(super) fn look_up(
        &self,
        names: &[String],
        requester: &Requester<'_>,
        right: Right,
    ) -> (Vec<Option<ParameterIndex>>, Vec<Problem>) {
        let mut errors = Vec::new();
        let found = names.iter().enumerate().map(|(at, name)| {
            // What somebody may not see does not exist for them.
            let found = if requester.may(right, name) {
                self.find(at, name)
            } else {
                Err(unknown(at, name))
            };
            found.map_err(|problem| errors.push(problem)).ok()
        });
        (found.collect(), errors)
    }

    /// The index of the parameter with this name, at this position of a request.
    fn find(&self, at: usize, name: &str) -> Result<ParameterIndex, Problem> {
        let known = self.entries.known_index(name);
        match known.filter(|index| self.entries.get(*index).is_some()) {
            Some(index) => Ok(index),
            None if known.is_some() => {
                Err(Problem::new(at, name, ProblemCode::Removed, "this parameter was removed"))
            }
            None => Err(unknown(at, name)),
        }
    }

    /// Counts a change, unless it is empty.
    pub(super) fn revise(&mut self, change: &TableChange) {
        if !change.is_empty() {
            self.entries.revise();
            self.searches.follow(change, &self.entries);
            self.narrowed.follow(change, &self.entries);
        }
    }
}

fn by_topic<'a>(some: impl Iterator<Item = (ParameterIndex, &'a Entry)>) -> Topics<ParameterIndex> {
    let mut tree = Topics::default();
    for (index, entry) in some {
        *tree.place(&entry.name) = Some(index);
    }
    tree
}
fn unknown(at: usize, name: &str) -> Problem {
    Problem::new(at, name, ProblemCode::Unknown, "no parameter has this name")
}
