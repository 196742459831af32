//! The readers of streams, and the position of each in every stream that it reads. A slow reader stays behind in the
//! buffer; no chunk is copied for it before it can be sent.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use slipring_wire::matches;

use crate::access::{ClientRights, Right};
use crate::table::{Selection, SelectionFilter};
use crate::{SessionKey, StreamIndex};

/// The most positions in streams that are remembered for all readers together. Beyond it, a stream is not read.
const POSITIONS_MAX: usize = 1 << 20;

/// One subscription of one session.
#[derive(Debug)]
pub(super) struct StreamSubscription {
    session: SessionKey,
    pub filter: Box<str>,
    pub identifier: u32,
    pub packet_bytes_max: usize,
    positions: BTreeMap<StreamIndex, ReadPosition>,
    /// The rights that narrow it.
    rights: Option<Arc<ClientRights>>,
}

/// How far a subscription has read one stream.
#[derive(Clone, Copy, Debug)]
struct ReadPosition {
    /// The sequence of the next chunk to send.
    next: u64,
    /// The arrival of that chunk, under which it is in [`StreamReader::due`]; None if the reader is up to date.
    due: Option<u64>,
}

/// The subscriptions of one session.
#[derive(Debug, Default)]
struct StreamReader {
    /// The numbers of its subscriptions, by filter.
    filters: BTreeMap<Box<str>, u64>,
    /// The chunks to send next: arrival, number of the subscription, stream.
    due: BTreeSet<(u64, u64, StreamIndex)>,
}

/// All subscriptions that select streams.
#[derive(Debug, Default)]
pub(super) struct StreamReaders {
    /// By number.
    subscriptions: BTreeMap<u64, StreamSubscription>,
    sessions: HashMap<SessionKey, StreamReader>,
    /// The numbers of the subscriptions that read each stream.
    streams: HashMap<StreamIndex, BTreeSet<u64>>,
    /// The number of the newest subscription.
    newest: u64,
    /// How many positions are remembered.
    positions: usize,
    /// How many positions there was no room for.
    pub unread: u64,
}

/// The next chunk of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DueChunk {
    /// The number of its subscription.
    pub subscription: u64,
    pub stream: StreamIndex,
    /// The sequence of the chunk.
    pub next: u64,
}

impl StreamReaders {
    pub fn len(&self) -> usize {
        self.subscriptions.len()
    }

    pub fn get(&self, number: u64) -> Option<&StreamSubscription> {
        self.subscriptions.get(&number)
    }

    /// Adds a subscription without streams, in place of the session's earlier one with the same filter. Returns its
    /// number.
    pub fn enter(&mut self, session: SessionKey, selection: &Selection<'_>) -> u64 {
        let Selection { filter, identifier, packet_bytes_max, rights, .. } = *selection;
        self.leave(session, filter);
        self.newest += 1;
        let reader = self.sessions.entry(session).or_default();
        reader.filters.insert(filter.into(), self.newest);
        let (filter, positions, rights) = (filter.into(), BTreeMap::new(), rights.cloned());
        let subscription =
            StreamSubscription { session, filter, identifier, packet_bytes_max, positions, rights };
        self.subscriptions.insert(self.newest, subscription);
        self.newest
    }

    /// Lets a subscription read a stream from the chunk `next` on, which arrived as `arrival`, if there is room.
    pub fn add(&mut self, number: u64, stream: StreamIndex, next: u64, arrival: Option<u64>) {
        if self.positions >= POSITIONS_MAX {
            self.unread += 1;
            return;
        }
        let Some(one) = self.subscriptions.get_mut(&number) else { return };
        one.positions.insert(stream, ReadPosition { next, due: arrival });
        if let Some(reader) = self.sessions.get_mut(&one.session) {
            reader.due.extend(arrival.map(|arrival| (arrival, number, stream)));
        }
        self.streams.entry(stream).or_default().insert(number);
        self.positions += 1;
    }

    /// The subscriptions whose filter matches a stream's name.
    pub fn matching(&self, name: &str) -> Vec<u64> {
        let is_seen = |one: &StreamSubscription| {
            one.rights.as_ref().is_none_or(|rights| rights.allow(Right::Stream, name))
        };
        let matching = self.subscriptions.iter();
        let matching = matching.filter(|(_, one)| is_match(&one.filter, name) && is_seen(one));
        matching.map(|(number, _)| *number).collect()
    }

    /// Notes a new chunk of a stream; returns the sessions that are to get it.
    pub fn arrived(&mut self, stream: StreamIndex, arrival: u64) -> Vec<SessionKey> {
        let mut sessions = Vec::new();
        for number in self.streams.get(&stream).into_iter().flatten() {
            let Some(one) = self.subscriptions.get_mut(number) else { continue };
            let Some(position) = one.positions.get_mut(&stream) else { continue };
            if position.due.is_none() {
                position.due = Some(arrival);
                let reader = self.sessions.get_mut(&one.session);
                reader.map(|reader| reader.due.insert((arrival, *number, stream)));
            }
            if sessions.last() != Some(&one.session) {
                sessions.push(one.session);
            }
        }
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }

