//! Rounds through the parameters of one reader, a portion at a time: each that changed is found once.
//!
//! A round of 1,000 parameters in portions of 400, with the table's change in brackets: 0..400 [7],
//! 400..800 [9], 800.. [12]. In the next round a parameter below 400 is found again if it changed after
//! 7, one below 800 if it changed after 9, the others after 12.

use std::collections::VecDeque;

use slipring_wire::frame::RangeSet;

use super::framed::FramedChanges;
use super::turn::{RANGE_STEPS, Turn};
use crate::Millis;

/// A reader that got all it could for so long gets every sample again.
const CALM_MS: Millis = 1_000;

/// Parameters below `end`, from the end of the step before on, were looked at with this change.
#[derive(Clone, Copy, Debug)]
struct Step {
    end: u32,
    since: u64,
}

/// Where a reader is in its round.
#[derive(Debug)]
pub(super) struct Lap {
    cursor: u32,
    /// Of the round before, from the cursor on.
    ahead: VecDeque<Step>,
    /// Of this round, up to the cursor.
    behind: VecDeque<Step>,
    /// When it last had to wait for its allowance or for room.
    hindered_ms: Millis,
}

/// What a search found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A parameter that changed.
    Parameter(u32),
    /// The turn is over.
    Pause,
    /// The round is over.
    End,
}

impl Lap {
    /// Everything that changed later than this is to be found; of some parameters, what changed later than
    /// another change.
    pub fn since(since: u64, known: &RangeSet, known_since: u64, now_ms: Millis) -> Self {
        let steps = known.iter().flat_map(|range| {
            [Step { end: range.start, since }, Step { end: range.end, since: known_since }]
        });
        let ahead = steps.chain([Step { end: u32::MAX, since }]).collect();
        Self { cursor: 0, ahead, behind: VecDeque::new(), hindered_ms: now_ms }
    }

    /// The reader would have got more.
    pub fn hinder(&mut self, now_ms: Millis) {
        self.hindered_ms = now_ms;
    }

    /// Whether the reader got all it could for a while.
    pub fn is_calm(&self, now_ms: Millis) -> bool {
        now_ms >= self.hindered_ms + CALM_MS
    }

    pub fn is_at_begin(&self) -> bool {
        self.cursor == 0
    }

    /// The next of these parameters that changed.
    pub fn find(&mut self, chosen: &RangeSet, framed: &FramedChanges, turn: &mut Turn) -> Found {
        let ranges = chosen.as_slice();
        let first = ranges.partition_point(|range| range.end <= self.cursor);
        for range in &ranges[first..] {
            self.cursor = self.cursor.max(range.start);
            while self.cursor < range.end {
                if !turn.spend(RANGE_STEPS) {
                    return Found::Pause;
                }
                let step = self.step();
                let end = range.end.min(step.end);
                if let Some(found) = framed.first_after(self.cursor..end, step.since) {
                    self.cursor = found + 1;
                    return Found::Parameter(found);
                }
                self.cursor = end;
            }
        }
        Found::End
    }

    /// The parameter that was found last is found again.
    pub fn back_to(&mut self, parameter: u32) {
        self.cursor = parameter;
    }

    fn step(&mut self) -> Step {
        while self.ahead.front().is_some_and(|step| step.end <= self.cursor) {
            self.ahead.pop_front();
        }
        *self.ahead.front().expect("the last step has no end")
    }

    /// Ends a portion: what lies behind the cursor was looked at with this change.
    pub fn rest(&mut self, change: u64) {
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
            _ => self.behind.push_back(Step { end, since }),
        }
    }
}
