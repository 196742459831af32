//! JSON that is read strictly: a name that is there twice is refused, so that two readers cannot see two values.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A JSON value whose objects have different names.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StrictJson {
    Null,
    Bool(bool),
    Integer(i64),
    Fraction(f64),
    Text(String),
    List(Vec<StrictJson>),
    Object(Members),
}

/// The members of an object.
pub(super) type Members = BTreeMap<String, StrictJson>;

impl StrictJson {
    /// Reads an object; nothing may follow it.
    pub fn object(bytes: &[u8]) -> Option<Members> {
        match serde_json::from_slice(bytes) {
            Ok(Self::Object(members)) => Some(members),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The texts of a list that has nothing else.
    pub fn texts(&self) -> Option<Vec<&str>> {
        match self {
            Self::List(items) => items.iter().map(Self::text).collect(),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for StrictJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = StrictJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<StrictJson, E> {
        Ok(StrictJson::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<StrictJson, E> {
        Ok(StrictJson::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<StrictJson, E> {
        Ok(StrictJson::Integer(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<StrictJson, E> {
        i64::try_from(value).map(StrictJson::Integer).map_err(E::custom)
    }

    fn visit_f64<E>(self, value: f64) -> Result<StrictJson, E> {
        Ok(StrictJson::Fraction(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<StrictJson, E> {
        Ok(StrictJson::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<StrictJson, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(StrictJson::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<StrictJson, A::Error> {
        let mut members = Members::new();
        while let Some((name, value)) = entries.next_entry::<String, StrictJson>()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a name is there twice"));
            }
        }
        Ok(StrictJson::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_there_twice_is_refused_at_every_depth() {
        assert!(StrictJson::object(br#"{"a":1,"b":{"a":1}}"#).is_some());
        let refused = [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"b":[{"a":1,"a":2}]}"#,
            r#"{"a":1} x"#,
            r#"{"a":1}{}"#,
            "[]",
            "null",
            r#"{"a":18446744073709551615}"#,
        ];
        for text in refused {
            assert_eq!(StrictJson::object(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_does_not_overflow_the_stack() {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(4_000), "]".repeat(4_000));
        assert_eq!(StrictJson::object(text.as_bytes()), None);
    }
}
