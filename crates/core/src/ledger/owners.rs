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
    pub(super) fn begin(&mut self) {
        self.now = None;
    }

    /// Sets the owner of the records that follow; an empty name is nobody.
    pub(super) fn name(&mut self, text: &str) {
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
    pub(super) fn now(&self) -> Option<&Owner> {
        self.now.as_ref()
    }
}

/// Writes records that name owners, each only if it differs from the one before.
#[derive(Debug, Default)]
pub(crate) struct OwnerWriter<'a> {
    /// The owner written last. None before the first, which is written even if it is nobody, because earlier records
    /// may have named another owner.
    last: Option<&'a str>,
}

impl<'a> OwnerWriter<'a> {
    /// Writes the owner of the records that follow.
    pub(crate) fn write(&mut self, owner: Option<&'a Owner>, out: &mut Vec<u8>) {
        let owner = owner.map_or("", Owner::as_str);
        if self.last != Some(owner) {
            self.last = Some(owner);
            ContextRecord::Owner { owner }.encode(out);
        }
    }
}
