//! Reads a plain message on a parameter's topic as one sample: a value as text, perhaps with its source time.

use slipring_wire::frame::{Kind, OwnedValue, Quality, Sample, TextError, parse_text};
use slipring_wire::{Properties, PropertyId, Value};

use super::entries::Entry;
use crate::ParameterIndex;

/// The user property with the source time, in nanoseconds since 1970.
pub const TIME_PROPERTY: &str = "time";

/// Why a message is not a sample of its parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlainError {
    /// The payload is no value of the parameter.
    #[error(transparent)]
    Value(#[from] TextError),
    /// The payload is no label of an enumeration.
    #[error("the text is neither a label of this enum nor a number that it can hold")]
    Label,
    /// The time cannot be read.
    #[error("the user property time is not a whole number of nanoseconds since 1970")]
    Time,
}

/// A sample that came as a plain message.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainSample {
    /// The value.
    pub value: OwnedValue,
    /// Source time.
    pub time_ns: i64,
}

impl PlainSample {
    /// The sample as one of this parameter.
    pub fn of(&self, index: ParameterIndex) -> Sample<'_> {
        let (time_ns, quality, value) = (self.time_ns, Quality::GOOD, self.value.view());
        Sample { index: index.get(), time_ns, quality, value }
    }
}

/// Reads a message on a parameter's topic. If it has no source time, the receive time is used.
pub fn plain_sample(
    entry: &Entry,
    properties: Properties<'_>,
    payload: &[u8],
    receive_ns: i64,
) -> Result<PlainSample, PlainError> {
    let time_ns = match time_text(properties) {
        Some(text) => text.parse().map_err(|_| PlainError::Time)?,
        None => receive_ns,
    };
    Ok(PlainSample { value: value(entry, payload)?, time_ns })
}

/// The source time that a message gives, as text.
pub(crate) fn time_text(properties: Properties<'_>) -> Option<&str> {
    properties.iter().find_map(|(id, value)| match (id, value) {
        (PropertyId::UserProperty, Value::Pair(TIME_PROPERTY, text)) => Some(text),
        _ => None,
    })
}

fn value(entry: &Entry, payload: &[u8]) -> Result<OwnedValue, PlainError> {
    let Some(labels) = entry.definition.kind.labels() else {
        return Ok(parse_text(entry.kind, payload)?);
    };
    let label = std::str::from_utf8(payload).map_err(|_| PlainError::Label)?;
    match labels.value(label) {
        Some(number) => Ok(number_of(entry.kind, number)),
        None => parse_text(entry.kind, payload).map_err(|_| PlainError::Label),
    }
}

/// The number of a label as a value of this kind.
fn number_of(kind: Kind, number: u32) -> OwnedValue {
    match kind {
        Kind::U8 => OwnedValue::U8(number as u8),
        Kind::U16 => OwnedValue::U16(number as u16),
        _ => OwnedValue::U32(number),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use slipring_wire::PropertiesBuf;

    use super::*;
    use crate::table::{Definition, Entries};

    fn read(definition: &str, payload: &str) -> Result<OwnedValue, PlainError> {
        let mut table = Entries::new(1);
        let definition = Definition::from_json(definition).unwrap();
        table.put(ParameterIndex::new(0), "a", Arc::new(definition)).unwrap();
        let entry = table.get(ParameterIndex::new(0)).unwrap();
        let sample = plain_sample(entry, Properties::NONE, payload.as_bytes(), 5)?;
        assert_eq!(sample.time_ns, 5);
        Ok(sample.value)
    }

    #[test]
    fn text_is_read_by_the_type_of_its_parameter() {
        assert_eq!(read(r#"{"type": "f64"}"#, "12034.5"), Ok(OwnedValue::F64(12_034.5)));
        assert_eq!(read(r#"{"type": "bool"}"#, "true"), Ok(OwnedValue::Bool(true)));
        assert_eq!(read(r#"{"type": "u8"}"#, "256"), Err(TextError::Range(Kind::U8).into()));
        assert!(read(r#"{"type": "f64"}"#, "fast").is_err());
    }

    #[test]
    fn an_enumeration_is_read_by_its_label_or_its_number() {
        let gear = r#"{"type": "enum", "labels": {"0": "up", "300": "down", "7": "300"}}"#;
        assert_eq!(read(gear, "down"), Ok(OwnedValue::U16(300)));
        assert_eq!(read(gear, "300"), Ok(OwnedValue::U16(7)), "a label comes first");
        assert_eq!(read(gear, "5"), Ok(OwnedValue::U16(5)));
        assert_eq!(read(gear, "sideways"), Err(PlainError::Label));
        assert_eq!(read(gear, "70000"), Err(PlainError::Label));
    }

    #[test]
    fn the_time_of_a_sample_is_its_own_if_it_says_so() {
        let mut table = Entries::new(1);
        let definition = Definition::from_json(r#"{"type": "u8"}"#).unwrap();
        table.put(ParameterIndex::new(0), "a", Arc::new(definition)).unwrap();
        let entry = table.get(ParameterIndex::new(0)).unwrap();
        let sample = |time: &str| {
            let mut properties = PropertiesBuf::new();
            properties.push(PropertyId::UserProperty, Value::Pair(TIME_PROPERTY, time));
            plain_sample(entry, properties.borrow(), b"1", 5).map(|sample| sample.time_ns)
        };
        assert_eq!(sample("1763000000000000000"), Ok(1_763_000_000_000_000_000));
        assert_eq!(sample("-5"), Ok(-5));
        for wrong in ["", "now", "1.5", "99999999999999999999"] {
            assert_eq!(sample(wrong), Err(PlainError::Time), "{wrong}");
        }
    }
}
