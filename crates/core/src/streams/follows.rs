//! Who reads which streams, and how far each has come. A reader that is slow stays behind in the ring;
//! nothing is copied for it before it can be sent.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use slipring_wire::matches;

use crate::table::SelectionFilter;
use crate::{SessionKey, StreamIndex};

/// Places in streams that are remembered for all readers together; what is beyond is not read.
const PLACES_MAX: usize = 1 << 20;

/// A subscription that chooses streams.
#[derive(Clone, Copy, Debug)]
pub struct Following<'a> {
    /// As the client wrote it.
    pub filter: &'a str,
    /// Told with every chunk; 0 is none.
    pub identifier: u32,
    /// Begin with the next chunk, not with what is kept.
    pub newest: bool,
    /// The largest packet that the client takes.
    pub packet_bytes_max: usize,
}

/// One subscription of one session.
#[derive(Debug)]
pub(super) struct Follow {
    pub session: SessionKey,
    pub filter: Box<str>,
    pub identifier: u32,
    pub packet_bytes_max: usize,
    /// By stream.
    places: BTreeMap<StreamIndex, Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// The number of the chunk that is next.
    next: u64,
    /// Under which arrival it is among what is due for the session.
    due: Option<u64>,
}

/// What a session reads.
#[derive(Debug, Default)]
struct Reader {
    /// The numbers of its subscriptions, by filter.
    filters: BTreeMap<Box<str>, u64>,
    /// What there is for it: the arrival of a chunk, the number of the subscription, the stream.
    due: BTreeSet<(u64, u64, StreamIndex)>,
}

/// All subscriptions that choose streams.
#[derive(Debug, Default)]
pub(super) struct Follows {
    readers: BTreeMap<u64, Follow>,
    sessions: HashMap<SessionKey, Reader>,
    /// The numbers of those that read a stream.
    streams: HashMap<StreamIndex, BTreeSet<u64>>,
    given: u64,
    places: usize,
    /// Places that there was no room for.
    unread: u64,
}

/// What is next for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub follow: u64,
    pub stream: StreamIndex,
    pub next: u64,
}

impl Follows {
    pub fn len(&self) -> usize {
        self.readers.len()
    }

    pub fn get(&self, follow: u64) -> Option<&Follow> {
        self.readers.get(&follow)
    }

    /// Enters a subscription without streams; an earlier one with its filter is over.
    pub fn enter(&mut self, session: SessionKey, following: &Following<'_>) -> u64 {
        self.leave(session, following.filter);
        self.given += 1;
        let filter: Box<str> = following.filter.into();
        let reader = self.sessions.entry(session).or_default();
        reader.filters.insert(filter.clone(), self.given);
        let follow = Follow {
            session,
            filter,
            identifier: following.identifier,
            packet_bytes_max: following.packet_bytes_max,
            places: BTreeMap::new(),
        };
        self.readers.insert(self.given, follow);
        self.given
    }

    /// A subscription reads a stream from this chunk on, if there is room for that.
    pub fn add(&mut self, follow: u64, stream: StreamIndex, next: u64, arrival: Option<u64>) {
        if self.places >= PLACES_MAX {
            self.unread += 1;
            return;
        }
        let Some(one) = self.readers.get_mut(&follow) else { return };
        one.places.insert(stream, Place { next, due: arrival });
        if let Some(reader) = self.sessions.get_mut(&one.session) {
            reader.due.extend(arrival.map(|arrival| (arrival, follow, stream)));
        }
        self.streams.entry(stream).or_default().insert(follow);
        self.places += 1;
    }

    pub fn take_unread(&mut self) -> u64 {
        std::mem::take(&mut self.unread)
    }

    /// The subscriptions whose filter matches a name.
    pub fn matching(&self, name: &str) -> Vec<u64> {
        let matching = self.readers.iter().filter(|(_, follow)| is_asked(&follow.filter, name));
        matching.map(|(number, _)| *number).collect()
    }

