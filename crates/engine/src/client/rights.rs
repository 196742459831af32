//! What one client may do, and what its identity depends on.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arc_swap::ArcSwap;
use slipring_core::access::{AccessPolicy, ClientRights, FilterAccess, Right, Subject};
use slipring_core::{Authentication, Plan, Way};

use super::Client;

impl Client {
    /// Notes what the identity of its connection depends on.
    pub fn keep_proof(&self) {
        if let Some(connection) = &*self.connection.load() {
            self.proof.store(connection.proof());
        }
    }

    /// Notes the way by which its connection acts. Returns whether that is another one than before.
    pub fn follow_way(&self) -> bool {
        let Some(now) = self.connection.load().as_ref().map(|connection| connection.way()) else {
            return false;
        };
        let replays = now == Way::Replay;
        self.replays.swap(replays, Ordering::AcqRel) != replays
    }

    /// The right to publish samples of what it has declared.
    pub fn publishing(&self) -> Right {
        let replays = self.replays.load(Ordering::Acquire);
        if replays { Way::Replay } else { Way::Client }.publishing()
    }

    /// Whether these rules still accept the token or the answer that its identity depends on, if it does.
    pub fn proof_holds(&self, authentication: &Authentication) -> bool {
        self.proof.load().as_ref().is_none_or(|proof| proof.holds(authentication))
    }

    /// Whether rules allow the client to do this on a topic.
    pub fn may(&self, policy: &Arc<AccessPolicy>, right: Right, topic: &str) -> bool {
        if !policy.is_enforced() {
            return true;
        }
        let identity = self.identity.load();
        let known = self.rights.load();
        if let Some(known) = known.as_ref().filter(|known| known.is_of(policy, &identity)) {
            return known.allow(right, topic);
        }
        let subject = Subject { identity: &identity, client_id: &self.name };
        policy.allows(subject, right, topic)
    }

    /// Its rights by the plan in force. They follow every later plan.
    pub fn rights(&self, plan: &ArcSwap<Plan>) -> Arc<ClientRights> {
        loop {
            let policy = Arc::clone(&plan.load().access);
            let identity = self.identity.load_full();
            let known = self.rights.load_full();
            let known = known.filter(|known| Arc::ptr_eq(&known.identity, &identity));
            let rights = known.unwrap_or_else(|| {
                let rights = Arc::new(ClientRights::new(&policy, identity, &self.name));
                self.rights.store(Some(Arc::clone(&rights)));
                rights
            });
            rights.follow(&policy);
            // A plan that was replaced meanwhile may not be what stays.
            if Arc::ptr_eq(&plan.load().access, &policy) {
                return rights;
            }
        }
    }

    /// Lets its rights follow a plan that is in force now.
    pub fn follow(&self, plan: &Plan) {
        if let Some(rights) = &*self.rights.load() {
            rights.follow(&plan.access);
        }
    }

    /// The rights that narrow a filter of this client; None if it may have all that the filter matches.
    pub fn narrowing(
        &self,
        plan: &ArcSwap<Plan>,
        right: Right,
        filter: &str,
    ) -> Option<Arc<ClientRights>> {
        if !plan.load().access.is_enforced() {
            return None;
        }
        let rights = self.rights(plan);
        (rights.filter_access(right, filter) != FilterAccess::Whole).then_some(rights)
    }
}
