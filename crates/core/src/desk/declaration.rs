//! Declarations: entries that a client asks a desk to hold, parameters or streams. A desk takes all of them or none.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use slipring_wire::check_topic;

use super::{Desk, DeskBounds, Problem, ProblemCode, RequestRefusal, json_error, parse};
use crate::levels;

/// The most indices that one desk gives; none is given twice.
pub(crate) const INDICES_MAX: u32 = 1 << 22;
/// The most bytes of a description.
pub(crate) const DESCRIPTION_BYTES_MAX: usize = 1_000;
/// The most bytes of a source.
pub(crate) const SOURCE_BYTES_MAX: usize = 256;

/// A parameter or a stream that a client declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredEntry<D> {
    /// Its position in the request, from 0.
    pub at: usize,
    /// Its full name.
    pub name: String,
    /// Its definition.
    pub definition: D,
}

/// The entries of a declaration, and the problems of those that could not be read.
#[derive(Clone, Debug)]
pub struct Declaration<D> {
    /// Entries that could be read.
    pub entries: Vec<DeclaredEntry<D>>,
    /// Problems of the others.
    pub problems: Vec<Problem>,
}

/// An entry read from JSON: its name, and its definition or what is wrong with that.
pub(crate) type EntryJson<'a, D> = (Option<Cow<'a, str>>, Result<D, (ProblemCode, String)>);

/// Where a definition reports its problems.
pub(crate) type Report<'a> = dyn FnMut(ProblemCode, String) + 'a;

impl<D> DeclaredEntry<D> {
    /// An entry at this position of a request.
    pub fn new(at: usize, name: impl Into<String>, definition: D) -> Self {
        Self { at, name: name.into(), definition }
    }

    fn read<'a>(
        at: usize,
        prefix: &str,
        json: &'a str,
        read: impl Fn(&'a str) -> serde_json::Result<EntryJson<'a, D>>,
    ) -> Result<Self, Problem> {
        let (name, definition) = read(json).map_err(|error| {
            let (name, text) = (full_name(prefix, &name_in(json)), json_error(&error));
            Problem::new(at, &name, ProblemCode::Malformed, without_place(&text))
        })?;
        let problem = |text| Problem::new(at, "", ProblemCode::Name, text);
        let name = name.ok_or_else(|| problem("the entry has no name"))?;
        if name.is_empty() {
            return Err(problem("the name is empty"));
        }
        let name = full_name(prefix, &name);
        match definition {
            Ok(definition) => Ok(Self { at, name, definition }),
            Err((code, text)) => Err(Problem::new(at, &name, code, text)),
        }
    }

    pub(crate) fn problem(&self, code: ProblemCode, message: impl Into<String>) -> Problem {
        Problem::new(self.at, &self.name, code, message)
    }
}

impl<D> Declaration<D> {
    /// Reads entries one by one, so that every problem can be reported.
    pub(crate) fn read<'a>(
        prefix: &str,
        entries: &[&'a RawValue],
        read: impl Fn(&'a str) -> serde_json::Result<EntryJson<'a, D>>,
    ) -> Result<Self, RequestRefusal> {
        check_prefix(prefix)?;
        let mut declaration = Self { entries: Vec::new(), problems: Vec::new() };
        declaration.entries.reserve(entries.len());
        for (at, json) in entries.iter().map(|entry| entry.get()).enumerate() {
            match DeclaredEntry::read(at, prefix, json, &read) {
                Ok(entry) => declaration.entries.push(entry),
                Err(problem) => declaration.problems.push(problem),
            }
        }
        Ok(declaration)
    }

    /// How many entries the request has.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() + self.problems.len()
    }
}

/// Reads the object around the entries. One that cannot be read is answered with an example.
pub(crate) fn parse_declaration<'a, T: Deserialize<'a>>(
    body: &'a [u8],
    example: &str,
) -> Result<T, RequestRefusal> {
    parse(body).map_err(|RequestRefusal { message, .. }| {
        let text = format!("{message}; a declaration is {example}");
        RequestRefusal::new(ProblemCode::Malformed, text)
    })
}

/// A parser's message without its line and column, which would count from the start of one entry.
fn without_place(text: &str) -> &str {
    text.rfind(" at line ").map_or(text, |end| &text[..end])
}

