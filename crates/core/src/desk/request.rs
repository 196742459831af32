//! Reading requests, the same at every desk. A request is hostile until it is parsed.

use serde::Deserialize;

use super::{ProblemCode, RequestRefusal, json_error, shown};

/// The most bytes of one request.
pub const REQUEST_BYTES_MAX: usize = 256 << 10;

/// Refuses a long request, because parsing takes time in proportion to its length.
pub(crate) fn check_bytes(body: &[u8]) -> Result<(), RequestRefusal> {
    check_count(body.len(), REQUEST_BYTES_MAX, "bytes")
}

/// Refuses a request with too many bytes, names or streams.
pub(crate) fn check_count(count: usize, most: usize, what: &str) -> Result<(), RequestRefusal> {
    if count <= most {
        return Ok(());
    }
    let text = format!("the request has {count} {what}; {most} are allowed: ask in parts");
    Err(RequestRefusal::new(ProblemCode::TooLarge, text))
}

/// The refusal of a request that no desk of this kind answers; `known` are those it does answer.
pub(crate) fn no_such_request(name: &str, known: &str) -> RequestRefusal {
    let text = format!("there is no request \"{}\"; there are {known}", shown(name));
    RequestRefusal::new(ProblemCode::Request, text)
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
