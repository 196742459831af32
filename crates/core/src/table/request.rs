//! Requests about the table as bytes: `docs/table.md` has them all. Hostile until parsed.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use slipring_wire::check_filter;

use super::declare::ParameterDeclaration;
use super::definition::Definition;
use super::definition_json::ReadDefinition;
use super::finding::LOOKED_MAX;
use super::values::Question;
use crate::desk::{
    Problem, ProblemCode, RequestRefusal, check_bytes, check_prefix, full_name, json_error, parse,
    parse_declaration, parse_or_default, shown,
};
use crate::{ParameterIndex, Work};

/// Parameters in an answer to `list` when nothing is said.
const LISTED: usize = 1_000;
/// Names that one request asks about.
pub const NAMES_MAX: usize = 4_096;
/// Parameters that one request declares or removes.
pub const CHANGED_MAX: usize = 2_048;
/// What it costs to add or remove one parameter.
const CHANGE_STEPS: usize = 100;
/// What a declaration looks like, for those who got it wrong.
const DECLARE_EXAMPLE: &str =
    "{\"prefix\": \"pump/7\", \"parameters\": [{\"name\": \"rpm\", \"type\": \"f64\"}]}";

/// What a client asks of the table.
#[derive(Clone, Debug)]
pub enum TableRequest {
    /// To publish these.
    Declare(Declaration),
    /// The indices of these.
    Find {
        /// Full names.
        names: Vec<String>,
    },
    /// The definitions of what a filter matches.
    List {
        /// Which.
        filter: String,
        /// From this index on.
        from: ParameterIndex,
        /// At most so many.
        count: usize,
        /// Those that were removed too.
        removed: bool,
    },
    /// That these go.
    Remove {
        /// Full names.
        names: Vec<String>,
        /// Also those that others publish.
        force: bool,
    },
    /// A list to subscribe to.
    Select(Wanted),
    /// The newest values.
    Values(Question),
}

/// Parameters to declare, and those that could not be read.
#[derive(Clone, Debug)]
pub struct Declaration {
    parameters: Vec<(usize, String, Definition)>,
    pub(super) problems: Vec<Problem>,
}

/// What a list is made of.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// Full names.
    Names(Vec<String>),
    /// What any of these matches now.
    Filters(Vec<String>),
}

impl Declaration {
    pub(super) fn asked(&self) -> Vec<ParameterDeclaration<'_>> {
        let parameters = self.parameters.iter();
        parameters
            .map(|(at, name, definition)| ParameterDeclaration { at: *at, name, definition })
            .collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a declaration")]
struct DeclareBody<'a> {
    #[serde(borrow)]
    prefix: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parameters: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "names such as {\"names\": [\"pump/7/rpm\"]}")]
struct NamesBody {
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "names such as {\"names\": [\"pump/7/rpm\"]}")]
struct RemoveBody {
    names: Vec<String>,
    #[serde(default)]
    force: bool,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object such as {\"filter\": \"pump/#\"}")]
struct ListBody {
    filter: String,
    from: ParameterIndex,
    count: usize,
    removed: bool,
}

impl Default for ListBody {
    fn default() -> Self {
        Self { filter: "#".to_owned(), from: ParameterIndex::new(0), count: LISTED, removed: false }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "names or filters such as {\"filters\": [\"pump/#\"]}")]
struct SelectBody {
    names: Option<Vec<String>>,
    filters: Option<Vec<String>>,
}

impl TableRequest {
    /// Reads the request of this name, the last level of its topic.
    pub fn parse(name: &str, body: &[u8]) -> Result<Self, RequestRefusal> {
        check_bytes(body)?;
        let request = Self::read(name, body)?;
        let (count, most) = request.names();
        if count <= most {
            return Ok(request);
        }
        let text = format!("{count} names, and one request has at most {most}: ask in parts");
        Err(RequestRefusal::new(ProblemCode::TooLarge, text))
    }

    /// How many names there are, and how many there may be.
    fn names(&self) -> (usize, usize) {
        match self {
            Self::Declare(declaration) => {
                (declaration.parameters.len() + declaration.problems.len(), CHANGED_MAX)
            }
            Self::Remove { names, .. } => (names.len(), CHANGED_MAX),
            Self::Find { names } | Self::Select(Wanted::Names(names) | Wanted::Filters(names)) => {
                (names.len(), NAMES_MAX)
            }
            Self::Values(question) => (question.names(), NAMES_MAX),
            Self::List { .. } => (0, NAMES_MAX),
        }
    }

