//! Which sessions publish which parameters, or which streams. A session keeps what it declared until it ends.
//!
//! A session whose client is away publishes nothing. When the client is back, it may publish again: all its parameters
//! at once, a stream with its next chunk.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Range;

use slipring_wire::frame::RangeSet;

use crate::SessionKey;

/// The most ranges of indices that all publishers may have together.
const RANGES_MAX: usize = 1 << 20;
/// The most ranges of sessions whose clients are away. A session beyond it has to declare again.
const AWAY_RANGES_MAX: usize = RANGES_MAX / 2;

/// The publishers by session.
#[derive(Debug, Default)]
pub struct Publishers<Index> {
    sessions: HashMap<SessionKey, Publisher>,
    /// How many sessions publish each index.
    counts: Vec<u32>,
    /// Ranges of all sessions.
    ranges: usize,
    /// Ranges of sessions that are away.
    away_ranges: usize,
    /// Indices of parameters, or of streams.
    indices: PhantomData<Index>,
}

/// What a session has declared: at least one index, each once.
#[derive(Debug, Default)]
struct Publisher {
    /// Its client identifier, for people.
    client: Box<str>,
    /// What it publishes; nothing while its client is away.
    live: RangeSet,
    /// What it has declared and does not publish now.
    silent: RangeSet,
    /// What it has declared, and has no right to publish.
    muted: RangeSet,
}

/// What a declaration changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Entered {
    /// What the session had not declared before.
    pub new: RangeSet,
    /// What no session published before.
    pub first: RangeSet,
}

impl<Index: Copy + Into<u32>> Publishers<Index> {
    /// What a session has declared.
    pub fn of(&self, session: SessionKey) -> Option<RangeSet> {
        self.sessions.get(&session).map(|publisher| publisher.live.union(&publisher.silent))
    }

    /// Every session with its client identifier, whether it publishes now, and what it has declared; in no order.
    pub fn each(&self) -> impl Iterator<Item = (SessionKey, &str, bool, RangeSet)> {
        self.sessions.iter().map(|(session, publisher)| {
            let declared = publisher.live.union(&publisher.silent);
            (*session, &*publisher.client, !publisher.is_away(), declared)
        })
    }

    /// A session publishes these no more. Returns those that nobody publishes any more.
    pub(crate) fn take_from(&mut self, session: SessionKey, lost: &RangeSet) -> RangeSet {
        let Some(mut publisher) = self.take_out(session) else { return RangeSet::new() };
        let live = publisher.live.intersect(lost);
        let orphaned = live.indices().filter(|index| self.lower(*index)).collect();
        publisher.live.take_away(lost);
        publisher.silent.take_away(lost);
        publisher.muted.take_away(lost);
        if publisher.ranges() > 0 {
            self.put(session, publisher);
        }
        orphaned
    }

    /// Of these a session has declared, it has no right to publish `muted`.
    pub(crate) fn mute(&mut self, session: SessionKey, of: &RangeSet, muted: &RangeSet) {
        if let Some(publisher) = self.sessions.get_mut(&session) {
            publisher.muted.take_away(of);
            publisher.muted.add(muted);
        }
    }

