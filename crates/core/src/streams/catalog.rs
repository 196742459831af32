//! The streams by index and by name: the part of the streams that the journal keeps.
//!
//! An index is given once. A removed stream is forgotten, but its index is not given again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::definition::StreamDefinition;
use crate::desk::INDICES_MAX;
use crate::{Owner, Shares, StreamIndex};

/// An existing stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEntry {
    /// Its topic.
    pub name: Arc<str>,
    /// Its definition.
    pub definition: Arc<StreamDefinition>,
    /// The owner whose quota counts it.
    pub owner: Option<Owner>,
}

/// All streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    entries: BTreeMap<StreamIndex, StreamEntry>,
    names: HashMap<Arc<str>, StreamIndex>,
    end: StreamIndex,
    /// The bytes of all buffers, as declared.
    bytes: usize,
    /// How many streams each owner has, and the bytes of their buffers.
    shares: Shares,
    bytes_shares: Shares,
}

impl Catalog {
    /// How many streams there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no streams.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The index that the next new stream gets.
    pub fn end(&self) -> StreamIndex {
        self.end
    }

    /// An existing stream.
    pub fn get(&self, index: StreamIndex) -> Option<&StreamEntry> {
        self.entries.get(&index)
    }

    /// The index of an existing stream.
    pub fn index_of(&self, name: &str) -> Option<StreamIndex> {
        self.names.get(name).copied()
    }

    /// An existing stream, by name.
    pub(super) fn named(&self, name: &str) -> Option<&StreamEntry> {
        self.get(self.index_of(name)?)
    }

    /// The streams from an index on, ascending.
    pub fn iter_from(
        &self,
        index: StreamIndex,
    ) -> impl Iterator<Item = (StreamIndex, &StreamEntry)> {
        self.entries.range(index..).map(|(index, entry)| (*index, entry))
    }

    /// The bytes of all buffers, as declared.
    pub fn buffer_bytes(&self) -> usize {
        self.bytes
    }

    /// How many streams each owner has.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// The bytes of each owner's buffers.
    pub(super) fn bytes_shares(&self) -> &Shares {
        &self.bytes_shares
    }

    /// Sets the owner of an existing stream.
    pub fn own(&mut self, index: StreamIndex, owner: Option<&Owner>) {
        let Some(entry) = self.entries.get_mut(&index) else { return };
        let bytes = entry.definition.buffer_bytes;
        let before = std::mem::replace(&mut entry.owner, owner.cloned());
        self.hand_over(before.as_ref(), owner, bytes);
    }

    fn hand_over(&mut self, from: Option<&Owner>, to: Option<&Owner>, bytes: usize) {
        self.shares.hand_over(from, to, 1);
        self.bytes_shares.hand_over(from, to, bytes);
    }

    /// Adds a stream, or changes its definition. Another stream with the same name or index is removed. A new stream
    /// has no owner until [`Self::own`].
    pub fn put(
        &mut self,
        index: StreamIndex,
        name: &str,
        definition: StreamDefinition,
    ) -> Result<(), &'static str> {
        if index.get() >= INDICES_MAX {
            return Err("streams have no such index");
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
            self.hand_over(before.owner.as_ref(), None, before.definition.buffer_bytes);
            self.own(index, before.owner.as_ref());
        }
        Ok(())
    }

    /// Removes a stream. Its index is never given again, even if the stream was not known.
    pub fn remove(&mut self, index: StreamIndex) -> Option<StreamEntry> {
        if index.get() < INDICES_MAX {
            self.end = self.end.max(index.next());
        }
        let gone = self.entries.remove(&index)?;
        self.names.remove(&gone.name);
        self.bytes -= gone.definition.buffer_bytes;
        self.hand_over(gone.owner.as_ref(), None, gone.definition.buffer_bytes);
        Some(gone)
    }
}
