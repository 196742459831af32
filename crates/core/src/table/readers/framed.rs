//! For each parameter, the newest change of the table that came in a frame, and the newest that came as a plain
//! message: readers get values from frames here, while plain messages are delivered like any other message.

use std::ops::Range;

use crate::ParameterIndex;
use crate::table::columns::BLOCK;

/// The newest changes, by parameter.
#[derive(Debug, Default)]
pub(super) struct FramedChanges {
    /// The newest change that came in a frame; 0 if there is none, or a plain message came later.
    changes: Vec<u64>,
    /// At least the newest change of each block of parameters, so that a search skips blocks without changes.
    blocks: Vec<u64>,
    /// The newest change that came as a plain message, up to the last parameter that had one.
    plain: Vec<u64>,
}

impl FramedChanges {
    /// Makes room for so many parameters.
    pub fn grow(&mut self, parameters: usize) {
        if parameters > self.changes.len() {
            self.changes.resize(parameters, 0);
            self.blocks.resize(parameters.div_ceil(BLOCK), 0);
        }
    }

    pub fn mark(&mut self, parameters: Range<u32>, change: u64) {
        let span = parameters.start as usize..parameters.end as usize;
        self.grow(span.end);
        self.blocks[span.start / BLOCK..=(span.end - 1) / BLOCK].fill(change);
        self.changes[span].fill(change);
    }

    /// Notes that this change came as a plain message.
    pub fn set_plain(&mut self, parameter: ParameterIndex, change: u64) {
        let place = parameter.get() as usize;
        if let Some(change) = self.changes.get_mut(place) {
            *change = 0;
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
    pub fn first_after(&self, parameters: Range<u32>, since: u64) -> Option<u32> {
        let end = self.changes.len().min(parameters.end as usize);
        let mut at = parameters.start as usize;
        while at < end {
            let stop = ((at / BLOCK + 1) * BLOCK).min(end);
            if self.blocks[at / BLOCK] > since {
                let found = self.changes[at..stop].iter().position(|change| *change > since);
                if let Some(found) = found {
                    return Some((at + found) as u32);
                }
            }
            at = stop;
        }
        None
    }

    /// Drops everything, with its memory.
    pub fn free(&mut self) {
        *self = Self::default();
    }
}
