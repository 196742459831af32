//! Declaring parameters: all that a request names, or none and every reason why.

use std::sync::Arc;

use slipring_wire::frame::{Kind, RangeSet};

use super::Table;
use super::definition::Definition;
use super::registry::{Registry, TableChange};
use crate::desk::{
    DeclaredEntry, DeskBounds, DeskSize, EntryGrowth, Problem, ProblemCode, entry_problems,
    lack_of_room,
};
use crate::{ParameterIndex, SessionKey};

/// The result of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The index of each parameter, in the order of the request.
    pub indices: Vec<ParameterIndex>,
    /// What changed.
    pub change: TableChange,
}

/// The index that a declared parameter gets, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Assignment {
    Known(ParameterIndex),
    Changed(ParameterIndex),
    Revived(ParameterIndex),
    New(ParameterIndex),
}

/// A new parameter that has no index yet.
const UNNUMBERED: Assignment = Assignment::New(ParameterIndex::new(0));

type ParameterDeclaration = DeclaredEntry<Definition>;

impl Registry {
    /// Makes a session a publisher of these parameters, and adds those that do not exist yet. If there are problems,
    /// `known` ones or others, nothing changes, and the error has all of them.
    pub fn declare(
        &mut self,
        session: SessionKey,
        client_id: &str,
        asked: &[ParameterDeclaration],
        bounds: &DeskBounds,
        known: Vec<Problem>,
    ) -> Result<Declared, Vec<Problem>> {
        let assignments = self.assignments(session, asked, bounds, known)?;
        Ok(self.enter(session, client_id, asked, &assignments))
    }

    /// The index that each parameter gets; the error has the known problems and all others.
    fn assignments(
        &self,
        session: SessionKey,
        asked: &[ParameterDeclaration],
        bounds: &DeskBounds,
        mut problems: Vec<Problem>,
    ) -> Result<Vec<Assignment>, Vec<Problem>> {
        let known = problems.len();
        problems.append(&mut entry_problems(asked, bounds, Definition::check));
        let mut assignments: Vec<Assignment> = Vec::with_capacity(asked.len());
        for one in asked {
            assignments.push(self.assignment(one).unwrap_or_else(|clash| {
                problems.push(clash);
                UNNUMBERED
            }));
        }
        problems.extend(self.lack_of_room(asked, &assignments, bounds));
        if problems.len() == known {
            number(&mut assignments, asked, self.entries.end());
            problems.extend(self.lack_of_ranges(session, asked, &assignments));
        }
        if problems.is_empty() { Ok(assignments) } else { Err(problems) }
    }

    /// The index that a parameter gets; a new one has none yet.
    fn assignment(&self, asked: &ParameterDeclaration) -> Result<Assignment, Problem> {
        let Some(index) = self.entries.known_index(&asked.name) else { return Ok(UNNUMBERED) };
        let Some(known) = self.entries.known(index) else { return Ok(UNNUMBERED) };
        let is_same = known.definition.is_same(&asked.definition);
        match self.entries.get(index) {
            Some(_) if !is_same => Err(clash(asked, &known.definition)),
            Some(_) if *known.definition == asked.definition => Ok(Assignment::Known(index)),
            Some(_) => Ok(Assignment::Changed(index)),
            None if is_same => Ok(Assignment::Revived(index)),
            None => Ok(UNNUMBERED),
        }
    }

    fn lack_of_room(
        &self,
        asked: &[ParameterDeclaration],
        assignments: &[Assignment],
        bounds: &DeskBounds,
    ) -> Option<Problem> {
        let Self { entries, .. } = self;
        let size =
            DeskSize { entries: entries.len(), bytes: entries.bytes(), end: entries.end().get() };
        let growths = asked.iter().zip(assignments).map(|(one, assignment)| {
            let takes_index = matches!(assignment, Assignment::New(_));
            let is_added = takes_index || matches!(assignment, Assignment::Revived(_));
            let known = entries.get(assignment.index()).filter(|_| !is_added);
            let had = known.map_or(0, |known| known.definition.bytes());
            let name_bytes = if is_added { one.name.len() } else { 0 };
            let needs = name_bytes + one.definition.bytes();
            (one, EntryGrowth { is_added, takes_index, had, needs })
        });
        lack_of_room::<Table, _>(size, bounds, growths)
    }

    /// The first parameter, if there is no room to remember which ranges of indices the publishers have.
    fn lack_of_ranges(
        &self,
        session: SessionKey,
        asked: &[ParameterDeclaration],
        assignments: &[Assignment],
    ) -> Option<Problem> {
        let has_room = self.publishers.has_room(session, &indices_of(assignments));
        let first = asked.first().filter(|_| !has_room)?;
        let text = "publishers have declared too many parameters that do not lie together";
        Some(first.problem(ProblemCode::Full, text))
    }

    fn enter(
        &mut self,
        session: SessionKey,
        client_id: &str,
        asked: &[ParameterDeclaration],
        assignments: &[Assignment],
    ) -> Declared {
        let (mut added, mut changed, mut revived) = (Vec::new(), Vec::new(), Vec::new());
        for (one, assignment) in asked.iter().zip(assignments) {
            match assignment {
                Assignment::Known(_) => continue,
                Assignment::Changed(index) => changed.push(*index),
                Assignment::Revived(index) => revived.push(*index),
                Assignment::New(index) => added.push(*index),
            }
            let (index, definition) = (assignment.index(), Arc::new(one.definition.clone()));
            self.entries.put(index, &one.name, definition).expect("its index was checked");
            *self.tree.place(&one.name) = Some(index);
        }
        self.publishers.come_back(session);
        let entered = self.publishers.enter(session, client_id, &indices_of(assignments)).new;
        let change = TableChange {
            added: sorted(added),
            changed: sorted(changed),
            revived: sorted(revived),
            removed: RangeSet::new(),
            entered,
        };
        self.revise(&change);
        Declared {
            indices: assignments.iter().map(|assignment| assignment.index()).collect(),
            change,
        }
    }
}

impl Assignment {
    fn index(self) -> ParameterIndex {
        let (Self::Known(index) | Self::Changed(index) | Self::Revived(index) | Self::New(index)) =
            self;
        index
    }
}

fn clash(asked: &ParameterDeclaration, known: &Definition) -> Problem {
    let (known, wanted) = known.compared(&asked.definition);
    let text = format!(
        "it is declared as {known}, and asked for as {wanted}; a parameter keeps its type, unit \
         and labels: take another name, or remove it first"
    );
    asked.problem(ProblemCode::Clash, text)
}

/// Gives new parameters their indices, parameters of one kind together, so that frames have few runs.
fn number(assignments: &mut [Assignment], asked: &[ParameterDeclaration], end: ParameterIndex) {
    let kind = |at: &usize| -> Kind { asked[*at].definition.kind.wire() };
    let new = assignments
        .iter()
        .enumerate()
        .filter(|(_, assignment)| matches!(assignment, Assignment::New(_)));
    let mut new: Vec<usize> = new.map(|(at, _)| at).collect();
    new.sort_by_key(kind);
    for (at, index) in new.into_iter().zip(end.get()..) {
        assignments[at] = Assignment::New(ParameterIndex::new(index));
    }
}

fn indices_of(assignments: &[Assignment]) -> RangeSet {
    sorted(assignments.iter().map(|assignment| assignment.index()).collect())
}

pub(super) fn sorted(mut indices: Vec<ParameterIndex>) -> RangeSet {
    indices.sort_unstable();
    indices.into_iter().map(u32::from).collect()
}
