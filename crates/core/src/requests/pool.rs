//! The services of one topic, and the requests that wait for one of them to be free.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use slipring_wire::QoS;

use super::service::Services;
use super::turns::{Heads, Turns};
use super::{Balance, MemberView, Participant, RequestKey, Speed};
use crate::memory::Counted;
use crate::{Identifiers, Priority, Readiness, SessionKey};

/// Requests of a level that are looked at for one that a service with No Local can have.
const LOOKED_AT_MAX: usize = 512;

/// A subscriber that can serve a topic.
#[derive(Clone, Debug)]
pub struct ServiceCandidate<C> {
    /// The client.
    pub client: Arc<C>,
    /// The QoS of its subscription.
    pub qos: QoS,
    /// The identifiers of its subscriptions.
    pub identifiers: Identifiers,
    /// Requests that it computes at once, if it says so.
    pub serve: u16,
    /// It does not get its own requests.
    pub no_local: bool,
    /// It gets requests on topics with their keys, and needs no Response Topic.
    pub by_topic: bool,
}

impl<C: Participant> ServiceCandidate<C> {
    /// Whether requests that do not wait for a service wait for this one: it is here, or says that it serves and comes
    /// back to its session.
    pub(super) fn is_service(&self) -> bool {
        self.is_here() || (self.serve > 0 && !self.client.is_connected())
    }

    /// Whether it can get a request now and knows where to answer to.
    pub(super) fn is_here(&self) -> bool {
        if self.by_topic { self.client.is_connected() } else { self.client.is_here() }
    }

    /// Whether it gets requests of this asker.
    pub(super) fn can_serve(&self, asker: SessionKey) -> bool {
        self.shunned() != Some(asker)
    }

    /// The asker whose requests it does not get.
    pub(super) fn shunned(&self) -> Option<SessionKey> {
        self.no_local.then(|| self.client.session())
    }
}

/// A candidate, and its place among the services.
#[derive(Clone, Debug)]
pub(super) struct PoolMember<C> {
    pub candidate: ServiceCandidate<C>,
    pub place: usize,
    pub speed: Speed,
    /// Whether the topic is in the service's backlog.
    pub is_listed: bool,
}

#[derive(Debug)]
pub(super) struct Pool<C> {
    pub topic: Arc<str>,
    /// The generation of the subscriptions that `members` are of.
    pub generation: u64,
    pub members: Vec<PoolMember<C>>,
    turn: usize,
    /// The requests that wait, by priority; some may be over.
    stored: [VecDeque<RequestKey>; 3],
    /// Which priority a service gets that has just come.
    pub turns: Turns,
    /// How many of `stored` may be over.
    pub over: usize,
    /// The memory of `members`, and of their backlogs.
    counted: Counted,
}

impl<C: Participant> Pool<C> {
    pub(super) fn new(topic: Arc<str>) -> Self {
        Self {
            topic,
            generation: u64::MAX,
            members: Vec::new(),
            turn: 0,
            stored: Default::default(),
            turns: Turns::default(),
            over: 0,
            counted: Counted::default(),
        }
    }

    /// Takes the subscribers of another generation; those that stay keep their speed.
    pub(super) fn refresh(
        &mut self,
        generation: u64,
        candidates: Vec<ServiceCandidate<C>>,
        services: &mut Services<C>,
    ) {
        let earlier: HashMap<SessionKey, (Speed, bool)> = self
            .members
            .drain(..)
            .map(|known| (known.candidate.client.session(), (known.speed, known.is_listed)))
            .collect();
        self.generation = generation;
        self.members = candidates
            .into_iter()
            .map(|candidate| {
                let place = services.enter(&candidate.client, candidate.serve);
                let session = candidate.client.session(); // its place may have been another one's
                let (speed, is_listed) = earlier.get(&session).copied().unwrap_or_default();
                PoolMember { candidate, place, speed, is_listed }
            })
            .collect();
        let each = size_of::<PoolMember<C>>() + size_of::<Arc<str>>();
        self.counted.set(self.members.len() * each);
    }

