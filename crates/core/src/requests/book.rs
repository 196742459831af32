//! All requests that are not over, the services, and who waits for whom.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

use slipring_wire::QoS;

use super::census::Census;
use super::looks::{Looks, StoredTopics};
use super::pool::Pool;
use super::service::Services;
use super::shown::{Ended, RequestCounts};
use super::{
    Asked, Handing, NewRequest, Participant, RequestEvent, RequestKey, RequestState, Surroundings,
};
use crate::keys::KeyMap;
use crate::memory::Counted;
use crate::{ConnectionKey, Limit, Limits, Millis, Owner, Priority, SessionKey, Shares};

/// Measured memory of a request beyond its message, the topic of its answer and its correlation data.
const REQUEST_BYTES: usize = 480;
/// Pools without a stored request that are kept.
const POOLS_MAX: usize = 4_096;

/// A request that is not over.
#[derive(Debug)]
pub(super) struct Open<C> {
    pub asked: NewRequest<C>,
    pub state: RequestState,
    pub deadline_ms: Millis,
    /// Who has it.
    pub service: Option<SessionKey>,
    /// The QoS that its service got it with.
    pub handed_qos: QoS,
    /// The connection that its service had then.
    pub handed_on: Option<ConnectionKey>,
    /// How it is about to end; nothing else can happen to it meanwhile.
    pub ending: Option<RequestEvent>,
    /// Whether it is about to be dropped because memory is short.
    pub is_victim: bool,
    /// Why it ends so, in words.
    pub reason: Option<Box<str>>,
    /// When it was asked, stored, delivered and answered, in nanoseconds since 1970; 0 if it was not.
    pub times_ns: [i64; 4],
    /// Its memory, with its message.
    pub bytes: usize,
    /// A hash of its correlation data.
    pub hash: u64,
    _counted: Counted,
}

impl<C> Open<C> {
    pub(super) fn new(
        asked: NewRequest<C>,
        state: RequestState,
        asked_ns: i64,
        deadline_ms: Millis,
    ) -> Self {
        let correlation = asked.correlation.as_deref();
        let named_bytes = asked.answer_topic.len() + correlation.map_or(0, <[u8]>::len);
        let own_bytes = REQUEST_BYTES + named_bytes;
        Self {
            bytes: own_bytes + asked.message.bytes(),
            hash: hash(correlation),
            asked,
            state,
            deadline_ms,
            service: None,
            handed_qos: QoS::AtMostOnce,
            handed_on: None,
            ending: None,
            is_victim: false,
            reason: None,
            times_ns: [asked_ns, 0, 0, 0],
            _counted: Counted::new(own_bytes),
        }
    }
}

/// The requests that are not over, by key.
pub(super) type OpenRequests<C> = KeyMap<RequestKey, Box<Open<C>>>;

/// All requests that are not over.
#[derive(Debug)]
pub struct RequestBook<C> {
    pub(super) open: OpenRequests<C>,
    /// The requests of each asker, by a hash of their correlation data.
    pub(super) askers: KeyMap<SessionKey, BTreeSet<(u64, RequestKey)>>,
    pub(super) services: Services<C>,
    pub(super) pools: HashMap<Arc<str>, Pool<C>>,
    /// At so many pools those without a stored request are forgotten.
    pub(super) pools_max: Cell<usize>,
    /// The topics on which requests wait.
    pub(super) stored_topics: StoredTopics,
    /// Topics whose services have changed.
    pub(super) looks: Looks,
    pub(super) deadlines: BTreeSet<(Millis, RequestKey)>,
    /// Deadlines that passed while their request was about to end.
    pub(super) overdue: BTreeSet<(Millis, RequestKey)>,
    /// Requests whose answer waits for the asker: they have no deadline any more.
    pub(super) answers: BTreeSet<RequestKey>,
    pub(super) census: Census,
    pub(super) shares: Shares,
    /// Their memory, with their messages.
    pub bytes: usize,
    /// The part of it that victims have, which are not over yet.
    pub(super) victim_bytes: usize,
    /// How many there are of each priority.
    pub(super) by_priority: [usize; 3],
    pub(super) ended: Ended<C>,
    /// What happened since the start.
    pub counts: RequestCounts,
}

