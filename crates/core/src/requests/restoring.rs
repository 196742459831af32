//! Enters the requests from before a restart: the sorted sets of the book are built at the end, each at once.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use slipring_wire::QoS;

use super::book::Open;
use super::{NewRequest, Participant, RequestBook, RequestKey, RequestState, RestoredRequest};
use crate::keys::KeyMap;
use crate::{Millis, SessionKey};

/// Enters many requests into a book; it is complete after [`BookRestorer::finish`].
#[derive(Debug)]
pub struct BookRestorer<'a, C> {
    book: &'a mut RequestBook<C>,
    deadlines: Vec<(Millis, RequestKey)>,
    asked: KeyMap<SessionKey, Vec<(u64, RequestKey)>>,
    /// Topics of stored requests that do not wait for a service.
    impatient: HashSet<Arc<str>>,
}

impl<C: Participant> RequestBook<C> {
    /// Begins to restore so many requests. Nothing is delivered: no client is connected yet.
    pub fn restorer(&mut self, count: usize) -> BookRestorer<'_, C> {
        self.open.reserve(count);
        let deadlines = Vec::with_capacity(count);
        BookRestorer { book: self, deadlines, asked: KeyMap::default(), impatient: HashSet::new() }
    }
}

/// A request from the journal that is ready to be entered. Making it is most of the work, and needs no book.
#[derive(Debug)]
pub struct PreparedRequest<C> {
    open: Box<Open<C>>,
    /// Who has it, if its session is still there.
    service: Option<Arc<C>>,
}

impl<C: Participant> PreparedRequest<C> {
    /// Makes a request as the journal describes it.
    pub fn new(restored: RestoredRequest<C>, now_ms: Millis) -> Self {
        let RestoredRequest { request, asked_ns, is_delivered, service } = restored;
        let deadline_ms = now_ms.saturating_add(request.timeout_ms);
        let state = if is_delivered { RequestState::Delivered } else { RequestState::Stored };
        let mut open = Box::new(Open::new(request, state, asked_ns, deadline_ms));
        if is_delivered {
            open.handed_qos = open.asked.message.qos.max(QoS::AtLeastOnce);
            open.times_ns[2] = asked_ns;
            open.service = service.as_ref().map(|service| service.session());
        } else {
            open.times_ns[1] = asked_ns;
        }
        Self { open, service }
    }

    /// As it was asked.
    pub fn request(&self) -> &NewRequest<C> {
        &self.open.asked
    }

    /// Whether a service had it whose session is gone.
    pub fn is_orphan(&self) -> bool {
        self.open.state == RequestState::Delivered && self.service.is_none()
    }
}

impl<C: Participant> BookRestorer<'_, C> {
    /// Enters a request.
    pub fn enter(&mut self, prepared: PreparedRequest<C>) {
        let PreparedRequest { open, service } = prepared;
        let (key, asker) = (open.asked.key, open.asked.asker.session());
        self.deadlines.push((open.deadline_ms, key));
        self.asked.entry(asker).or_default().push((open.hash, key));
        if open.state == RequestState::Stored {
            let topic = open.asked.message.topic();
            self.book.store(key, topic, open.asked.priority, false);
            if !open.asked.waits && !self.impatient.contains(topic) {
                self.impatient.insert(Arc::clone(topic));
            }
        }
        if let Some(service) = service {
            let place = self.book.services.enter(&service, 0);
            if let Some(service) = self.book.services.at_mut(place) {
                service.held.insert(key);
            }
        }
        self.book.take(open);
    }

    /// Sorts what was entered into the sets.
    pub fn finish(self) {
        let Self { book, deadlines, asked, impatient } = self;
        book.look_at_topics(impatient.into_iter().collect());
        extend(&mut book.deadlines, deadlines);
        for (asker, keys) in asked {
            extend(book.askers.entry(asker).or_default(), keys);
        }
    }
}

/// A set of sorted values is built several times as fast as by inserting them one by one.
fn extend<T: Ord>(set: &mut BTreeSet<T>, values: Vec<T>) {
    set.append(&mut values.into_iter().collect());
}

#[cfg(test)]
mod tests {
    use super::super::book_tests::{Peer, request};
    use super::*;

    #[test]
    fn restored_requests_are_with_their_service_or_wait_and_are_found_by_asker_and_deadline() {
        let (asker, service) = (Peer::new(1), Peer::new(2));
        let mut book = RequestBook::default();
        let mut restorer = book.restorer(20);
        for key in 0..20 {
            let service = (key % 2 == 1).then(|| Arc::clone(&service));
            let (request, is_delivered) = (request(key, &asker, "a", 0, true), service.is_some());
            let kept = RestoredRequest { request, asked_ns: 5, is_delivered, service };
            restorer.enter(PreparedRequest::new(kept, 100));
        }
        restorer.finish();
        let count = |state| book.states()[state as usize];
        assert_eq!((count(RequestState::Stored), count(RequestState::Delivered)), (10, 10));
        let is_open = |key: u64| book.is_open(asker.session(), &key.to_le_bytes());
        assert!((0..20).all(is_open) && !is_open(20));
        let soonest = [0, 7, 14].map(RequestKey::new);
        assert_eq!(book.next_deadline_ms(), Some(110));
        assert_eq!(book.due(110, 99), soonest);
        let held = (0..20).filter(|key| key % 2 == 1).map(RequestKey::new);
        assert!(book.service_gone(service.session()).into_iter().eq(held));
    }
}