    /// Chooses a member that is free, by a strategy.
    pub(super) fn choose(
        &mut self,
        balance: Balance,
        asker: SessionKey,
        services: &Services<C>,
    ) -> Option<usize> {
        self.turn = self.turn.wrapping_add(1);
        let view = |at: usize| {
            let member = &self.members[at];
            let service = services.at(member.place);
            let is_free = service.is_some_and(super::service::Service::has_room)
                && member.candidate.is_here()
                && member.candidate.can_serve(asker);
            let readiness = if is_free { Readiness::Ready } else { Readiness::Busy };
            let load = service.map_or(u32::MAX, super::service::Service::load);
            MemberView { readiness, load, speed: member.speed }
        };
        balance.choose(self.turn, self.members.len(), view).0
    }

    /// Lets a request wait; its services learn of it. A request that comes back waits before the others.
    pub(super) fn store(
        &mut self,
        key: RequestKey,
        priority: Priority,
        is_back: bool,
        services: &mut Services<C>,
    ) {
        let level = &mut self.stored[priority as usize];
        if is_back {
            level.push_front(key);
        } else {
            level.push_back(key);
        }
        self.list(services);
    }

    /// Puts the topic into the backlog of every member.
    pub(super) fn list(&mut self, services: &mut Services<C>) {
        for member in self.members.iter_mut().filter(|member| !member.is_listed) {
            member.is_listed = services.list(member.place, &self.topic);
        }
    }

    fn free<'a>(&'a self, services: &'a Services<C>) -> impl Iterator<Item = &'a PoolMember<C>> {
        self.members.iter().filter(|member| {
            let service = services.at(member.place);
            service.is_some_and(super::service::Service::has_room) && member.candidate.is_here()
        })
    }

    /// Whether a member is free.
    pub(super) fn has_free(&self, services: &Services<C>) -> bool {
        self.free(services).next().is_some()
    }

    /// The asker whose requests no free member takes: the only one that is free has No Local.
    pub(super) fn shunned(&self, services: &Services<C>) -> Option<SessionKey> {
        let mut free = self.free(services);
        let candidate = &free.next()?.candidate;
        let is_only = free.next().is_none();
        candidate.shunned().filter(|_| is_only)
    }

    /// The next request of each priority that waits and somebody `can_have`; `is_waiting` tells those that are over,
    /// which are forgotten.
    pub(super) fn heads(
        &mut self,
        is_waiting: impl Fn(RequestKey) -> bool,
        can_have: impl Fn(RequestKey) -> bool,
    ) -> Heads<RequestKey> {
        let mut heads = [None; 3];
        for (stored, head) in self.stored.iter_mut().zip(&mut heads) {
            while stored.front().is_some_and(|key| !is_waiting(*key)) {
                stored.pop_front();
            }
            let mut next = stored.iter().take(LOOKED_AT_MAX);
            *head = next.find(|key| can_have(**key) && is_waiting(**key)).copied();
        }
        heads
    }

    /// Takes one of the requests that `heads` has returned.
    pub(super) fn take(&mut self, priority: Priority, key: RequestKey) {
        let level = &mut self.stored[priority as usize];
        if let Some(at) = level.iter().take(LOOKED_AT_MAX).position(|stored| *stored == key) {
            level.remove(at);
        }
    }

    /// Every request that may wait.
    pub(super) fn stored(&self) -> impl Iterator<Item = RequestKey> {
        self.stored.iter().flatten().copied()
    }

    /// Forgets requests that are over, so that they do not add up behind one that waits long.
    pub(super) fn forget(&mut self, is_waiting: impl Fn(RequestKey) -> bool) {
        for level in &mut self.stored {
            level.retain(|key| is_waiting(*key));
        }
        self.over = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stored.iter().all(VecDeque::is_empty)
    }

    pub(super) fn stored_len(&self) -> usize {
        self.stored.iter().map(VecDeque::len).sum()
    }
}
