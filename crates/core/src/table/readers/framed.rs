//! For each parameter, the newest change of the table that came in a frame, and the newest that came as a plain
//! message: readers get values from frames here, while plain messages are delivered like any other message.

use std::ops::Range;

use crate::ParameterIndex;
use crate::table::change_numbers::ChangeNumbers;
use crate::table::current::span;

/// The newest changes, by parameter.
#[derive(Debug, Default)]
pub(super) struct FramedChanges {
    /// The newest change that came in a frame; 0 if there is none, or a plain message came later.
    changes: ChangeNumbers,
    /// The newest change that came as a plain message, up to the last parameter that had one.
    plain: Vec<u64>,
}

impl FramedChanges {
    pub fn mark(&mut self, parameters: &Range<u32>, change: u64) {
        self.changes.grow(parameters.end as usize);
        self.changes.fill(span(parameters), change);
    }

    /// Notes that this change came as a plain message.
    pub fn set_plain(&mut self, parameter: ParameterIndex, change: u64) {
        let place = parameter.get() as usize;
        if place < self.changes.len() {
            self.changes.clear(place);
        }
        if self.plain.len() <= place {
            self.plain.resize(place + 1, 0);
        }
        self.plain[place] = change;
    }

    /// Whether a plain message came after this change, with a newer sample.
    pub fn is_outdated(&self, parameter: ParameterIndex, change: u64) -> bool {
        self.plain.get(parameter.get() as usize).is_some_and(|plain| *plain > change)
    }

    /// The first of these parameters that changed in a frame after `since`.
    pub fn first_after(&self, parameters: &Range<u32>, since: u64) -> Option<ParameterIndex> {
        let Range { start, end } = span(parameters);
        let end = end.min(self.changes.len());
        let found = self.changes.first_after(start..end, since);
        (found < end).then_some(ParameterIndex::new(found as u32))
    }

    /// Drops everything, with its memory.
    pub fn free(&mut self) {
        *self = Self::default();
    }
}
