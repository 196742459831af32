//! Rights that change while the broker runs: a new plan takes them back from connections, queues, selections and
//! declarations that exist (T13).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::access::{Right, Subject};
use slipring_core::{Dropped, Plan};
use slipring_wire::Reason;

use crate::broker::Broker;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::party::Party;
use crate::returning::Returning;

impl Broker {
    /// A plan was replaced: ends connections that it would not let in, and checks again what clients have whose rights
    /// it changes. Routes are made anew in any case.
    pub fn follow_rights(&self, before: &Plan, now: &Plan) {
        let is_same = before.access == now.access;
        if is_same && before.authentication == now.authentication {
            return;
        }
        for client in self.sessions.clients() {
            if client
                .connection()
                .is_some_and(|connection| !is_still_proven(&connection, now, before))
            {
                client.close(Reason::NotAuthorized);
            }
            let identity = client.identity.load();
            let subject = Subject { identity: &identity, client_id: &client.name };
            if !is_same && !before.access.is_same_for(&now.access, subject) {
                self.recheck(&client, now);
            }
        }
    }

    /// Checks again what waits for a client, what it has selected, and what it has declared.
    pub fn recheck(&self, client: &Arc<Client>, plan: &Plan) {
        let rights = client.rights(&plan.access);
        if self.table.is_used() {
            let table = &mut self.table.lock().table;
            table.keep_declared(client.key, |name| rights.allow(Right::Declare, name));
        }
        let messages = client.outgoing().recheck(rights);
        if messages > 0 {
            self.monitor.count_dropped(client, Dropped { limit: None, messages, wake: false });
        }
        client.has_other_rights.store(true, Ordering::Release);
        client.wake();
    }
}

impl Party {
    /// Begins to enter the client's selections and readers again, if its rights have changed.
    pub fn follow_rights(&mut self) {
        let Some(client) = &self.client else { return };
        if client.has_other_rights.load(Ordering::Acquire)
            && client.has_other_rights.swap(false, Ordering::AcqRel)
        {
            self.returning = Returning::of(&self.broker, client);
        }
    }
}

/// Whether a plan would still let this client in by the proof that it gave.
fn is_still_proven(connection: &ConnectionHandle, now: &Plan, before: &Plan) -> bool {
    if connection.depends() {
        return connection.proof_holds(&now.authentication);
    }
    let (users, earlier) = (&now.authentication.users, &before.authentication.users);
    match (connection.proven(), connection.origin.user.is_some()) {
        (_, true) => true, // by its certificate
        (Some(user), false) if earlier.has(user) => users.has_same(user, earlier),
        (Some(_), false) => true, // by a proof that no user of the file gives
        (None, false) => now.authentication.is_open() || now.authentication.anonymous,
    }
}