    /// Checks that a session has declared all of these, and may publish them; the error is the first index that it may not. Only for
    /// parameters, of which a session publishes all or none.
    pub fn may_publish(
        &self,
        session: SessionKey,
        ranges: impl Iterator<Item = Range<u32>>,
    ) -> Result<(), u32> {
        let publisher = self.sessions.get(&session);
        let declared = publisher
            .map(|publisher| if publisher.is_away() { &publisher.silent } else { &publisher.live });
        let muted = publisher.map(|publisher| &publisher.muted).filter(|muted| !muted.is_empty());
        for range in ranges {
            if let Some(muted) = muted.filter(|muted| muted.overlaps(&range)) {
                return Err(range
                    .into_iter()
                    .find(|index| muted.contains(*index))
                    .unwrap_or_default());
            }
            if !declared.is_some_and(|declared| declared.contains_range(&range)) {
                let absent = |index: &u32| !declared.is_some_and(|known| known.contains(*index));
                return Err(range.into_iter().find(absent).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Whether a session publishes an index now; None if it has not declared it.
    pub(crate) fn is_live(&self, session: SessionKey, index: Index) -> Option<bool> {
        let publisher = self.sessions.get(&session)?;
        let is_live = publisher.live.contains(index.into());
        (is_live || publisher.silent.contains(index.into())).then_some(is_live)
    }

    /// The number of sessions that publish an index.
    pub fn count(&self, index: Index) -> usize {
        self.counts.get(index.into() as usize).copied().unwrap_or_default() as usize
    }

    /// The number of other sessions that publish an index.
    pub fn others(&self, session: SessionKey, index: Index) -> usize {
        self.count(index) - usize::from(self.is_live(session, index) == Some(true))
    }

    /// The client identifier of another session that publishes an index; of several, the first by name.
    pub(crate) fn other(&self, session: SessionKey, index: Index) -> &str {
        let others = self.sessions.iter().filter(|(other, _)| **other != session);
        let others = others.filter(|(_, publisher)| publisher.live.contains(index.into()));
        others.map(|(_, publisher)| &*publisher.client).min().unwrap_or_default()
    }

    /// Whether there is room for a session that declares these as well.
    pub(crate) fn has_room(&self, session: SessionKey, more: &RangeSet) -> bool {
        let had = self.sessions.get(&session).map_or(0, Publisher::ranges);
        // The exact number is at most the sum, and the sum is quick.
        self.has_room_for(more.ranges())
            || self.ranges - had + self.of(session).unwrap_or_default().union(more).ranges()
                <= RANGES_MAX
    }

    /// Whether there is room for this many more ranges.
    pub(crate) fn has_room_for(&self, ranges: usize) -> bool {
        self.ranges + ranges <= RANGES_MAX
    }

    /// A session whose client is connected declares these.
    pub(crate) fn enter(&mut self, session: SessionKey, client: &str, more: &RangeSet) -> Entered {
        if more.is_empty() {
            return Entered::default();
        }
        let mut publisher = self.take_out(session).unwrap_or_default();
        let risen = more.difference(&publisher.live);
        let first = risen.indices().filter(|index| self.raise(*index)).collect();
        let new = risen.difference(&publisher.silent);
        publisher.live.add(more);
        publisher.silent.take_away(more);
        if *publisher.client != *client {
            publisher.client = client.into();
        }
        self.put(session, publisher);
        Entered { new, first }
    }

    /// Restores what a session had declared before the restart; its client is away. It keeps the indices below `end`
    /// for which `is_there`.
    pub(crate) fn restore(
        &mut self,
        session: SessionKey,
        client: &str,
        declared: &RangeSet,
        end: u32,
        is_there: impl FnMut(&u32) -> bool,
    ) {
        let given = declared.intersect(&std::iter::once(0..end).collect());
        let silent = given.indices().filter(is_there).collect();
        self.stay(session, Publisher { client: client.into(), silent, ..Publisher::default() });
    }

    /// A session's client disconnected; returns what no session publishes any more. If the session is kept, it keeps
    /// what it declared.
    pub fn leave(&mut self, session: SessionKey, is_kept: bool) -> RangeSet {
        let Some(mut publisher) = self.take_out(session) else { return RangeSet::new() };
        let gone = std::mem::take(&mut publisher.live);
        let orphaned = gone.indices().filter(|index| self.lower(*index)).collect();
        publisher.silent.add(&gone);
        if is_kept {
            self.stay(session, publisher);
        }
        orphaned
    }

    /// Keeps what the session of a client that is away has declared, if there is room.
    fn stay(&mut self, session: SessionKey, publisher: Publisher) {
        let ranges = publisher.ranges();
        if ranges > 0 && self.away_ranges + ranges <= AWAY_RANGES_MAX {
            self.put(session, publisher);
        }
    }

    /// A session's client is back, and publishes all its parameters.
    pub fn come_back(&mut self, session: SessionKey) {
        if !self.is_away(session) {
            return;
        }
        let Some(mut publisher) = self.take_out(session) else { return };
        publisher.live = std::mem::take(&mut publisher.silent);
        for index in publisher.live.indices() {
            self.raise(index);
        }
        self.put(session, publisher);
    }

    /// A session is over. If its client is still connected, `leave` removes what it declared.
    pub fn end(&mut self, session: SessionKey) {
        if self.is_away(session) {
            self.take_out(session);
        }
    }

    /// These indices were removed: no session publishes them any more.
    pub(crate) fn forget(&mut self, gone: &RangeSet) {
        self.forget_of(gone, true);
        for index in gone.indices() {
            if let Some(count) = self.counts.get_mut(index as usize) {
                *count = 0;
            }
        }
    }

    /// An index means something else now: a silent session that declared it has to declare again.
    pub(crate) fn forget_silent(&mut self, index: Index) {
        self.forget_of(&std::iter::once(index.into()).collect(), false);
    }

    fn forget_of(&mut self, gone: &RangeSet, live: bool) {
        let Self { sessions, ranges, away_ranges, .. } = self;
        sessions.retain(|_, publisher| {
            let is_meant =
                publisher.silent.overlaps_any(gone) || live && publisher.live.overlaps_any(gone);
            if is_meant {
                *ranges -= publisher.ranges();
                *away_ranges -= publisher.away_ranges();
                publisher.silent.take_away(gone);
                publisher.muted.take_away(gone);
                if live {
                    publisher.live.take_away(gone);
                }
                *ranges += publisher.ranges();
                *away_ranges += publisher.away_ranges();
            }
            publisher.ranges() > 0
        });
    }

    fn is_away(&self, session: SessionKey) -> bool {
        self.sessions.get(&session).is_some_and(Publisher::is_away)
    }

    fn take_out(&mut self, session: SessionKey) -> Option<Publisher> {
        let publisher = self.sessions.remove(&session)?;
        self.ranges -= publisher.ranges();
        self.away_ranges -= publisher.away_ranges();
        Some(publisher)
    }

    fn put(&mut self, session: SessionKey, publisher: Publisher) {
        self.ranges += publisher.ranges();
        self.away_ranges += publisher.away_ranges();
        self.sessions.insert(session, publisher);
    }

    /// Counts a further publisher of an index; returns whether it is the first.
    fn raise(&mut self, index: u32) -> bool {
        let index = index as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        self.counts[index] == 1
    }

    /// Counts one publisher less of an index; returns whether it was the last.
    fn lower(&mut self, index: u32) -> bool {
        let count = &mut self.counts[index as usize];
        *count -= 1;
        *count == 0
    }
}

impl Publisher {
    fn is_away(&self) -> bool {
        self.live.is_empty()
    }

    fn ranges(&self) -> usize {
        self.live.ranges() + self.silent.ranges()
    }

    fn away_ranges(&self) -> usize {
        if self.is_away() { self.ranges() } else { 0 }
    }
}
