//! The checks that samples must pass before the table accepts them, and the messages for those that fail.

use slipring_wire::frame::{FrameError, FrameView};

use super::columns::is_text;
use super::{ClockReading, Current, PlainError, Registry};
use crate::{ParameterIndex, Plan, SessionKey, TableRules};

/// Why samples were refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum SampleRefused {
    #[error("this is not a frame: {0}")]
    Malformed(#[from] FrameError),
    #[error("the frame has more than {most} samples; send them in several frames")]
    Samples { most: usize },
    #[error("the frame has {runs} runs, and {most} are allowed; send them in several frames")]
    Runs { runs: usize, most: usize },
    #[error(
        "the frame inflates to {bytes} bytes, and {most} are allowed for its length; send it in several \
         frames, or without deflating it"
    )]
    Inflated { bytes: u32, most: usize },
    #[error(
        "the frame is for table {given}, and the broker's is {ours}; declare the parameters again"
    )]
    OtherTable { given: u32, ours: u32 },
    #[error("{name} has the index {index}, and this client has not declared it; declare it first")]
    NotDeclared { index: ParameterIndex, name: Box<str> },
    #[error("the frame has no samples, and this client may not publish on its topic")]
    NotAllowed,
    #[error("{name} (index {index}) is declared as {declared}, and the frame has {given}")]
    OtherKind { index: ParameterIndex, name: Box<str>, declared: &'static str, given: &'static str },
    #[error(
        "a sample is {ahead_s} s ahead of the broker's clock, and table.future_s allows {most_s}"
    )]
    Future { ahead_s: i64, most_s: u32 },
    #[error(
        "the values of all text and bytes parameters would take more than {most} bytes \
         (limits.parameter_bytes)"
    )]
    Full { most: usize },
    #[error("{name} is declared as {declared}: {why}")]
    Text { name: Box<str>, declared: &'static str, why: PlainError },
}

/// The name of a parameter that its publisher may not know.
const HIDDEN: &str = "no parameter of this client";

/// Checks whether the table can accept a frame as a whole.
pub(super) fn check(
    registry: &Registry,
    current: &Current,
    session: SessionKey,
    view: &FrameView<'_>,
    at: ClockReading,
    plan: &Plan,
) -> Result<(), SampleRefused> {
    let entries = &registry.entries;
    let (given, ours) = (view.header.table, entries.id());
    if given != ours {
        return Err(SampleRefused::OtherTable { given, ours });
    }
    let name = |index| entries.known(index).map_or("(no parameter)", |entry| &entry.name).into();
    let mut text_bytes = 0;
    for run in view.runs() {
        registry.publishers.may_publish(session, run.ranges()).map_err(|index| {
            let index = ParameterIndex::new(index);
            // Whose name this is, a client learns by other requests only.
            let is_hidden = plan.access.is_enforced();
            let name = if is_hidden { HIDDEN.into() } else { name(index) };
            SampleRefused::NotDeclared { index, name }
        })?;
        current.check(&run).map_err(|index| SampleRefused::OtherKind {
            index,
            name: name(index),
            declared: entries.get(index).map_or("nothing", |entry| entry.definition.kind.name()),
            given: run.kind.name(),
        })?;
        check_time(run.newest_ns(), at, &plan.table)?;
        text_bytes += if is_text(run.kind) { run.bytes().len() } else { 0 };
    }
    // The exact growth is only counted if the texts might exceed the limit.
    if current.text_bytes() + text_bytes > plan.limits.parameter_bytes {
        let growth = view.runs().map(|run| current.growth(&run)).sum();
        check_room(current, growth, plan)?;
    }
    Ok(())
}

/// Checks whether the values of text and bytes may grow by so many bytes.
pub(super) fn check_room(
    current: &Current,
    growth: usize,
    plan: &Plan,
) -> Result<(), SampleRefused> {
    let most = plan.limits.parameter_bytes;
    if growth > 0 && current.text_bytes() + growth > most {
        return Err(SampleRefused::Full { most });
    }
    Ok(())
}

/// Checks that a source time is not too far in the future.
pub(super) fn check_time(
    time_ns: i64,
    at: ClockReading,
    rules: &TableRules,
) -> Result<(), SampleRefused> {
    let ahead_s = time_ns.saturating_sub(at.now_ns) / 1_000_000_000;
    if ahead_s > i64::from(rules.future_s) {
        return Err(SampleRefused::Future { ahead_s, most_s: rules.future_s });
    }
    Ok(())
}

/// The message to a client whose samples were refused, as JSON.
pub fn refusal_message(topic: &str, why: &str, count: u64) -> Vec<u8> {
    let message = serde_json::json!({
        "topic": topic, "error": "refused", "message": why, "count": count,
    });
    message.to_string().into_bytes()
}
