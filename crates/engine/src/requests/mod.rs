//! Requests that the broker looks after (T2): from the asker's message to the end that it is told of. `core` decides
//! what happens to a request; here it is carried, written down and told.

pub(crate) mod answering;
pub(crate) mod asking;
pub(crate) mod batch;
pub(crate) mod cancelling;
pub(crate) mod dropping;
pub(crate) mod handing;
pub(crate) mod keeper;
#[cfg(test)]
mod limit_tests;
mod reporting;
pub(crate) mod restoring;
pub(crate) mod telling;
pub(crate) mod watching;

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use slipring_core::access::Right;
use slipring_core::requests::{
    Handing, Participant, RequestBook, RequestEvent, RequestKey, ServiceCandidate, Surroundings,
};
use slipring_core::{Millis, SessionKey};
use tokio::sync::Notify;

use crate::broker::Broker;
use crate::client::Client;
use crate::locks::lock;
use crate::routes::{Audience, Target, topics_of};

/// All requests, and the work of the keeper.
pub(crate) struct SharedRequests {
    // A lock: taken for each batch with requests or answers, and by the keeper. Taken before the routes and a
    // client's outgoing messages.
    book: Mutex<RequestBook<Client>>,
    // A lock: taken when something ends that no publisher's own batch can tell. Taken last.
    jobs: Mutex<VecDeque<Job>>,
    /// Notified when there is a job, or a request that times out earlier.
    woken: Notify,
    /// Until when the keeper sleeps.
    sleeps_until_ms: AtomicU64,
    /// How many requests are open, to see without the lock that there is room.
    open: AtomicUsize,
    keys: AtomicU64,
    /// Answers that came too late, twice, to nothing, or from a client that has not the request.
    pub late: AtomicU64,
    pub parts: AtomicU64,
    pub refused: AtomicU64,
}

/// What the keeper does, because no client's own batch can.
#[derive(Debug)]
pub(crate) enum Job {
    /// A request ends so; the text is told, if there is one.
    End(RequestKey, RequestEvent, Option<&'static str>),
    /// All of these requests end so.
    EndAll(VecDeque<RequestKey>, RequestEvent),
    /// A client lost its connection, but has its session.
    Left(SessionKey),
    /// The session of a client is over.
    Gone(SessionKey),
    /// The service that had these requests has gone.
    GiveBack(VecDeque<RequestKey>),
    /// Requests that the journal had no room to record as handed out.
    HandOut(Vec<Handing<Client>>),
}

impl Default for SharedRequests {
    fn default() -> Self {
        Self {
            book: Mutex::default(),
            jobs: Mutex::default(),
            woken: Notify::new(),
            sleeps_until_ms: AtomicU64::new(0),
            open: AtomicUsize::new(0),
            // Each start begins elsewhere: a late answer to an earlier broker meets no other request.
            keys: AtomicU64::new(RandomState::new().hash_one(2)),
            late: AtomicU64::new(0),
            parts: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }
}

impl SharedRequests {
    pub fn book(&self) -> MutexGuard<'_, RequestBook<Client>> {
        lock(&self.book)
    }

    fn next_key(&self) -> RequestKey {
        RequestKey::new(self.keys.fetch_add(1, Ordering::Relaxed))
    }

    /// Gives the keeper work.
    pub fn later(&self, job: Job) {
        lock(&self.jobs).push_back(job);
        self.wake();
    }

    /// Lets the keeper look for work.
    fn wake(&self) {
        self.woken.notify_one();
    }

    /// The session of a client is over: its requests are cancelled, and those that it had go on or fail.
    pub fn gone(&self, client: &Arc<Client>) {
        if self.book().knows(client.key) {
            self.later(Job::Gone(client.key));
        }
    }

    /// A client lost its connection.
    pub fn left(&self, client: &Arc<Client>) {
        if self.book().knows(client.key) {
            self.later(Job::Left(client.key));
        }
    }

    /// A client has unsubscribed from these filters.
    pub fn unsubscribed(&self, client: &Client, filters: &[Box<str>]) {
        let mut book = self.book();
        if !book.knows(client.key) {
            return; // no request was for it
        }
        for filter in filters {
            book.look_at_filter(topics_of(filter));
        }
        let has_looks = book.has_looks();
        drop(book);
        if has_looks {
            self.wake();
        }
    }
}

impl Broker {
    /// Does something with the requests and what they need to know of the broker.
    pub fn with_requests<T>(
        &self,
        work: impl FnOnce(&mut RequestBook<Client>, &Surroundings<'_, Client>) -> T,
    ) -> T {
        let find = |topic: &str| {
            let policy = &self.plan.load().access;
            let routes = self.topics.routes();
            let mut audience = routes.audience(topic, SessionKey::BROKER, policy);
            // Before it is looked who says that it serves: who may not serve says nothing.
            audience.keep(|target| target.client.may(policy, Right::Serve, topic));
            candidates(&audience, &routes.services(topic, policy))
        };
        let mut book = self.requests.book();
        let around = Surroundings {
            now_ms: self.clock.now_ms(),
            now_ns: self.clock.now_ns(),
            generation: self.topics.generation(),
            find: &find,
        };
        let done = work(&mut book, &around);
        let next_ms = book.next_deadline_ms().unwrap_or(Millis::MAX);
        let (open, has_looks) = (book.len(), book.has_looks());
        drop(book);
        self.requests.open.store(open, Ordering::Relaxed);
        if has_looks || next_ms < self.requests.sleeps_until_ms.load(Ordering::SeqCst) {
            self.requests.wake();
        }
        done
    }
}

/// The subscribers that can serve requests: those that say so, else all that do not only watch.
///
/// `services` subscribed by a filter that says so. They get requests by topic, with any version of MQTT.
fn candidates(audience: &Audience, services: &[Target]) -> Vec<ServiceCandidate<Client>> {
    let shared = audience.shares.iter().flat_map(|share| share.members.iter());
    let all: Vec<_> = audience.targets.iter().chain(shared).collect();
    let says_so = !services.is_empty() || all.iter().any(|target| target.serve > 0);
    let mut found: Vec<_> = services.iter().map(|service| candidate(service, true)).collect();
    let mut seen: HashSet<_> = services.iter().map(|service| service.client.key).collect();
    for target in all {
        let can = if says_so { target.serve > 0 } else { !target.is_watcher };
        let client = &target.client;
        if target.serve == 0 && client.is_connected() && !client.is_here() {
            continue; // it could not answer; who says that it serves may come back with MQTT 5
        }
        if can && seen.insert(target.client.key) {
            found.push(candidate(target, false));
        }
    }
    found
}

/// A session has one limit, whichever of its filters a topic matches: the largest that they name.
fn candidate(target: &Target, by_topic: bool) -> ServiceCandidate<Client> {
    let most = target.client.serves.load(Ordering::Relaxed);
    ServiceCandidate {
        client: Arc::clone(&target.client),
        qos: target.qos,
        identifiers: target.identifiers.clone(),
        serve: if target.serve > 0 { target.serve.max(most) } else { 0 },
        no_local: target.no_local,
        by_topic,
    }
}
