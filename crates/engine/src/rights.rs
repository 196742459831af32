//! Rights that change while the broker runs: a new plan, or another proof of a client, takes them back from
//! connections, queues, selections, declarations and requests that exist (T13).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::access::{ClientRights, Identity, PolicyChange, Right, RightSet, Subject};
use slipring_core::requests::RequestEvent;
use slipring_core::{Dropped, Plan, SessionKey};
use slipring_wire::Reason;
use slipring_wire::frame::RangeSet;

use crate::broker::Broker;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::party::Party;
use crate::requests::Job;
use crate::returning::Returning;

/// Declared parameters whose names are copied under the table's lock at a time.
const NAMES_AT_ONCE: usize = 1_024;
/// What the asker of a request is told.
const TAKEN_BACK: &str = "the right to make this request was taken back";

impl Broker {
    /// A plan was replaced: ends connections that it would not let in, and checks again what clients have whose rights
    /// it changes. Routes are made anew in any case. No lock is held longer than for one client.
    pub fn follow_rights(&self, before: &Plan, now: &Plan) {
        let is_kept = Arc::ptr_eq(&before.access, &now.access);
        let is_same = is_kept || before.access == now.access;
        if is_same && before.authentication == now.authentication {
            if is_kept {
                return; // every client follows this policy
            }
            self.sessions.clients().iter().for_each(|client| client.follow(now));
            return;
        }
        let change = PolicyChange::new(&before.access, &now.access);
        for client in self.sessions.clients() {
            client.follow(now);
            let connection = client.connection();
            let is_certified = connection.as_ref().is_some_and(|it| it.origin.user.is_some());
            // Before its connection is closed: its will is nobody's.
            let is_nobody = !client.proof_holds(&now.authentication)
                || !is_certified && is_removed(&client.identity.load(), now, before);
            let is_changed = is_nobody && self.identify(&client, Identity::anonymous());
            if connection.is_some_and(|connection| !is_still_proven(&connection, now, before)) {
                client.close(Reason::NotAuthorized);
            }
            if is_changed {
                continue; // it was checked again
            }
            let identity = client.identity.load();
            let subject = Subject { identity: &identity, client_id: &client.name };
            if let Some(lost) = change.lost_by(subject) {
                self.recheck(&client, lost);
            }
        }
    }

    /// A client has proved to be somebody: when it came back, or again on the same connection. Returns whether that is
    /// somebody else than before, who may have other rights. A client that plays a recording again needs another right
    /// for the same samples than one that does not.
    pub fn identify(&self, client: &Arc<Client>, identity: &Arc<Identity>) -> bool {
        client.keep_proof();
        let acts_otherwise = client.follow_way();
        let is_other = **client.identity.load() != **identity;
        if is_other {
            client.identity.store(Arc::clone(identity));
            self.topics.changed();
            self.recheck(client, RightSet::ALL);
        } else if acts_otherwise && self.table.is_used() {
            self.judge_declared(client, &client.rights(&self.plan));
        }
        is_other
    }

    /// Checks again what waits for a client, what it has selected, what it has declared and its requests.
    pub fn recheck(&self, client: &Arc<Client>, lost: RightSet) {
        let rights = client.rights(&self.plan);
        if self.table.is_used() {
            self.judge_declared(client, &rights);
            if lost.has_any(&[Right::Select, Right::Subscribe]) {
                // At once: its connection, which enters its subscriptions again, may be busy with writing.
                self.table.lock().table.stop_all(client.key);
            }
        }
        if self.streams.is_used() {
            self.streams.lock().streams.judge(client.key, &rights);
        }
        if lost.has_any(&[Right::Subscribe, Right::Select, Right::Stream]) {
            let messages = client.outgoing().recheck(Arc::clone(&rights));
            if messages > 0 {
                self.monitor.count_dropped(client, Dropped { limit: None, messages, wake: false });
            }
        }
        if lost.has_any(&[Right::Request, Right::Serve, Right::Subscribe]) {
            self.judge_requests(client.key, &rights);
        }
        client.has_other_rights.store(true, Ordering::Release);
        client.wake();
    }

