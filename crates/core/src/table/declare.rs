//! Declaring parameters: all that are asked for, or none and every reason why.

use std::collections::HashSet;
use std::sync::Arc;

use slipring_wire::frame::{Kind, RangeSet};

use super::definition::Definition;
use super::entries::INDICES_MAX;
use super::registry::{Registry, TableChange};
use crate::desk::{DeskBounds, Problem, ProblemCode, check_name};
use crate::{ParameterIndex, SessionKey};

/// What a declaration led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The index of each parameter, in the order asked.
    pub indices: Vec<ParameterIndex>,
    /// What is different now.
    pub change: TableChange,
}

/// A parameter to declare.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParameterDeclaration<'a> {
    /// Its position in the request, from 0.
    pub at: usize,
    pub name: &'a str,
    pub definition: &'a Definition,
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

impl Registry {
    /// Makes a session a publisher of these parameters, whose client is called so; those that are not
    /// there yet are added. All of them, or none and why.
    pub fn declare(
        &mut self,
        session: SessionKey,
        client: &str,
        asked: &[(String, Definition)],
        bounds: &DeskBounds,
    ) -> Result<Declared, Vec<Problem>> {
        let asked: Vec<_> = (0..)
            .zip(asked)
            .map(|(at, (name, definition))| ParameterDeclaration { at, name, definition })
            .collect();
        self.declare_asked(session, client, &asked, bounds, Vec::new())
    }

    /// The same where problems of these parameters may be known already.
    pub(super) fn declare_asked(
        &mut self,
        session: SessionKey,
        client: &str,
        asked: &[ParameterDeclaration<'_>],
        bounds: &DeskBounds,
        known: Vec<Problem>,
    ) -> Result<Declared, Vec<Problem>> {
        let assignments = self.assignments(session, asked, bounds, known)?;
        Ok(self.enter(session, client, asked, &assignments))
    }

    /// The index that each gets; else all that is wrong, behind the problems that are known.
    fn assignments(
        &self,
        session: SessionKey,
        asked: &[ParameterDeclaration<'_>],
        bounds: &DeskBounds,
        mut problems: Vec<Problem>,
    ) -> Result<Vec<Assignment>, Vec<Problem>> {
        let (known, mut names) = (problems.len(), HashSet::with_capacity(asked.len()));
        let mut assignments: Vec<Assignment> = Vec::with_capacity(asked.len());
        for one in asked {
            one.check(bounds, &mut problems);
            if !names.insert(one.name) {
                problems
                    .push(one.problem(ProblemCode::Duplicate, "the request has this name twice"));
            }
            assignments.push(self.assignment(one).unwrap_or_else(|clash| {
                problems.push(clash);
                UNNUMBERED
            }));
        }
        problems.extend(self.lack_of_room(asked, &assignments, bounds));
        if problems.len() == known {
            number(&mut assignments, asked, self.end());
            problems.extend(self.lack_of_ranges(session, asked, &assignments));
        }
        if problems.is_empty() { Ok(assignments) } else { Err(problems) }
    }

    /// The index that a parameter gets; a new one has none yet.
    fn assignment(&self, asked: &ParameterDeclaration<'_>) -> Result<Assignment, Problem> {
        let Some(index) = self.entries.known_index(asked.name) else { return Ok(UNNUMBERED) };
        let Some(known) = self.entries.known(index) else { return Ok(UNNUMBERED) };
        let is_same = known.definition.is_same(asked.definition);
        match self.get(index) {
            Some(_) if !is_same => Err(asked.clash(&known.definition)),
            Some(_) if *known.definition == *asked.definition => Ok(Assignment::Known(index)),
            Some(_) => Ok(Assignment::Changed(index)),
            None if is_same => Ok(Assignment::Revived(index)),
            None => Ok(UNNUMBERED),
        }
    }

    /// The first parameter that the table has no room for.
    fn lack_of_room(
        &self,
        asked: &[ParameterDeclaration<'_>],
        assignments: &[Assignment],
        bounds: &DeskBounds,
    ) -> Option<Problem> {
        let (mut live, mut bytes, mut end) = (self.len(), self.entries.bytes(), self.end().get());
        for (one, assignment) in asked.iter().zip(assignments) {
            let needed = one.definition.bytes();
            match assignment {
                Assignment::Known(_) => continue,
                Assignment::Changed(index) => {
                    let had = self.definition(*index).map_or(0, Definition::bytes);
                    // A name that is there twice, which is refused, gives up what it had once.
                    bytes = (bytes + needed).saturating_sub(had);
                    if needed <= had {
                        continue;
                    }
                }
                Assignment::Revived(_) | Assignment::New(_) => {
                    live += 1;
                    bytes += one.name.len() + needed;
                    end = end.saturating_add(u32::from(matches!(assignment, Assignment::New(_))));
                }
            }
            let is_added = !matches!(assignment, Assignment::Changed(_));
            let what = if is_added && live > bounds.entries {
                let (there, most) = (self.len(), bounds.entries);
                format!("the table has {there} parameters, and room for {most} (limits.parameters)")
            } else if bytes > bounds.bytes {
                format!("the definitions would take more than {} bytes", bounds.bytes)
            } else if end > INDICES_MAX {
                format!("the table has given all its {INDICES_MAX} indices")
            } else {
                continue;
            };
            return Some(one.problem(ProblemCode::Full, what));
        }
        None
    }

    /// The first parameter, if publishers have no room for so many ranges of indices.
    fn lack_of_ranges(
        &self,
        session: SessionKey,
        asked: &[ParameterDeclaration<'_>],
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
        client: &str,
        asked: &[ParameterDeclaration<'_>],
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
            self.entries.put(index, one.name, definition).expect("its index was checked");
            *self.tree.place(one.name) = Some(index);
        }
        self.publishers.come_back(session);
        let entered = self.publishers.enter(session, client, &indices_of(assignments)).new;
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

impl ParameterDeclaration<'_> {
    pub fn problem(&self, code: ProblemCode, message: impl Into<String>) -> Problem {
        Problem::new(self.at, self.name, code, message)
    }

    fn check(&self, bounds: &DeskBounds, problems: &mut Vec<Problem>) {
        if let Err(text) = check_name(self.name, bounds) {
            problems.push(self.problem(ProblemCode::Name, text));
        }
        self.definition.check(&mut |code, text| problems.push(self.problem(code, text)));
    }

    fn clash(&self, known: &Definition) -> Problem {
        let (known, asked) = known.compared(self.definition);
        let text = format!(
            "it is declared as {known}, and asked for as {asked}; a parameter keeps its type, unit \
             and labels: take another name, or remove it first"
        );
        self.problem(ProblemCode::Clash, text)
    }
}

/// Gives new parameters their indices, those of a kind together, so that frames have few runs.
fn number(assignments: &mut [Assignment], asked: &[ParameterDeclaration<'_>], end: ParameterIndex) {
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
