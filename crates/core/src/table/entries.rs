//! The parameters by index and by name, with those that were removed: what the journal knows of the
//! table.
//!
//! An index is given once. It stays with its name and its type, so that what was written long ago can
//! still be read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use slipring_wire::frame::Kind;

use super::Names;
use super::definition::Definition;

/// Indices that one table can give.
pub const INDICES_MAX: u32 = 1 << 22;
/// Removed parameters that are remembered; of more, those that were removed first are forgotten.
const REMOVED_MAX: usize = 65_536;
/// Their bytes.
const REMOVED_BYTES_MAX: usize = 64 << 20;

const NO_SUCH_INDEX: &str = "a table has no such index";

/// A parameter of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its topic.
    pub name: Arc<str>,
    /// What it is.
    pub definition: Arc<Definition>,
    /// How its values travel.
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
    end: u32,
    /// By index; those that are forgotten are none, those beyond it too.
    slots: Vec<Option<Box<Slot>>>,
    /// The newest index of each name.
    names: HashMap<Arc<str>, u32>,
    /// Removed ones in the order of their removal.
    removed: BTreeMap<u64, u32>,
    /// How many were ever removed.
    removals: u64,
    /// Those that are there, and their bytes.
    live: usize,
    bytes: usize,
    removed_bytes: usize,
}

#[derive(Clone, Debug)]
struct Slot {
    entry: Entry,
    /// Its place in the order of removal.
    removed: Option<u64>,
}

impl Entries {
    /// An empty table.
    pub fn new(id: u32) -> Self {
        Self { id, ..Self::default() }
    }

    /// The table's number: indices mean nothing in another. 0 is no table.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// How often it changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The index that the next new parameter gets.
    pub fn end(&self) -> u32 {
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

    /// A parameter that is there.
    pub fn get(&self, index: u32) -> Option<&Entry> {
        self.slot(index).filter(|slot| slot.removed.is_none()).map(|slot| &slot.entry)
    }

    /// A parameter that is there, or was.
    pub fn known(&self, index: u32) -> Option<&Entry> {
        self.slot(index).map(|slot| &slot.entry)
    }

    /// The newest index that a name has or had.
    pub fn known_index(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// The index of a parameter that is there.
    pub fn index_of(&self, name: &str) -> Option<u32> {
        self.known_index(name).filter(|index| self.get(*index).is_some())
    }

    /// Those that are there from an index on, ascending.
    pub fn iter_from(&self, index: u32) -> impl Iterator<Item = (u32, &Entry)> {
        let known = self.known_from(index).filter(|(_, _, is_there)| *is_there);
        known.map(|(index, entry, _)| (index, entry))
    }

    /// Those that are there or were from an index on, ascending, and whether they are.
    pub fn known_from(&self, index: u32) -> impl Iterator<Item = (u32, &Entry, bool)> {
        let slots = (index..).zip(self.slots.get(index as usize..).unwrap_or_default());
        slots.filter_map(|(index, slot)| {
            let slot = slot.as_deref()?;
            Some((index, &slot.entry, slot.removed.is_none()))
        })
    }

    /// Those that were removed and are remembered, in the order of their removal.
    pub fn removed(&self) -> impl Iterator<Item = (u32, &Entry)> {
        self.removed.values().filter_map(|index| Some((*index, self.known(*index)?)))
    }

    /// A table of this id, this far. One of another id begins anew.
    pub fn begin(&mut self, id: u32, revision: u64, end: u32) -> Result<(), &'static str> {
        if id == 0 || end > INDICES_MAX {
            return Err(if id == 0 { "a table has no number" } else { NO_SUCH_INDEX });
        }
        if id != self.id {
            *self = Self::new(id);
        }
        self.revision = self.revision.max(revision);
        self.end = self.end.max(end);
        Ok(())
    }

    /// Notes a change.
    pub(super) fn revise(&mut self) {
        self.revision += 1;
    }

    /// A parameter is there: a new one, one that was removed, or one that is described again. Another
    /// that had its name is removed by that, and returned.
    pub fn put(
        &mut self,
        index: u32,
        name: &str,
        definition: Arc<Definition>,
    ) -> Result<Option<u32>, &'static str> {
        if index >= INDICES_MAX {
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
        self.drop_slot(index);
        self.end = self.end.max(index + 1);
        if self.slots.len() <= index as usize {
            self.slots.resize_with(index as usize + 1, || None);
        }
        let entry = Entry::new(Arc::clone(&name), definition);
        self.live += 1;
        self.bytes += entry.bytes();
        self.slots[index as usize] = Some(Box::new(Slot { entry, removed: None }));
        self.names.insert(name, index);
        Ok(earlier)
    }

    /// A parameter goes; false if it is not there. Its index and its name are remembered.
    pub fn remove(&mut self, index: u32) -> bool {
        let Some(slot) = self.slots.get_mut(index as usize).and_then(Option::as_deref_mut) else {
            return false;
        };
        if slot.removed.is_some() {
            return false;
        }
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
            if self.names.get(&slot.entry.name) == Some(&index) {
                self.names.remove(&slot.entry.name);
            }
        }
    }

