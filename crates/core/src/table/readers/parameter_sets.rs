//! The sets of parameters that readers get: readers of the same filter share one set, whose memory is counted with
//! all that clients use.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::{Arc, Weak};

use slipring_wire::frame::RangeSet;

use crate::memory::Counted;

/// Unused filters are removed when there are this many more than twice those in use.
const SPARE: usize = 16;

/// A set of parameters, with its counted memory.
#[derive(Clone, Debug, Default)]
pub(super) struct ParameterSet {
    set: RangeSet,
    counted: Counted,
}

impl ParameterSet {
    pub fn add(&mut self, more: &RangeSet) {
        self.set.add(more);
        self.counted.set(bytes_of(&self.set));
    }
}

impl From<RangeSet> for ParameterSet {
    fn from(set: RangeSet) -> Self {
        let counted = Counted::new(bytes_of(&set));
        Self { set, counted }
    }
}

impl Deref for ParameterSet {
    type Target = RangeSet;

    fn deref(&self) -> &RangeSet {
        &self.set
    }
}

fn bytes_of(set: &RangeSet) -> usize {
    set.ranges() * size_of::<Range<u32>>()
}

/// The sets in use, by filter.
#[derive(Debug, Default)]
pub(super) struct ParameterSets {
    by_filter: HashMap<Box<str>, Weak<ParameterSet>>,
    /// How many were in use when unused ones were last removed.
    in_use: usize,
}

impl ParameterSets {
    /// The shared set for a filter that matches `set` now.
    pub fn share(&mut self, filter: &str, set: RangeSet) -> Arc<ParameterSet> {
        let known = self.by_filter.get(filter).and_then(Weak::upgrade);
        if let Some(known) = known.filter(|known| known.set == set) {
            return known;
        }
        if self.by_filter.len() > 2 * self.in_use + SPARE {
            self.by_filter.retain(|_, set| set.strong_count() > 0);
            self.in_use = self.by_filter.len();
        }
        let chosen = Arc::new(ParameterSet::from(set));
        self.by_filter.insert(filter.into(), Arc::downgrade(&chosen));
        chosen
    }
}
