//! Which segments may go, and who keeps the others. Pure: names nothing it was not given.
//! Whatever is not certain stays: a full disk can be mended, a removed message cannot.

use std::time::Duration;

use crate::consumers::{Consumer, ConsumerFlaw, Standing};
use crate::format::Identity;
use crate::segment::SegmentId;

/// What a journal keeps. Without a bound it keeps everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// A segment goes when everything in it was received longer ago than this.
    pub age: Option<Duration>,
    /// The oldest segments go while all of them together are larger than this.
    pub bytes: Option<u64>,
    /// What a consumer has not read stays. Without it a consumer is overtaken, and told so.
    pub keep_unread: bool,
}

/// A segment as retention sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub id: SegmentId,
    pub bytes: u64,
    /// `i64::MIN` when there is no batch.
    pub newest_ns: i64,
}

/// What others need of the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs<'a> {
    /// Where following the state begins; without a snapshot everything is followed.
    pub snapshot: Option<SegmentId>,
    /// The first offset that a session's queue names.
    pub sessions: u64,
    /// Those who read, and the journal they should be reading.
    pub consumers: &'a [Consumer],
    pub journal: Identity,
}

/// How many of the oldest segments go, and who keeps more of them from going.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub remove: usize,
    pub held_by: Option<String>,
}

/// `segments` are all there are, oldest first; the last one is being written, and stays.
pub(crate) fn decide(
    segments: &[Segment],
    needs: &Needs<'_>,
    rules: &Retention,
    now_ns: i64,
) -> Decision {
    let due = due(segments, rules, now_ns);
    let holds = holds(segments, needs, rules.keep_unread);
    let remove = holds.iter().map(|hold| hold.free).min().unwrap_or(due).min(due);
    let holding = holds.iter().filter(|hold| hold.free == remove && remove < due);
    let held_by = holding.map(|hold| hold.who.as_str()).collect::<Vec<_>>().join("; ");
    Decision { remove, held_by: Some(held_by).filter(|names| !names.is_empty()) }
}

/// How many of the oldest the rules have no use for.
fn due(segments: &[Segment], rules: &Retention, now_ns: i64) -> usize {
    let limit_ns = age_limit_ns(rules, now_ns);
    let mut bytes: u64 = segments.iter().map(|segment| segment.bytes).sum();
    let sealed = &segments[..segments.len().saturating_sub(1)];
    for (count, segment) in sealed.iter().enumerate() {
        let too_large = rules.bytes.is_some_and(|most| bytes > most);
        let old = limit_ns.is_some_and(|limit_ns| segment.newest_ns < limit_ns);
        if !too_large && !old {
            return count;
        }
        bytes -= segment.bytes;
    }
    sealed.len()
}

/// What was received before is old; none without a rule for the age. A time ahead of the clock is
/// not old: either may be wrong.
pub(crate) fn age_limit_ns(rules: &Retention, now_ns: i64) -> Option<i64> {
    let age_ns = |age: Duration| i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
    rules.age.map(|age| now_ns.saturating_sub(age_ns(age)))
}

/// One who needs something of the journal, and how many of the oldest segments hold none of it.
struct Hold {
    who: String,
    free: usize,
}

fn holds(segments: &[Segment], needs: &Needs<'_>, keep_unread: bool) -> Vec<Hold> {
    let consumers = if keep_unread { needs.consumers } else { &[] };
    let consumers = consumers.iter().map(|consumer| hold_of(segments, consumer, needs.journal));
    let sessions = Hold {
        who: format!("sessions, from offset {}", needs.sessions),
        free: before(segments, needs.sessions),
    };
    consumers.chain([sessions, hold_of_state(segments, needs.snapshot)]).collect()
}

fn hold_of_state(segments: &[Segment], snapshot: Option<SegmentId>) -> Hold {
    let Some(snapshot) = snapshot else {
        return Hold { who: "the state, which has no snapshot".to_owned(), free: 0 };
    };
    let free = segments.iter().take_while(|segment| segment.id < snapshot).count();
    Hold { who: format!("the state, from segment {snapshot}"), free }
}

/// A consumer whose place is not known may stand anywhere.
fn hold_of(segments: &[Segment], consumer: &Consumer, journal: Identity) -> Hold {
    let name = &consumer.name;
    let (free, why) = match consumer.standing {
        Ok(Standing { journal: other, .. }) if other != journal => {
            (0, format!("which stands in journal {other}: let it commit or forget it"))
        }
        Ok(Standing { offset, .. }) => (before(segments, offset), format!("at offset {offset}")),
        Err(flaw) => (0, unknown(flaw)),
    };
    Hold { who: format!("consumer {name}, {why}"), free }
}

fn unknown(flaw: ConsumerFlaw) -> String {
    format!("whose place is not known, for {flaw}: let it commit or forget it")
}

/// How many of the oldest segments end at or before an offset.
fn before(segments: &[Segment], offset: u64) -> usize {
    segments.windows(2).take_while(|pair| pair[1].id.offset <= offset).count()
}
