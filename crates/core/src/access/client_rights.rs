//! The rights of one client, as one value that queues and selections keep.

use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;

use super::tree::WhoKey;
use super::{AccessPolicy, FilterAccess, Identity, Right, Subject};

/// What the topics of the broker's own messages begin with.
const OWN_TOPICS: &str = "$slipring/";

/// A policy as it is for one client. A later policy replaces the earlier one in place, so that whoever keeps the rights
/// of a client for long keeps no old policy.
#[derive(Debug)]
pub struct ClientRights {
    bound: ArcSwap<BoundPolicy>,
    /// Who the client is.
    pub identity: Arc<Identity>,
    /// The client identifier.
    pub client_id: Box<str>,
}

/// A policy, and the numbers that it has for the client: they are looked up once, not for each topic.
#[derive(Debug)]
struct BoundPolicy {
    policy: Arc<AccessPolicy>,
    keys: Box<[WhoKey]>,
}

impl BoundPolicy {
    fn new(policy: &Arc<AccessPolicy>, subject: Subject<'_>) -> Arc<Self> {
        let keys = policy.keys_of(subject).into();
        Arc::new(Self { policy: Arc::clone(policy), keys })
    }
}

impl ClientRights {
    /// The rights of a client by a policy.
    pub fn new(policy: &Arc<AccessPolicy>, identity: Arc<Identity>, client_id: &str) -> Self {
        let bound = BoundPolicy::new(policy, Subject { identity: &identity, client_id });
        Self { bound: ArcSwap::new(bound), identity, client_id: client_id.into() }
    }

    /// The client as rules see it.
    pub fn subject(&self) -> Subject<'_> {
        Subject { identity: &self.identity, client_id: &self.client_id }
    }

    /// Whether they are those of somebody by a policy.
    pub fn is_of(&self, policy: &Arc<AccessPolicy>, identity: &Arc<Identity>) -> bool {
        Arc::ptr_eq(&self.bound.load().policy, policy) && Arc::ptr_eq(&self.identity, identity)
    }

    /// Decides by this policy from now on.
    pub fn follow(&self, policy: &Arc<AccessPolicy>) {
        if !Arc::ptr_eq(&self.bound.load().policy, policy) {
            self.bound.store(BoundPolicy::new(policy, self.subject()));
        }
    }

    /// The policy that they are decided by now. Whoever keeps it keeps no rules.
    pub fn policy(&self) -> Weak<AccessPolicy> {
        Arc::downgrade(&self.bound.load().policy)
    }

    /// Whether they are decided by this policy now.
    pub fn are_by(&self, policy: &Weak<AccessPolicy>) -> bool {
        Weak::as_ptr(policy) == Arc::as_ptr(&self.bound.load().policy)
    }

    /// The same for a policy that somebody has now.
    pub fn are_by_policy(&self, policy: &AccessPolicy) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.bound.load().policy), policy)
    }

    /// Whether the client may do this on a topic.
    pub fn allow(&self, right: Right, topic: &str) -> bool {
        let bound = self.bound.load();
        bound.policy.grant_by(&bound.keys, self.subject(), topic).allows(right)
    }

    /// Whether the client may get a message that was for it. What the broker itself tells a client needs no right.
    pub fn allow_receiving(&self, topic: &str) -> bool {
        topic.starts_with(OWN_TOPICS) || self.allow(Right::Subscribe, topic)
    }

    /// How much of a filter the client may use.
    pub fn filter_access(&self, right: Right, filter: &str) -> FilterAccess {
        self.bound.load().policy.filter_access(self.subject(), right, filter)
    }
}
