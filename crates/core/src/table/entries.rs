//! The parameters by index and by name, including removed ones: the part of the table that the journal keeps.
//!
//! An index is given once. It keeps its name and its type, so that old records can still be read.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use slipring_wire::frame::Kind;

use super::Names;
use super::definition::Definition;
use super::versions::DefinitionVersions;
use crate::desk::INDICES_MAX;
use crate::{Offset, Owner, ParameterIndex, Shares};

/// The most removed parameters that are remembered. Beyond it the ones removed first are forgotten.
const REMOVED_MAX: usize = 65_536;
/// Their bytes.
const REMOVED_BYTES_MAX: usize = 64 << 20;

const NO_SUCH_INDEX: &str = "a table has no such index";

/// A parameter of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its topic.
    pub name: Arc<str>,
    /// Its definition.
    pub definition: Arc<Definition>,
    /// The kind of its values on the wire.
    pub kind: Kind,
}

impl Entry {
    fn new(name: Arc<str>, definition: Arc<Definition>) -> Self {
        let kind = definition.kind.wire();
        Self { name, definition, kind }
    }

    fn bytes(&self) -> usize {
        self.name.len() + self.definition.bytes()
    }
}

/// All parameters of a table.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    id: u32,
    revision: u64,
    /// One past the highest index given.
    end: ParameterIndex,
    /// By index; none for forgotten ones.
    slots: Vec<Option<Box<Slot>>>,
    /// The newest index of each name.
    names: HashMap<Arc<str>, ParameterIndex>,
    /// Removed ones in the order of their removal.
    removed: BTreeMap<u64, ParameterIndex>,
    /// How many were ever removed.
    removals: u64,
    /// The number of existing parameters, and their bytes.
    live: usize,
    bytes: usize,
    removed_bytes: usize,
    shares: Shares,
    /// What was declared before, as far as the journal has it.
    pub(crate) versions: DefinitionVersions,
}

#[derive(Clone, Debug)]
struct Slot {
    entry: Entry,
    /// The owner whose quota counts it, while it exists.
    owner: Option<Owner>,
    /// Its number in the order of removal.
    removed: Option<u64>,
}

impl Entries {
    /// An empty table.
    pub fn new(id: u32) -> Self {
        Self { id, ..Self::default() }
    }

    /// The table's number; 0 if there is no table yet. An index has a meaning only within its table.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// How often it changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The index that the next new parameter gets.
    pub fn end(&self) -> ParameterIndex {
        self.end
    }

    /// How many parameters there are.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of names and definitions, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// An existing parameter.
    pub fn get(&self, index: ParameterIndex) -> Option<&Entry> {
        self.slot(index).filter(|slot| slot.removed.is_none()).map(|slot| &slot.entry)
    }

    /// An existing or removed parameter.
    pub fn known(&self, index: ParameterIndex) -> Option<&Entry> {
        self.slot(index).map(|slot| &slot.entry)
    }

    /// The name of an existing or removed parameter, and the first offset at which it had this index.
    pub fn known_since(&self, index: ParameterIndex) -> Option<(Arc<str>, Offset)> {
        let (found, version) = self.versions.iter_from(index).next()?;
        let name = &self.known(index)?.name;
        (found == index).then(|| (Arc::clone(name), version.since))
    }

    /// The newest index that a name has or had.
    pub(super) fn known_index(&self, name: &str) -> Option<ParameterIndex> {
        self.names.get(name).copied()
    }

    /// The index of an existing parameter.
    pub fn index_of(&self, name: &str) -> Option<ParameterIndex> {
        self.known_index(name).filter(|index| self.get(*index).is_some())
    }

    /// The existing parameters from an index on, ascending.
    pub fn iter_from(
        &self,
        index: ParameterIndex,
    ) -> impl Iterator<Item = (ParameterIndex, &Entry)> {
        let known = self.known_in(index.get()..u32::MAX).filter(|(_, _, exists)| *exists);
        known.map(|(index, entry, _)| (index, entry))
    }

    /// The existing and removed parameters with these indices, ascending, and whether each exists.
    pub(super) fn known_in(
        &self,
        indices: Range<u32>,
    ) -> impl Iterator<Item = (ParameterIndex, &Entry, bool)> {
        let end = self.slots.len().min(indices.end as usize);
        let slots = self.slots.get(indices.start as usize..end).unwrap_or_default();
        (indices.start..).zip(slots).filter_map(|(index, slot)| {
            let slot = slot.as_deref()?;
            Some((ParameterIndex::new(index), &slot.entry, slot.removed.is_none()))
        })
    }

    /// The removed parameters that are remembered, in the order of their removal.
    pub fn removed(&self) -> impl Iterator<Item = (ParameterIndex, &Entry)> {
        self.removed.values().filter_map(|index| Some((*index, self.known(*index)?)))
    }

