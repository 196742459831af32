//! One client as others see it: its session, its outgoing messages, and its connection.

mod rights;

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use arc_swap::{ArcSwap, ArcSwapOption};
use slipring_core::access::{ClientRights, Identity};
use slipring_core::requests::{MemberView, Participant};
use slipring_core::{
    ConnectionKey, Conversation, EarlierSession, Millis, Options, Outgoing, Owner, Principal,
    Readiness, Session, SessionKey, Way, WillMessage,
};
use slipring_wire::{PacketId, Reason, Version};

use crate::connection_end::{ConnectionEnd, TAKEN_OVER};
use crate::connection_handle::ConnectionHandle;
use crate::locks::lock;
use crate::losses::Losses;
use crate::proving::ConnectionProof;
use crate::timers::Due;
use crate::traffic::Traffic;

/// A client with a session, connected or away.
#[derive(Debug)]
pub(crate) struct Client {
    pub key: SessionKey,
    /// Its client identifier.
    pub name: Box<str>,
    /// Only this user may have the session.
    pub user: Option<Box<str>>,
    /// Who opened the session: it counts for this owner's quota.
    pub owner: Owner,
    /// Who the client has proved to be, when it connected last or proved it again.
    pub identity: ArcSwap<Identity>,
    /// What that depends on, if it is a token or the answer of a service elsewhere; also while the client is away.
    proof: ArcSwapOption<ConnectionProof>,
    /// Its rights by the plan that asked last. The same value while neither the plan nor the identity changes.
    rights: ArcSwapOption<ClientRights>,
    /// Whether its rights have changed, and its selections are to be entered again.
    pub has_other_rights: AtomicBool,
    /// Whether the connection that has the session, or had it last, plays a recording again.
    replays: AtomicBool,
    pub traffic: Traffic,
    pub losses: Losses,
    /// Whether streams have chunks that it has not taken. Changed under the lock of the streams.
    pub behind: AtomicBool,
    /// Whether the table knows that the outbox dropped something. Cleared before the table looks what the client
    /// misses.
    pub missed: AtomicBool,
    /// The most requests at once that one of its subscriptions says it serves; 0 if none does. Changed under the lock
    /// of `state`, before the routes are.
    pub serves: AtomicU16,
    /// Whether the session outlives the broker: its queue is in the journal.
    pub is_durable: bool,
    // A lock: held by the connection for one SUBSCRIBE or QoS 2 step, by calls that list the clients, and
    // by a connection that takes over. Taken after the registry's and before the others.
    state: Mutex<State>,
    // A lock: publishers on any thread push, the connection's task takes. Taken last.
    outgoing: Mutex<Outgoing>,
    /// The connection, to wake it without a lock; changed under the lock of `state`.
    connection: ArcSwapOption<ConnectionHandle>,
    /// The same in a number, because requests ask for it very often: its key times four, and 0 before CONNACK, 1 with
    /// MQTT 3, 2 with MQTT 5.
    link: AtomicU64,
}

const WELCOMED: u64 = 1;
const WELCOMED_V5: u64 = 2;
const LINK_BITS: u32 = 2;
const LINK_MASK: u64 = (1 << LINK_BITS) - 1;

/// The part of a client that changes when it connects, subscribes or leaves.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub session: Session,
    /// The connection that has the session.
    pub connection: Option<ConnectionKey>,
    /// Whether the session has ended, and is in no table any more.
    pub ended: bool,
    /// Whether it is counted among the sessions that are kept.
    pub is_counted: bool,
    /// How many of its subscriptions are counted for the owner.
    pub counted_subscriptions: usize,
    /// Whether the journal knows of the session.
    pub recorded: bool,
    /// When the client left, in nanoseconds since 1970.
    pub left_ns: i64,
    /// Seconds to keep the session when the client is away.
    pub expiry_s: u32,
    /// The will, and when to publish it if the client is away.
    pub will: Option<(WillMessage, Millis)>,
    /// When the session of a client that is away ends.
    pub expires_ms: Option<Millis>,
    /// The client's timer, if one is set.
    pub due: Option<Due>,
}

