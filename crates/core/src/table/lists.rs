//! Lists of parameters that clients chose by name: kept under a hash, to be subscribed to.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use ring::digest;
use slipring_wire::frame::RangeSet;

use crate::SessionKey;

/// Lists that are kept; of more, the one that was asked for longest ago and is not in use is forgotten.
const LISTS_MAX: usize = 1_024;
/// Ranges of all lists together.
const RANGES_MAX: usize = 1 << 20;

/// The name of a list: a hash of the table and its indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListId(u64);

impl ListId {
    /// The name of these parameters of a table.
    pub fn of(table: u32, indices: &RangeSet) -> Self {
        let mut hash = digest::Context::new(&digest::SHA256);
        hash.update(&table.to_le_bytes());
        for range in indices {
            hash.update(&range.start.to_le_bytes());
            hash.update(&range.end.to_le_bytes());
        }
        let hash = hash.finish();
        let bytes = hash.as_ref().first_chunk().expect("SHA-256 gives more than 8 bytes");
        Self(u64::from_be_bytes(*bytes))
    }

    /// Reads sixteen hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits =
            text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        digits.then(|| u64::from_str_radix(text, 16).ok().map(Self)).flatten()
    }
}

impl fmt::Display for ListId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// There is no room for another list: all are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{LISTS_MAX} selections are in use; end one, or choose by filter")]
pub struct ListsFull;

/// The lists.
#[derive(Debug, Default)]
pub struct Lists {
    by_id: HashMap<ListId, List>,
    /// Counts what is asked for, so that the oldest is known.
    asked: u64,
    ranges: usize,
}

#[derive(Debug)]
struct List {
    indices: Arc<RangeSet>,
    asked: u64,
    /// The sessions that subscribe to it, connected or away, and by which filters.
    held: HashSet<(SessionKey, Box<str>)>,
}

impl Lists {
    /// Keeps a list.
    pub fn put(&mut self, table: u32, indices: RangeSet) -> Result<ListId, ListsFull> {
        let id = ListId::of(table, &indices);
        self.asked += 1;
        match self.by_id.get_mut(&id) {
            Some(known) if *known.indices == indices => {
                known.asked = self.asked;
                return Ok(id);
            }
            Some(_) => return Err(ListsFull), // two sets of one hash: the first stays
            None => {}
        }
        self.make_room(indices.ranges())?;
        self.ranges += indices.ranges();
        let list = List { indices: Arc::new(indices), asked: self.asked, held: HashSet::new() };
        self.by_id.insert(id, list);
        Ok(id)
    }

    /// The parameters of a list.
    pub fn get(&self, id: ListId) -> Option<&Arc<RangeSet>> {
        self.by_id.get(&id).map(|list| &list.indices)
    }

    /// A session subscribes to a list: it stays until the session releases it.
    pub fn hold(&mut self, id: ListId, session: SessionKey, filter: &str) -> Option<Arc<RangeSet>> {
        let list = self.by_id.get_mut(&id)?;
        list.held.insert((session, filter.into()));
        Some(Arc::clone(&list.indices))
    }

    /// A session's subscription to a list has ended.
    pub fn release(&mut self, id: ListId, session: SessionKey, filter: &str) {
        if let Some(list) = self.by_id.get_mut(&id) {
            list.held.remove(&(session, filter.into()));
        }
    }

    /// A session is over.
    pub fn release_all(&mut self, session: SessionKey) {
        for list in self.by_id.values_mut() {
            list.held.retain(|(holder, _)| *holder != session);
        }
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    fn make_room(&mut self, ranges: usize) -> Result<(), ListsFull> {
        if ranges > RANGES_MAX {
            return Err(ListsFull);
        }
        while self.by_id.len() >= LISTS_MAX || self.ranges + ranges > RANGES_MAX {
            let unused = self.by_id.iter().filter(|(_, list)| list.held.is_empty());
            let oldest = unused.min_by_key(|(_, list)| list.asked).map(|(id, _)| *id);
            let gone = oldest.and_then(|id| self.by_id.remove(&id)).ok_or(ListsFull)?;
            self.ranges -= gone.indices.ranges();
        }
        Ok(())
    }
}