    /// Sets the table's number, and at least this revision and end. Another number starts an empty table.
    pub fn begin(
        &mut self,
        id: u32,
        revision: u64,
        end: ParameterIndex,
    ) -> Result<(), &'static str> {
        if id == 0 || end.get() > INDICES_MAX {
            return Err(if id == 0 { "a table has no number" } else { NO_SUCH_INDEX });
        }
        if id != self.id {
            *self = Self::new(id);
        }
        self.revision = self.revision.max(revision);
        self.end = self.end.max(end);
        Ok(())
    }

    /// The owner of an existing parameter.
    pub fn owner(&self, index: ParameterIndex) -> Option<&Owner> {
        self.slot(index)?.owner.as_ref()
    }

    /// How many parameters each owner has.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// Sets the owner of an existing parameter.
    pub fn own(&mut self, index: ParameterIndex, owner: Option<&Owner>) {
        let Some(slot) = self.slots.get_mut(index.get() as usize).and_then(Option::as_deref_mut)
        else {
            return;
        };
        if slot.removed.is_none() {
            self.shares.hand_over(slot.owner.as_ref(), owner, 1);
            slot.owner = owner.cloned();
        }
    }

    /// Counts a change of the table.
    pub(super) fn revise(&mut self) {
        self.revision += 1;
    }

    /// Adds a parameter, restores a removed one, or changes its description. Another parameter with the same name
    /// is removed and returned. A new parameter has no owner until [`Self::own`].
    pub fn put(
        &mut self,
        index: ParameterIndex,
        name: &str,
        definition: Arc<Definition>,
    ) -> Result<Option<ParameterIndex>, &'static str> {
        if index.get() >= INDICES_MAX {
            return Err(NO_SUCH_INDEX);
        }
        let known = self.slot(index).map(|slot| &slot.entry);
        let name = match known {
            Some(entry) if *entry.name != *name => return Err("an index has two names"),
            Some(entry) if !entry.definition.is_same(&definition) => {
                return Err("an index has two types");
            }
            Some(entry) => Arc::clone(&entry.name),
            None => name.into(),
        };
        let earlier = self.index_of(&name).filter(|earlier| *earlier != index);
        earlier.map(|earlier| self.remove(earlier));
        let owner = self.drop_slot(index).and_then(|slot| slot.owner);
        self.end = self.end.max(index.next());
        if self.slots.len() <= index.get() as usize {
            self.slots.resize_with(index.get() as usize + 1, || None);
        }
        let entry = Entry::new(Arc::clone(&name), definition);
        self.live += 1;
        self.bytes += entry.bytes();
        self.slots[index.get() as usize] =
            Some(Box::new(Slot { entry, owner: None, removed: None }));
        self.names.insert(name, index);
        self.own(index, owner.as_ref());
        Ok(earlier)
    }

    /// Removes a parameter; false if it does not exist. Its index and its name are remembered.
    pub fn remove(&mut self, index: ParameterIndex) -> bool {
        let Some(slot) = self.slots.get_mut(index.get() as usize).and_then(Option::as_deref_mut)
        else {
            return false;
        };
        if slot.removed.is_some() {
            return false;
        }
        self.shares.hand_over(slot.owner.take().as_ref(), None, 1);
        slot.removed = Some(self.removals);
        let bytes = slot.entry.bytes();
        self.removed.insert(self.removals, index);
        self.removals += 1;
        self.live -= 1;
        self.bytes -= bytes;
        self.removed_bytes += bytes;
        self.forget_surplus();
        true
    }

    fn forget_surplus(&mut self) {
        while self.removed.len() > REMOVED_MAX || self.removed_bytes > REMOVED_BYTES_MAX {
            let Some((_, &index)) = self.removed.first_key_value() else { return };
            let Some(slot) = self.drop_slot(index) else { return };
            self.versions.forget(index);
            if self.names.get(&slot.entry.name) == Some(&index) {
                self.names.remove(&slot.entry.name);
            }
        }
    }

    /// Removes a slot and its counts; its name stays.
    fn drop_slot(&mut self, index: ParameterIndex) -> Option<Box<Slot>> {
        let slot = self.slots.get_mut(index.get() as usize)?.take()?;
        self.shares.hand_over(slot.owner.as_ref(), None, 1);
        if let Some(order) = slot.removed {
            self.removed.remove(&order);
            self.removed_bytes -= slot.entry.bytes();
        } else {
            self.live -= 1;
            self.bytes -= slot.entry.bytes();
        }
        Some(slot)
    }

    fn slot(&self, index: ParameterIndex) -> Option<&Slot> {
        self.slots.get(index.get() as usize)?.as_deref()
    }
}

impl Names for Entries {
    fn name(&self, index: ParameterIndex) -> Option<&str> {
        self.get(index).map(|entry| &*entry.name)
    }

    fn kind(&self, index: ParameterIndex) -> Option<Kind> {
        self.get(index).map(|entry| entry.kind)
    }

    fn is_enumeration(&self, index: ParameterIndex) -> bool {
        self.get(index).is_some_and(|entry| entry.definition.kind.labels().is_some())
    }

    fn label(&self, index: ParameterIndex, value: u32) -> Option<&str> {
        self.get(index)?.definition.kind.labels()?.label(value)
    }

    fn rate_hz(&self, index: ParameterIndex) -> Option<f64> {
        self.get(index)?.definition.rate_hz
    }
}

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;
