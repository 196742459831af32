//! Sets of parameters that readers choose: one for all readers of the same filter, and counted with all memory
//! that clients take.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::{Arc, Weak};

use slipring_wire::frame::RangeSet;

use crate::memory::Counted;

/// Filters that are remembered beyond twice of those in use.
const SPARE: usize = 16;

/// Some parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    set: RangeSet,
    counted: Counted,
}

impl Chosen {
    pub fn add(&mut self, more: &RangeSet) {
        self.set.add(more);
        self.counted.set(bytes_of(&self.set));
    }

    /// The memory that they take.
    pub fn bytes(&self) -> usize {
        self.counted.bytes()
    }
}

impl From<RangeSet> for Chosen {
    fn from(set: RangeSet) -> Self {
        let counted = Counted::new(bytes_of(&set));
        Self { set, counted }
    }
}

impl Deref for Chosen {
    type Target = RangeSet;

    fn deref(&self) -> &RangeSet {
        &self.set
    }
}

fn bytes_of(set: &RangeSet) -> usize {
    set.ranges() * size_of::<Range<u32>>()
}

/// The sets that are in use.
#[derive(Debug, Default)]
pub(super) struct ChosenSets {
    by_filter: HashMap<Box<str>, Weak<Chosen>>,
    /// How many there were when those not in use were last forgotten.
    in_use: usize,
}

impl ChosenSets {
    /// The set of a filter that chooses this now.
    pub fn share(&mut self, filter: &str, set: RangeSet) -> Arc<Chosen> {
        let known = self.by_filter.get(filter).and_then(Weak::upgrade);
        if let Some(known) = known.filter(|known| known.set == set) {
            return known;
        }
        if self.by_filter.len() > 2 * self.in_use + SPARE {
            self.by_filter.retain(|_, set| set.strong_count() > 0);
            self.in_use = self.by_filter.len();
        }
        let chosen = Arc::new(Chosen::from(set));
        self.by_filter.insert(filter.into(), Arc::downgrade(&chosen));
        chosen
    }
}
