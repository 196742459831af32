//! A definition as JSON, as it comes in requests, goes out in answers and lies in the journal.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use slipring_wire::frame::Kind;

use super::definition::{AlarmLimits, Definition, ParameterKind};
use super::labels::Labels;
use super::problem::{Code, shown};

/// Every key there is. The name is only in requests and answers; a key we do not know is a mistake.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"name\": \"rpm\", \"type\": \"f64\"}"
)]
#[serde(bound(deserialize = "L: Deserialize<'de>"))]
pub(super) struct Spoken<'a, L> {
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

/// A definition that is written.
pub(super) type Written<'a> = Spoken<'a, &'a Labels>;
/// A definition that was read, and may be wrong.
pub(super) type Read<'a> = Spoken<'a, Pairs>;

fn none<L>() -> Option<L> {
    None
}

impl<'a> Written<'a> {
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

impl Read<'_> {
    /// The definition it describes, or what is wrong with its type or labels.
    pub fn definition(self) -> Result<Definition, (Code, String)> {
        let labels = self.labels.map(Pairs::numbered).transpose();
        let labels = labels.map_err(|wrong| (Code::Labels, wrong))?;
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
) -> Result<ParameterKind, (Code, String)> {
    if name == "enum" {
        let labels = Labels::new(labels.unwrap_or_default());
        return labels.map(ParameterKind::Enum).map_err(|wrong| (Code::Labels, wrong));
    }
    let Some(kind) = Kind::from_name(name) else {
        let (name, known) = (shown(name), Kind::ALL.map(Kind::name).join(", "));
        return Err((Code::Type, format!("there is no type \"{name}\"; types are {known}, enum")));
    };
    if labels.is_some() {
        return Err((Code::Labels, format!("{name} has no labels; an enum has")));
    }
    Ok(ParameterKind::Plain(kind))
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// Labels as they were written, with those that a map would silently replace.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs(Vec<(String, String)>);

impl Pairs {
    fn numbered(self) -> Result<BTreeMap<u32, String>, String> {
        let mut labels = BTreeMap::new();
        for (value, label) in self.0 {
            let number = value.parse::<u32>().ok().filter(|number| number.to_string() == value);
            let number = number.ok_or_else(|| {
                let value = shown(&value);
                format!("\"{value}\" is no number of a label; they go from 0 to {}", u32::MAX)
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
    /// As JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&Written::of(self)).expect("strings and finite numbers")
    }

    /// From JSON without a name.
    pub fn from_json(json: &str) -> Result<Self, String> {
        let spoken: Read<'_> = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if spoken.name.is_some() {
            return Err("a definition has no name".to_owned());
        }
        spoken.definition().map_err(|(_, message)| message)
    }
}

impl Serialize for Definition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::of(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Definition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spoken = Read::deserialize(deserializer)?;
        spoken.definition().map_err(|(_, message)| de::Error::custom(message))
    }
}
