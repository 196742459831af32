//! Whether there is room for one more client: the limits, the quotas of users and addresses, and what is
//! kept back for newcomers and operators.

use slipring_core::{Limit, Opening, Owner, Plan, Quota, Shares, memory};
use slipring_wire::Reason;

use crate::broker::Broker;
use crate::client::{Client, Link};
use crate::registry::{Refusal, Registry};

/// Connections and sessions above the limit that operators may have, so that they are let in when nobody
/// else is.
const OPERATORS_MAX: usize = 16;

/// What is asked for.
#[derive(Clone, Copy)]
enum Asked {
    Connection,
    Session,
}

impl Broker {
    /// Whether a client may have a connection, and a session that is kept if it asks for one.
    ///
    /// A client that takes over its own connection or session takes no further one. A session that ends
    /// with its connection is no kept one: it needs a connection only.
    pub fn check_room(
        &self,
        registry: &Registry,
        earlier: Option<&Client>,
        opening: &Opening,
        link: &Link,
        is_taking_over: bool,
    ) -> Result<(), Refusal> {
        let plan = self.plan.load();
        let (is_connected, is_kept) = earlier.map_or((false, false), |earlier| {
            let state = earlier.state();
            (state.link.is_some(), state.is_counted)
        });
        let is_connected = is_connected || is_taking_over; // the earlier connection went for this one
        let is_operator = plan.authentication.users.is_operator(link.proven());
        if memory::is_exhausted() && !is_connected && !is_kept && !is_operator {
            let (reason, why) = (Reason::QuotaExceeded, "memory is used up (limits.memory_bytes)");
            return Err(Refusal { reason, why, limit: Some(Limit::MemoryBytes) });
        }
        if !is_connected {
            let listener = link.origin.listener;
            let all = plan.limits.connections_quota();
            let here = Quota { all: (plan.limits_of(listener).connections, all.all.1), ..all };
            check(&plan, link, Asked::Connection, all, &registry.connections)?;
            if let Some(shares) = registry.listener(listener) {
                check(&plan, link, Asked::Connection, here, shares)?;
            }
        }
        if opening.expiry_s > 0 && !is_kept {
            check(&plan, link, Asked::Session, plan.limits.sessions_quota(), &registry.kept)?;
        }
        Ok(())
    }
}

fn check(
    plan: &Plan,
    link: &Link,
    asked: Asked,
    quota: Quota,
    shares: &Shares,
) -> Result<(), Refusal> {
    if plan.authentication.users.is_operator(link.proven())
        && shares.total() < quota.all.0 + OPERATORS_MAX
    {
        return Ok(());
    }
    let owner: &Owner = link.owner();
    quota.check(shares, owner, 1).map_err(|limit| refusal(plan, asked, limit))
}

fn refusal(plan: &Plan, asked: Asked, limit: Limit) -> Refusal {
    let busy = match plan.server_reference {
        Some(_) => Reason::UseAnotherServer,
        None => Reason::ServerBusy,
    };
    let (reason, why) = match (asked, limit) {
        (Asked::Connection, Limit::OwnerConnections) => (
            Reason::QuotaExceeded,
            "this user or address has as many connections as one may have \
             (limits.owner_connections_percent); close some first",
        ),
        (Asked::Connection, Limit::ReservePercent) => (
            busy,
            "the last connections are kept for users and addresses that have none \
             (limits.reserve_percent)",
        ),
        (Asked::Connection, _) => (busy, "no more connections (limits.connections)"),
        (Asked::Session, Limit::OwnerSessions) => (
            Reason::QuotaExceeded,
            "this user or address has as many sessions as one may have \
             (limits.owner_sessions_percent); let some end, or ask for none that is kept",
        ),
        (Asked::Session, Limit::ReservePercent) => (
            Reason::QuotaExceeded,
            "the last sessions are kept for users and addresses that have none \
             (limits.reserve_percent); ask for none that is kept",
        ),
        (Asked::Session, _) => (
            Reason::QuotaExceeded,
            "no more sessions are kept (limits.sessions); ask for none that is kept",
        ),
    };
    Refusal { reason, why, limit: Some(limit) }
}