    /// Takes those declarations from a session that its client has no more right to, and notes which parameters it may
    /// not publish.
    pub fn judge_declared(&self, client: &Client, rights: &ClientRights) {
        let (session, publishing) = (client.key, client.publishing());
        let [mut judged, mut lost, mut muted] = [const { Vec::new() }; 3];
        let mut from = 0;
        loop {
            let some = self.table.lock().table.declared_by(session, from, NAMES_AT_ONCE);
            for (index, name) in &some {
                judged.push(*index);
                if !rights.allow(Right::Declare, name) {
                    lost.push(*index);
                } else if !rights.allow(publishing, name) {
                    muted.push(*index);
                }
            }
            match some.last() {
                Some((index, _)) => from = index + 1,
                None => break,
            }
        }
        if !judged.is_empty() {
            let [judged, lost, muted] =
                [judged, lost, muted].map(|some| some.into_iter().collect::<RangeSet>());
            self.table.lock().table.judge_declared(session, &judged, &lost, &muted);
        }
    }

    /// Ends the requests that a client may not ask any more. Those that it may not serve go to another service, or fail.
    pub fn judge_requests(&self, session: SessionKey, rights: &ClientRights) {
        let book = self.requests.book();
        if !book.knows(session) {
            return;
        }
        let held = book.held_without_right(session, |topic| rights.allow(Right::Serve, topic));
        let asked = book.asked_without_right(session, |topic| rights.allow(Right::Request, topic));
        drop(book);
        if !held.is_empty() {
            self.requests.later(Job::GiveBack(held.into()));
        }
        for key in asked {
            self.requests.later(Job::End(key, RequestEvent::Cancel, Some(TAKEN_BACK)));
        }
    }
}

impl Party {
    /// Whether the client's rights have changed, and its subscriptions are to be entered again.
    pub fn has_other_rights(&self) -> bool {
        self.client.as_ref().is_some_and(|client| client.has_other_rights.load(Ordering::Acquire))
    }

    /// Begins to enter the client's selections and readers again, if its rights have changed.
    pub fn follow_rights(&mut self) {
        let Some(client) = &self.client else { return };
        if self.has_other_rights() && client.has_other_rights.swap(false, Ordering::AcqRel) {
            self.identity = client.identity.load_full();
            self.feed.paths.forget(&self.broker); // they may be those of who it was before
            self.returning = Returning::to_table(&self.broker, client);
        }
    }

    /// Closes the connection if the plan that has judged the client's proof was replaced meanwhile, by one that would not
    /// let it in.
    pub fn check_proof(&self, judged: &Plan) {
        let now = self.broker.plan.load();
        if !is_still_proven(&self.connection, &now, judged) {
            let identity = self.connection.identity();
            let is_nobody = self.connection.depends() || is_removed(identity, &now, judged);
            if let (Some(client), true) = (&self.client, is_nobody) {
                self.broker.identify(client, Identity::anonymous());
            }
            self.connection.close(Reason::NotAuthorized);
        }
    }
}

/// Whether a plan would still let this client in by the proof that it gave.
fn is_still_proven(connection: &ConnectionHandle, now: &Plan, before: &Plan) -> bool {
    if connection.depends() {
        return connection.proof_holds(&now.authentication);
    }
    let (users, earlier) = (&now.authentication.users, &before.authentication.users);
    let is_certified = connection.origin.user.is_some();
    match connection.proven() {
        Some(user) if !is_certified && earlier.has(user) => users.has_same(user, earlier),
        Some(_) => true, // by its certificate, or by a proof that no user of the file gives
        None => now.authentication.is_open() || now.authentication.anonymous,
    }
}

/// Whether somebody was a user, and is none any more.
fn is_removed(identity: &Identity, now: &Plan, before: &Plan) -> bool {
    let (users, earlier) = (&now.authentication.users, &before.authentication.users);
    identity.user.as_deref().is_some_and(|user| earlier.has(user) && !users.has(user))
}

#[cfg(test)]
#[path = "rights_tests.rs"]
mod tests;
