//! Answers about the table as JSON, and the messages that announce changes.

use serde::Serialize;
use slipring_wire::frame::RangeSet;

use super::definition_json::WrittenDefinition;
use super::entries::{Entries, Entry};
use super::registry::Registry;
use crate::ParameterIndex;
use crate::desk::{ChangeEvent, json};

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

/// The first fields of a page.
pub(super) fn fields(registry: &Registry) -> String {
    format!("\"table\":{},\"revision\":{}", registry.entries.id(), registry.entries.revision())
}

/// Each range as its first index and its length.
pub(super) fn pairs(set: &RangeSet) -> Vec<(u32, u32)> {
    set.iter().map(|range| (range.start, range.end - range.start)).collect()
}

impl Entries {
    /// All parameters as JSON, by index; removed ones are marked as such.
    pub fn to_json(&self) -> String {
        let known = self.known_in(0..u32::MAX);
        let listed = |(index, entry, exists): (ParameterIndex, _, bool)| {
            let listed = ListedParameter::of(index, entry, !exists);
            serde_json::to_string(&listed).expect("strings and finite numbers")
        };
        let parameters: Vec<String> = known.map(listed).collect();
        let (table, revision, parameters) = (self.id(), self.revision(), parameters.join(","));
        format!("{{\"table\":{table},\"revision\":{revision},\"parameters\":[{parameters}]}}")
    }
}

/// The message that announces an event, and why it happened.
pub fn event_message(
    registry: &Registry,
    event: ChangeEvent,
    parameters: &RangeSet,
    why: Option<&str>,
) -> Vec<u8> {
    #[derive(Serialize)]
    struct Message<'a> {
        table: u32,
        revision: u64,
        event: ChangeEvent,
        ranges: Vec<(u32, u32)>,
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<&'a str>,
    }
    let (table, revision) = (registry.entries.id(), registry.entries.revision());
    json(&Message { table, revision, event, ranges: pairs(parameters), why })
}
