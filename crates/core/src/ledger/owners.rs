//! Whose something is, as the records tell it: one record for all that follows and has the same owner.

use std::collections::HashSet;

use super::Record;
use crate::Owner;

/// The owner that the records of a batch have named last.
#[derive(Debug, Default)]
pub(super) struct Owners {
    now: Option<Owner>,
    /// Every name there was, once: a million messages share a few.
    known: HashSet<Owner>,
}

impl Owners {
    /// A batch begins: nobody is named.
    pub fn begin(&mut self) {
        self.now = None;
    }

    /// What follows is of this owner; of nobody, if the name is empty.
    pub fn name(&mut self, text: &str) {
        self.now = (!text.is_empty()).then(|| {
            if let Some(known) = self.known.get(text) {
                return known.clone();
            }
            let owner = Owner::named(text);
            self.known.insert(owner.clone());
            owner
        });
    }

    /// Whose the next thing is.
    pub fn now(&self) -> Option<&Owner> {
        self.now.as_ref()
    }
}

/// Names owners in records, each only where it differs from the one before.
#[derive(Debug, Default)]
pub(crate) struct OwnerWriter<'a> {
    /// The last one written.
    last: Option<&'a Owner>,
    /// Whether any was written: a batch begins without an owner, but may go on from another one.
    is_begun: bool,
}

impl<'a> OwnerWriter<'a> {
    /// What follows is this owner's.
    pub fn write(&mut self, owner: Option<&'a Owner>, out: &mut Vec<u8>) {
        if !self.is_begun || self.last != owner {
            (self.is_begun, self.last) = (true, owner);
            Record::Owner { owner: owner.map_or("", Owner::as_str) }.encode(out);
        }
    }
}
