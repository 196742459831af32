//! What reading a request takes at every desk. Requests are hostile until parsed.

use serde::Deserialize;
use slipring_wire::check_topic;

use super::{DeskBounds, ProblemCode, RequestRefusal, json_error};
use crate::levels;

/// Bytes of one request.
pub const REQUEST_BYTES_MAX: usize = 256 << 10;

/// Reading takes as long as the request is, so that has a bound.
pub(crate) fn check_bytes(body: &[u8]) -> Result<(), RequestRefusal> {
    let bytes = body.len();
    if bytes <= REQUEST_BYTES_MAX {
        return Ok(());
    }
    let text = format!("a request of {bytes} bytes; {REQUEST_BYTES_MAX} are allowed: ask in parts");
    Err(RequestRefusal::new(ProblemCode::TooLarge, text))
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, RequestRefusal> {
    serde_json::from_slice(body)
        .map_err(|error| RequestRefusal::new(ProblemCode::Malformed, json_error(&error)))
}

/// An empty request asks for the default.
pub(crate) fn parse_or_default<'a, T: Deserialize<'a> + Default>(
    body: &'a [u8],
) -> Result<T, RequestRefusal> {
    if body.is_empty() { Ok(T::default()) } else { parse(body) }
}

/// Reads a declaration; one that cannot be read is answered with an example.
pub(crate) fn parse_declaration<'a, T: Deserialize<'a>>(
    body: &'a [u8],
    example: &str,
) -> Result<T, RequestRefusal> {
    parse(body).map_err(|RequestRefusal { message, .. }| {
        let text = format!("{message}; a declaration is {example}");
        RequestRefusal::new(ProblemCode::Malformed, text)
    })
}

/// Whether names can be put behind a declaration's prefix.
pub(crate) fn check_prefix(prefix: &str) -> Result<(), RequestRefusal> {
    if !prefix.ends_with('/') {
        return Ok(());
    }
    let text = "the prefix ends with /; names are put behind it with a / between";
    Err(RequestRefusal::new(ProblemCode::Name, text))
}

pub(crate) fn full_name(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// Whether a parameter or a stream can have this name.
pub(crate) fn check_name(name: &str, bounds: &DeskBounds) -> Result<(), String> {
    if name.starts_with('$') {
        return Err("a name that begins with $ is the broker's own".to_owned());
    }
    let (bytes, levels) = (name.len(), levels(name));
    let (bytes_max, levels_max) = (bounds.name_bytes, bounds.name_levels);
    if bytes > bytes_max {
        return Err(format!(
            "a name of {bytes} bytes; {bytes_max} are allowed (limits.topic_bytes)"
        ));
    }
    if levels > levels_max {
        return Err(format!(
            "a name of {levels} levels; {levels_max} are allowed (limits.topic_levels)"
        ));
    }
    check_topic(name).map_err(|error| error.to_string())
}
