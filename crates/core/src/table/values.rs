//! The request for values: what the table has now, for whoever asks once.

use serde::Deserialize;
use slipring_wire::check_filter;
use slipring_wire::frame::{RangeSet, Sample};

use super::answer::json as to_json;
use super::desk::Outcome;
use super::problem::{Code, PROBLEMS_MAX, Problem, Refusal};
use super::registry::Change;
use super::text::json;
use super::{Current, Registry};

/// Values in an answer when nothing is said.
const SHOWN: usize = 1_000;
/// Bytes of an answer that are not values, at most; of each value's place, too.
const FRAME_BYTES: usize = 200;

#[derive(Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "names or a filter such as {\"filter\": \"pump/#\"}"
)]
struct Body {
    names: Option<Vec<String>>,
    filter: String,
    from: u32,
    count: usize,
}

impl Default for Body {
    fn default() -> Self {
        Self { names: None, filter: "#".to_owned(), from: 0, count: SHOWN }
    }
}

/// Answers with the newest values of some parameters. One that never had a value is not among them.
pub(super) fn answer(
    registry: &Registry,
    current: &Current,
    body: &[u8],
    answer_bytes_max: usize,
) -> Outcome {
    match read(body).and_then(|body| show(registry, current, &body, answer_bytes_max)) {
        Ok(answer) => Outcome { answer, change: Change::default(), refused: None },
        Err(refusal) => refusal.outcome(answer_bytes_max),
    }
}

fn read(body: &[u8]) -> Result<Body, Refusal> {
    if body.is_empty() {
        return Ok(Body::default());
    }
    let body: Body = serde_json::from_slice(body)
        .map_err(|error| Refusal::new(Code::Malformed, error.to_string()))?;
    check_filter(&body.filter)
        .map_err(|error| Refusal::new(Code::Name, format!("{}: {error}", body.filter)))?;
    Ok(body)
}

fn show(
    registry: &Registry,
    current: &Current,
    body: &Body,
    answer_bytes_max: usize,
) -> Result<Vec<u8>, Refusal> {
    let mut errors: Vec<Problem> = Vec::new();
    let chosen: RangeSet = match &body.names {
        None => registry.matching(&body.filter),
        Some(names) => {
            let found = names.iter().enumerate().map(|(at, name)| registry.find(at, name));
            let mut indices: Vec<u32> =
                found.filter_map(|found| found.map_err(|error| errors.push(error)).ok()).collect();
            indices.sort_unstable();
            indices.into_iter().collect()
        }
    };
    errors.truncate(PROBLEMS_MAX);
    let errors = to_json(&errors);
    let (mut rows, mut next) = (Vec::new(), None);
    let mut count = 0;
    for index in chosen.indices().filter(|index| *index >= body.from) {
        let Some(row) = row(registry, current, index) else { continue };
        let bytes = rows.len() + row.len() + errors.len() + FRAME_BYTES;
        if count == 0 && bytes > answer_bytes_max {
            let text = "not even one value fits into an answer to this client";
            return Err(Refusal::new(Code::TooLarge, text));
        }
        if count == body.count.max(1) || bytes > answer_bytes_max {
            next = Some(index);
            break;
        }
        if count > 0 {
            rows.push(b',');
        }
        rows.extend(row);
        count += 1;
    }
    let next = next.map_or_else(|| "null".to_owned(), |index| index.to_string());
    let (id, revision) = (registry.id(), registry.revision());
    let head = format!("{{\"table\":{id},\"revision\":{revision},\"next\":{next},\"values\":[");
    let answer = [head.as_bytes(), &rows, b"],\"errors\":", &errors, b"}"].concat();
    if answer.len() > answer_bytes_max {
        let text = "the answer is larger than this client takes: ask for fewer names";
        return Err(Refusal::new(Code::TooLarge, text));
    }
    Ok(answer)
}

/// One value: a sample as JSON, with whose it is and when it was received.
fn row(registry: &Registry, current: &Current, index: u32) -> Option<Vec<u8>> {
    let entry = registry.get(index)?;
    let now = current.get(index)?;
    let sample = Sample { index, time_ns: now.time_ns, quality: now.quality, value: now.value };
    let name = to_json(&&*entry.name);
    let received = format!(",\"received\":{},", now.receive_ns);
    let mut row =
        [format!("{{\"index\":{index},\"name\":").as_bytes(), &name, received.as_bytes()].concat();
    let start = row.len();
    json(&sample, registry, &mut row);
    row.remove(start); // the brace that opens the sample
    Some(row)
}
