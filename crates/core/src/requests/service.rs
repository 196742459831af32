//! The services: clients that have requests, or are subscribed to topics that requests go to.

use std::collections::VecDeque;
use std::sync::Arc;

use super::turns::Turns;
use super::{RequestKey, ResponseTimes};
use crate::keys::{KeyMap, KeySet};
use crate::{ConnectionKey, SessionKey};

/// Topics in a backlog that is never pruned.
const BACKLOG_SHORT: usize = 1_024;

/// A client, as far as requests are concerned.
pub trait Participant {
    /// Its session.
    fn session(&self) -> SessionKey;
    /// Whether it is connected, and sees the Response Topic of a request.
    fn is_here(&self) -> bool;
    /// Whether it is connected, in any way.
    fn is_connected(&self) -> bool {
        self.is_here()
    }
    /// Its connection, if it has one.
    fn connection_key(&self) -> Option<ConnectionKey>;
    /// Requests that it can have at once, if it does not say how many.
    fn room(&self) -> u16;
}

/// One service.
#[derive(Debug)]
pub(super) struct Service<C> {
    pub client: Arc<C>,
    /// Requests that it computes at once.
    pub limit: u16,
    /// The requests that it has.
    pub held: KeySet<RequestKey>,
    /// Topics with stored requests that it can have; some may have none any more.
    pub backlog: VecDeque<Arc<str>>,
    /// Beyond so many topics the backlog is pruned.
    pub backlog_max: usize,
    /// Which priority it gets next.
    pub turns: Turns,
    pub times: ResponseTimes,
    /// Requests that it answered, and those that it could not.
    pub answered: u64,
    pub failed: u64,
}

impl<C: Participant> Service<C> {
    pub(super) fn is_free(&self) -> bool {
        self.has_room() && self.client.is_connected()
    }

    /// Whether it computes fewer requests than it can.
    pub(super) fn has_room(&self) -> bool {
        self.held.len() < usize::from(self.limit)
    }

    /// The requests that it has, in the order of their keys.
    pub(super) fn sorted(&self, is_wanted: impl Fn(&RequestKey) -> bool) -> Vec<RequestKey> {
        let mut keys: Vec<_> = self.held.iter().copied().filter(is_wanted).collect();
        keys.sort_unstable();
        keys
    }

    /// How much it computes, in thousandths of what it can.
    pub(super) fn load(&self) -> u32 {
        (self.held.len() * 1_000 / usize::from(self.limit.max(1))) as u32
    }
}

/// All services, each at a place that stays the same until it is removed.
#[derive(Debug)]
pub(super) struct Services<C> {
    places: Vec<Option<Service<C>>>,
    free: Vec<usize>,
    by_session: KeyMap<SessionKey, usize>,
    /// Places of services with a long backlog.
    pub long: Vec<usize>,
    /// How many have come since the start.
    entered: u32,
    /// The sum of all limits.
    room: usize,
}

impl<C> Default for Services<C> {
    fn default() -> Self {
        let (places, free, long) = (Vec::new(), Vec::new(), Vec::new());
        Self { places, free, by_session: KeyMap::default(), long, entered: 0, room: 0 }
    }
}

impl<C: Participant> Services<C> {
    /// The place of a client, made if there is none. It computes `serve` requests at once, if it says so.
    pub(super) fn enter(&mut self, client: &Arc<C>, serve: u16) -> usize {
        let limit = if serve > 0 { serve } else { client.room() };
        if let Some(at) = self.by_session.get(&client.session()) {
            if let Some(service) = &mut self.places[*at] {
                self.room = self.room - usize::from(service.limit) + usize::from(limit);
                service.limit = limit;
            }
            return *at;
        }
        let service = Service {
            client: client.clone(),
            limit,
            held: KeySet::default(),
            backlog: VecDeque::new(),
            backlog_max: 0,
            turns: Turns::after(self.entered),
            times: ResponseTimes::default(),
            answered: 0,
            failed: 0,
        };
        self.entered = self.entered.wrapping_add(1);
        let at = self.free.pop().unwrap_or(self.places.len());
        if at == self.places.len() {
            self.places.push(None);
        }
        self.places[at] = Some(service);
        self.room += usize::from(limit);
        self.by_session.insert(client.session(), at);
        at
    }

    pub(super) fn at(&self, at: usize) -> Option<&Service<C>> {
        self.places.get(at)?.as_ref()
    }

    pub(super) fn at_mut(&mut self, at: usize) -> Option<&mut Service<C>> {
        self.places.get_mut(at)?.as_mut()
    }

    /// Puts a topic into the backlog of a service. Returns whether there is one.
    pub(super) fn list(&mut self, at: usize, topic: &Arc<str>) -> bool {
        let Some(service) = self.at_mut(at) else { return false };
        service.backlog.push_back(Arc::clone(topic));
        if service.backlog.len() == service.backlog_max.max(BACKLOG_SHORT) + 1 {
            self.long.push(at);
        }
        true
    }

    pub(super) fn place(&self, session: SessionKey) -> Option<usize> {
        self.by_session.get(&session).copied()
    }

    pub(super) fn remove(&mut self, session: SessionKey) -> Option<Service<C>> {
        let at = self.by_session.remove(&session)?;
        self.free.push(at);
        let removed = self.places[at].take();
        self.room -= removed.as_ref().map_or(0, |service| usize::from(service.limit));
        removed
    }

    /// How many there are, and how many requests all of them can have at once.
    pub(super) fn totals(&self) -> (usize, usize) {
        (self.by_session.len(), self.room)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Service<C>> {
        self.places.iter().flatten()
    }
}
