//! The engine's side of every desk: its lock, whether it is used at all, the records that the journal does not have
//! yet, and the one way in which requests are answered.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use slipring_core::access::{AccessPolicy, FilterAccess};
use slipring_core::desk::{
    ChangeMessages, Desk, ProblemCode, RequestOutcome, RequestRefusal, Requester,
};
use slipring_core::requests::Balance;
use slipring_core::{Durability, Limits, Principal, SessionKey};
use slipring_wire::{Publish, Reason, Version};

use crate::asking::ClientRequest;
use crate::broker::Broker;
use crate::broker_journal::BrokerJournal;
use crate::client::Client;
use crate::desk_reports::{count_refused, tell_use};
use crate::feed::Feed;
use crate::gates::Gate;
use crate::locks::lock;

/// Why nothing is changed while the journal is full.
const UNWRITTEN: &str = "the journal takes nothing now; ask again a little later";

/// Bytes of an answer to the control plane.
const OWN_ANSWER_BYTES: usize = 8 << 20;

type RequestOf<D> = <<D as EngineDesk>::Core as Desk>::Request;
type ChangeOf<D> = <<D as EngineDesk>::Core as Desk>::Change;

/// What the engine adds to a desk of the core, such as the clients behind its sessions.
pub(crate) trait EngineDesk: Send {
    /// The desk of the core.
    type Core: Desk;
    /// State that needs no lock.
    type Unlocked: Send + Sync;

    fn core(&mut self) -> &mut Self::Core;

    /// Looks for the objects of a request until the turn is over. Returns whether it found them all.
    fn prepare(_: &Broker, _: &RequestOf<Self>, _: &mut Feed) -> bool {
        true
    }

    /// Returns a test whether another desk has a name. Its locks are held until the request is answered.
    fn is_taken<'a>(_: &'a Broker, _: Option<&RequestOf<Self>>) -> Box<dyn Fn(&str) -> bool + 'a> {
        Box::new(|_| false)
    }

    /// Called when the desk is used for the first time. Not under a lock.
    fn first_used(_: &Broker) {}

    /// Called when a session's connection is over.
    fn leave(&mut self, session: SessionKey);

    /// Called when a session has ended.
    fn end(&mut self, _: SessionKey) {}
}

/// A desk that all connections share.
pub(crate) struct SharedDesk<D: EngineDesk> {
    // A lock: broker.rs has its place in the order of locks, the desk's own file says when it is taken.
    inner: Mutex<LockedDesk<D>>,
    /// Whether anything was ever declared; before that nobody takes the lock.
    used: AtomicBool,
    pub unlocked: D::Unlocked,
}

/// The state behind the lock of a desk.
pub(crate) struct LockedDesk<D> {
    desk: D,
    /// Records of changes that the journal does not have yet.
    unwritten: Vec<u8>,
    /// Opens when the journal has the last change.
    gate: Gate,
}

impl<D: EngineDesk> SharedDesk<D> {
    pub fn over(desk: D, used: bool, unlocked: D::Unlocked) -> Self {
        let locked = LockedDesk { desk, unwritten: Vec::new(), gate: Gate::OPEN };
        Self { inner: Mutex::new(locked), used: AtomicBool::new(used), unlocked }
    }

    /// Whether anything was ever declared.
    pub fn is_used(&self) -> bool {
        self.used.load(Ordering::Acquire)
    }

