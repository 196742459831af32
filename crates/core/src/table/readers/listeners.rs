//! An index of the readers that get every sample: which parameters they have, and which of them may want samples
//! of a run.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use slipring_wire::frame::{RangeSet, RunView};

use super::ReaderId;
use crate::ParameterIndex;
use crate::table::change_numbers::BLOCK;
use crate::table::current::span;

/// A reader with parameters in more blocks than this is looked at for every run.
const BLOCKS_MAX: usize = 64;

/// Readers that get every sample.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    /// How many readers each parameter has.
    counts: Vec<u32>,
    /// Readers with parameters in few blocks, by block.
    by_block: HashMap<usize, Vec<ReaderId>>,
    /// The other readers.
    wide: HashSet<ReaderId>,
}

impl Listeners {
    pub fn add(&mut self, reader: ReaderId, chosen: &RangeSet) {
        self.grow(reader, &RangeSet::new(), chosen);
    }

    /// Adds parameters to a reader; `more` has none of `before`, those it was added with.
    pub fn grow(&mut self, reader: ReaderId, before: &RangeSet, more: &RangeSet) {
        let Some(last) = more.as_slice().last() else { return };
        if self.counts.len() < last.end as usize {
            self.counts.resize(last.end as usize, 0);
        }
        for range in more {
            self.counts[span(&range)].iter_mut().for_each(|count| *count += 1);
        }
        if self.wide.contains(&reader) {
            return;
        }
        let known = few_blocks(before).unwrap_or_default();
        let new = few_blocks(more).map(|mut blocks| {
            blocks.retain(|block| known.binary_search(block).is_err());
            blocks
        });
        match new {
            Some(blocks) if known.len() + blocks.len() <= BLOCKS_MAX => {
                for block in blocks {
                    self.by_block.entry(block).or_default().push(reader);
                }
            }
            _ => {
                self.remove_from(&known, reader);
                self.wide.insert(reader);
            }
        }
    }

    /// Removes a reader that was added with these parameters.
    pub fn remove(&mut self, reader: ReaderId, chosen: &RangeSet) {
        for range in chosen {
            self.counts[span(&range)].iter_mut().for_each(|count| *count -= 1);
        }
        if !self.wide.remove(&reader) {
            self.remove_from(&few_blocks(chosen).unwrap_or_default(), reader);
        }
    }

    fn remove_from(&mut self, blocks: &[usize], reader: ReaderId) {
        for block in blocks {
            let Some(readers) = self.by_block.get_mut(block) else { continue };
            readers.retain(|other| *other != reader);
            if readers.is_empty() {
                self.by_block.remove(block);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.by_block.is_empty() && self.wide.is_empty()
    }

    pub fn hears(&self, parameter: ParameterIndex) -> bool {
        self.counts.get(parameter.get() as usize).is_some_and(|count| *count > 0)
    }

    /// Whether any parameter of a run has a reader.
    pub fn hears_any(&self, run: &RunView<'_>) -> bool {
        run.ranges().any(|range| {
            let counts = self.counts.get(range.start as usize..).unwrap_or_default();
            counts.iter().take(range.len()).any(|count| *count > 0)
        })
    }

    /// Calls `see` with the readers that may want samples of a run, some of them several times.
    pub fn each(&self, run: &RunView<'_>, mut see: impl FnMut(ReaderId)) {
        self.wide.iter().copied().for_each(&mut see);
        let mut next = 0;
        for range in run.ranges() {
            let blocks = blocks(&range);
            for block in blocks.start.max(next)..blocks.end {
                self.by_block.get(&block).into_iter().flatten().copied().for_each(&mut see);
            }
            next = blocks.end;
        }
    }
}

fn blocks(range: &Range<u32>) -> Range<usize> {
    range.start as usize / BLOCK..(range.end as usize - 1) / BLOCK + 1
}

/// The blocks of these parameters; None if they are more than [`BLOCKS_MAX`].
fn few_blocks(chosen: &RangeSet) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for range in chosen {
        let blocks = blocks(&range);
        if blocks.len() > BLOCKS_MAX {
            return None;
        }
        let last = found.last().copied();
        found.extend(blocks.filter(|block| last != Some(*block)));
        if found.len() > BLOCKS_MAX {
            return None;
        }
    }
    Some(found)
}