impl Client {
    pub fn new(
        key: SessionKey,
        name: &str,
        user: Option<&str>,
        owner: &Owner,
        identity: Arc<Identity>,
        outgoing: Outgoing,
    ) -> Self {
        Self {
            key,
            name: name.into(),
            user: user.map(Into::into),
            owner: owner.clone(),
            identity: ArcSwap::new(identity),
            proof: ArcSwapOption::empty(),
            rights: ArcSwapOption::empty(),
            has_other_rights: AtomicBool::new(false),
            replays: AtomicBool::new(false),
            traffic: Traffic::default(),
            losses: Losses::default(),
            behind: AtomicBool::new(false),
            missed: AtomicBool::new(false),
            serves: AtomicU16::new(0),
            is_durable: outgoing.is_durable(),
            state: Mutex::default(),
            outgoing: Mutex::new(outgoing),
            connection: ArcSwapOption::empty(),
            link: AtomicU64::new(0),
        }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Remembers what its subscriptions serve, after some were made or removed.
    pub fn note_serves(&self, session: &Session, made: impl IntoIterator<Item = Options>) {
        let is_service = self.serves.load(Ordering::Relaxed) > 0;
        if is_service || made.into_iter().any(|options| options.serve > 0) {
            let serves = session.plain().map(|(_, options)| options.serve).max();
            self.serves.store(serves.unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// The principal of what the client does by this connection, with this identity.
    #[inline]
    pub fn principal<'a>(
        &'a self,
        connection: &'a ConnectionHandle,
        identity: &'a Identity,
    ) -> Principal<'a> {
        Principal {
            session: self.key,
            client_id: &self.name,
            identity,
            owner: connection.owner(),
            way: connection.way(),
            is_durable: self.is_durable,
        }
    }

    /// The principal of the client's will.
    pub fn will_principal<'a>(&'a self, identity: &'a Identity) -> Principal<'a> {
        Principal {
            session: self.key,
            client_id: &self.name,
            identity,
            owner: &self.owner,
            way: Way::Will,
            is_durable: false, // a will has no packet identifier
        }
    }

    /// The state, if this connection still has the session.
    pub fn state_of(&self, connection: &ConnectionHandle) -> Option<MutexGuard<'_, State>> {
        let state = self.state();
        (state.connection == Some(connection.key)).then_some(state)
    }

    /// Whether a QoS 2 message has not come before (MQTT-4.3.3-10).
    pub fn is_new(
        &self,
        connection: &ConnectionHandle,
        conversation: &Conversation,
        id: Option<PacketId>,
    ) -> Result<bool, ConnectionEnd> {
        let mut state = self.state_of(connection).ok_or(TAKEN_OVER)?;
        Ok(id.map_or(Ok(true), |id| {
            state.session.receive(id, conversation.limits(), conversation.version())
        })?)
    }

    /// What the admission of another connection has to know of this session.
    pub fn summary(&self) -> EarlierSession<'_> {
        let state = self.state();
        EarlierSession {
            user: self.user.as_deref(),
            is_connected: state.connection.is_some(),
            is_kept: state.is_counted,
            expiry_s: state.expiry_s,
            expires_ms: state.expires_ms,
        }
    }

    pub fn outgoing(&self) -> MutexGuard<'_, Outgoing> {
        lock(&self.outgoing)
    }

    /// The client as a member of a shared subscription: whether it has room, and how much waits for it.
    pub fn as_member(&self) -> MemberView {
        let outgoing = self.outgoing();
        let readiness = match outgoing.version() {
            None => Readiness::Away,
            Some(_) if outgoing.is_busy() => Readiness::Busy,
            Some(_) => Readiness::Ready,
        };
        let load = outgoing.inflight() * 1_000 / usize::from(outgoing.window_messages().max(1));
        MemberView { readiness, load: load as u32, speed: outgoing.speed() }
    }

    pub fn connection(&self) -> Option<Arc<ConnectionHandle>> {
        self.connection.load_full()
    }

    /// Gives the session to a connection, or to none. Returns the earlier one.
    pub fn set_connection(
        &self,
        state: &mut State,
        connection: Option<Arc<ConnectionHandle>>,
    ) -> Option<Arc<ConnectionHandle>> {
        state.connection = connection.as_ref().map(|connection| connection.key);
        let link = state.connection.map_or(0, |key| key.get() << LINK_BITS);
        self.link.store(link, Ordering::Release);
        self.connection.swap(connection)
    }

    /// Notes that CONNACK is on its way to a connection.
    pub fn welcome(&self, connection: &ConnectionHandle, version: Version) {
        let _ = connection.version.set(version);
        let link = connection.key.get() << LINK_BITS;
        let how = if version == Version::V5 { WELCOMED_V5 } else { WELCOMED };
        // It fails if another connection has taken the session over.
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        let _ = self.link.compare_exchange(link, link | how, success, failure);
    }

    /// Tells the connection's task that there is something to send.
    pub fn wake(&self) {
        if let Some(connection) = &*self.connection.load() {
            connection.waker.wake();
        }
    }

    /// Ends the connection, if there is one.
    pub fn close(&self, reason: Reason) {
        if let Some(connection) = &*self.connection.load() {
            connection.close(reason);
        }
    }
}

impl Participant for Client {
    fn session(&self) -> SessionKey {
        self.key
    }

    /// Only with MQTT 5 has a request a topic to answer to.
    #[inline]
    fn is_here(&self) -> bool {
        self.link.load(Ordering::Acquire) & LINK_MASK == WELCOMED_V5
    }

    #[inline]
    fn is_connected(&self) -> bool {
        self.link.load(Ordering::Acquire) & LINK_MASK != 0
    }

    #[inline]
    fn connection_key(&self) -> Option<ConnectionKey> {
        let link = self.link.load(Ordering::Acquire);
        (link & LINK_MASK != 0).then(|| ConnectionKey::new(link >> LINK_BITS))
    }

    fn room(&self) -> u16 {
        match self.serves.load(Ordering::Relaxed) {
            0 => self.outgoing().window_messages(),
            serves => serves, // by another filter
        }
    }
}