    pub fn lock(&self) -> MutexGuard<'_, LockedDesk<D>> {
        lock(&self.inner)
    }

    /// The lock, unless another task has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, LockedDesk<D>>> {
        self.inner.try_lock().ok()
    }

    /// Notes that the desk is used from now on. Not under a lock.
    pub fn begin_use(&self, broker: &Broker) {
        if !self.used.swap(true, Ordering::AcqRel) {
            D::first_used(broker);
        }
    }

    /// Publishes changes of this desk to their subscribers.
    pub fn tell(&self, broker: &Broker, feed: &mut Feed, told: ChangeMessages) {
        let plan = broker.plan.load();
        for json in told {
            if plan.access.is_enforced() {
                self.tell_narrowed(broker, feed, &plan.access, &json);
                continue;
            }
            let message = Publish::new(D::Core::CHANGES, &json);
            feed.publish(broker, &Principal::broker(), &message, Version::V5);
        }
    }

    /// Sends each subscriber the part of a change that it may see.
    fn tell_narrowed(
        &self,
        broker: &Broker,
        feed: &mut Feed,
        policy: &Arc<AccessPolicy>,
        json: &[u8],
    ) {
        let topic: Arc<str> = D::Core::CHANGES.into();
        let audience = broker.topics.audience(&topic, SessionKey::BROKER, policy);
        let shares = audience.shares.iter().map(|share| share.choose(Balance::default()).0);
        for target in audience.targets.iter().chain(shares) {
            let rights = target.client.rights(&broker.plan);
            let sees_all = rights.filter_access(D::Core::SEEING, "#") == FilterAccess::Whole;
            let may_see = |name: &str| rights.allow(D::Core::SEEING, name);
            let narrowed =
                if sees_all { None } else { self.lock().core().narrowed(json, &may_see) };
            feed.work.add_text(json.len());
            let Some(body) = narrowed.as_deref().or(sees_all.then_some(json)) else { continue };
            let message = Publish::new(&topic, body);
            feed.post.publisher = SessionKey::BROKER;
            feed.post.begin(broker, &message, None, Durability::Memory, 1);
            feed.post.deliver(broker, target, &message, &topic);
        }
    }

    /// Answers a request under the lock, and records the change. Returns also the messages about the change, whether
    /// the journal took it, and the gate that opens when the journal has it.
    fn answer(
        &self,
        asked: &ClientRequest<'_>,
        request: Result<RequestOf<D>, RequestRefusal>,
        answer_bytes_max: usize,
    ) -> (RequestOutcome<ChangeOf<D>>, ChangeMessages, bool, Gate) {
        let ClientRequest { broker, client, from, .. } = *asked;
        let plan = broker.plan.load();
        let limits = plan.limits_for(from.subject());
        let is_taken = D::is_taken(broker, request.as_ref().ok());
        let requester = Requester {
            from: *from,
            bounds: D::Core::bounds(&limits),
            is_taken: &*is_taken,
            answer_bytes_max,
            policy: &plan.access,
        };
        let mut locked = self.lock();
        let outcome = if locked.write_down(&broker.journal) {
            locked.core().answer(request, &requester)
        } else {
            RequestRefusal::new(ProblemCode::Journal, UNWRITTEN).outcome(answer_bytes_max)
        };
        if broker.journal.exists() {
            let LockedDesk { desk, unwritten, .. } = &mut *locked;
            let kept = client.is_durable.then_some(client.key);
            desk.core().record(&outcome.change, kept, unwritten);
        }
        let is_written = locked.write_down(&broker.journal);
        let told = locked.core().changed(&outcome.change, broker.clock.arrival());
        let (limit, count) = locked.core().take_reached();
        broker.monitor.reached.add(limit, count);
        let gate = locked.gate;
        drop((locked, is_taken));
        if told.is_some() {
            self.begin_use(broker);
            broker.topics.changed(); // publishers look again which topics are parameters and streams
        }
        (outcome, told.unwrap_or_default(), is_written, gate)
    }
}

impl<D: EngineDesk> LockedDesk<D> {
    /// Appends records that are not in the journal yet; false if it takes nothing. Called under the desk's lock, so
    /// that the journal has them in order.
    fn write_down(&mut self, journal: &BrokerJournal) -> bool {
        if self.unwritten.is_empty() {
            return true;
        }
        let Some(appended) = journal.write_down(&self.unwritten) else { return false };
        self.gate = appended.gate;
        self.desk.core().journaled(&self.unwritten, appended.offset, appended.receive_ns);
        self.unwritten.clear();
        true
    }
}

impl<D> Deref for LockedDesk<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.desk
    }
}

impl<D> DerefMut for LockedDesk<D> {
    fn deref_mut(&mut self) -> &mut D {
        &mut self.desk
    }
}