    /// Takes a slot out, and what is counted of it; its name stays.
    fn drop_slot(&mut self, index: u32) -> Option<Box<Slot>> {
        let slot = self.slots.get_mut(index as usize)?.take()?;
        if let Some(order) = slot.removed {
            self.removed.remove(&order);
            self.removed_bytes -= slot.entry.bytes();
        } else {
            self.live -= 1;
            self.bytes -= slot.entry.bytes();
        }
        Some(slot)
    }

    fn slot(&self, index: u32) -> Option<&Slot> {
        self.slots.get(index as usize)?.as_deref()
    }
}

impl Names for Entries {
    fn name(&self, index: u32) -> Option<&str> {
        self.get(index).map(|entry| &*entry.name)
    }

    fn kind(&self, index: u32) -> Option<Kind> {
        self.get(index).map(|entry| entry.kind)
    }

    fn is_enumeration(&self, index: u32) -> bool {
        self.get(index).is_some_and(|entry| entry.definition.kind.labels().is_some())
    }

    fn label(&self, index: u32, value: u32) -> Option<&str> {
        self.get(index)?.definition.kind.labels()?.label(value)
    }

    fn rate_hz(&self, index: u32) -> Option<f64> {
        self.get(index)?.definition.rate_hz
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition() -> Arc<Definition> {
        Arc::new(Definition::from_json(r#"{"type": "u8"}"#).unwrap())
    }

    #[test]
    fn of_many_removed_parameters_those_removed_first_are_forgotten() {
        let (mut table, definition) = (Entries::new(1), definition());
        for index in 0..65_538 {
            table.put(index, &format!("n{index}"), Arc::clone(&definition)).unwrap();
        }
        assert!(table.remove(1) && table.remove(0) && !table.remove(0));
        for index in 2..65_538 {
            table.remove(index);
        }
        assert!(table.known(0).is_none() && table.known(1).is_none() && table.known(2).is_some());
        assert_eq!((table.known_index("n0"), table.known_index("n2")), (None, Some(2)));
        assert_eq!((table.len(), table.end(), table.bytes()), (0, 65_538, 0));
        assert_eq!(table.removed().count(), 65_536);
    }

    #[test]
    fn removed_parameters_of_many_bytes_are_forgotten_sooner() {
        let mut table = Entries::new(1);
        let mut long = Definition::from_json(r#"{"type": "u8"}"#).unwrap();
        long.description = Some("d".repeat(1 << 20));
        let long = Arc::new(long);
        for index in 0..70 {
            table.put(index, &format!("n{index}"), Arc::clone(&long)).unwrap();
            table.remove(index);
        }
        assert_eq!(table.removed().count(), 63);
        assert!(table.known(69).is_some());
    }

    #[test]
    fn an_index_beyond_all_is_refused() {
        let mut table = Entries::new(1);
        assert!(table.put(INDICES_MAX, "a", definition()).is_err());
        assert!(table.begin(1, 0, INDICES_MAX + 1).is_err());
        assert!(table.begin(0, 0, 0).is_err());
        assert!(table.put(INDICES_MAX - 1, "a", definition()).is_ok());
    }

    #[test]
    fn an_index_keeps_its_name_and_its_type() {
        let mut table = Entries::new(1);
        table.put(0, "a", definition()).unwrap();
        table.remove(0);
        assert!(table.put(0, "b", definition()).is_err());
        let other = Arc::new(Definition::from_json(r#"{"type": "u16"}"#).unwrap());
        assert!(table.put(0, "a", other).is_err());
        assert!(table.put(0, "a", definition()).is_ok());
    }

    #[test]
    fn a_table_with_another_number_begins_anew() {
        let mut table = Entries::new(1);
        table.put(4, "a", definition()).unwrap();
        table.begin(1, 9, 2).unwrap();
        assert_eq!((table.revision(), table.end(), table.len()), (9, 5, 1));
        table.begin(2, 3, 0).unwrap();
        assert_eq!((table.id(), table.revision(), table.end(), table.len()), (2, 3, 0, 0));
    }
}
