//! The JSON form of a definition, in requests, in answers and in the journal.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use slipring_wire::frame::Kind;

use super::definition::{AlarmLimits, Definition, ParameterKind};
use super::labels::Labels;
use crate::desk::{ProblemCode, shown};

/// All keys of a definition. The name is only in requests and answers. An unknown key is an error.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"name\": \"rpm\", \"type\": \"f64\"}"
)]
#[serde(bound(deserialize = "L: Deserialize<'de>"))]
pub(super) struct DefinitionJson<'a, L> {
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub name: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    labels: Option<L>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    unit: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<AlarmLimits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_hz: Option<f64>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    source: Option<Cow<'a, str>>,
}

/// A definition to write as JSON.
pub(super) type WrittenDefinition<'a> = DefinitionJson<'a, &'a Labels>;
/// A definition read from JSON, which is not checked yet.
pub(super) type ReadDefinition<'a> = DefinitionJson<'a, Pairs>;

fn none<L>() -> Option<L> {
    None
}

impl<'a> WrittenDefinition<'a> {
    pub fn of(definition: &'a Definition) -> Self {
        let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        Self {
            name: None,
            kind: Cow::Borrowed(definition.kind.name()),
            labels: definition.kind.labels(),
            unit: text(&definition.unit),
            description: text(&definition.description),
            range: definition.range,
            limits: definition.limits,
            rate_hz: definition.rate_hz,
            source: text(&definition.source),
        }
    }
}

impl ReadDefinition<'_> {
    /// The definition it describes, or what is wrong with its type or labels.
    pub fn definition(self) -> Result<Definition, (ProblemCode, String)> {
        let labels = self.labels.map(Pairs::numbered).transpose();
        let labels = labels.map_err(|wrong| (ProblemCode::Labels, wrong))?;
        let text =
            |text: Option<Cow<'_, str>>| text.filter(|text| !text.is_empty()).map(Cow::into_owned);
        Ok(Definition {
            kind: parameter_kind(&self.kind, labels)?,
            unit: text(self.unit),
            description: text(self.description),
            range: self.range,
            limits: self.limits,
            rate_hz: self.rate_hz,
            source: text(self.source),
        })
    }
}

fn parameter_kind(
    name: &str,
    labels: Option<BTreeMap<u32, String>>,
) -> Result<ParameterKind, (ProblemCode, String)> {
    if name == "enum" {
        let labels = Labels::new(labels.unwrap_or_default());
        return labels.map(ParameterKind::Enum).map_err(|wrong| (ProblemCode::Labels, wrong));
    }
    let Some(kind) = Kind::from_name(name) else {
        let (name, known) = (shown(name), Kind::ALL.map(Kind::name).join(", "));
        return Err((
            ProblemCode::Type,
            format!("there is no type \"{name}\"; types are {known}, enum"),
        ));
    };
    if labels.is_some() {
        return Err((ProblemCode::Labels, format!("{name} has no labels; only an enum has")));
    }
    Ok(ParameterKind::Plain(kind))
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// Labels in the order of the JSON, with duplicates that a map would silently replace.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs(Vec<(String, String)>);

impl Pairs {
    fn numbered(self) -> Result<BTreeMap<u32, String>, String> {
        let mut labels = BTreeMap::new();
        for (value, label) in self.0 {
            let number = value.parse::<u32>().ok().filter(|number| number.to_string() == value);
            let number = number.ok_or_else(|| {
                let value = shown(&value);
                format!("\"{value}\" is no number of a label; numbers are from 0 to {}", u32::MAX)
            })?;
            if labels.insert(number, label).is_some() {
                return Err(format!("{number} has two labels"));
            }
        }
        Ok(labels)
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("labels such as {\"0\": \"off\", \"1\": \"on\"}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

impl Definition {
    /// The definition as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&WrittenDefinition::of(self)).expect("strings and finite numbers")
    }

    /// Reads a definition from JSON that has no name.
    pub fn from_json(json: &str) -> Result<Self, String> {
        let read: ReadDefinition<'_> =
            serde_json::from_str(json).map_err(|error| error.to_string())?;
        if read.name.is_some() {
            return Err("a definition has no name".to_owned());
        }
        read.definition().map_err(|(_, message)| message)
    }
}