impl<C> Default for RequestBook<C> {
    fn default() -> Self {
        Self {
            open: KeyMap::default(),
            askers: KeyMap::default(),
            services: Services::default(),
            pools: HashMap::new(),
            pools_max: Cell::new(POOLS_MAX),
            stored_topics: StoredTopics::default(),
            looks: Looks::default(),
            deadlines: BTreeSet::new(),
            overdue: BTreeSet::new(),
            answers: BTreeSet::new(),
            census: Census::default(),
            shares: Shares::default(),
            bytes: 0,
            victim_bytes: 0,
            by_priority: [0; 3],
            ended: Ended::default(),
            counts: RequestCounts::default(),
        }
    }
}

impl<C: Participant> RequestBook<C> {
    /// Checks that an owner may ask `more` requests. The error is the limit that prevents it.
    pub fn check_room(&self, owner: &Owner, more: usize, limits: &Limits) -> Result<(), Limit> {
        limits.requests_quota().check(&self.shares, owner, more)
    }

    /// Whether a session has asked, or is a service.
    pub fn knows(&self, session: SessionKey) -> bool {
        self.askers.contains_key(&session) || self.services.place(session).is_some()
    }

    /// Whether a service has this request, and it is not about to end.
    pub fn is_going_on(&self, key: RequestKey) -> bool {
        self.open.get(&key).is_some_and(|open| open.service.is_some() && open.ending.is_none())
    }

    /// Whether an asker has an open request with this correlation data.
    pub fn is_open(&self, asker: SessionKey, correlation: &[u8]) -> bool {
        self.asked_with(asker, correlation).next().is_some()
    }

