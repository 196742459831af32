//! Admission: whether a client is let in, and with which session. Limits and quotas decide, with reserves for newcomers
//! and operators; a client may take over its earlier session.

use slipring_wire::Reason;

use crate::access::{Identity, Subject};
use crate::{Limit, Millis, Owner, Plan, Quota, Shares, memory};

/// Connections and sessions above the limit for operators, so that they are let in when all others are refused.
const OPERATORS_MAX: usize = 16;

/// A client that wants to connect.
#[derive(Clone, Copy)]
pub struct Applicant<'a> {
    /// Whether it wants a new session in any case.
    pub clean_start: bool,
    /// Seconds to keep its session while it is away.
    pub expiry_s: u32,
    /// The user name that it claims or has proved. Only this user may have the session later.
    pub user: Option<&'a str>,
    /// Who it has proved to be.
    pub identity: &'a Identity,
    /// Whose quotas count its connection and session.
    pub owner: &'a Owner,
    /// The number of the listener that it connected to.
    pub listener: usize,
    /// The session that has its client identifier.
    pub earlier: Option<EarlierSession<'a>>,
    /// Whether an earlier connection was told to release the session, and its time for that is over.
    pub is_forced: bool,
}

/// A session that has the same client identifier.
#[derive(Clone, Copy, Debug, Default)]
pub struct EarlierSession<'a> {
    /// Only this user may have it.
    pub user: Option<&'a str>,
    /// Whether a connection has it.
    pub is_connected: bool,
    /// Whether it is counted among the sessions that are kept.
    pub is_kept: bool,
    /// Seconds that it is kept while its client is away.
    pub expiry_s: u32,
    /// When it ends, if its client is away.
    pub expires_ms: Option<Millis>,
}

/// How many connections and sessions each owner has.
#[derive(Clone, Copy)]
pub struct Occupancy<'a> {
    /// Connections of clients that were let in.
    pub connections: &'a Shares,
    /// Those of the applicant's listener; None before the first.
    pub listener: Option<&'a Shares>,
    /// Sessions that are kept while their client is away.
    pub kept: &'a Shares,
}

/// How a client is let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// With a new session.
    New,
    /// With its earlier session.
    Resume,
    /// With a new session, once the earlier one is ended (MQTT-3.1.2-4).
    Replace,
    /// After the earlier connection has released the session, so that everything it sent is processed first.
    Wait,
}

/// Why a client is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectRefusal {
    /// The reason code in CONNACK.
    pub reason: Reason,
    /// The same in words.
    pub why: &'static str,
    /// The limit that was reached.
    pub limit: Option<Limit>,
}

/// What an applicant needs room for.
#[derive(Clone, Copy)]
enum Wanted {
    Connection,
    Session,
}

impl Applicant<'_> {
    /// Decides how the client is let in, or why not.
    pub fn admit(
        &self,
        plan: &Plan,
        occupancy: Occupancy<'_>,
        now_ms: Millis,
    ) -> Result<Admission, ConnectRefusal> {
        if self.earlier.is_some_and(|earlier| earlier.user != self.user) {
            let why = "the client identifier belongs to another user";
            return Err(ConnectRefusal { reason: Reason::NotAuthorized, why, limit: None });
        }
        self.check_room(plan, occupancy)?;
        Ok(match self.earlier {
            None => Admission::New,
            Some(earlier) if earlier.is_connected && !self.is_forced => Admission::Wait,
            Some(earlier) if self.clean_start || earlier.is_over(now_ms) => Admission::Replace,
            Some(_) => Admission::Resume,
        })
    }

    /// Checks that there is room for a connection, and for a kept session if the client wants one.
    ///
    /// A client that takes over its own connection or session needs no further one. A session that ends with its
    /// connection is not a kept one, and needs only the connection.
    fn check_room(&self, plan: &Plan, occupancy: Occupancy<'_>) -> Result<(), ConnectRefusal> {
        let EarlierSession { is_connected, is_kept, .. } = self.earlier.unwrap_or_default();
        let is_connected = is_connected || self.is_forced; // it was closed for this one
        let is_operator = plan.is_operator(self.identity);
        if memory::is_exhausted() && !is_connected && !is_kept && !is_operator {
            let (reason, why) = (Reason::QuotaExceeded, "memory is used up (limits.memory_bytes)");
            return Err(ConnectRefusal { reason, why, limit: Some(Limit::MemoryBytes) });
        }
        let check = |wanted, quota: Quota, shares: &Shares| {
            let has_own = quota.own.is_some();
            if is_operator && !has_own && shares.total() < quota.all.0 + OPERATORS_MAX {
                return Ok(());
            }
            quota.check(shares, self.owner, 1).map_err(|limit| refusal(plan, wanted, limit))
        };
        if !is_connected {
            let subject = Subject { identity: self.identity, client_id: "" };
            let all = plan.limits_for(subject).connections_quota();
            let here = Quota { all: (plan.limits_of(self.listener).connections, all.all.1), ..all };
            check(Wanted::Connection, all, occupancy.connections)?;
            if let Some(shares) = occupancy.listener {
                check(Wanted::Connection, here, shares)?;
            }
        }
        if self.expiry_s > 0 && !is_kept {
            check(Wanted::Session, plan.limits.sessions_quota(), occupancy.kept)?;
        }
        Ok(())
    }
}

