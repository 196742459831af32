//! The streams by index and by name: what the journal knows of them.
//!
//! An index is given once. A stream that was removed is forgotten, its index is not given again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::definition::Definition;

/// Indices that are given.
pub(super) const INDICES_MAX: u32 = 1 << 22;

/// A stream that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its topic.
    pub name: Arc<str>,
    /// What it is.
    pub definition: Arc<Definition>,
}

/// All streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    entries: BTreeMap<u32, Entry>,
    names: HashMap<Arc<str>, u32>,
    end: u32,
    /// Of all buffers.
    bytes: usize,
}

impl Catalog {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The index that the next new stream gets.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// A stream that is there.
    pub fn get(&self, index: u32) -> Option<&Entry> {
        self.entries.get(&index)
    }

    /// The index of a stream that is there.
    pub fn index_of(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// The streams from an index on, in order.
    pub fn iter_from(&self, index: u32) -> impl Iterator<Item = (u32, &Entry)> {
        self.entries.range(index..).map(|(index, entry)| (*index, entry))
    }

    /// Bytes that all buffers together may take.
    pub fn buffer_bytes(&self) -> usize {
        self.bytes
    }

    /// A stream is there: new, or described anew. An earlier one of its name or index is gone.
    pub fn put(
        &mut self,
        index: u32,
        name: &str,
        definition: Definition,
    ) -> Result<(), &'static str> {
        if index >= INDICES_MAX {
            return Err("there is no such index of a stream");
        }
        if let Some(other) = self.index_of(name).filter(|other| *other != index) {
            self.remove(other);
        }
        let known = self.entries.get(&index).map(|entry| Arc::clone(&entry.name));
        let name = match known {
            Some(known) if *known == *name => known,
            Some(_) => {
                self.remove(index);
                name.into()
            }
            None => name.into(),
        };
        self.names.insert(Arc::clone(&name), index);
        self.bytes += definition.buffer_bytes;
        let before = self.entries.insert(index, Entry { name, definition: Arc::new(definition) });
        self.bytes -= before.map_or(0, |before| before.definition.buffer_bytes);
        self.end = self.end.max(index + 1);
        Ok(())
    }

    /// A stream is gone; its index is never given again, also where it was not known.
    pub fn remove(&mut self, index: u32) -> Option<Entry> {
        if index < INDICES_MAX {
            self.end = self.end.max(index + 1);
        }
        let gone = self.entries.remove(&index)?;
        self.names.remove(&gone.name);
        self.bytes -= gone.definition.buffer_bytes;
        Some(gone)
    }
}
