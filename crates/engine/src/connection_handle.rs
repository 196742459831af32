//! One connection as other tasks see it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use atomic_waker::AtomicWaker;
use slipring_core::access::Identity;
use slipring_core::{Authentication, ConnectionKey, Millis, Owner, Way};
use slipring_wire::{Reason, Version};

use crate::flow::OwnerFlow;
use crate::latch::Latch;
use crate::notices::Allowance;
use crate::origin::Origin;
use crate::proving::ConnectionProof;

/// A connection is shown as slowed for so long.
const SLOWED_MS: Millis = 2_000;

/// One connection: its origin, the name that its client has proved, and the means to wake or end it.
#[derive(Debug)]
pub(crate) struct ConnectionHandle {
    pub key: ConnectionKey,
    pub origin: Origin,
    pub connected_ns: i64,
    /// Set once CONNECT was accepted.
    pub version: OnceLock<Version>,
    /// Who the client has proved to be.
    identity: OnceLock<Arc<Identity>>,
    /// The user name and the client identifier of its CONNECT. Nothing proves them.
    claimed: OnceLock<(String, String)>,
    /// What that depends on, if not on the users of the plan.
    proof: ArcSwapOption<ConnectionProof>,
    /// The method of an exchange that proved it.
    exchange: OnceLock<&'static str>,
    /// The connection counts for this owner's quotas.
    owner: OnceLock<Owner>,
    /// Whether its client plays a recording again.
    replays: AtomicBool,
    closing: OnceLock<Reason>,
    /// Whether it has published or declared anything.
    published: AtomicBool,
    /// Bytes of a large packet that has begun and not ended.
    pub unfinished_bytes: AtomicUsize,
    /// How many notices it may still send.
    pub notices: Allowance,
    /// The rates of its owner; None if it has none.
    pub flow: ArcSwapOption<OwnerFlow>,
    /// When it was last read more slowly.
    pub slowed_ms: AtomicU64,
    /// Wakes the connection's task.
    pub waker: AtomicWaker,
    /// Set when the connection has let go of its session.
    pub left: Latch,
}

impl ConnectionHandle {
    pub fn new(key: ConnectionKey, origin: Origin, now_ns: i64) -> Self {
        let certified = origin.user.as_deref().map(|name| Arc::new(Identity::named(name)));
        Self {
            key,
            origin,
            connected_ns: now_ns,
            version: OnceLock::new(),
            identity: certified.map(OnceLock::from).unwrap_or_default(),
            claimed: OnceLock::new(),
            proof: ArcSwapOption::empty(),
            exchange: OnceLock::new(),
            owner: OnceLock::new(),
            replays: AtomicBool::new(false),
            closing: OnceLock::new(),
            published: AtomicBool::new(false),
            unfinished_bytes: AtomicUsize::new(0),
            notices: Allowance::default(),
            flow: ArcSwapOption::empty(),
            slowed_ms: AtomicU64::new(0),
            waker: AtomicWaker::new(),
            left: Latch::default(),
        }
    }

    /// Notes who the client has proved to be. The first proof counts.
    pub fn prove(&self, identity: Identity) {
        let _ = self.identity.set(Arc::new(identity));
    }

    /// Notes the user name and the client identifier of CONNECT.
    pub fn claim(&self, user: Option<&str>, client_id: &str) {
        let _ = self.claimed.set((user.unwrap_or_default().to_owned(), client_id.to_owned()));
    }

    /// The user name and the client identifier of CONNECT.
    pub fn claimed(&self) -> Option<&(String, String)> {
        self.claimed.get()
    }

    /// Notes what the identity depends on from now on.
    pub fn depend_on(&self, proof: ConnectionProof) {
        self.proof.store(Some(Arc::new(proof)));
    }

    /// What the identity depends on now.
    pub fn proof(&self) -> Option<Arc<ConnectionProof>> {
        self.proof.load_full()
    }

    /// Notes that an exchange with this method proved the identity.
    pub fn note_exchange(&self, method: &'static str) {
        let _ = self.exchange.set(method);
    }

    /// How the client has proved who it is, for people; empty if it has not.
    pub fn proof_text(&self) -> String {
        if let Some(proof) = &*self.proof.load() {
            return proof.to_string();
        }
        match (self.origin.user.is_some(), self.proven()) {
            (true, _) => "certificate".into(),
            (false, Some(_)) => (*self.exchange.get().unwrap_or(&"password")).into(),
            (false, None) => String::new(),
        }
    }

    /// Whether the identity depends on a token, or on the answer of a service elsewhere.
    pub fn depends(&self) -> bool {
        self.proof.load().is_some()
    }

    /// Whether these rules still accept the token or the answer that the identity depends on, if it does.
    pub fn proof_holds(&self, authentication: &Authentication) -> bool {
        self.proof.load().as_ref().is_none_or(|proof| proof.holds(authentication))
    }

    /// Who the client has proved to be when it connected. A name that nobody checked does not count.
    pub fn identity(&self) -> &Arc<Identity> {
        self.identity.get().unwrap_or_else(|| Identity::anonymous())
    }

    /// The name that the client has proved.
    pub fn proven(&self) -> Option<&str> {
        self.identity().user.as_deref()
    }

    /// The owner whose quotas count the connection and its messages. Call it only after the proof of the client
    /// is checked.
    pub fn owner(&self) -> &Owner {
        self.owner.get_or_init(|| Owner::of(self.proven(), &self.origin.address))
    }

    /// Whether it was read more slowly within the last seconds.
    pub fn is_slowed(&self, now_ms: Millis) -> bool {
        let slowed_ms = self.slowed_ms.load(Ordering::Relaxed);
        slowed_ms > 0 && now_ms < slowed_ms + SLOWED_MS
    }

    /// Notes whether CONNECT said that the client plays a recording again.
    pub fn note_replaying(&self, replays: bool) {
        self.replays.store(replays, Ordering::Relaxed);
    }

    /// The way by which its client acts.
    #[inline]
    pub fn way(&self) -> Way {
        if self.replays.load(Ordering::Relaxed) { Way::Replay } else { Way::Client }
    }

    /// Notes that the client is a publisher.
    pub fn publishes(&self) {
        if !self.has_published() {
            self.published.store(true, Ordering::Relaxed);
        }
    }

    pub fn has_published(&self) -> bool {
        self.published.load(Ordering::Relaxed)
    }

    /// Asks the connection to end. The first reason counts.
    pub fn close(&self, reason: Reason) {
        let _ = self.closing.set(reason);
        self.waker.wake();
    }

    /// Ends the connection if its listener does not trust its certificate any more. Returns whether it does so.
    pub fn close_unless_trusted(&self) -> bool {
        let is_refused = self.origin.certificates.as_ref().is_some_and(|one| !one.are_trusted());
        if is_refused {
            self.close(Reason::NotAuthorized);
        }
        is_refused
    }

    pub fn closing(&self) -> Option<Reason> {
        self.closing.get().copied()
    }
}
