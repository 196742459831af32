//! Declaring parameters: all that are asked for, or none and every reason why.

use std::collections::HashSet;
use std::sync::Arc;

use slipring_wire::check_topic;
use slipring_wire::frame::{Kind, RangeSet};

use super::definition::Definition;
use super::entries::INDICES_MAX;
use super::problem::{Code, Problem};
use super::registry::{Bounds, Change, Registry};
use crate::levels;

/// What a declaration led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The index of each parameter, in the order asked.
    pub indices: Vec<u32>,
    /// What is different now.
    pub change: Change,
}

/// A parameter that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Its place in the request.
    pub at: usize,
    pub name: &'a str,
    pub definition: &'a Definition,
}

/// What an asked parameter is to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Known(u32),
    Changed(u32),
    Revived(u32),
    New(u32),
}

impl Registry {
    /// Makes a session a publisher of these parameters, whose client is called so; those that are not
    /// there yet are added. All of them, or none and why.
    pub fn declare(
        &mut self,
        session: u64,
        client: &str,
        asked: &[(String, Definition)],
        bounds: &Bounds,
    ) -> Result<Declared, Vec<Problem>> {
        let asked: Vec<_> = (0..)
            .zip(asked)
            .map(|(at, (name, definition))| Asked { at, name, definition })
            .collect();
        self.declare_asked(session, client, &asked, bounds)
    }

