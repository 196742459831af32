//! Values as text, for clients that do not know frames.

use std::fmt::Debug;
use std::io::Write;
use std::num::IntErrorKind;
use std::str::FromStr;

use super::{Kind, OwnedValue, ValueView};

/// Why text is not a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// It is not a value of this kind.
    #[error("the text is not a value of type {0}")]
    NotA(Kind),
    /// It is a number, but the kind cannot hold it.
    #[error("the number is out of the range of {0}")]
    Range(Kind),
}

/// Appends a value as text: the shortest that reads back as the same value, in Python too.
pub fn write_text(value: &ValueView<'_>, out: &mut Vec<u8>) {
    match *value {
        ValueView::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        ValueView::U8(value) => show(&value, out),
        ValueView::U16(value) => show(&value, out),
        ValueView::U32(value) => show(&value, out),
        ValueView::U64(value) => show(&value, out),
        ValueView::I8(value) => show(&value, out),
        ValueView::I16(value) => show(&value, out),
        ValueView::I32(value) => show(&value, out),
        ValueView::I64(value) => show(&value, out),
        ValueView::F32(value) if value.is_nan() => out.extend_from_slice(b"nan"),
        ValueView::F64(value) if value.is_nan() => out.extend_from_slice(b"nan"),
        ValueView::F32(value) => show(&value, out),
        ValueView::F64(value) => show(&value, out),
        ValueView::Text(value) => out.extend_from_slice(value.as_bytes()),
        ValueView::Bytes(value) => out.extend_from_slice(value),
    }
}

/// With `Debug`, because that keeps `.0` and writes exponents.
fn show(number: &impl Debug, out: &mut Vec<u8>) {
    write!(out, "{number:?}").expect("memory takes all that is written");
}

/// Reads what [`write_text`] writes. Numbers may have blanks around them; `1` and `0` are also true and
/// false.
pub fn parse_text(kind: Kind, text: &[u8]) -> Result<OwnedValue, TextError> {
    if kind == Kind::Bytes {
        return Ok(OwnedValue::Bytes(text.to_owned()));
    }
    let text = std::str::from_utf8(text).map_err(|_| TextError::NotA(kind))?;
    let number = text.trim_ascii();
    Ok(match kind {
        Kind::Bool => OwnedValue::Bool(parse_bool(number)?),
        Kind::U8 => OwnedValue::U8(integer(kind, number)?),
        Kind::U16 => OwnedValue::U16(integer(kind, number)?),
        Kind::U32 => OwnedValue::U32(integer(kind, number)?),
        Kind::U64 => OwnedValue::U64(integer(kind, number)?),
        Kind::I8 => OwnedValue::I8(integer(kind, number)?),
        Kind::I16 => OwnedValue::I16(integer(kind, number)?),
        Kind::I32 => OwnedValue::I32(integer(kind, number)?),
        Kind::I64 => OwnedValue::I64(integer(kind, number)?),
        Kind::F32 => OwnedValue::F32(float(kind, number, f32::is_infinite)?),
        Kind::F64 => OwnedValue::F64(float(kind, number, f64::is_infinite)?),
        Kind::Text | Kind::Bytes => OwnedValue::Text(text.to_owned()),
    })
}

fn parse_bool(text: &str) -> Result<bool, TextError> {
    match text {
        "true" | "True" | "1" => Ok(true),
        "false" | "False" | "0" => Ok(false),
        _ => Err(TextError::NotA(Kind::Bool)),
    }
}

fn integer<T: FromStr<Err = std::num::ParseIntError>>(
    kind: Kind,
    text: &str,
) -> Result<T, TextError> {
    let is_negative = || text[1..].bytes().all(|byte| byte.is_ascii_digit());
    text.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => TextError::Range(kind),
        IntErrorKind::InvalidDigit if text.starts_with('-') && text.len() > 1 && is_negative() => {
            TextError::Range(kind)
        }
        _ => TextError::NotA(kind),
    })
}

/// Refuses a number that is infinite only because it is too large; `inf` is a value.
fn float<T: FromStr + Copy>(
    kind: Kind,
    text: &str,
    is_infinite: fn(T) -> bool,
) -> Result<T, TextError> {
    let value: T = text.parse().map_err(|_| TextError::NotA(kind))?;
    if is_infinite(value) && text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(TextError::Range(kind));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: ValueView<'_>) -> String {
        let mut out = Vec::new();
        write_text(&value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_written_as_people_write_them() {
        let rows = [
            (ValueView::F64(12034.5), "12034.5"),
            (ValueView::F64(5.0), "5.0"),
            (ValueView::F64(-0.0), "-0.0"),
            (ValueView::F64(1e16), "1e16"),
            (ValueView::F64(1.5e-9), "1.5e-9"),
            (ValueView::F32(0.1), "0.1"),
            (ValueView::F64(f64::NAN), "nan"),
            (ValueView::F32(f32::INFINITY), "inf"),
            (ValueView::F64(f64::NEG_INFINITY), "-inf"),
            (ValueView::I64(i64::MIN), "-9223372036854775808"),
            (ValueView::U64(u64::MAX), "18446744073709551615"),
            (ValueView::Bool(true), "true"),
            (ValueView::Bool(false), "false"),
            (ValueView::Text(" höjd "), " höjd "),
        ];
        for (value, expected) in rows {
            assert_eq!(shown(value), expected);
        }
    }

    #[test]
    fn other_usual_ways_to_write_a_value_are_accepted() {
        assert_eq!(parse_text(Kind::F64, b" 12 \n"), Ok(OwnedValue::F64(12.0)));
        assert_eq!(parse_text(Kind::F64, b"1e+16"), Ok(OwnedValue::F64(1e16)));
        assert_eq!(parse_text(Kind::F32, b"-Infinity"), Ok(OwnedValue::F32(f32::NEG_INFINITY)));
        assert_eq!(parse_text(Kind::I8, b"+7"), Ok(OwnedValue::I8(7)));
        assert_eq!(parse_text(Kind::Bool, b"1"), Ok(OwnedValue::Bool(true)));
        assert_eq!(parse_text(Kind::Bool, b"False"), Ok(OwnedValue::Bool(false)));
        assert_eq!(parse_text(Kind::Text, b" a "), Ok(OwnedValue::Text(" a ".to_owned())));
        assert_eq!(parse_text(Kind::Bytes, b"\xff"), Ok(OwnedValue::Bytes(vec![0xff])));
    }

    #[test]
    fn text_that_is_no_value_and_a_number_out_of_range_are_different_errors() {
        let wrong: [(Kind, &[u8]); 9] = [
            (Kind::F64, b""),
            (Kind::F64, b"12,5"),
            (Kind::F64, b"\xff"),
            (Kind::I32, b"1.5"),
            (Kind::I32, b"-"),
            (Kind::I32, b"0x10"),
            (Kind::Bool, b"yes"),
            (Kind::Bool, b""),
            (Kind::Text, b"\xc3"),
        ];
        for (kind, text) in wrong {
            assert_eq!(parse_text(kind, text), Err(TextError::NotA(kind)), "{text:?}");
        }
        let outside: [(Kind, &[u8]); 5] = [
            (Kind::U8, b"256"),
            (Kind::U8, b"-1"),
            (Kind::I8, b"-129"),
            (Kind::F32, b"1e40"),
            (Kind::F64, b"-1e400"),
        ];
        for (kind, text) in outside {
            assert_eq!(parse_text(kind, text), Err(TextError::Range(kind)), "{text:?}");
        }
    }
}
