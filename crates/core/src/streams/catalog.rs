//! The streams by index and by name: what the journal knows of them.
//!
//! An index is given once. A stream that was removed is forgotten, its index is not given again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::definition::Definition;
use crate::{Owner, Shares, StreamIndex};

/// Indices that are given.
pub(super) const INDICES_MAX: u32 = 1 << 22;

/// A stream that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEntry {
    /// Its topic.
    pub name: Arc<str>,
    /// What it is.
    pub definition: Arc<Definition>,
    /// Whose quota it is counted for.
    pub owner: Option<Owner>,
}

/// All streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    entries: BTreeMap<StreamIndex, StreamEntry>,
    names: HashMap<Arc<str>, StreamIndex>,
    end: StreamIndex,
    /// Of all buffers.
    bytes: usize,
    /// How many streams each owner has, and the bytes of their buffers.
    shares: Shares,
    bytes_shares: Shares,
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
    pub fn end(&self) -> StreamIndex {
        self.end
    }

    /// A stream that is there.
    pub fn get(&self, index: StreamIndex) -> Option<&StreamEntry> {
        self.entries.get(&index)
    }

    /// The index of a stream that is there.
    pub fn index_of(&self, name: &str) -> Option<StreamIndex> {
        self.names.get(name).copied()
    }

    /// The streams from an index on, in order.
    pub fn iter_from(
        &self,
        index: StreamIndex,
    ) -> impl Iterator<Item = (StreamIndex, &StreamEntry)> {
        self.entries.range(index..).map(|(index, entry)| (*index, entry))
    }

    /// Bytes that all buffers together may take.
    pub fn buffer_bytes(&self) -> usize {
        self.bytes
    }

    /// How many streams each owner has.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// The bytes of each owner's buffers.
    pub fn bytes_shares(&self) -> &Shares {
        &self.bytes_shares
    }

    /// A stream that is there is this owner's.
    pub fn own(&mut self, index: StreamIndex, owner: Option<&Owner>) {
        let Some(entry) = self.entries.get_mut(&index) else { return };
        let bytes = entry.definition.buffer_bytes;
        let before = std::mem::replace(&mut entry.owner, owner.cloned());
        self.give_back(before.as_ref(), bytes);
        if let Some(owner) = owner {
            self.shares.take(owner, 1);
            self.bytes_shares.take(owner, bytes);
        }
    }

    fn give_back(&mut self, owner: Option<&Owner>, bytes: usize) {
        if let Some(owner) = owner {
            self.shares.give(owner, 1);
            self.bytes_shares.give(owner, bytes);
        }
    }

    /// A stream is there: new, or described anew. An earlier one of its name or index is gone. It
    /// is nobody's until [`Self::own`], unless it was there before.
    pub fn put(
        &mut self,
        index: StreamIndex,
        name: &str,
        definition: Definition,
    ) -> Result<(), &'static str> {
        if index.get() >= INDICES_MAX {
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
        let entry = StreamEntry { name, definition: Arc::new(definition), owner: None };
        self.end = self.end.max(index.next());
        if let Some(before) = self.entries.insert(index, entry) {
            self.bytes -= before.definition.buffer_bytes;
            self.give_back(before.owner.as_ref(), before.definition.buffer_bytes);
            self.own(index, before.owner.as_ref());
        }
        Ok(())
    }

    /// A stream is gone; its index is never given again, also where it was not known.
    pub fn remove(&mut self, index: StreamIndex) -> Option<StreamEntry> {
        if index.get() < INDICES_MAX {
            self.end = self.end.max(index.next());
        }
        let gone = self.entries.remove(&index)?;
        self.names.remove(&gone.name);
        self.bytes -= gone.definition.buffer_bytes;
        self.give_back(gone.owner.as_ref(), gone.definition.buffer_bytes);
        Some(gone)
    }
}
