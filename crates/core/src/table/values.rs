//! The request for newest values, for clients that ask once instead of subscribing.

use serde::Deserialize;
use slipring_wire::frame::Sample;

use super::answer::fields;
use super::finding::Page;
use super::request::filter_problem;
use super::sample_text::json;
use super::{Current, CurrentView, Names, Registry};
use crate::ParameterIndex;
use crate::access::Right;
use crate::desk::{
    AnswerRows, Problem, ProblemCode, RequestRefusal, Requester, fitting, json as to_json, page,
    parse_or_default, refuse,
};

/// The most values in an answer if the request names no count.
const SHOWN: usize = 1_000;
/// The most bytes of an answer besides values and errors.
const ENVELOPE_BYTES: usize = 200;

/// The parameters whose values are asked for: by names, or by a filter.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "names or a filter such as {\"filter\": \"pump/#\"}"
)]
pub struct ValuesQuestion {
    names: Option<Vec<String>>,
    filter: Option<String>,
    from: ParameterIndex,
    count: usize,
}

impl Default for ValuesQuestion {
    fn default() -> Self {
        Self { names: None, filter: None, from: ParameterIndex::new(0), count: SHOWN }
    }
}

impl ValuesQuestion {
    pub(super) fn parse(body: &[u8]) -> Result<Self, RequestRefusal> {
        let question: Self = parse_or_default(body)?;
        if question.names.is_some() && question.filter.is_some() {
            let text = "give either names or a filter";
            return Err(RequestRefusal::new(ProblemCode::Malformed, text));
        }
        let problem = question.filter.as_ref().and_then(|filter| filter_problem(0, filter));
        refuse(problem.into_iter().collect())?;
        Ok(question)
    }

    /// How many names it has.
    pub(super) fn names(&self) -> usize {
        self.names.as_ref().map_or(0, Vec::len)
    }

    /// The parameters that are asked for, ascending, and the problems of other names.
    fn chosen<'a>(
        &self,
        registry: &'a Registry,
        requester: &Requester<'_>,
    ) -> (Page<'a>, Vec<Problem>) {
        let Some(names) = &self.names else {
            let filter = self.filter.as_deref().unwrap_or("#");
            return (registry.page(filter, self.from, false), Vec::new());
        };
        let (found, errors) = registry.look_up(names, requester, Right::Select);
        (registry.page_of(found.into_iter().flatten().collect(), self.from), errors)
    }
}

/// The newest values of some parameters, without those that never had a value.
pub(super) fn show(
    registry: &Registry,
    current: &Current,
    question: &ValuesQuestion,
    requester: &Requester<'_>,
) -> Result<Vec<u8>, RequestRefusal> {
    let answer_bytes_max = requester.answer_bytes_max;
    let (Page { entries, next }, errors) = question.chosen(registry, requester);
    let entries = entries.filter(|(_, entry, _)| requester.may(Right::Select, &entry.name));
    let (errors, more) = fitting(&errors, answer_bytes_max / 2, |errors, _| to_json(&errors));
    let room = answer_bytes_max.saturating_sub(ENVELOPE_BYTES + errors.len());
    let mut rows = AnswerRows::new(question.count.max(1), room);
    let values = entries
        .filter_map(|(index, entry, _)| Some((index, (index, &*entry.name, current.get(index)?))));
    let first_left = rows
        .fill(values, |(index, name, newest), text| write_row(registry, *index, name, newest, text))
        .map_err(|(index, _)| too_large(registry, index))?;
    let mut answer = page(&fields(registry), first_left.or(next), "values", &rows);
    answer.pop(); // the closing brace: errors follow in the same object
    let more = if more > 0 { format!(",\"more_errors\":{more}") } else { String::new() };
    answer.extend([b",\"errors\":", &*errors, more.as_bytes(), b"}"].concat());
    if answer.len() > answer_bytes_max {
        let text = "the answer is larger than this client accepts: ask for fewer names";
        return Err(RequestRefusal::new(ProblemCode::TooLarge, text));
    }
    Ok(answer)
}

fn too_large(registry: &Registry, index: ParameterIndex) -> RequestRefusal {
    let name = registry.entries.name(index).unwrap_or_default();
    let text = format!(
        "the value of {name} alone is larger than this client accepts; ask from index {} on",
        index.next()
    );
    RequestRefusal::new(ProblemCode::TooLarge, text)
}

/// Writes a sample as JSON, with the index and the name of its parameter and its receive time.
fn write_row(
    registry: &Registry,
    index: ParameterIndex,
    name: &str,
    newest: &CurrentView<'_>,
    row: &mut Vec<u8>,
) {
    let &CurrentView { time_ns, quality, value, receive_ns, .. } = newest;
    row.extend_from_slice(format!("{{\"index\":{index},\"name\":").as_bytes());
    row.extend_from_slice(&to_json(&name));
    row.extend_from_slice(format!(",\"received\":{receive_ns},").as_bytes());
    let start = row.len();
    json(&Sample { index: index.get(), time_ns, quality, value }, &registry.entries, row);
    row.remove(start); // the brace that opens the sample
}