impl EarlierSession<'_> {
    /// Whether it is over although it was not ended yet: it ends with its connection (MQTT-3.1.2-6 of 3.1.1, and an
    /// expiry interval of 0), or it has expired.
    fn is_over(&self, now_ms: Millis) -> bool {
        let is_late = self.expires_ms.is_some_and(|at_ms| at_ms <= now_ms);
        self.expiry_s == 0 || is_late && !self.is_connected
    }
}

fn refusal(plan: &Plan, wanted: Wanted, limit: Limit) -> ConnectRefusal {
    let busy = match plan.server_reference {
        Some(_) => Reason::UseAnotherServer,
        None => Reason::ServerBusy,
    };
    let (reason, why) = match (wanted, limit) {
        (Wanted::Connection, Limit::OwnerConnections) => (
            Reason::QuotaExceeded,
            "this user or address has as many connections as one may have \
             (limits.owner_connections_percent); close some first",
        ),
        (_, Limit::QuotaConnections) => (
            Reason::QuotaExceeded,
            "this user or address has as many connections as its quota allows \
             (quota.connections); close some first",
        ),
        (Wanted::Connection, Limit::ReservePercent) => (
            busy,
            "the last connections are kept for users and addresses that have none \
             (limits.reserve_percent)",
        ),
        (Wanted::Connection, _) => (busy, "no more connections (limits.connections)"),
        (Wanted::Session, Limit::OwnerSessions) => (
            Reason::QuotaExceeded,
            "this user or address has as many sessions as one may have \
             (limits.owner_sessions_percent); let some end, or ask for none that is kept",
        ),
        (Wanted::Session, Limit::ReservePercent) => (
            Reason::QuotaExceeded,
            "the last sessions are kept for users and addresses that have none \
             (limits.reserve_percent); ask for none that is kept",
        ),
        (Wanted::Session, _) => (
            Reason::QuotaExceeded,
            "no more sessions are kept (limits.sessions); ask for none that is kept",
        ),
    };
    ConnectRefusal { reason, why, limit: Some(limit) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a client of user `a` is let in at millisecond 100, with this earlier session.
    fn admit(earlier: EarlierSession<'_>, clean_start: bool, is_forced: bool) -> Admission {
        let (shares, owner) = (Shares::default(), Owner::unknown(Some("a")));
        let occupancy = Occupancy { connections: &shares, listener: None, kept: &shares };
        let applicant = Applicant {
            clean_start,
            expiry_s: 60,
            user: Some("a"),
            identity: Identity::anonymous(),
            owner: &owner,
            listener: 0,
            earlier: Some(EarlierSession { user: Some("a"), ..earlier }),
            is_forced,
        };
        let other = EarlierSession { user: Some("b"), ..earlier };
        let refused = Applicant { earlier: Some(other), ..applicant };
        let refusal = refused.admit(&Plan::default(), occupancy, 100).unwrap_err();
        assert_eq!(refusal.reason, Reason::NotAuthorized);
        applicant.admit(&Plan::default(), occupancy, 100).unwrap()
    }

    #[test]
    fn a_client_gets_its_session_unless_it_is_over_or_unwanted() {
        let kept = EarlierSession { expiry_s: 60, ..EarlierSession::default() };
        assert_eq!(admit(kept, false, false), Admission::Resume);
        assert_eq!(admit(kept, true, false), Admission::Replace);
        let late = EarlierSession { expires_ms: Some(100), ..kept };
        assert_eq!(admit(late, false, false), Admission::Replace);
        let ends_with_its_connection = EarlierSession { expiry_s: 0, ..kept };
        assert_eq!(admit(ends_with_its_connection, false, false), Admission::Replace);
    }

    #[test]
    fn the_client_waits_for_an_earlier_connection_once() {
        let held = EarlierSession { is_connected: true, expiry_s: 60, ..EarlierSession::default() };
        assert_eq!(admit(held, false, false), Admission::Wait);
        assert_eq!(admit(held, true, false), Admission::Wait);
        assert_eq!(admit(held, false, true), Admission::Resume);
        assert_eq!(admit(held, true, true), Admission::Replace);
    }
}
