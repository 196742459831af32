//! Answers about the table as JSON: what a client gets, and what is told to all who follow it.

use serde::Serialize;
use slipring_wire::frame::RangeSet;

use super::definition_json::WrittenDefinition;
use super::entries::{Entries, Entry};
use super::registry::Registry;
use crate::ParameterIndex;
use crate::desk::json;

#[derive(Serialize)]
pub(super) struct FoundIndices<T> {
    pub table: u32,
    pub revision: u64,
    pub indices: Vec<T>,
}

#[derive(Serialize)]
pub(super) struct RemovedCount {
    pub removed: usize,
    pub revision: u64,
}

#[derive(Serialize)]
pub(super) struct Selected {
    pub table: u32,
    pub revision: u64,
    pub selection: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indices: Option<Vec<Option<ParameterIndex>>>,
    pub ranges: Vec<(u32, u32)>,
}

#[derive(Serialize)]
pub(super) struct ListedParameter<'a> {
    pub index: ParameterIndex,
    #[serde(flatten)]
    pub definition: WrittenDefinition<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

impl<'a> ListedParameter<'a> {
    pub fn of(index: ParameterIndex, entry: &'a Entry, removed: bool) -> Self {
        let mut definition = WrittenDefinition::of(&entry.definition);
        definition.name = Some((&*entry.name).into());
        Self { index, definition, removed }
    }
}

/// The fields with which a page begins.
pub(super) fn fields(registry: &Registry) -> String {
    format!("\"table\":{},\"revision\":{}", registry.id(), registry.revision())
}

/// Each range as its first index and how many there are.
pub(super) fn pairs(set: &RangeSet) -> Vec<(u32, u32)> {
    set.iter().map(|range| (range.start, range.end - range.start)).collect()
}

impl Entries {
    /// As JSON, by index: those that are there, and those that were, which say so.
    pub fn to_json(&self) -> String {
        let known = self.known_in(0..u32::MAX);
        let listed = |(index, entry, is_there): (ParameterIndex, _, bool)| {
            let listed = ListedParameter::of(index, entry, !is_there);
            serde_json::to_string(&listed).expect("strings and finite numbers")
        };
        let parameters: Vec<String> = known.map(listed).collect();
        let (table, revision, parameters) = (self.id(), self.revision(), parameters.join(","));
        format!("{{\"table\":{table},\"revision\":{revision},\"parameters\":[{parameters}]}}")
    }
}

/// What is told to those who follow the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TableEvent {
    /// Parameters were added, or are back after they were removed.
    Added,
    /// They were removed.
    Removed,
    /// Their descriptions changed.
    Changed,
    /// Their values are old.
    Stale,
    /// Their values are current again.
    Fresh,
}

/// The JSON that tells of an event.
pub fn told(
    registry: &Registry,
    event: TableEvent,
    ranges: &RangeSet,
    why: Option<&str>,
) -> Vec<u8> {
    #[derive(Serialize)]
    struct Message<'a> {
        table: u32,
        revision: u64,
        event: TableEvent,
        ranges: Vec<(u32, u32)>,
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<&'a str>,
    }
    let (table, revision) = (registry.id(), registry.revision());
    json(&Message { table, revision, event, ranges: pairs(ranges), why })
}
