//! Requests about streams as bytes: `docs/streams.md` has them all. A request is hostile until it is parsed.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use slipring_wire::check_filter;

use super::definition::{self, StreamDefinition};
use crate::StreamIndex;
use crate::desk::{
    Declaration, DeclaredEntry, ProblemCode, RequestRefusal, check_bytes, check_count,
    no_such_request, parse, parse_declaration, parse_or_default, refuse,
};

/// The most streams in an answer to `list` if the request names no count.
const LISTED: usize = 1_000;
/// The most streams that one request declares or removes: each is compared with all subscriptions to streams.
const DECLARED_MAX: usize = 128;
/// A declaration, to show to clients whose own cannot be read.
const DECLARE_EXAMPLE: &str = "{\"prefix\": \"gripen/39-7\", \"streams\": [{\"name\": \"cockpit/sound\", \"media\": \
     \"audio/pcm;rate=48000\"}]}";

/// A request about streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamsRequest {
    /// Declares streams and publishes them.
    Declare(Vec<DeclaredEntry<StreamDefinition>>),
    /// Lists the streams that a filter matches.
    List {
        /// The filter.
        filter: String,
        /// The first index to list.
        from: StreamIndex,
        /// The most streams to list.
        count: usize,
    },
    /// Removes streams.
    Remove {
        /// Full names.
        names: Vec<String>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a declaration")]
struct DeclareBody<'a> {
    #[serde(default)]
    prefix: String,
    #[serde(borrow)]
    streams: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"name\": \"sound\", \"media\": \"audio/pcm\"}"
)]
struct StreamBody<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    media: String,
    description: Option<String>,
    buffer_bytes: Option<usize>,
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "names such as {\"names\": [\"gripen/39-7/cockpit/sound\"]}"
)]
struct NamesBody {
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object such as {\"filter\": \"gripen/#\"}")]
struct ListBody {
    filter: String,
    from: StreamIndex,
    count: usize,
}

impl Default for ListBody {
    fn default() -> Self {
        Self { filter: "#".to_owned(), from: StreamIndex::new(0), count: LISTED }
    }
}

impl StreamsRequest {
    /// Parses the request of this name, the last level of its topic.
    pub fn parse(name: &str, body: &[u8]) -> Result<Self, RequestRefusal> {
        check_bytes(body)?;
        match name {
            "declare" => read_declaration(body).map(Self::Declare),
            "list" => {
                let ListBody { filter, from, count } = parse_or_default(body)?;
                if let Err(error) = check_filter(&filter) {
                    return Err(RequestRefusal::new(ProblemCode::Filter, error.to_string()));
                }
                Ok(Self::List { filter, from, count: count.max(1) })
            }
            "remove" => {
                let NamesBody { names } = parse(body)?;
                check_count(names.len(), DECLARED_MAX, "names")?;
                Ok(Self::Remove { names })
            }
            _ => Err(no_such_request(name, "declare, list, remove")),
        }
    }
}

fn read_declaration(body: &[u8]) -> Result<Vec<DeclaredEntry<StreamDefinition>>, RequestRefusal> {
    let DeclareBody { prefix, streams } = parse_declaration(body, DECLARE_EXAMPLE)?;
    check_count(streams.len(), DECLARED_MAX, "streams")?;
    let read = |json| {
        let StreamBody { name, media, description, buffer_bytes, source } =
            serde_json::from_str(json)?;
        let buffer_bytes = buffer_bytes.unwrap_or_else(definition::buffer_bytes);
        Ok((Some(name), Ok(StreamDefinition { media, description, buffer_bytes, source })))
    };
    let Declaration { entries, problems } = Declaration::read(&prefix, &streams, read)?;
    refuse(problems)?;
    Ok(entries)
}
