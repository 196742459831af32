//! Answers about the table as JSON: what a client gets, and what is told to all who follow it.

use serde::{Serialize, Serializer};
use slipring_wire::frame::RangeSet;

use super::answer_rows::AnswerRows;
use super::entries::{Entries, Entry};
use super::problem::{Code, Problem, Refusal};
use super::registry::Registry;
use super::spoken::Written;

#[derive(Serialize)]
pub(super) struct Found<T> {
    pub table: u32,
    pub revision: u64,
    pub indices: Vec<T>,
}

#[derive(Serialize)]
pub(super) struct Removed {
    pub removed: usize,
    pub revision: u64,
}

#[derive(Serialize)]
pub(super) struct Selected {
    pub table: u32,
    pub revision: u64,
    pub selection: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indices: Option<Vec<Option<u32>>>,
    pub ranges: Vec<(u32, u32)>,
}

#[derive(Serialize)]
pub(super) struct WithErrors<'a, T> {
    #[serde(flatten)]
    pub answer: &'a T,
    pub errors: &'a [Problem],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_errors: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct Listed<'a> {
    pub index: u32,
    #[serde(flatten)]
    pub definition: Written<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

impl<'a> Listed<'a> {
    pub fn of(index: u32, entry: &'a Entry, removed: bool) -> Self {
        let mut definition = Written::of(&entry.definition);
        definition.name = Some((&*entry.name).into());
        Self { index, definition, removed }
    }
}

/// A page of parameters, with where to go on.
pub(super) fn listing(table: u32, revision: u64, next: Option<u32>, rows: &AnswerRows) -> Vec<u8> {
    let next = next.map_or_else(|| "null".to_owned(), |index| index.to_string());
    let head =
        format!("{{\"table\":{table},\"revision\":{revision},\"next\":{next},\"parameters\":[");
    [head.as_bytes(), rows.text(), b"]}"].concat()
}

pub(super) fn json(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).expect("strings and numbers")
}

/// Each range as its first index and how many there are.
pub(super) fn pairs(set: &RangeSet) -> Vec<(u32, u32)> {
    set.iter().map(|range| (range.start, range.end - range.start)).collect()
}

impl Entries {
    /// As JSON, by index: those that are there, and those that were, which say so.
    pub fn to_json(&self) -> String {
        let known = self.known_in(0..u32::MAX);
        let listed = |(index, entry, is_there): (u32, _, bool)| {
            let listed = Listed::of(index, entry, !is_there);
            serde_json::to_string(&listed).expect("strings and finite numbers")
        };
        let parameters: Vec<String> = known.map(listed).collect();
        let (table, revision, parameters) = (self.id(), self.revision(), parameters.join(","));
        format!("{{\"table\":{table},\"revision\":{revision},\"parameters\":[{parameters}]}}")
    }
}

impl Refusal {
    /// As JSON of at most so many bytes, as much as there is room for.
    pub fn answer(&self, bytes_max: usize) -> Vec<u8> {
        #[derive(Serialize)]
        struct Refused<'a> {
            error: Code,
            message: &'a str,
            problems: &'a [Problem],
        }
        let mut told = self.problems.len();
        loop {
            let problems = &self.problems[..told];
            let bytes = json(&Refused { error: self.code, message: &self.message, problems });
            if bytes.len() <= bytes_max || told == 0 {
                return bytes;
            }
            told /= 2;
        }
    }
}

/// What is told to those who follow the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Parameters are there, new or again.
    Added,
    /// They are gone.
    Removed,
    /// They are described anew.
    Changed,
    /// Their values are old.
    Stale,
    /// Their values are of now again.
    Fresh,
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Stale => "stale",
            Self::Fresh => "fresh",
        })
    }
}

/// The JSON that tells of an event.
pub fn told(registry: &Registry, event: Event, ranges: &RangeSet, why: Option<&str>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Told<'a> {
        table: u32,
        revision: u64,
        event: Event,
        ranges: Vec<(u32, u32)>,
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<&'a str>,
    }
    let (table, revision) = (registry.id(), registry.revision());
    json(&Told { table, revision, event, ranges: pairs(ranges), why })
}