    pub(super) fn declare_asked(
        &mut self,
        session: u64,
        client: &str,
        asked: &[Asked<'_>],
        bounds: &Bounds,
    ) -> Result<Declared, Vec<Problem>> {
        let places = self.places(session, asked, bounds)?;
        Ok(self.enter(session, client, asked, &places))
    }

    /// Everything that is wrong with these. Changes nothing.
    pub(super) fn problems(
        &self,
        session: u64,
        asked: &[Asked<'_>],
        bounds: &Bounds,
    ) -> Vec<Problem> {
        self.places(session, asked, bounds).err().unwrap_or_default()
    }

    /// Where each will be.
    fn places(
        &self,
        session: u64,
        asked: &[Asked<'_>],
        bounds: &Bounds,
    ) -> Result<Vec<Place>, Vec<Problem>> {
        let (mut problems, mut names) = (Vec::new(), HashSet::with_capacity(asked.len()));
        let mut places: Vec<Place> = Vec::with_capacity(asked.len());
        for one in asked {
            one.check(bounds, &mut problems);
            if !names.insert(one.name) {
                problems.push(one.problem(Code::Duplicate, "the request has this name twice"));
            }
            places.push(self.place(one).unwrap_or_else(|clash| {
                problems.push(clash);
                Place::New(0)
            }));
        }
        problems.extend(self.lack_of_room(asked, &places, bounds));
        if !problems.is_empty() {
            return Err(problems);
        }
        number(&mut places, asked, self.end());
        self.check_publishers(session, asked, &places)?;
        Ok(places)
    }

    /// What a parameter is to the table; a new one has no index yet.
    fn place(&self, asked: &Asked<'_>) -> Result<Place, Problem> {
        let Some(index) = self.entries.known_index(asked.name) else { return Ok(Place::New(0)) };
        let Some(known) = self.entries.known(index) else { return Ok(Place::New(0)) };
        let is_same = known.definition.is_same(asked.definition);
        match self.get(index) {
            Some(_) if !is_same => Err(asked.clash(&known.definition)),
            Some(_) if *known.definition == *asked.definition => Ok(Place::Known(index)),
            Some(_) => Ok(Place::Changed(index)),
            None if is_same => Ok(Place::Revived(index)),
            None => Ok(Place::New(0)),
        }
    }

    /// The first parameter that the table has no room for.
    fn lack_of_room(
        &self,
        asked: &[Asked<'_>],
        places: &[Place],
        bounds: &Bounds,
    ) -> Option<Problem> {
        let (mut live, mut bytes, mut end) = (self.len(), self.entries.bytes(), self.end());
        for (one, place) in asked.iter().zip(places) {
            let needed = one.definition.bytes();
            match place {
                Place::Known(_) => continue,
                Place::Changed(index) => {
                    let had = self.definition(*index).map_or(0, Definition::bytes);
                    // A name that is there twice, which is refused, gives up what it had once.
                    bytes = (bytes + needed).saturating_sub(had);
                    if needed <= had {
                        continue;
                    }
                }
                Place::Revived(_) | Place::New(_) => {
                    live += 1;
                    bytes += one.name.len() + needed;
                    end = end.saturating_add(u32::from(matches!(place, Place::New(_))));
                }
            }
            let is_added = !matches!(place, Place::Changed(_));
            let what = if is_added && live > bounds.parameters {
                let (there, most) = (self.len(), bounds.parameters);
                format!("the table has {there} parameters, and room for {most} (limits.parameters)")
            } else if bytes > bounds.bytes {
                format!("the definitions would take more than {} bytes", bounds.bytes)
            } else if end > INDICES_MAX {
                format!("the table has given all its {INDICES_MAX} indices")
            } else {
                continue;
            };
            return Some(one.problem(Code::Full, what));
        }
        None
    }

    fn check_publishers(
        &self,
        session: u64,
        asked: &[Asked<'_>],
        places: &[Place],
    ) -> Result<(), Vec<Problem>> {
        if self.publishers.has_room(session, &indices_of(places)) {
            return Ok(());
        }
        let text = "publishers have declared too many parameters that do not lie together";
        Err(asked.first().map(|one| one.problem(Code::Full, text)).into_iter().collect())
    }

    fn enter(
        &mut self,
        session: u64,
        client: &str,
        asked: &[Asked<'_>],
        places: &[Place],
    ) -> Declared {
        let (mut added, mut changed, mut revived) = (Vec::new(), Vec::new(), Vec::new());
        for (one, place) in asked.iter().zip(places) {
            match place {
                Place::Known(_) => continue,
                Place::Changed(index) => changed.push(*index),
                Place::Revived(index) => revived.push(*index),
                Place::New(index) => added.push(*index),
            }
            let (index, definition) = (place.index(), Arc::new(one.definition.clone()));
            self.entries.put(index, one.name, definition).expect("its place was looked for");
            *self.tree.place(one.name) = Some(index);
        }
        self.publishers.come_back(session);
        let entered = self.publishers.enter(session, client, &indices_of(places)).new;
        let change = Change {
            added: sorted(added),
            changed: sorted(changed),
            revived: sorted(revived),
            removed: RangeSet::new(),
            entered,
        };
        self.revise(&change);
        Declared { indices: places.iter().map(|place| place.index()).collect(), change }
    }
}

impl Place {
    fn index(self) -> u32 {
        let (Self::Known(index) | Self::Changed(index) | Self::Revived(index) | Self::New(index)) =
            self;
        index
    }
}

impl Asked<'_> {
    pub fn problem(&self, code: Code, message: impl Into<String>) -> Problem {
        Problem::new(self.at, self.name, code, message)
    }

    fn check(&self, bounds: &Bounds, problems: &mut Vec<Problem>) {
        if let Err(text) = check_name(self.name, bounds) {
            problems.push(self.problem(Code::Name, text));
        }
        self.definition.check(&mut |code, text| problems.push(self.problem(code, text)));
    }

    fn clash(&self, known: &Definition) -> Problem {
        let (known, asked) = known.compared(self.definition);
        let text = format!(
            "it is declared as {known}, and asked for as {asked}; a parameter keeps its type, unit \
             and labels: take another name, or remove it first"
        );
        self.problem(Code::Clash, text)
    }
}

/// Gives new parameters their indices, those of a kind together, so that frames have few runs.
fn number(places: &mut [Place], asked: &[Asked<'_>], end: u32) {
    let kind = |at: &usize| -> Kind { asked[*at].definition.kind.wire() };
    let new = places.iter().enumerate().filter(|(_, place)| matches!(place, Place::New(_)));
    let mut new: Vec<usize> = new.map(|(at, _)| at).collect();
    new.sort_by_key(kind);
    for (at, index) in new.into_iter().zip(end..) {
        places[at] = Place::New(index);
    }
}

fn indices_of(places: &[Place]) -> RangeSet {
    sorted(places.iter().map(|place| place.index()).collect())
}

pub(super) fn sorted(mut indices: Vec<u32>) -> RangeSet {
    indices.sort_unstable();
    indices.into_iter().collect()
}

/// Whether a parameter can be called so.
fn check_name(name: &str, bounds: &Bounds) -> Result<(), String> {
    if name.starts_with('$') {
        return Err("a name that begins with $ is the broker's own".to_owned());
    }
    let (bytes, levels) = (name.len(), levels(name));
    if bytes > bounds.name_bytes {
        let most = bounds.name_bytes;
        return Err(format!("a name of {bytes} bytes; {most} are allowed (limits.topic_bytes)"));
    }
    if levels > bounds.name_levels {
        let most = bounds.name_levels;
        return Err(format!("a name of {levels} levels; {most} are allowed (limits.topic_levels)"));
    }
    check_topic(name).map_err(|error| error.to_string())
}
