//! The parameters by index: name, kind and labels, which never change for an index.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use slipring_core::table::{Definition, Entry, Labels, ParameterKind};
use slipring_wire::frame::{Kind, RunView};

use crate::few_texts::FewTexts;

/// Indices up to this one are decoded: Arrow's and Spark's 32-bit numbers have a sign. A broker gives far lower ones.
const INDEX_MAX: u32 = 1 << 24;

/// Why a list of parameters cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ParametersError {
    /// It is no JSON of the right form.
    #[error("the definitions of the parameters are not valid: {0}")]
    Json(#[from] serde_json::Error),
    /// A parameter in it is wrong.
    #[error("parameter {index}: {reason}")]
    Parameter {
        /// Its index.
        index: u32,
        /// What is wrong.
        reason: String,
    },
}

/// The list, as a journal or a broker gives it. Other fields are not needed here.
#[derive(Deserialize)]
struct ListJson {
    table: u32,
    versions: Vec<ParameterJson>,
}

#[derive(Deserialize)]
struct ParameterJson {
    index: u32,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    labels: Option<BTreeMap<u32, String>>,
    unit: Option<String>,
}

/// All parameters that a table has or had.
#[derive(Debug, Default)]
pub struct KnownParameters {
    /// The table that the indices belong to.
    pub table: u32,
    entries: Vec<Option<Entry>>,
    /// The code of the kind of each index; 0 for none.
    kinds: Vec<u8>,
    /// Whether each index is an enumeration.
    labelled: Vec<bool>,
    topics: HashSet<Box<[u8]>>,
    /// Their types, as people write them.
    types: FewTexts,
    units: FewTexts,
}

impl KnownParameters {
    /// Reads `{"table": 7, "versions": [{"index": 0, "name": "a", "type": "f64"}]}`. Of several with one index the
    /// last counts: they differ in their descriptions only.
    pub fn from_json(text: &str) -> Result<Self, ParametersError> {
        let ListJson { table, versions } = serde_json::from_str(text)?;
        let mut known = Self { table, ..Self::default() };
        for one in versions {
            let index = one.index;
            let wrong = |reason| ParametersError::Parameter { index, reason };
            if index > INDEX_MAX {
                return Err(wrong(format!("an index is at most {INDEX_MAX}")));
            }
            known.types.put(index as usize, Some(&one.kind));
            known.units.put(index as usize, one.unit.as_deref());
            known.put(index, entry(one).map_err(wrong)?);
        }
        Ok(known)
    }

    fn put(&mut self, index: u32, entry: Entry) {
        let at = index as usize;
        if at >= self.entries.len() {
            self.entries.resize(at + 1, None);
            self.kinds.resize(at + 1, 0);
            self.labelled.resize(at + 1, false);
        }
        self.labelled[at] = entry.definition.kind.labels().is_some();
        self.kinds[at] = entry.kind.code();
        self.topics.insert(entry.name.as_bytes().into());
        self.entries[at] = Some(entry);
    }

    /// A parameter.
    pub(crate) fn get(&self, index: u32) -> Option<&Entry> {
        self.entries.get(index as usize)?.as_ref()
    }

    /// The name of a parameter; empty if there is none.
    pub(crate) fn name(&self, index: u32) -> &str {
        self.get(index).map_or("", |entry| &entry.name)
    }

    /// The type of each parameter.
    pub(crate) fn types(&self) -> &FewTexts {
        &self.types
    }

    /// The unit of each parameter that has one.
    pub(crate) fn units(&self) -> &FewTexts {
        &self.units
    }

    /// Whether a topic is a parameter's.
    pub(crate) fn has_topic(&self, topic: &[u8]) -> bool {
        self.topics.contains(topic)
    }

    /// Whether an index is a parameter of this kind.
    pub(crate) fn is(&self, index: u32, kind: Kind) -> bool {
        self.kinds.get(index as usize) == Some(&kind.code())
    }

    /// Whether all samples of a run are of known parameters.
    pub(crate) fn knows(&self, run: &RunView<'_>) -> bool {
        run.ranges().all(|range| {
            let kinds = self.kinds.get(range.start as usize..range.end as usize);
            kinds.is_some_and(|kinds| kinds.iter().all(|kind| *kind != 0))
        })
    }

    /// Whether all samples of a run are of known parameters, and of their kinds.
    pub(crate) fn has(&self, run: &RunView<'_>) -> bool {
        run.ranges().all(|range| {
            let kinds = self.kinds.get(range.start as usize..range.end as usize);
            kinds.is_some_and(|kinds| kinds.iter().all(|kind| *kind == run.kind.code()))
        })
    }

    /// The label of an enumeration's number.
    pub(crate) fn label(&self, index: u32, number: u32) -> Option<&str> {
        self.get(index)?.definition.kind.labels()?.label(number)
    }

    /// Whether a parameter is an enumeration.
    pub(crate) fn has_labels(&self, index: u32) -> bool {
        self.labelled.get(index as usize).copied().unwrap_or(false)
    }
}

fn entry(one: ParameterJson) -> Result<Entry, String> {
    let kind = match (one.labels, one.kind.as_str()) {
        (Some(labels), "enum") => ParameterKind::Enum(Labels::new(labels)?),
        (_, name) => {
            let kind = Kind::from_name(name).ok_or_else(|| format!("there is no type {name:?}"));
            ParameterKind::Plain(kind?)
        }
    };
    let wire = kind.wire();
    let definition = Definition {
        kind,
        unit: None,
        description: None,
        range: None,
        limits: None,
        rate_hz: None,
        source: None,
    };
    Ok(Entry { name: one.name.into(), definition: Arc::new(definition), kind: wire })
}
