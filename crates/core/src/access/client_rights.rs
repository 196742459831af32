//! The rights of one client, as one value that queues and selections keep.

use std::sync::Arc;

use super::{AccessPolicy, FilterAccess, Identity, Right, Subject};

/// A policy as it is for one client.
#[derive(Debug)]
pub struct ClientRights {
    /// The rules.
    pub policy: Arc<AccessPolicy>,
    /// Who the client is.
    pub identity: Arc<Identity>,
    /// The client identifier.
    pub client_id: Box<str>,
}

impl ClientRights {
    /// The client as rules see it.
    pub fn subject(&self) -> Subject<'_> {
        Subject { identity: &self.identity, client_id: &self.client_id }
    }

    /// Whether the client may do this on a topic.
    pub fn allow(&self, right: Right, topic: &str) -> bool {
        self.policy.allows(self.subject(), right, topic)
    }

    /// How much of a filter the client may use.
    pub fn filter_access(&self, right: Right, filter: &str) -> FilterAccess {
        self.policy.filter_access(self.subject(), right, filter)
    }
}
