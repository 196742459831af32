//! Requests about the table as bytes: `docs/table.md` has them all. A request is hostile until it is parsed.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use slipring_wire::check_filter;

use super::definition::Definition;
use super::definition_json::ReadDefinition;
use super::finding::LOOKED_MAX;
use super::values::ValuesQuestion;
use crate::desk::{
    Declaration, Problem, ProblemCode, RequestRefusal, check_bytes, check_count, no_such_request,
    parse, parse_declaration, parse_or_default, refuse,
};
use crate::{ParameterIndex, Work};

/// The most parameters in an answer to `list` if the request names no count.
const LISTED: usize = 1_000;
/// The most names that one request asks about.
pub const NAMES_MAX: usize = 4_096;
/// The most parameters that one request declares or removes.
pub const CHANGED_MAX: usize = 2_048;
/// The steps of work of adding or removing one parameter.
const CHANGE_STEPS: usize = 100;
/// A declaration, to show to clients whose own cannot be read.
const DECLARE_EXAMPLE: &str =
    "{\"prefix\": \"pump/7\", \"parameters\": [{\"name\": \"rpm\", \"type\": \"f64\"}]}";

/// A request about the table.
#[derive(Clone, Debug)]
pub enum TableRequest {
    /// Declares parameters and publishes them.
    Declare(Declaration<Definition>),
    /// Finds the indices of parameters.
    Find {
        /// Full names.
        names: Vec<String>,
    },
    /// Lists the parameters that a filter matches.
    List {
        /// The filter.
        filter: String,
        /// The first index to list.
        from: ParameterIndex,
        /// The most parameters to list.
        count: usize,
        /// Whether removed parameters are listed too.
        removed: bool,
    },
    /// Removes parameters.
    Remove {
        /// Full names.
        names: Vec<String>,
        /// Whether to remove those too that other clients publish.
        force: bool,
    },
    /// Makes a list to subscribe to.
    Select(ListContent),
    /// Asks for newest values.
    Values(ValuesQuestion),
}

/// The parameters of a new list.
#[derive(Clone, Debug)]
pub enum ListContent {
    /// Full names.
    Names(Vec<String>),
    /// Filters: the parameters that any of them matches now.
    Filters(Vec<String>),
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
    /// Parses the request of this name, the last level of its topic.
    pub fn parse(name: &str, body: &[u8]) -> Result<Self, RequestRefusal> {
        check_bytes(body)?;
        let request = Self::read(name, body)?;
        let (count, most) = request.names();
        check_count(count, most, "names").map(|()| request)
    }

    /// How many names the request has, and how many it may have.
    fn names(&self) -> (usize, usize) {
        match self {
            Self::Declare(declaration) => (declaration.len(), CHANGED_MAX),
            Self::Remove { names, .. } => (names.len(), CHANGED_MAX),
            Self::Find { names }
            | Self::Select(ListContent::Names(names) | ListContent::Filters(names)) => {
                (names.len(), NAMES_MAX)
            }
            Self::Values(question) => (question.names(), NAMES_MAX),
            Self::List { .. } => (0, NAMES_MAX),
        }
    }

    /// The steps of work of answering it in a table with so many indices; at most a few turns.
    pub(super) fn steps(&self, indices: u32) -> usize {
        let looked = LOOKED_MAX.min(indices) as usize * Work::ENTRY / 2;
        match self {
            Self::Declare(_) | Self::Remove { .. } => self.names().0 * CHANGE_STEPS,
            Self::Find { .. } | Self::Select(ListContent::Names(_)) => self.names().0 * Work::ENTRY,
            Self::Select(ListContent::Filters(_)) => indices as usize * Work::ENTRY,
            Self::Values(_) | Self::List { .. } => looked + self.names().0 * Work::ENTRY,
        }
    }

    fn read(name: &str, body: &[u8]) -> Result<Self, RequestRefusal> {
        match name {
            "declare" => read_declaration(body).map(Self::Declare),
            "find" => parse(body).map(|NamesBody { names }| Self::Find { names }),
            "list" => {
                let ListBody { filter, from, count, removed } = parse_or_default(body)?;
                refuse(Vec::from_iter(filter_problem(0, &filter)))?;
                Ok(Self::List { filter, from, count: count.max(1), removed })
            }
            "remove" => {
                parse(body).map(|RemoveBody { names, force }| Self::Remove { names, force })
            }
            "select" => parse_content(body).map(Self::Select),
            "values" => ValuesQuestion::parse(body).map(Self::Values),
            _ => Err(no_such_request(name, "declare, find, list, remove, select, values")),
        }
    }
}

fn read_declaration(body: &[u8]) -> Result<Declaration<Definition>, RequestRefusal> {
    let DeclareBody { prefix, parameters } = parse_declaration(body, DECLARE_EXAMPLE)?;
    Declaration::read(&prefix.unwrap_or_default(), &parameters, |json| {
        let mut read: ReadDefinition<'_> = serde_json::from_str(json)?;
        Ok((read.name.take(), read.definition()))
    })
}

fn parse_content(body: &[u8]) -> Result<ListContent, RequestRefusal> {
    match parse(body)? {
        SelectBody { names: Some(names), filters: None } => Ok(ListContent::Names(names)),
        SelectBody { names: None, filters: Some(filters) } => {
            let problems = filters.iter().enumerate();
            let problems = problems.filter_map(|(at, filter)| filter_problem(at, filter));
            refuse(problems.collect())?;
            Ok(ListContent::Filters(filters))
        }
        _ => Err(RequestRefusal::new(ProblemCode::Malformed, "give either names or filters")),
    }
}

pub(super) fn filter_problem(at: usize, filter: &str) -> Option<Problem> {
    let error = check_filter(filter).err()?;
    Some(Problem::new(at, filter, ProblemCode::Filter, error.to_string()))
}
