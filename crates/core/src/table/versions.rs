//! The versions of the parameters' definitions: which definition held from which offset of the journal on.
//!
//! It follows the records of the journal, in their order, in the broker as well as in recovery: both come to the same
//! versions. An index never changes its type, unit or labels, so the versions of one parameter differ in what
//! describes it, such as its limits.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use super::definition::Definition;
use super::definition_json::WrittenDefinition;
use super::entries::Entries;
use crate::{Offset, ParameterIndex};

/// The most versions of one parameter. Beyond it its oldest is forgotten.
pub const VERSIONS_MAX: usize = 32;
/// The most superseded versions of all parameters. Beyond it those superseded first are forgotten.
const SUPERSEDED_MAX: usize = 65_536;
/// About their bytes.
const SUPERSEDED_BYTES_MAX: usize = 64 << 20;

/// A definition, and where in the journal it held.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinitionVersion {
    /// The first offset at which it held.
    pub since: Offset,
    /// When that was.
    pub since_ns: i64,
    /// The first offset at which it held no more; None while it holds.
    pub until: Option<Offset>,
    /// The definition.
    pub definition: Arc<Definition>,
}

/// A version with its parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterVersion {
    /// The parameter.
    pub index: ParameterIndex,
    /// Its name.
    pub name: Arc<str>,
    /// What held, and where.
    pub version: DefinitionVersion,
}

/// The versions of all known parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct DefinitionVersions {
    /// The revision of the table that they lead to.
    pub revision: u64,
    /// The last version of each parameter. It has an end if the parameter was removed.
    last: BTreeMap<ParameterIndex, DefinitionVersion>,
    /// The versions before it, by their order.
    superseded: BTreeMap<(ParameterIndex, u64), DefinitionVersion>,
    /// The parameters of superseded versions in the order in which these were superseded.
    order: BTreeMap<u64, ParameterIndex>,
    /// How many were ever superseded.
    supersessions: u64,
    superseded_bytes: usize,
}

impl DefinitionVersions {
    /// A parameter was declared at this offset and time. The definition that holds already is no new version.
    pub fn declared(
        &mut self,
        index: ParameterIndex,
        definition: &Arc<Definition>,
        since: Offset,
        since_ns: i64,
    ) {
        let definition = Arc::clone(definition);
        let new = DefinitionVersion { since, since_ns, until: None, definition };
        let Some(last) = self.last.get_mut(&index) else {
            self.last.insert(index, new);
            return;
        };
        let is_continued = last.until.is_none_or(|until| until == since);
        if is_continued && last.definition == new.definition {
            last.until = None;
            return;
        }
        let mut before = std::mem::replace(last, new);
        // One that began at the same offset held for no message.
        if before.since < since {
            before.until.get_or_insert(since);
            self.supersede(index, before);
        }
    }

    /// A parameter was removed at this offset.
    pub fn removed(&mut self, index: ParameterIndex, at: Offset) {
        if let Some(last) = self.last.get_mut(&index) {
            last.until.get_or_insert(at);
        }
    }

    /// Sets where the last version of a parameter held, as a snapshot says.
    pub fn place(
        &mut self,
        index: ParameterIndex,
        since: Offset,
        since_ns: i64,
        until: Option<Offset>,
    ) {
        if let Some(last) = self.last.get_mut(&index) {
            (last.since, last.since_ns, last.until) = (since, since_ns, until);
        }
    }

    /// Adds a version of a known parameter behind its superseded ones. Forgets the oldest where there is no room.
    pub fn supersede(&mut self, index: ParameterIndex, version: DefinitionVersion) {
        let order = self.supersessions;
        self.supersessions += 1;
        self.superseded_bytes += bytes(&version);
        self.superseded.insert((index, order), version);
        self.order.insert(order, index);
        if self.superseded.range(all_of(index)).count() >= VERSIONS_MAX {
            self.forget_oldest_of(index);
        }
        while self.order.len() > SUPERSEDED_MAX || self.superseded_bytes > SUPERSEDED_BYTES_MAX {
            let Some((&order, &index)) = self.order.first_key_value() else { return };
            self.drop_superseded((index, order));
        }
    }

    /// Forgets a parameter.
    pub fn forget(&mut self, index: ParameterIndex) {
        while self.forget_oldest_of(index) {}
        self.last.remove(&index);
    }

