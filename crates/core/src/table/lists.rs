//! Lists: sets of parameters that clients choose by name. A client subscribes to a list by its hash.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use ring::digest;
use slipring_wire::frame::RangeSet;

use crate::SessionKey;

/// The most lists. Beyond it, the unused list that was asked for longest ago is forgotten.
const LISTS_MAX: usize = 1_024;
/// The most ranges of all lists together.
const RANGES_MAX: usize = 1 << 20;

/// The identity of a list: a hash of its table and its indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListId(u64);

impl ListId {
    /// The identity of these parameters of a table.
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

/// There is no room for another list, because all are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{LISTS_MAX} selections are in use; end one, or choose by filter")]
pub(super) struct ListsFull;

/// The lists.
#[derive(Debug, Default)]
pub(super) struct Lists {
    by_id: HashMap<ListId, List>,
    /// How often a list was asked for.
    asked: u64,
    ranges: usize,
}

#[derive(Debug)]
struct List {
    indices: Arc<RangeSet>,
    /// The number of the last request for it.
    asked: u64,
    /// The sessions that subscribe to it, connected or away, with their filters.
    held: HashSet<(SessionKey, Box<str>)>,
}

impl Lists {
    /// Adds a list, unless it is there already.
    pub fn put(&mut self, table: u32, indices: RangeSet) -> Result<ListId, ListsFull> {
        let id = ListId::of(table, &indices);
        self.asked += 1;
        match self.by_id.get_mut(&id) {
            Some(known) if *known.indices == indices => {
                known.asked = self.asked;
                return Ok(id);
            }
            Some(_) => return Err(ListsFull), // another set has the same hash
            None => {}
        }
        self.make_room(indices.ranges())?;
        self.ranges += indices.ranges();
        let list = List { indices: Arc::new(indices), asked: self.asked, held: HashSet::new() };
        self.by_id.insert(id, list);
        Ok(id)
    }

    /// Keeps a list for a subscription of a session until the session releases it.
    pub fn hold(&mut self, id: ListId, session: SessionKey, filter: &str) -> Option<Arc<RangeSet>> {
        let list = self.by_id.get_mut(&id)?;
        list.held.insert((session, filter.into()));
        Some(Arc::clone(&list.indices))
    }

    /// Releases a list after a session's subscription has ended.
    pub fn release(&mut self, id: ListId, session: SessionKey, filter: &str) {
        if let Some(list) = self.by_id.get_mut(&id) {
            list.held.remove(&(session, filter.into()));
        }
    }

    /// Releases all lists of a session that has ended.
    pub fn release_all(&mut self, session: SessionKey) {
        for list in self.by_id.values_mut() {
            list.held.retain(|(holder, _)| *holder != session);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: SessionKey = SessionKey::new(1);

    fn set(indices: impl IntoIterator<Item = u32>) -> RangeSet {
        indices.into_iter().collect()
    }

    #[test]
    fn a_new_list_replaces_the_list_that_was_unused_longest() {
        let mut lists = Lists::default();
        let [first, second, third] = [0, 1, 2].map(|index| lists.put(7, set([index])).unwrap());
        for filter in ["a plot", "an alarm"] {
            assert!(lists.hold(first, SESSION, filter).is_some());
        }
        lists.release(first, SESSION, "a plot");
        assert_eq!(lists.put(7, set([1])), Ok(second), "asked for again: younger than the third");
        for index in 3..1_025 {
            lists.put(7, set([index])).unwrap();
        }
        let Lists { by_id, .. } = &lists;
        assert!(by_id.contains_key(&first) && by_id.contains_key(&second));
        assert!(by_id.len() == 1_024 && !by_id.contains_key(&third));
        lists.release(first, SESSION, "an alarm");
        lists.put(7, set([5_000])).unwrap();
        assert!(!lists.by_id.contains_key(&first));
    }

    #[test]
    fn when_all_lists_are_in_use_a_further_one_is_refused() {
        let mut lists = Lists::default();
        for index in 0..1_024 {
            let id = lists.put(7, set([index])).unwrap();
            lists.hold(id, SESSION, "").unwrap();
        }
        assert_eq!(lists.put(7, set([1_024])), Err(ListsFull));
        assert_eq!(lists.by_id.len(), 1_024);
    }
}
