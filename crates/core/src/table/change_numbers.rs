//! The newest change of each position, in blocks: a search skips blocks without newer changes.
//!
//! An example: of 640 positions, position 70 changed last, with change 9; all others changed before change 5. A search
//! for changes after 5 looks at ten numbers of blocks, and then only at the 64 positions of the second block.

use std::ops::{Deref, Range};

/// Positions that share a newest change.
pub(super) const BLOCK: usize = 64;

/// The number of the newest change of each position; 0 if it never changed.
#[derive(Debug, Default)]
pub(super) struct ChangeNumbers {
    changes: Vec<u64>,
    /// At least the newest change of each block.
    blocks: Vec<u64>,
}

impl ChangeNumbers {
    /// Grows to at least so many positions.
    pub fn grow(&mut self, places: usize) {
        if places > self.changes.len() {
            self.changes.resize(places, 0);
            self.blocks.resize(places.div_ceil(BLOCK), 0);
        }
    }

    /// At least the newest change of each block.
    pub fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    #[inline]
    pub fn set(&mut self, at: usize, change: u64) {
        self.changes[at] = change;
        let block = &mut self.blocks[at / BLOCK];
        *block = change.max(*block);
    }

    /// Sets a position as if it had never changed.
    pub fn clear(&mut self, at: usize) {
        self.changes[at] = 0;
    }

    /// Sets all positions of a span, which is not empty, to the newest change of all.
    pub fn fill(&mut self, span: Range<usize>, change: u64) {
        self.blocks[span.start / BLOCK..=(span.end - 1) / BLOCK].fill(change);
        self.changes[span].fill(change);
    }

    /// The first position in a span that changed after `since`; the end of the span if none did.
    pub fn first_after(&self, span: Range<usize>, since: u64) -> usize {
        let Range { start: mut at, end } = span;
        while at < end {
            let stop = ((at / BLOCK + 1) * BLOCK).min(end);
            if self.blocks[at / BLOCK] > since {
                let found = self.changes[at..stop].iter().position(|change| *change > since);
                if let Some(found) = found {
                    return at + found;
                }
            }
            at = stop;
        }
        end
    }
}

impl Deref for ChangeNumbers {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.changes
    }
}
