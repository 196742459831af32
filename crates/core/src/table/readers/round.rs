//! The rounds in which a reader of newest values goes through its parameters, a portion at a time. Each round
//! finds every parameter that changed since the round before passed it.
//!
//! An example: a round looks at 1,000 parameters in portions of 400. The table is at change 7 when it looks at
//! 0..400, at 9 for 400..800 and at 12 for the rest. The next round finds a parameter below 400 if it changed
//! after 7, one below 800 if it changed after 9, and the others if they changed after 12.

use std::collections::VecDeque;

use slipring_wire::frame::RangeSet;

use super::framed::FramedChanges;
use super::reader::{AfterVisit, Sending, VisitContext};
use super::turn::{MessageAllowance, RANGE_STEPS, TurnBudget};
use crate::{Millis, ParameterIndex};

/// How soon a reader that has to wait is visited again.
const AGAIN_MS: Millis = 20;
/// The most messages that a reader gets before the next reader's turn.
const PORTION: usize = 256;

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
enum RoundResult {
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

    /// Sends the reader what changed, up to a portion of messages.
    pub fn visit(
        &mut self,
        chosen: &RangeSet,
        allowance: &mut MessageAllowance,
        turn: &mut TurnBudget,
        sending: &mut Sending<'_, '_>,
    ) -> AfterVisit {
        let VisitContext { framed, state, .. } = *sending.context;
        let room = sending.outlet.room(sending.id).newest;
        // Only a round in a single visit finds everything: else parameters can change after they were passed.
        let (change, is_whole) = (state.current.change(), self.cursor == 0);
        for _ in 0..PORTION {
            if sending.sent >= room {
                return self.wait(state.now_ms, change);
            }
            match self.find(chosen, framed, turn) {
                RoundResult::Parameter(parameter) if allowance.take(1) => {
                    let sample =
                        state.current.columns.sample(parameter.get() as usize, parameter.get());
                    if let Some(sample) = sample {
                        sending.send(&sample, None, turn);
                    }
                }
                RoundResult::Parameter(parameter) => {
                    self.cursor = parameter.get(); // to find it again
                    return self.wait(state.now_ms, change);
                }
                RoundResult::Pause => {
                    self.end_portion(change);
                    return AfterVisit::Again;
                }
                RoundResult::End => {
                    self.end(change);
                    return match state.now_ms >= self.waited_ms + NO_WAIT_MS {
                        true if is_whole => AfterVisit::Every,
                        true => AfterVisit::Again,
                        false => AfterVisit::Later(state.now_ms + AGAIN_MS),
                    };
                }
            }
        }
        self.end_portion(change);
        AfterVisit::Again
    }

    /// Notes that the reader has to wait, and when it is visited again.
    fn wait(&mut self, now_ms: Millis, change: u64) -> AfterVisit {
        self.end_portion(change);
        self.waited_ms = now_ms;
        AfterVisit::Later(now_ms + AGAIN_MS)
    }

    /// Finds the next of these parameters that changed.
    fn find(
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
                if let Some(found) = framed.first_after(&(self.cursor..end), portion.since) {
                    self.cursor = found.next().get();
                    return RoundResult::Parameter(found);
                }
                self.cursor = end;
            }
        }
        RoundResult::End
    }

    fn portion(&mut self) -> RoundPortion {
        while self.ahead.front().is_some_and(|portion| portion.end <= self.cursor) {
            self.ahead.pop_front();
        }
        *self.ahead.front().expect("the last portion has no end")
    }

    /// Ends a portion: parameters up to the cursor were looked at when the table was at this change.
    fn end_portion(&mut self, change: u64) {
        self.note(self.cursor, change);
    }

    /// Ends the round.
    fn end(&mut self, change: u64) {
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
