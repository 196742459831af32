//! The rounds in which a reader of newest values goes through its parameters, a portion at a time. Each round
//! finds every parameter that changed since the round before passed it.
//!
//! An example: a round looks at 1,000 parameters in portions of 400. The table is at change 7 when it looks at
//! 0..400, at 9 for 400..800 and at 12 for the rest. The next round finds a parameter below 400 if it changed
//! after 7, one below 800 if it changed after 9, and the others if they changed after 12.

use std::collections::VecDeque;

use slipring_wire::frame::RangeSet;

use super::framed::FramedChanges;
use super::turn::{RANGE_STEPS, TurnBudget};
use crate::{Millis, ParameterIndex};

/// A reader that did not have to wait for this long gets every sample again.
const NO_WAIT_MS: Millis = 1_000;

/// The parameters from the end of the portion before up to `end` were looked at when the table was at change
/// `since`.
#[derive(Clone, Copy, Debug)]
struct RoundPortion {
    end: u32,
    since: u64,
}

/// A reader's position in its round.
#[derive(Debug)]
pub(super) struct NewestRound {
    cursor: u32,
    /// The portions of the round before that lie after the cursor.
    ahead: VecDeque<RoundPortion>,
    /// The portions of this round, up to the cursor.
    behind: VecDeque<RoundPortion>,
    /// When the reader last had to wait for its allowance or for room.
    waited_ms: Millis,
}

/// The result of looking for the next changed parameter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RoundResult {
    /// A parameter that changed.
    Parameter(ParameterIndex),
    /// The turn's work is used up.
    Pause,
    /// The round is over.
    End,
}

impl NewestRound {
    /// A first round that finds what changed after `since`; parameters of `known` only if they changed after
    /// `known_since`.
    pub fn since(since: u64, known: &RangeSet, known_since: u64, now_ms: Millis) -> Self {
        let portions = known.iter().flat_map(|range| {
            [
                RoundPortion { end: range.start, since },
                RoundPortion { end: range.end, since: known_since },
            ]
        });
        let ahead = portions.chain([RoundPortion { end: u32::MAX, since }]).collect();
        Self { cursor: 0, ahead, behind: VecDeque::new(), waited_ms: now_ms }
    }

    /// Notes that the reader has to wait.
    pub fn note_wait(&mut self, now_ms: Millis) {
        self.waited_ms = now_ms;
    }

    /// Whether the reader has not had to wait for a while.
    pub fn keeps_up(&self, now_ms: Millis) -> bool {
        now_ms >= self.waited_ms + NO_WAIT_MS
    }

    pub fn is_at_begin(&self) -> bool {
        self.cursor == 0
    }

    /// Finds the next of these parameters that changed.
    pub fn find(
        &mut self,
        chosen: &RangeSet,
        framed: &FramedChanges,
        turn: &mut TurnBudget,
    ) -> RoundResult {
        let ranges = chosen.as_slice();
        let first = ranges.partition_point(|range| range.end <= self.cursor);
        for range in &ranges[first..] {
            self.cursor = self.cursor.max(range.start);
            while self.cursor < range.end {
                if !turn.spend(RANGE_STEPS) {
                    return RoundResult::Pause;
                }
                let portion = self.portion();
                let end = range.end.min(portion.end);
                if let Some(found) = framed.first_after(self.cursor..end, portion.since) {
                    self.cursor = found + 1;
                    return RoundResult::Parameter(ParameterIndex::new(found));
                }
                self.cursor = end;
            }
        }
        RoundResult::End
    }

    /// Goes back to the parameter that was found last, to find it again.
    pub fn back_to(&mut self, parameter: ParameterIndex) {
        self.cursor = parameter.get();
    }

    fn portion(&mut self) -> RoundPortion {
        while self.ahead.front().is_some_and(|portion| portion.end <= self.cursor) {
            self.ahead.pop_front();
        }
        *self.ahead.front().expect("the last portion has no end")
    }

    /// Ends a portion: parameters up to the cursor were looked at when the table was at this change.
    pub fn end_portion(&mut self, change: u64) {
        self.note(self.cursor, change);
    }

    /// Ends the round.
    pub fn end(&mut self, change: u64) {
        self.note(u32::MAX, change);
        self.ahead = std::mem::take(&mut self.behind);
        self.cursor = 0;
    }

    fn note(&mut self, end: u32, since: u64) {
        match self.behind.back_mut() {
            Some(last) if last.since == since => last.end = end,
            Some(last) if last.end >= end => {}
            _ if end == 0 => {}
            _ => self.behind.push_back(RoundPortion { end, since }),
        }
    }
}
