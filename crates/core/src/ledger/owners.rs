//! Owners in records: one record names the owner of everything behind it in its batch.

use std::collections::HashSet;

use super::ContextRecord;
use crate::Owner;

/// The owner that the records of a batch named last.
#[derive(Debug, Default)]
pub(super) struct Owners {
    now: Option<Owner>,
    /// Each owner once, because many messages share a few owners.
    known: HashSet<Owner>,
}

impl Owners {
    /// Begins a batch, with no owner named.
    pub fn begin(&mut self) {
        self.now = None;
    }

    /// Sets the owner of the records that follow; an empty name is nobody.
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

    /// The owner of the records that follow.
    pub fn now(&self) -> Option<&Owner> {
        self.now.as_ref()
    }
}

/// Writes records that name owners, each only if it differs from the one before.
#[derive(Debug, Default)]
pub(crate) struct OwnerWriter<'a> {
    /// The last one written.
    last: Option<&'a Owner>,
    /// Whether any was written. Earlier records may have named another owner, so the first is written even if it is
    /// nobody.
    is_begun: bool,
}

impl<'a> OwnerWriter<'a> {
    /// Writes the owner of the records that follow.
    pub fn write(&mut self, owner: Option<&'a Owner>, out: &mut Vec<u8>) {
        if !self.is_begun || self.last != owner {
            (self.is_begun, self.last) = (true, owner);
            ContextRecord::Owner { owner: owner.map_or("", Owner::as_str) }.encode(out);
        }
    }
}
