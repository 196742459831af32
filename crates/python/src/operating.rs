//! What an operator sees of sessions and of what is held, as values for Python.

use pyo3::prelude::*;

/// One session, connected or away: whose it is, and what it holds.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct ListedSession {
    client_id: String,
    user: Option<String>,
    owner: String,
    address: Option<String>,
    since_ns: i64,
    is_kept: bool,
    expires_s: Option<f64>,
    queued_messages: usize,
    queued_bytes: usize,
    subscriptions: usize,
    parameters: usize,
}

/// What one owner holds of one limit, and how much it may.
#[pyclass(frozen, get_all, module = "slipring._native")]
pub struct OwnerShare {
    limit: &'static str,
    owner: String,
    held: usize,
    most: usize,
}

impl From<slipring_engine::SessionStatus> for ListedSession {
    fn from(session: slipring_engine::SessionStatus) -> Self {
        Self {
            client_id: session.client_id,
            user: session.user,
            owner: session.owner,
            address: session.address,
            since_ns: session.since_ns,
            is_kept: session.is_kept,
            expires_s: session.expires_in.map(|left| left.as_secs_f64()),
            queued_messages: session.queued_messages,
            queued_bytes: session.queued_bytes,
            subscriptions: session.subscriptions,
            parameters: session.parameters,
        }
    }
}

impl From<slipring_engine::OwnerShare> for OwnerShare {
    fn from(share: slipring_engine::OwnerShare) -> Self {
        let (limit, owner) = (share.limit.name(), share.owner);
        Self { limit, owner, held: share.held, most: share.most }
    }
}

/// Adds the classes to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ListedSession>()?;
    module.add_class::<OwnerShare>()
}