    /// The chunk that arrived first of all that wait for a session.
    pub fn first(&self, session: SessionKey) -> Option<DueChunk> {
        let &(_, subscription, stream) = self.sessions.get(&session)?.due.first()?;
        let next = self.subscriptions.get(&subscription)?.positions.get(&stream)?.next;
        Some(DueChunk { subscription, stream, next })
    }

    /// Moves a subscription on to the chunk `next` of a stream, which arrived as `arrival`; None if it has not yet.
    pub fn advance(&mut self, due: DueChunk, next: u64, arrival: Option<u64>) {
        let DueChunk { subscription: number, stream, .. } = due;
        let Some(one) = self.subscriptions.get_mut(&number) else { return };
        let Some(position) = one.positions.get_mut(&stream) else { return };
        let before = std::mem::replace(position, ReadPosition { next, due: arrival }).due;
        let Some(reader) = self.sessions.get_mut(&one.session) else { return };
        if let Some(before) = before {
            reader.due.remove(&(before, number, stream));
        }
        reader.due.extend(arrival.map(|arrival| (arrival, number, stream)));
    }

    /// The subscriptions of a session.
    pub fn of(&self, session: SessionKey) -> Vec<u64> {
        let reader = self.sessions.get(&session);
        reader.map(|reader| reader.filters.values().copied().collect()).unwrap_or_default()
    }

    /// A subscription is narrowed by these rights from now on.
    pub fn set_rights(&mut self, number: u64, rights: &Arc<ClientRights>) {
        if let Some(one) = self.subscriptions.get_mut(&number) {
            one.rights = Some(Arc::clone(rights));
        }
    }

    /// Whether a subscription reads a stream.
    pub fn reads(&self, number: u64, stream: StreamIndex) -> bool {
        self.subscriptions.get(&number).is_some_and(|one| one.positions.contains_key(&stream))
    }

    /// A subscription reads a stream no more.
    pub fn take_away(&mut self, number: u64, stream: StreamIndex) {
        let Some(one) = self.subscriptions.get_mut(&number) else { return };
        let Some(position) = one.positions.remove(&stream) else { return };
        self.positions -= 1;
        if let (Some(arrival), Some(reader)) = (position.due, self.sessions.get_mut(&one.session)) {
            reader.due.remove(&(arrival, number, stream));
        }
        if let Some(numbers) = self.streams.get_mut(&stream) {
            numbers.remove(&number);
        }
    }

    /// Ends a subscription of a session; returns whether it had one with this filter.
    pub fn leave(&mut self, session: SessionKey, filter: &str) -> bool {
        let Some(reader) = self.sessions.get_mut(&session) else { return false };
        let Some(number) = reader.filters.remove(filter) else { return false };
        if let Some(one) = self.subscriptions.remove(&number) {
            self.positions -= one.positions.len();
            for (stream, position) in &one.positions {
                position.due.map(|arrival| reader.due.remove(&(arrival, number, *stream)));
                if let Some(numbers) = self.streams.get_mut(stream) {
                    numbers.remove(&number);
                }
            }
        }
        if reader.filters.is_empty() {
            self.sessions.remove(&session);
        }
        true
    }

    /// Ends all subscriptions of a session.
    pub fn leave_all(&mut self, session: SessionKey) {
        let filters = self.sessions.get(&session).map(|reader| reader.filters.clone());
        for filter in filters.unwrap_or_default().keys() {
            self.leave(session, filter);
        }
    }

    /// Forgets a removed stream.
    pub fn forget(&mut self, stream: StreamIndex) {
        for number in self.streams.remove(&stream).unwrap_or_default() {
            self.take_away(number, stream);
        }
    }
}

/// Whether the filter of a selection, perhaps under a name, matches a stream's name.
pub(super) fn is_match(filter: &str, name: &str) -> bool {
    SelectionFilter::parse(filter)
        .and_then(SelectionFilter::filter)
        .is_some_and(|filter| matches(filter, name))
}

#[cfg(test)]
mod tests {
    use super::super::{Catalog, StreamDefinition, Streams};
    use super::*;
    use crate::access::AccessPolicy;
    use crate::desk::{DeclaredEntry, Desk, Requester};
    use crate::table::{Deliver, Needs};
    use crate::{Limits, Principal};

    #[test]
    fn a_stream_that_a_full_memory_leaves_unread_is_counted() {
        let mut streams = Streams::new(Catalog::default(), 1);
        let requester = Requester {
            from: Principal { session: SessionKey::new(1), client_id: "", ..Principal::broker() },
            bounds: Streams::bounds(&Limits::default()),
            is_taken: &|_| false,
            answer_bytes_max: 999,
            policy: AccessPolicy::open(),
        };
        let deliver = Deliver::Stream { newest: false };
        let needs = Needs { deliver, ..Needs::default() };
        let selection =
            Selection { filter: "#", identifier: 0, needs, packet_bytes_max: 99, rights: None };
        streams.readers.positions = POSITIONS_MAX - 1;
        streams.follow(SessionKey::new(9), &selection);
        for name in ["a", "b"] {
            let asked = [DeclaredEntry::new(0, name, StreamDefinition::new("audio/pcm"))];
            streams.declare(&asked, &requester).unwrap();
        }
        assert_eq!(streams.take_unread(), 1);
        streams.follow(SessionKey::new(8), &selection);
        assert_eq!((streams.take_unread(), streams.take_unread()), (2, 0));
    }
}