    /// What answering it costs in a table with so many indices, in steps of work; at most a few turns.
    pub(super) fn steps(&self, indices: u32) -> usize {
        let looked = LOOKED_MAX.min(indices) as usize * Work::ENTRY / 2;
        match self {
            Self::Declare(_) | Self::Remove { .. } => self.names().0 * CHANGE_STEPS,
            Self::Find { .. } | Self::Select(Wanted::Names(_)) => self.names().0 * Work::ENTRY,
            Self::Select(Wanted::Filters(_)) => indices as usize * Work::ENTRY,
            Self::Values(_) | Self::List { .. } => looked + self.names().0 * Work::ENTRY,
        }
    }

    fn read(name: &str, body: &[u8]) -> Result<Self, RequestRefusal> {
        match name {
            "declare" => read_declaration(body).map(Self::Declare),
            "find" => parse(body).map(|NamesBody { names }| Self::Find { names }),
            "list" => {
                let ListBody { filter, from, count, removed } = parse_or_default(body)?;
                filter_problem(0, &filter).map_or(Ok(()), |problem| refuse(vec![problem]))?;
                Ok(Self::List { filter, from, count: count.max(1), removed })
            }
            "remove" => {
                parse(body).map(|RemoveBody { names, force }| Self::Remove { names, force })
            }
            "select" => parse_wanted(body).map(Self::Select),
            "values" => Question::parse(body).map(Self::Values),
            _ => {
                let name = shown(name);
                let text = format!(
                    "there is no request \"{name}\"; there are declare, find, list, remove, \
                     select, values"
                );
                Err(RequestRefusal::new(ProblemCode::Request, text))
            }
        }
    }
}

pub(super) fn refuse(problems: Vec<Problem>) -> Result<(), RequestRefusal> {
    RequestRefusal::of(problems).map_or(Ok(()), Err)
}

fn read_declaration(body: &[u8]) -> Result<Declaration, RequestRefusal> {
    let DeclareBody { prefix, parameters } = parse_declaration(body, DECLARE_EXAMPLE)?;
    let prefix = prefix.unwrap_or_default();
    check_prefix(&prefix)?;
    let mut declaration = Declaration { parameters: Vec::new(), problems: Vec::new() };
    declaration.parameters.reserve(parameters.len());
    for (at, text) in parameters.into_iter().map(RawValue::get).enumerate() {
        match parse_parameter(at, &prefix, text) {
            Ok((name, definition)) => declaration.parameters.push((at, name, definition)),
            Err(problem) => declaration.problems.push(problem),
        }
    }
    Ok(declaration)
}

fn parse_parameter(at: usize, prefix: &str, text: &str) -> Result<(String, Definition), Problem> {
    let mut read: ReadDefinition<'_> = serde_json::from_str(text).map_err(|error| {
        let name = full_name(prefix, &name_in(text));
        Problem::new(at, &name, ProblemCode::Malformed, without_place(&json_error(&error)))
    })?;
    let Some(name) = read.name.take() else {
        return Err(Problem::new(at, "", ProblemCode::Name, "the parameter has no name"));
    };
    if name.is_empty() {
        return Err(Problem::new(at, "", ProblemCode::Name, "the name is empty"));
    }
    let name = full_name(prefix, &name);
    match read.definition() {
        Ok(definition) => Ok((name, definition)),
        Err((code, message)) => Err(Problem::new(at, &name, code, message)),
    }
}

/// What is wrong, without a place: it would count from the begin of one parameter.
fn without_place(text: &str) -> &str {
    text.rfind(" at line ").map_or(text, |end| &text[..end])
}

/// The name in a parameter that is otherwise wrong, if it can be found.
fn name_in(text: &str) -> String {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    serde_json::from_str::<Named>(text).map_or_else(|_| String::new(), |named| named.name)
}

fn parse_wanted(body: &[u8]) -> Result<Wanted, RequestRefusal> {
    match parse(body)? {
        SelectBody { names: Some(names), filters: None } => Ok(Wanted::Names(names)),
        SelectBody { names: None, filters: Some(filters) } => {
            let problems = filters.iter().enumerate();
            let problems = problems.filter_map(|(at, filter)| filter_problem(at, filter));
            refuse(problems.collect())?;
            Ok(Wanted::Filters(filters))
        }
        _ => Err(RequestRefusal::new(ProblemCode::Malformed, "say either names or filters")),
    }
}

pub(super) fn filter_problem(at: usize, filter: &str) -> Option<Problem> {
    let error = check_filter(filter).err()?;
    Some(Problem::new(at, filter, ProblemCode::Filter, error.to_string()))
}