    fn forget_oldest_of(&mut self, index: ParameterIndex) -> bool {
        let oldest = self.superseded.range(all_of(index)).next().map(|(key, _)| *key);
        oldest.map(|key| self.drop_superseded(key)).is_some()
    }

    fn drop_superseded(&mut self, key: (ParameterIndex, u64)) {
        if let Some(version) = self.superseded.remove(&key) {
            self.superseded_bytes -= bytes(&version);
        }
        self.order.remove(&key.1);
    }

    /// The superseded versions in the order in which they were superseded.
    pub fn superseded(&self) -> impl Iterator<Item = (ParameterIndex, &DefinitionVersion)> {
        self.order
            .iter()
            .filter_map(|(&order, &index)| Some((index, self.superseded.get(&(index, order))?)))
    }

    /// The last version of a parameter.
    pub fn last(&self, index: ParameterIndex) -> Option<&DefinitionVersion> {
        self.last.get(&index)
    }

    /// All versions from an index on, by index, and of one parameter the oldest first.
    pub(super) fn iter_from(
        &self,
        index: ParameterIndex,
    ) -> impl Iterator<Item = (ParameterIndex, &DefinitionVersion)> {
        self.last.range(index..).flat_map(|(&index, last)| {
            let before = self.superseded.range(all_of(index)).map(|(_, version)| version);
            before.chain([last]).map(move |version| (index, version))
        })
    }
}

fn all_of(index: ParameterIndex) -> Range<(ParameterIndex, u64)> {
    (index, 0)..(index, u64::MAX)
}

fn bytes(version: &DefinitionVersion) -> usize {
    size_of::<DefinitionVersion>() + version.definition.bytes()
}

impl Entries {
    /// Notes that the journal has the declaration of a parameter, at this offset and time.
    pub(crate) fn declared_at(&mut self, index: ParameterIndex, since: Offset, since_ns: i64) {
        if let Some(definition) = self.known(index).map(|entry| Arc::clone(&entry.definition)) {
            self.versions.declared(index, &definition, since, since_ns);
        }
    }

    /// The table's number and the revision that the versions lead to: that of the last change which the journal
    /// has. Both are 0 if it has none.
    pub fn versions_of(&self) -> (u32, u64) {
        let revision = self.versions.revision;
        (if revision == 0 { 0 } else { self.id() }, revision)
    }

    /// Up to `count` versions of the definitions, by index and then by offset, from this index and offset on. Those
    /// of forgotten parameters are forgotten, too.
    pub fn versions_from(
        &self,
        (index, since): (ParameterIndex, Offset),
        count: usize,
    ) -> Vec<ParameterVersion> {
        let versions = self.versions.iter_from(index);
        versions
            .skip_while(|(found, version)| *found == index && version.since < since)
            .filter_map(|(index, version)| {
                let name = Arc::clone(&self.known(index)?.name);
                Some(ParameterVersion { index, name, version: version.clone() })
            })
            .take(count)
            .collect()
    }

    /// All versions of the definitions as JSON objects with commas between them.
    pub fn versions_rows(&self) -> String {
        let all = self.versions_from(Default::default(), usize::MAX);
        let rows: Vec<String> = all.iter().map(ParameterVersion::to_json).collect();
        rows.join(",")
    }
}

impl ParameterVersion {
    /// The version as JSON.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Row<'a> {
            index: ParameterIndex,
            #[serde(flatten)]
            definition: WrittenDefinition<'a>,
            since: Offset,
            since_ns: i64,
            until: Option<Offset>,
        }
        let DefinitionVersion { since, since_ns, until, definition } = &self.version;
        let mut definition = WrittenDefinition::of(definition);
        definition.name = Some((&*self.name).into());
        let (index, since, since_ns, until) = (self.index, *since, *since_ns, *until);
        let row = Row { index, definition, since, since_ns, until };
        serde_json::to_string(&row).expect("strings and finite numbers")
    }
}

/// The definitions of a table as JSON, as the journal had them in this revision and epoch. `rows` are its versions as
/// [`Entries::versions_rows`] writes them.
pub fn definitions_json(
    (table, revision): (u32, u64),
    epoch: u64,
    rows: &str,
    flaws: &[String],
) -> String {
    let flaws = serde_json::to_string(flaws).expect("strings");
    format!(
        "{{\"table\":{table},\"revision\":{revision},\"epoch\":{epoch},\"versions\":[{rows}],\
         \"flaws\":{flaws}}}"
    )
}

#[cfg(test)]
#[path = "versions_tests.rs"]
mod tests;
