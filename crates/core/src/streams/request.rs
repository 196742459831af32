//! Requests about streams as bytes: `docs/streams.md` has them all. Hostile until parsed.

use serde::Deserialize;
use slipring_wire::check_filter;

use super::definition::{BUFFER_BYTES, Definition};
use crate::StreamIndex;
use crate::desk::{
    Problem, ProblemCode, RequestRefusal, check_bytes, check_prefix, full_name, json_error, parse,
    parse_declaration, parse_or_default,
};

/// Streams in an answer to `list` when nothing is said.
const LISTED: usize = 1_000;
/// Streams that one request declares or removes: each is compared with all who read streams.
pub const DECLARED_MAX: usize = 128;
/// What a declaration looks like, for those who got it wrong.
const DECLARE_EXAMPLE: &str = "{\"prefix\": \"gripen/39-7\", \"streams\": [{\"name\": \"cockpit/sound\", \"media\": \
     \"audio/pcm;rate=48000\"}]}";

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamsRequest {
    /// To publish these.
    Declare(Vec<StreamDeclaration>),
    /// The definitions of what a filter matches.
    List {
        /// Which.
        filter: String,
        /// From this index on.
        from: StreamIndex,
        /// At most so many.
        count: usize,
    },
    /// That these go.
    Remove {
        /// Full names.
        names: Vec<String>,
    },
}

/// A stream to declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamDeclaration {
    /// Its position in the request, from 0.
    pub at: usize,
    /// Its full name.
    pub name: String,
    /// What it is to be.
    pub definition: Definition,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a declaration")]
struct DeclareBody {
    #[serde(default)]
    prefix: String,
    streams: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"name\": \"sound\", \"media\": \"audio/pcm\"}"
)]
struct StreamBody {
    name: String,
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
    /// Reads the request of this name, the last level of its topic.
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
                check_count(names.len())?;
                Ok(Self::Remove { names })
            }
            _ => {
                let text = "there is no such request; there are declare, list, remove";
                Err(RequestRefusal::new(ProblemCode::Request, text))
            }
        }
    }
}

fn check_count(count: usize) -> Result<(), RequestRefusal> {
    if count <= DECLARED_MAX {
        return Ok(());
    }
    let text = format!("{count} streams, and one request has at most {DECLARED_MAX}: ask in parts");
    Err(RequestRefusal::new(ProblemCode::TooLarge, text))
}

fn read_declaration(body: &[u8]) -> Result<Vec<StreamDeclaration>, RequestRefusal> {
    let DeclareBody { prefix, streams } = parse_declaration(body, DECLARE_EXAMPLE)?;
    check_count(streams.len())?;
    check_prefix(&prefix)?;
    let (mut asked, mut problems) = (Vec::new(), Vec::new());
    for (at, stream) in streams.into_iter().enumerate() {
        let name = stream.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
        let name = full_name(&prefix, name);
        match serde_json::from_value::<StreamBody>(stream) {
            Ok(body) if body.name.is_empty() => {
                problems.push(Problem::new(at, &name, ProblemCode::Name, "the name is empty"));
            }
            Ok(body) => asked.push(StreamDeclaration { at, name, definition: definition(body) }),
            Err(error) => {
                problems.push(Problem::new(at, &name, ProblemCode::Malformed, json_error(&error)));
            }
        }
    }
    RequestRefusal::of(problems).map_or(Ok(asked), Err)
}

fn definition(body: StreamBody) -> Definition {
    let StreamBody { name: _, media, description, buffer_bytes, source } = body;
    let buffer_bytes = buffer_bytes.unwrap_or(BUFFER_BYTES);
    Definition { media, description, buffer_bytes, source }
}