/// What the broker asks of every desk; see [`Broker::desks`].
pub(crate) trait AnyDesk {
    /// Answers a client's request. Returns the reason code of the acknowledgement, or None if the turn ended before
    /// the answer.
    fn ask(
        &self,
        asked: &ClientRequest<'_>,
        name: &str,
        feed: &mut Feed,
        reply: &mut Vec<u8>,
    ) -> Option<Reason>;

    /// Answers a request of the control plane that changes nothing.
    fn question(&self, limits: &Limits, name: &str, body: &[u8]) -> Vec<u8>;

    /// Called when a client's connection is over. Unless the client has another by now, what only it published is
    /// stale or silent from now on. Its declarations stay its own while its session lives.
    fn leave(&self, broker: &Broker, client: &Client, feed: &mut Feed);

    /// Called when a session has ended, perhaps before its connection.
    fn end(&self, session: SessionKey);
}

impl<D: EngineDesk> AnyDesk for SharedDesk<D> {
    fn ask(
        &self,
        asked: &ClientRequest<'_>,
        name: &str,
        feed: &mut Feed,
        reply: &mut Vec<u8>,
    ) -> Option<Reason> {
        let ClientRequest { broker, message, .. } = *asked;
        let Some((envelope, terms)) = asked.envelope() else {
            return Some(Reason::ImplementationSpecificError);
        };
        let request = D::Core::parse(name, message.payload);
        feed.work.add_text(message.payload.len());
        if request.as_ref().is_ok_and(|request| !D::prepare(broker, request, feed)) {
            return None;
        }
        let answer_bytes_max = terms.packet_bytes.saturating_sub(envelope.bytes());
        let (outcome, told, is_written, gate) = self.answer(asked, request, answer_bytes_max);
        let reached = count_refused(asked, outcome.refused, D::Core::LIMITS);
        tell_use(asked, name, outcome.refused, reached);
        feed.work.add(outcome.steps);
        // The client's next message in the same batch may be a sample or a chunk already.
        feed.paths.check(broker);
        if name == "declare" && outcome.refused.is_none() {
            asked.connection.publishes();
        }
        self.tell(broker, feed, told);
        if !is_written && outcome.refused.is_none() {
            return Some(Reason::QuotaExceeded); // the answer has an index that a crash could give to another
        }
        if !broker.journal.gates.is_open(gate) {
            feed.wait_for(Durability::Disk);
        }
        feed.work.add_text(D::Core::ANSWER_WORK * outcome.answer.len());
        reply.append(&mut envelope.packet(&outcome.answer, terms));
        Some(Reason::Success)
    }

    fn question(&self, limits: &Limits, name: &str, body: &[u8]) -> Vec<u8> {
        let name = if D::Core::QUESTIONS.contains(&name) { name } else { "" };
        let requester = Requester {
            from: Principal::broker(),
            bounds: D::Core::bounds(limits),
            is_taken: &|_| false,
            answer_bytes_max: OWN_ANSWER_BYTES,
            policy: AccessPolicy::open(),
        };
        self.lock().core().answer(D::Core::parse(name, body), &requester).answer
    }

    fn leave(&self, broker: &Broker, client: &Client, feed: &mut Feed) {
        if !self.is_used() {
            return;
        }
        // Held until the desk knows: a client that comes back, or an end of the session, comes after.
        let state = client.state();
        if state.connection.is_some() {
            return;
        }
        let mut locked = self.lock();
        EngineDesk::leave(&mut locked.desk, client.key);
        let at = broker.clock.arrival();
        let told = locked.core().leave(client.key, !state.ended, at);
        if state.ended {
            locked.core().end(client.key); // it may have subscribed while its session was taken from it
        }
        drop((locked, state));
        self.tell(broker, feed, told);
    }

    fn end(&self, session: SessionKey) {
        if self.is_used() {
            let mut locked = self.lock();
            EngineDesk::end(&mut locked.desk, session);
            locked.core().end(session);
        }
    }
}