/// The name in an entry that is otherwise wrong; empty if there is none.
fn name_in(json: &str) -> String {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    serde_json::from_str::<Named>(json).map_or_else(|_| String::new(), |named| named.name)
}

fn check_prefix(prefix: &str) -> Result<(), RequestRefusal> {
    if !prefix.ends_with('/') {
        return Ok(());
    }
    let text = "the prefix ends with /; names are put behind it with a / between";
    Err(RequestRefusal::new(ProblemCode::Name, text))
}

fn full_name(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// The problems that every desk looks for: wrong names, wrong definitions, and names that the request has twice.
pub(crate) fn entry_problems<D>(
    entries: &[DeclaredEntry<D>],
    bounds: &DeskBounds,
    check: fn(&D, &mut Report<'_>),
) -> Vec<Problem> {
    let (mut problems, mut names) = (Vec::new(), HashSet::with_capacity(entries.len()));
    for one in entries {
        if let Err(text) = check_name(&one.name, bounds) {
            problems.push(one.problem(ProblemCode::Name, text));
        }
        check(&one.definition, &mut |code, text| problems.push(one.problem(code, text)));
        if !names.insert(&*one.name) {
            problems.push(one.problem(ProblemCode::Duplicate, "the request has this name twice"));
        }
    }
    problems
}

/// Whether a parameter or a stream can have this name.
fn check_name(name: &str, bounds: &DeskBounds) -> Result<(), String> {
    if name.starts_with('$') {
        return Err("a name that begins with $ is reserved for the broker".to_owned());
    }
    let (bytes, levels) = (name.len(), levels(name));
    let (bytes_max, levels_max) = (bounds.name_bytes, bounds.name_levels);
    if bytes > bytes_max {
        return Err(format!(
            "the name has {bytes} bytes; {bytes_max} are allowed (limits.topic_bytes)"
        ));
    }
    if levels > levels_max {
        return Err(format!(
            "the name has {levels} levels; {levels_max} are allowed (limits.topic_levels)"
        ));
    }
    check_topic(name).map_err(|error| error.to_string())
}

/// Reports a text of a definition that is too long.
pub(crate) fn check_text(
    code: ProblemCode,
    text: Option<&String>,
    bytes_max: usize,
    report: &mut Report<'_>,
) {
    let bytes = text.map_or(0, String::len);
    if bytes > bytes_max {
        let what = code.name();
        report(code, format!("the {what} has {bytes} bytes; {bytes_max} are allowed"));
    }
}

/// What a desk holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeskSize {
    pub entries: usize,
    pub bytes: usize,
    /// One past the highest index given.
    pub end: u32,
}

/// What a declared entry changes in the size of a desk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryGrowth {
    /// Whether it is added, with an index of its own or its old one.
    pub is_added: bool,
    pub takes_index: bool,
    /// The bytes that it had and will have.
    pub had: usize,
    pub needs: usize,
}

/// The first of these entries that a desk of this size has no room for.
pub(crate) fn lack_of_room<'a, K: Desk, D: 'a>(
    mut size: DeskSize,
    bounds: &DeskBounds,
    entries: impl Iterator<Item = (&'a DeclaredEntry<D>, EntryGrowth)>,
) -> Option<Problem> {
    let (name, there) = (K::LIMITS[0].name(), size.entries);
    for (one, EntryGrowth { is_added, takes_index, had, needs }) in entries {
        size.entries += usize::from(is_added);
        // A name that the request has twice, which is refused, frees its bytes only once.
        size.bytes = (size.bytes + needs).saturating_sub(had);
        size.end = size.end.saturating_add(u32::from(takes_index));
        if !is_added && needs <= had {
            continue;
        }
        let text = if is_added && size.entries > bounds.entries {
            format!("there are {there} {name}, and room for {} (limits.{name})", bounds.entries)
        } else if size.bytes > bounds.bytes {
            format!("the {} may have {} bytes together; ask for less", K::BYTES_OF, bounds.bytes)
        } else if size.end > INDICES_MAX {
            format!("all {INDICES_MAX} indices of {name} have been given")
        } else {
            continue;
        };
        return Some(one.problem(ProblemCode::Full, text));
    }
    None
}
