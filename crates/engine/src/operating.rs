//! What an operator asks for: a list of sessions, the owners that hold most, and the end of a connection or session.
#![expect(missing_docs, reason = "`slipring.status` describes the fields")]

use std::cmp::Reverse;
use std::sync::Arc;

use serde::Serialize;
use slipring_core::{Owner, Quota};
use slipring_wire::Reason;

use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;
use crate::feed::Feed;
use crate::status::{seconds_left, since_ms};
use crate::wills;

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
#[derive(Clone, Debug, Serialize)]
pub struct SessionStatus {
    pub client_id: String,
    pub user: Option<String>,
    pub owner: String,
    pub state: SessionState,
    pub address: Option<String>,
    pub since_ms: f64,
    pub kept: bool,
    pub expires_s: Option<f64>,
    pub queued_messages: usize,
    pub queued_bytes: usize,
    pub subscriptions: usize,
    pub parameters: usize,
}

/// Whether a session's client is connected.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionState {
    Connected,
    Away,
}

/// What one owner holds of one limit.
#[derive(Clone, Debug, Serialize)]
pub struct OwnerShare {
    pub limit: &'static str,
    pub owner: String,
    pub held: usize,
    pub most: usize,
}

impl Broker {
    pub fn list_sessions(&self, query: &SessionQuery) -> Sessions {
        let is_meant = |client: &&Arc<Client>| {
            query.owner.as_deref().is_none_or(|owner| client.owner.as_str() == owner)
                && query.is_connected.is_none_or(|wanted| client.connection().is_some() == wanted)
        };
        let clients: Vec<Arc<Client>> =
            self.sessions.registry().sessions.values().filter(is_meant).cloned().collect();
        let total = clients.len();
        let mut shown: Vec<_> = clients.iter().map(|client| (cost(client), client)).collect();
        shown.sort_unstable_by_key(|(cost, client)| (Reverse(*cost), client.key));
        shown.truncate(query.most);
        let sessions = shown.iter().filter_map(|(_, client)| self.session_status(client)).collect();
        Sessions { sessions, total }
    }

    fn session_status(&self, client: &Client) -> Option<SessionStatus> {
        let declared = self.table.lock().table.registry.publishers.of(client.key);
        let state = client.state();
        if state.ended {
            return None;
        }
        let connection = client.connection();
        let (queued_messages, queued_bytes) = client.outgoing().waiting();
        Some(SessionStatus {
            client_id: client.name.to_string(),
            user: client.user.as_deref().map(Into::into),
            owner: client.owner.to_string(),
            address: connection.as_ref().map(|connection| connection.origin.address.clone()),
            state: if connection.is_some() { SessionState::Connected } else { SessionState::Away },
            since_ms: since_ms(
                connection.as_ref().map_or(state.left_ns, |connection| connection.connected_ns),
            ),
            kept: state.is_counted,
            expires_s: state.expires_ms.map(|at_ms| seconds_left(at_ms, self.clock.now_ms())),
            queued_messages,
            queued_bytes,
            subscriptions: state.session.filters().count(),
            parameters: declared.map_or(0, |declared| declared.len()),
        })
    }

    pub fn owners(&self, most: usize) -> Vec<OwnerShare> {
        let limits = self.plan.load().limits;
        let [streams, _] = limits.streams_quotas(0);
        let mut all = Vec::new();
        let mut add = |quota: Quota, greatest: Vec<(Owner, usize)>| {
            all.extend(greatest.into_iter().map(|(owner, held)| OwnerShare {
                limit: quota.all.1.name(),
                owner: owner.to_string(),
                held,
                most: quota.of_one(),
            }));
        };
        add(limits.connections_quota(), self.sessions.registry().connections.greatest(most));
        add(limits.sessions_quota(), self.sessions.registry().kept.greatest(most));
        for (at, quota) in limits.retained_quotas().into_iter().enumerate() {
            add(quota, self.topics.retained().shares()[at].greatest(most));
        }
        for (at, quota) in limits.waiting_quotas().into_iter().enumerate() {
            add(quota, self.topics.waiting().shares()[at].greatest(most));
        }
        add(limits.requests_quota(), self.requests.book().shares().greatest(most));
        let parameters = self.table.lock().table.registry.entries().shares().greatest(most);
        add(limits.parameters_quota(), parameters);
        add(streams, self.streams.lock().streams.catalog().shares().greatest(most));
        let selections = self.table.lock().table.groups.shares().greatest(most);
        add(limits.selections_quota(), selections);
        all
    }

    pub fn disconnect(&self, client_id: &str) -> bool {
        let client = self.sessions.registry().sessions.get(client_id).cloned();
        let Some(connection) = client.and_then(|client| client.connection()) else { return false };
        connection.close(Reason::AdministrativeAction);
        true
    }

    /// Ends a session; whether there was one.
    pub async fn end_by_operator(self: &Arc<Self>, client_id: &str) -> bool {
        let (client, will) = loop {
            let appended = {
                let mut registry = self.sessions.registry();
                let Some(client) = registry.sessions.get(client_id).cloned() else { return false };
                client.close(Reason::AdministrativeAction);
                let Some(appended) = registry.wills.find(client_id) else {
                    let will = self.end_session(&mut registry, &client);
                    break (client, will.map(|will| registry.wills.add(will)));
                };
                appended
            };
            appended.wait().await;
        };
        self.monitor.report(EventKind::Ended, &client.name, "an operator ended the session");
        if let Some(will) = will {
            wills::publish(self, &mut Feed::default(), will).await;
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
