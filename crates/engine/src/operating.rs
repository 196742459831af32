//! What an operator asks for: who is here, who holds what, and who has to go.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use slipring_core::{Limit, Owner, Quota};
use slipring_wire::Reason;

use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;
use crate::feed::Feed;
use crate::keeper;

/// Which sessions are asked for.
#[derive(Clone, Debug, Default)]
pub struct SessionQuery {
    /// Those of connected clients, or those of clients that are away; None is both.
    pub is_connected: Option<bool>,
    /// Those of one owner, as [`SessionStatus::owner`] has it.
    pub owner: Option<String>,
    /// At most so many.
    pub most: usize,
}

/// The sessions that were asked for.
#[derive(Clone, Debug)]
pub struct Sessions {
    /// Those that cost most first.
    pub sessions: Vec<SessionStatus>,
    /// How many there are, shown or not.
    pub total: usize,
}

/// One session, connected or away: whose it is, and what it holds.
#[derive(Clone, Debug)]
pub struct SessionStatus {
    /// The client's identifier.
    pub client_id: String,
    /// Who may have the session.
    pub user: Option<String>,
    /// Whose quota it is counted for.
    pub owner: String,
    /// Where its client is connected from; None if it is away.
    pub address: Option<String>,
    /// Since when it is connected or away, in nanoseconds since 1970.
    pub since_ns: i64,
    /// Whether it is kept when its client goes.
    pub is_kept: bool,
    /// Until the session of a client that is away ends.
    pub expires_in: Option<Duration>,
    /// QoS 1 and 2 messages that wait or are in flight.
    pub queued_messages: usize,
    /// Bytes waiting for it.
    pub queued_bytes: usize,
    /// Its subscriptions.
    pub subscriptions: usize,
    /// Parameters that it has declared.
    pub parameters: usize,
}

/// What one owner holds of one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerShare {
    /// Of what.
    pub limit: Limit,
    /// Who.
    pub owner: String,
    /// How much.
    pub held: usize,
    /// How much it may hold.
    pub most: usize,
}

impl Broker {
    pub fn list_sessions(&self, query: &SessionQuery) -> Sessions {
        let is_meant = |client: &&Arc<Client>| {
            query.owner.as_deref().is_none_or(|owner| client.owner.as_str() == owner)
                && query.is_connected.is_none_or(|wanted| client.link().is_some() == wanted)
        };
        let clients: Vec<Arc<Client>> =
            self.registry().sessions.values().filter(is_meant).cloned().collect();
        let total = clients.len();
        let mut shown: Vec<_> = clients.iter().map(|client| (cost(client), client)).collect();
        shown.sort_unstable_by_key(|(cost, client)| (Reverse(*cost), client.key));
        shown.truncate(query.most);
        let sessions = shown.iter().filter_map(|(_, client)| self.session_status(client)).collect();
        Sessions { sessions, total }
    }

    fn session_status(&self, client: &Client) -> Option<SessionStatus> {
        let declared = self.table.lock().table.registry.publishers().of(client.key);
        let state = client.state();
        if state.ended {
            return None;
        }
        let link = client.link();
        let left_ms = state.expires_ms.map(|at_ms| at_ms.saturating_sub(self.now_ms()));
        let (queued_messages, queued_bytes) = client.outgoing().waiting();
        Some(SessionStatus {
            client_id: client.name.to_string(),
            user: client.user.as_deref().map(Into::into),
            owner: client.owner.to_string(),
            address: link.as_ref().map(|link| link.origin.address.clone()),
            since_ns: link.as_ref().map_or(state.left_ns, |link| link.connected_ns),
            is_kept: state.is_counted,
            expires_in: left_ms.map(Duration::from_millis),
            queued_messages,
            queued_bytes,
            subscriptions: state.session.filters().count(),
            parameters: declared.map_or(0, |declared| declared.len()),
        })
    }

    pub fn owners(&self, most: usize) -> Vec<OwnerShare> {
        let limits = self.plan.load().limits;
        let [retained, retained_bytes] = limits.retained_quotas();
        let [waiting, waiting_bytes] = limits.waiting_quotas();
        let [streams, _] = limits.streams_quotas(0);
        let mut all = Vec::new();
        let mut add = |quota: Quota, greatest: Vec<(Owner, usize)>| {
            all.extend(greatest.into_iter().map(|(owner, held)| OwnerShare {
                limit: quota.all.1,
                owner: owner.to_string(),
                held,
                most: quota.of_one(),
            }));
        };
        add(limits.connections_quota(), self.registry().connections.greatest(most));
        add(limits.sessions_quota(), self.registry().kept.greatest(most));
        for (at, quota) in [retained, retained_bytes].into_iter().enumerate() {
            add(quota, self.retained().shares()[at].greatest(most));
        }
        for (at, quota) in [waiting, waiting_bytes].into_iter().enumerate() {
            add(quota, self.waiting().shares()[at].greatest(most));
        }
        let parameters = self.table.lock().table.registry.entries().shares().greatest(most);
        add(limits.parameters_quota(), parameters);
        add(streams, self.streams.greatest(most));
        let selections = self.table.lock().table.selection_shares().greatest(most);
        add(limits.selections_quota(), selections);
        all
    }

    pub fn disconnect(&self, client_id: &str) -> bool {
        let client = self.registry().sessions.get(client_id).cloned();
        let Some(link) = client.and_then(|client| client.link()) else { return false };
        link.close(Reason::AdministrativeAction);
        true
    }

    /// Ends a session; whether there was one.
    pub async fn end_by_operator(self: &Arc<Self>, client_id: &str) -> bool {
        let (client, will) = {
            let mut registry = self.registry();
            let Some(client) = registry.sessions.get(client_id).cloned() else { return false };
            client.close(Reason::AdministrativeAction);
            let will = self.end_session(&mut registry, &client);
            (client, will)
        };
        self.report(EventKind::Ended, &client.name, "an operator ended the session");
        if let Some(will) = will {
            keeper::publish(self, &mut Feed::new(), &client, &will).await;
        }
        true
    }
}

/// What a session costs: bytes that wait for it, messages, subscriptions.
fn cost(client: &Client) -> (usize, usize, usize) {
    let subscriptions = client.state().session.filters().count();
    let (messages, bytes) = client.outgoing().waiting();
    (bytes, messages, subscriptions)
}