    /// The open requests of an asker with this correlation data.
    pub fn asked_with<'a>(
        &'a self,
        asker: SessionKey,
        correlation: &'a [u8],
    ) -> impl Iterator<Item = RequestKey> + 'a {
        let hash = hash(Some(correlation));
        let range = (hash, RequestKey::new(0))..=(hash, RequestKey::new(u64::MAX));
        let keys =
            self.askers.get(&asker).into_iter().flat_map(move |keys| keys.range(range.clone()));
        keys.map(|(_, key)| *key).filter(move |key| {
            let open = self.open.get(key);
            open.is_some_and(|open| open.asked.correlation.as_deref() == Some(correlation))
        })
    }

    /// Takes a new request: it goes to a service, or waits.
    pub fn ask(&mut self, new: NewRequest<C>, around: &Surroundings<'_, C>) -> Asked<C> {
        self.counts.asked += 1;
        let key = new.key;
        self.enter(new, around.now_ns, around.now_ms);
        self.send_out(key, false, around)
    }

    fn enter(&mut self, asked: NewRequest<C>, asked_ns: i64, now_ms: Millis) {
        let (key, session) = (asked.key, asked.asker.session());
        let deadline_ms = now_ms.saturating_add(asked.timeout_ms);
        let open = Box::new(Open::new(asked, RequestState::New, asked_ns, deadline_ms));
        self.deadlines.insert((deadline_ms, key));
        self.askers.entry(session).or_default().insert((open.hash, key));
        self.take(open);
    }

    /// Enters a request everywhere but among the deadlines and those of its asker.
    pub(super) fn take(&mut self, open: Box<Open<C>>) {
        self.shares.take(&open.asked.owner, 1);
        self.census.enter(open.asked.message.topic(), open.state);
        self.bytes += open.bytes;
        self.by_priority[open.asked.priority as usize] += 1;
        self.open.insert(open.asked.key, open);
    }

    /// Gives a request to a free service, or lets it wait.
    pub(super) fn send_out(
        &mut self,
        key: RequestKey,
        is_back: bool,
        around: &Surroundings<'_, C>,
    ) -> Asked<C> {
        let Some(open) = self.open.get(&key) else { return Asked::Stored };
        let (topic, balance) = (Arc::clone(open.asked.message.topic()), open.asked.balance);
        let (priority, waits) = (open.asked.priority, open.asked.waits);
        let asker = open.asked.asker.session();
        let pool =
            fresh_pool((&mut self.pools, &self.pools_max), &mut self.services, &topic, around);
        if !is_back && pool.is_behind(&self.open, &self.services) {
            self.looks.push_topic(&topic);
        } else if let Some(member) = pool.choose(balance, asker, &self.services) {
            return self
                .hand(key, &topic, member, around.now_ns)
                .map_or(Asked::Stored, Asked::Handed);
        }
        let mut members = pool.members.iter().map(|member| &member.candidate);
        if !waits && !members.any(|one| one.is_service() && one.can_serve(asker)) {
            return Asked::NoService;
        }
        let Some(open) = self.open.get_mut(&key) else { return Asked::Stored };
        if open.state == RequestState::New {
            self.census.change(&topic, &mut open.state, RequestState::Stored);
        }
        open.times_ns[1] = around.now_ns;
        self.store(key, &topic, priority, is_back);
        Asked::Stored
    }

    pub(super) fn store(
        &mut self,
        key: RequestKey,
        topic: &Arc<str>,
        priority: Priority,
        is_back: bool,
    ) {
        let pool = self.pools.entry(Arc::clone(topic));
        let pool = pool.or_insert_with(|| Pool::new(Arc::clone(topic)));
        if pool.is_empty() {
            self.stored_topics.insert(Arc::clone(topic));
        }
        pool.store(key, priority, is_back, &mut self.services);
        self.prune_backlogs();
    }

    pub(super) fn hand(
        &mut self,
        key: RequestKey,
        topic: &str,
        member: usize,
        now_ns: i64,
    ) -> Option<Handing<C>> {
        let open = self.open.get_mut(&key)?;
        let member = self.pools.get(topic)?.members.get(member)?;
        let delivered = open.state.after(RequestEvent::Deliver)?;
        let service = self.services.at_mut(member.place)?;
        self.census.change(topic, &mut open.state, delivered);
        let candidate = &member.candidate;
        service.held.insert(key);
        open.service = Some(candidate.client.session());
        open.times_ns[2] = now_ns;
        open.handed_qos = open.asked.message.qos.min(candidate.qos);
        open.handed_on = candidate.client.connection_key();
        Some(Handing {
            key,
            client: candidate.client.clone(),
            message: Arc::clone(&open.asked.message),
            qos: open.handed_qos,
            identifiers: candidate.identifiers.clone(),
            priority: open.asked.priority,
            by_topic: candidate.by_topic,
            is_recorded: open.asked.is_recorded,
            is_single: open.asked.retries == 0,
        })
    }
}

/// The pool of a topic, made if there is none, with the services of now.
pub(super) fn fresh_pool<'a, C: Participant>(
    (pools, pools_max): (&'a mut HashMap<Arc<str>, Pool<C>>, &Cell<usize>),
    services: &mut Services<C>,
    topic: &Arc<str>,
    around: &Surroundings<'_, C>,
) -> &'a mut Pool<C> {
    if pools.len() >= pools_max.get().max(POOLS_MAX) && !pools.contains_key(topic) {
        pools.retain(|_, pool| !pool.is_empty());
        pools_max.set(2 * pools.len()); // each is looked at once for each that was added
    }
    let pool = pools.entry(Arc::clone(topic)).or_insert_with(|| Pool::new(Arc::clone(topic)));
    if pool.generation != around.generation {
        pool.refresh(around.generation, (around.find)(topic), services);
        if !pool.is_empty() {
            pool.list(services);
        }
    }
    pool
}

/// Whether a request waits for a service.
pub(super) fn is_stored<C>(open: &OpenRequests<C>, key: RequestKey) -> bool {
    let open = open.get(&key);
    open.is_some_and(|open| open.state == RequestState::Stored && open.ending.is_none())
}

/// A hash of correlation data, with a seed of this process, so that nobody can choose data that collide: a look for one
/// request would be a look at all of them, under the book's lock. Requests without Correlation Data have a hash that
/// nobody looks for.
pub(super) fn hash(correlation: Option<&[u8]>) -> u64 {
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    correlation.map_or(0, |data| SEED.hash_one(data).max(1))
}
