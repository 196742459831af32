//! Plain text as a value of a parameter.

use slipring_wire::frame::{OwnedValue, parse_text};

use super::Definition;

impl Definition {
    /// The value that a plain payload means; an enumeration by its label or its number. The error says
    /// what is wrong with it.
    pub fn parse(&self, payload: &[u8]) -> Result<OwnedValue, String> {
        let kind = self.kind.wire();
        let Some(labels) = self.kind.labels() else {
            return parse_text(kind, payload).map_err(|error| error.to_string());
        };
        let label = std::str::from_utf8(payload).ok().and_then(|label| labels.value(label));
        if let Some(value) = label {
            return parse_text(kind, value.to_string().as_bytes())
                .map_err(|error| error.to_string());
        }
        let value = parse_text(kind, payload).map_err(|_| "it is neither a label nor a number")?;
        let known = value.view().as_f64().is_some_and(|number| {
            labels.iter().any(|(value, _)| f64::from(value).to_bits() == number.to_bits())
        });
        if known { Ok(value) } else { Err("it has no label of this number".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use slipring_wire::frame::Kind;

    use super::super::{Labels, ParameterKind};
    use super::*;

    fn definition(kind: Kind) -> Definition {
        Definition::new(ParameterKind::Plain(kind))
    }

    #[test]
    fn text_is_read_by_the_type_of_its_parameter() {
        let number = definition(Kind::F64);
        assert_eq!(number.parse(b"12034.5"), Ok(OwnedValue::F64(12034.5)));
        assert!(number.parse(b"twelve").is_err());
        assert_eq!(definition(Kind::Bool).parse(b"true"), Ok(OwnedValue::Bool(true)));
        assert!(definition(Kind::U8).parse(b"256").is_err());
    }

    #[test]
    fn an_enumeration_is_read_by_label_or_number() {
        let labels = BTreeMap::from([(0, "off".to_owned()), (3, "on".to_owned())]);
        let gear = Definition::new(ParameterKind::Enum(Labels::new(labels).unwrap()));
        assert_eq!(gear.parse(b"on"), Ok(OwnedValue::U8(3)));
        assert_eq!(gear.parse(b"0"), Ok(OwnedValue::U8(0)));
        assert!(gear.parse(b"2").is_err() && gear.parse(b"of").is_err());
    }
}