    /// A stream has one more chunk; the sessions that are to have it.
    pub fn arrived(&mut self, stream: StreamIndex, arrival: u64) -> Vec<SessionKey> {
        let mut sessions = Vec::new();
        for number in self.streams.get(&stream).into_iter().flatten() {
            let Some(follow) = self.readers.get_mut(number) else { continue };
            let Some(place) = follow.places.get_mut(&stream) else { continue };
            if place.due.is_none() {
                place.due = Some(arrival);
                let reader = self.sessions.get_mut(&follow.session);
                reader.map(|reader| reader.due.insert((arrival, *number, stream)));
            }
            if sessions.last() != Some(&follow.session) {
                sessions.push(follow.session);
            }
        }
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }

    /// What arrived first of all that is due for a session.
    pub fn first(&self, session: SessionKey) -> Option<Due> {
        let &(_, follow, stream) = self.sessions.get(&session)?.due.first()?;
        let next = self.readers.get(&follow)?.places.get(&stream)?.next;
        Some(Due { follow, stream, next })
    }

    /// A subscription goes on with this chunk of a stream, which arrived then, or is up to date.
    pub fn advance(&mut self, due: Due, next: u64, arrival: Option<u64>) {
        let Some(follow) = self.readers.get_mut(&due.follow) else { return };
        let Some(place) = follow.places.get_mut(&due.stream) else { return };
        let earlier = std::mem::replace(place, Place { next, due: arrival }).due;
        let Some(reader) = self.sessions.get_mut(&follow.session) else { return };
        if let Some(earlier) = earlier {
            reader.due.remove(&(earlier, due.follow, due.stream));
        }
        reader.due.extend(arrival.map(|arrival| (arrival, due.follow, due.stream)));
    }

    /// A session gives up a subscription; whether there was one.
    pub fn leave(&mut self, session: SessionKey, filter: &str) -> bool {
        let Some(reader) = self.sessions.get_mut(&session) else { return false };
        let Some(number) = reader.filters.remove(filter) else { return false };
        if let Some(follow) = self.readers.remove(&number) {
            self.places -= follow.places.len();
            for (stream, place) in &follow.places {
                place.due.map(|arrival| reader.due.remove(&(arrival, number, *stream)));
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

    /// A session is gone.
    pub fn leave_all(&mut self, session: SessionKey) {
        let filters = self.sessions.get(&session).map(|reader| reader.filters.clone());
        for filter in filters.unwrap_or_default().keys() {
            self.leave(session, filter);
        }
    }

    /// A stream is gone.
    pub fn forget(&mut self, stream: StreamIndex) {
        for number in self.streams.remove(&stream).unwrap_or_default() {
            let Some(follow) = self.readers.get_mut(&number) else { continue };
            let Some(place) = follow.places.remove(&stream) else { continue };
            self.places -= 1;
            if let (Some(arrival), Some(reader)) =
                (place.due, self.sessions.get_mut(&follow.session))
            {
                reader.due.remove(&(arrival, number, stream));
            }
        }
    }
}

/// Whether a reader's filter, which may have a name, matches a stream's.
pub fn is_asked(filter: &str, name: &str) -> bool {
    SelectionFilter::parse(filter)
        .and_then(SelectionFilter::filter)
        .is_some_and(|filter| matches(filter, name))
}

#[cfg(test)]
mod tests {
    use super::super::{Catalog, Definition, StreamDeclaration, Streams};
    use super::*;
    use crate::desk::{Desk, Requester};
    use crate::{Limits, Principal};

    #[test]
    fn a_stream_that_is_not_read_for_want_of_room_is_counted_whichever_came_first() {
        let mut streams = Streams::new(Catalog::default(), 1);
        let requester = Requester {
            from: Principal { session: SessionKey::new(1), client_id: "", ..Principal::broker() },
            bounds: Streams::bounds(&Limits::default()),
            is_taken: &|_| false,
            answer_bytes_max: 999,
        };
        let following =
            Following { filter: "#", identifier: 0, newest: false, packet_bytes_max: 99 };
        streams.follows.places = PLACES_MAX - 1;
        streams.follow(SessionKey::new(9), &following);
        for name in ["a", "b"] {
            let asked = [StreamDeclaration::new(0, name, Definition::new("audio/pcm"))];
            streams.declare(&asked, &requester).unwrap();
        }
        assert_eq!(streams.take_unread(), 1);
        streams.follow(SessionKey::new(8), &following);
        assert_eq!((streams.take_unread(), streams.take_unread()), (2, 0));
    }
}
