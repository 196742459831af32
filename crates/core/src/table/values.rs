//! The request for values: what the table has now, for whoever asks once.

use serde::Deserialize;
use slipring_wire::frame::Sample;

use super::answer::json as to_json;
use super::answer_rows::{Added, AnswerRows};
use super::finding::Page;
use super::problem::{Code, PROBLEMS_MAX, Problem, Refusal};
use super::request::{filter_problem, parse, refuse};
use super::text::json;
use super::{Current, CurrentView, Registry};

/// Values in an answer when nothing is said.
const SHOWN: usize = 1_000;
/// Bytes of an answer that are not values or errors, at most.
const FRAME_BYTES: usize = 200;

/// Which values are asked for: of names, or of what a filter matches.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "names or a filter such as {\"filter\": \"pump/#\"}"
)]
pub struct Question {
    names: Option<Vec<String>>,
    filter: Option<String>,
    from: u32,
    count: usize,
}

impl Default for Question {
    fn default() -> Self {
        Self { names: None, filter: None, from: 0, count: SHOWN }
    }
}

impl Question {
    pub(super) fn parse(body: &[u8]) -> Result<Self, Refusal> {
        let question: Self = if body.is_empty() { Self::default() } else { parse(body)? };
        if question.names.is_some() && question.filter.is_some() {
            return Err(Refusal::new(Code::Malformed, "say either names or a filter"));
        }
        let problem = question.filter.as_ref().and_then(|filter| filter_problem(0, filter));
        refuse(problem.into_iter().collect())?;
        Ok(question)
    }

    /// How many names it has.
    pub(super) fn names(&self) -> usize {
        self.names.as_ref().map_or(0, Vec::len)
    }

    /// The parameters that are asked for, ascending, and what is wrong with others.
    fn chosen<'a>(&self, registry: &'a Registry) -> (Page<'a>, Vec<Problem>) {
        let Some(names) = &self.names else {
            let filter = self.filter.as_deref().unwrap_or("#");
            return (registry.page(filter, self.from, false), Vec::new());
        };
        let (mut indices, mut errors) = (Vec::new(), Vec::new());
        for (at, name) in names.iter().enumerate() {
            match registry.find(at, name) {
                Ok(index) => indices.push(index),
                Err(problem) => errors.push(problem),
            }
        }
        indices.retain(|index| *index >= self.from);
        indices.sort_unstable();
        indices.dedup();
        let there =
            indices.into_iter().filter_map(|index| Some((index, registry.get(index)?, true)));
        (Page { entries: Box::new(there), next: None }, errors)
    }
}

/// The newest values of some parameters. One that never had a value is not among them.
pub(super) fn show(
    registry: &Registry,
    current: &Current,
    question: &Question,
    answer_bytes_max: usize,
) -> Result<Vec<u8>, Refusal> {
    let (Page { entries, mut next }, errors) = question.chosen(registry);
    let (errors, more) = told(&errors, answer_bytes_max / 2);
    let room = answer_bytes_max.saturating_sub(FRAME_BYTES + errors.len());
    let mut rows = AnswerRows::new(question.count.max(1), room);
    for (index, entry, _) in entries {
        let Some(newest) = current.get(index) else { continue };
        match rows.add_written(|text| write_row(registry, index, &entry.name, &newest, text)) {
            Added::Taken => {}
            Added::Full => {
                next = Some(index);
                break;
            }
            Added::TooLarge(_) => return Err(too_large(registry, index)),
        }
    }
    let next = next.map_or_else(|| "null".to_owned(), |index| index.to_string());
    let (id, revision) = (registry.id(), registry.revision());
    let head = format!("{{\"table\":{id},\"revision\":{revision},\"next\":{next},\"values\":[");
    let more = if more > 0 { format!(",\"more_errors\":{more}") } else { String::new() };
    let parts = [head.as_bytes(), rows.text(), b"],\"errors\":", &errors, more.as_bytes(), b"}"];
    let answer = parts.concat();
    if answer.len() > answer_bytes_max {
        let text = "the answer is larger than this client takes: ask for fewer names";
        return Err(Refusal::new(Code::TooLarge, text));
    }
    Ok(answer)
}

/// As many errors as so many bytes hold, and how many more there are.
fn told(errors: &[Problem], bytes_max: usize) -> (Vec<u8>, usize) {
    let mut told = errors.len().min(PROBLEMS_MAX);
    loop {
        let bytes = to_json(&&errors[..told]);
        if told == 0 || bytes.len() <= bytes_max {
            return (bytes, errors.len() - told);
        }
        told /= 2;
    }
}

fn too_large(registry: &Registry, index: u32) -> Refusal {
    let name = registry.get(index).map_or("", |entry| &*entry.name);
    let text = format!(
        "the value of {name} alone is larger than an answer to this client may be; ask from index {} on",
        index.saturating_add(1)
    );
    Refusal::new(Code::TooLarge, text)
}

/// One value: a sample as JSON, with whose it is and when it was received.
fn write_row(
    registry: &Registry,
    index: u32,
    name: &str,
    newest: &CurrentView<'_>,
    row: &mut Vec<u8>,
) {
    let &CurrentView { time_ns, quality, value, receive_ns, .. } = newest;
    row.extend_from_slice(format!("{{\"index\":{index},\"name\":").as_bytes());
    row.extend_from_slice(&to_json(&name));
    row.extend_from_slice(format!(",\"received\":{receive_ns},").as_bytes());
    let start = row.len();
    json(&Sample { index, time_ns, quality, value }, registry, row);
    row.remove(start); // the brace that opens the sample
}
