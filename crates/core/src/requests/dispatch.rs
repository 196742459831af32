//! Gives stored requests to services that have room.

use std::collections::HashSet;
use std::sync::Arc;

use super::book::{OpenRequests, fresh_pool, is_stored};
use super::pool::Pool;
use super::service::Services;
use super::turns::{Heads, LEVELS};
use super::{Handing, Participant, RequestBook, RequestKey, Surroundings};
use crate::{Priority, SessionKey};

/// Topics of its backlog that a service looks at for its next request.
const BACKLOG_LOOKED_AT: usize = 32;

/// The topic, the priority and the key of a request, and the member of its pool that gets it.
type NextRequest = (Arc<str>, Priority, RequestKey, usize);

impl<C: Participant> RequestBook<C> {
    /// Gives the next request of a topic to a free service.
    pub(super) fn hand_next(
        &mut self,
        topic: &Arc<str>,
        around: &Surroundings<'_, C>,
    ) -> Option<Handing<C>> {
        let pool = self.pools.get_mut(topic)?;
        if !pool.has_free(&self.services) {
            return None;
        }
        let heads = pool.next(&self.open, &self.services);
        let Some((priority, key)) = pool.turns.take(&mut with_levels(heads)) else {
            self.tidy(topic);
            return None;
        };
        let asked = &self.open.get(&key)?.asked;
        let member = pool.choose(asked.balance, asked.asker.session(), &self.services)?;
        pool.take(priority, key);
        let handing = self.hand(key, topic, member, around.now_ns);
        self.tidy(topic);
        handing
    }

    /// Gives stored requests to a service that has room again.
    pub(super) fn hand_to(
        &mut self,
        place: usize,
        around: &Surroundings<'_, C>,
        handings: &mut Vec<Handing<C>>,
    ) {
        while self.services.at(place).is_some_and(super::service::Service::is_free) {
            let Some((topic, priority, key, member)) = self.next_for(place, around) else { return };
            if let Some(pool) = self.pools.get_mut(&topic) {
                pool.take(priority, key);
            }
            handings.extend(self.hand(key, &topic, member, around.now_ns));
            self.tidy(&topic);
        }
    }

    /// The next request for a service: of the priority whose turn it is, then the oldest, among its next topics. Only
    /// topics with a request that waits count; looking at another one removes it, so that was paid for when it was
    /// listed.
    fn next_for(&mut self, place: usize, around: &Surroundings<'_, C>) -> Option<NextRequest> {
        let mut oldest: Heads<(i64, NextRequest)> = [None, None, None];
        let mut looked_at = 0;
        for _ in 0..self.services.at(place)?.backlog.len() {
            if looked_at == BACKLOG_LOOKED_AT {
                break;
            }
            let Some(topic) = self.services.at_mut(place)?.backlog.pop_front() else { break };
            let Some((heads, member)) = self.heads_on(&topic, place, around) else { continue };
            looked_at += 1;
            for (priority, key) in with_levels(heads).into_iter().flatten() {
                let asked_ns = self.open.get(&key).map_or(0, |open| open.times_ns[0]);
                let known = &mut oldest[priority as usize];
                if known.as_ref().is_none_or(|(earlier_ns, _)| asked_ns < *earlier_ns) {
                    *known = Some((asked_ns, (Arc::clone(&topic), priority, key, member)));
                }
            }
            self.services.at_mut(place)?.backlog.push_back(topic);
        }
        self.services.at_mut(place)?.turns.take(&mut oldest).map(|(_, found)| found)
    }

    /// The next requests on a topic for a service, and the member of the pool that the service is.
    fn heads_on(
        &mut self,
        topic: &Arc<str>,
        place: usize,
        around: &Surroundings<'_, C>,
    ) -> Option<(Heads<RequestKey>, usize)> {
        if !self.pools.contains_key(topic) {
            return None;
        }
        let pool =
            fresh_pool((&mut self.pools, &self.pools_max), &mut self.services, topic, around);
        let member = pool.members.iter().position(|member| member.place == place)?;
        if !pool.members[member].candidate.is_here() {
            pool.members[member].is_listed = false; // until it is back with MQTT 5
            return None;
        }
        let (open, shunned) = (&self.open, pool.members[member].candidate.shunned());
        let heads = pool.heads(|key| is_stored(open, key), |key| is_of_others(open, key, shunned));
        if heads.iter().all(Option::is_none) {
            pool.members[member].is_listed = false;
            self.tidy(topic);
            return None;
        }
        Some((heads, member))
    }

    /// Forgets topics without a pool, and those that are there twice, in the backlogs that have become long. A service
    /// that is busy for long looks at none of them.
    pub(super) fn prune_backlogs(&mut self) {
        while let Some(place) = self.services.long.pop() {
            let Some(service) = self.services.at_mut(place) else { continue };
            let mut seen = HashSet::new();
            service
                .backlog
                .retain(|topic| self.pools.contains_key(topic) && seen.insert(Arc::clone(topic)));
            service.backlog_max = 2 * service.backlog.len();
        }
    }
}

impl<C: Participant> Pool<C> {
    /// The next request of each priority for a member that is free.
    fn next(&mut self, open: &OpenRequests<C>, services: &Services<C>) -> Heads<RequestKey> {
        let shunned = self.shunned(services);
        self.heads(|key| is_stored(open, key), |key| is_of_others(open, key, shunned))
    }

    /// Whether a member is free that will get requests which waited for it: it has just come. New ones go behind them.
    pub(super) fn is_behind(&mut self, open: &OpenRequests<C>, services: &Services<C>) -> bool {
        let has_both = !self.is_empty() && self.has_free(services);
        has_both && self.next(open, services).iter().any(Option::is_some)
    }
}

/// Each request with its priority.
fn with_levels(heads: Heads<RequestKey>) -> Heads<(Priority, RequestKey)> {
    LEVELS.map(|level| heads[level as usize].map(|key| (level, key)))
}

/// Whether a request is not of an asker that its service does not get requests of.
fn is_of_others<C: Participant>(
    open: &OpenRequests<C>,
    key: RequestKey,
    shunned: Option<SessionKey>,
) -> bool {
    let asker = |session| open.get(&key).is_some_and(|one| one.asked.asker.session() != session);
    shunned.is_none_or(asker)
}
