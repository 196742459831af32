//! Which of the oldest segments may be removed, and who still needs the others. Pure.
//! In doubt a segment stays: a person can make room on a full disk, but cannot bring a removed message back.
//!
//! An example: segments begin at the offsets 0, 1,000, 2,000 and 3,000; the last one is being written.
//! By their age the first three may go. A consumer has read up to 2,500, and a session's queue names
//! offset 1,200. So only the segment of 0 to 999 goes, and `held_by` names the sessions.

use std::time::Duration;

use crate::consumers::Consumer;
use crate::format::JournalIdentity;
use crate::segment::SegmentId;

/// What a journal keeps. Without a limit it keeps everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionRules {
    /// A segment is removed when everything in it was received longer ago than this.
    pub age: Option<Duration>,
    /// The oldest segments are removed while all of them together are larger than this.
    pub bytes: Option<u64>,
    /// Keeps what a consumer has not read. Without it a slow consumer meets a gap.
    pub keep_unread: bool,
}

/// A segment as retention sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentSummary {
    pub id: SegmentId,
    pub bytes: u64,
    /// `i64::MIN` when there is no batch.
    pub newest_ns: i64,
}

/// Who needs which part of the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetentionClaims<'a> {
    /// The segment that recovery begins with; without a snapshot that is the first one.
    pub snapshot: Option<SegmentId>,
    /// The lowest offset that a session's queue names.
    pub sessions: u64,
    /// The consumers, and the journal whose offsets they should hold.
    pub consumers: &'a [Consumer],
    pub journal: JournalIdentity,
}

/// How many of the oldest segments to remove, and who keeps more from being removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub remove: usize,
    pub held_by: Option<String>,
}

/// Decides about all segments, oldest first. The last one is being written, and stays.
pub(crate) fn decide(
    segments: &[SegmentSummary],
    claims: &RetentionClaims<'_>,
    rules: &RetentionRules,
    now_ns: i64,
) -> Decision {
    let due = due(segments, rules, now_ns);
    let claims = claims.all(segments, rules.keep_unread);
    let remove = claims.iter().map(|claim| claim.free).min().unwrap_or(due).min(due);
    let holding = claims.iter().filter(|claim| claim.free == remove && remove < due);
    let held_by = holding.map(|claim| claim.who.as_str()).collect::<Vec<_>>().join("; ");
    Decision { remove, held_by: Some(held_by).filter(|names| !names.is_empty()) }
}

/// How many of the oldest segments exceed the rules.
fn due(segments: &[SegmentSummary], rules: &RetentionRules, now_ns: i64) -> usize {
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

/// Everything received before this time is too old; `None` without a rule for the age. A message whose
/// receive time is ahead of the clock does not count as old: either of the two times may be wrong.
pub(crate) fn age_limit_ns(rules: &RetentionRules, now_ns: i64) -> Option<i64> {
    let age_ns = |age: Duration| i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
    rules.age.map(|age| now_ns.saturating_sub(age_ns(age)))
}

/// Somebody who needs a part of the journal, and how many of the oldest segments are not in it.
struct Claim {
    who: String,
    free: usize,
}

impl RetentionClaims<'_> {
    fn all(&self, segments: &[SegmentSummary], keep_unread: bool) -> Vec<Claim> {
        let consumers = if keep_unread { self.consumers } else { &[] };
        let consumers = consumers.iter().map(|one| consumer_claim(segments, one, self.journal));
        let sessions = Claim {
            who: format!("sessions, from offset {}", self.sessions),
            free: before(segments, self.sessions),
        };
        consumers.chain([sessions, state_claim(segments, self.snapshot)]).collect()
    }
}

fn state_claim(segments: &[SegmentSummary], snapshot: Option<SegmentId>) -> Claim {
    let Some(snapshot) = snapshot else {
        return Claim { who: "the state, which has no snapshot".to_owned(), free: 0 };
    };
    let free = segments.iter().take_while(|segment| segment.id < snapshot).count();
    Claim { who: format!("the state, from segment {snapshot}"), free }
}

/// A consumer whose position is unknown may need everything.
fn consumer_claim(
    segments: &[SegmentSummary],
    consumer: &Consumer,
    journal: JournalIdentity,
) -> Claim {
    let name = &consumer.name;
    let unclear = match consumer.position {
        Ok(position) if position.journal == journal => {
            let who = format!("consumer {name}, at offset {}", position.offset);
            return Claim { who, free: before(segments, position.offset) };
        }
        Ok(position) => format!("is in journal {}", position.journal),
        Err(flaw) => format!("is unknown, because {flaw}"),
    };
    let who = format!("consumer {name}, whose position {unclear}: let it commit, or forget it");
    Claim { who, free: 0 }
}

/// How many of the oldest segments end at or before an offset.
fn before(segments: &[SegmentSummary], offset: u64) -> usize {
    segments.windows(2).take_while(|pair| pair[1].id.offset <= offset).count()
}
