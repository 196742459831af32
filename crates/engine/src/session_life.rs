//! The life of a session: opened, taken over, left, ended. `core` decides which connection gets it.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::ledger::SessionRecord;
use slipring_core::{
    Admission, Applicant, ConnectRefusal, Durability, Goodbye, Millis, Opening, Outgoing,
    SessionKey, WillMessage,
};
use slipring_wire::Reason;

use crate::broker::Broker;
use crate::client::{Client, State};
use crate::connection_handle::ConnectionHandle;
use crate::ends::End;
use crate::event::EventKind;
use crate::gates::Gate;
use crate::sessions::SessionRegistry;

/// A client that was let in.
pub(crate) struct Opened {
    pub client: Arc<Client>,
    pub session_present: bool,
    /// The durability that CONNACK promises for the session.
    pub promise: Durability,
    /// The will of the session that this one replaces, and its client.
    pub will: Option<(Arc<Client>, WillMessage)>,
}

/// Why a client is not let in yet.
#[derive(Debug)]
pub(crate) enum NotOpened {
    /// The broker refuses it.
    Refused(ConnectRefusal),
    /// Another connection has the session, and was asked to let go.
    Held(Arc<ConnectionHandle>),
}

impl Broker {
    /// Lets a client in: finds or makes its session.
    ///
    /// An earlier connection is asked to let go first, so that its packets are taken before; with `force` the
    /// session is taken from it (MQTT-3.1.4-3).
    pub fn open_session(
        &self,
        opening: &Opening,
        connection: &Arc<ConnectionHandle>,
        force: bool,
    ) -> Result<Opened, NotOpened> {
        let user = connection.origin.user.as_deref().or(opening.user_name.as_deref());
        let assigned = self.sessions.client_id_for(connection.key);
        let client_id = if opening.client_id.is_empty() { &assigned } else { &opening.client_id };
        let mut registry = self.sessions.registry();
        let earlier = registry.sessions.get(client_id.as_str()).cloned();
        let applicant = Applicant {
            clean_start: opening.clean_start,
            expiry_s: opening.expiry_s,
            user,
            proven: connection.proven(),
            owner: connection.owner(),
            listener: connection.origin.listener,
            earlier: earlier.as_ref().map(|earlier| earlier.summary()),
            is_forced: force,
        };
        let occupancy = registry.occupancy(connection.origin.listener);
        let admission = applicant.admit(&self.plan.load(), occupancy, self.clock.now_ms());
        let mut will = None;
        let kept = match (admission.map_err(NotOpened::Refused)?, earlier) {
            (Admission::Resume, earlier) => earlier,
            (Admission::Wait, Some(earlier)) => {
                let held =
                    earlier.connection().expect("it is connected, and the registry is locked");
                held.close(Reason::SessionTakenOver);
                return Err(NotOpened::Held(held));
            }
            (Admission::Replace, Some(earlier)) => {
                let pending = self.end_session(&mut registry, &earlier);
                will = pending.map(|will| (earlier, will));
                None
            }
            _ => None,
        };
        let session_present = kept.is_some();
        let changes = match &kept {
            Some(kept) => kept.state().expiry_s != opening.expiry_s,
            None => registry.ends.is_unsafe(client_id, &self.journal.gates),
        };
        let promise = if changes { Durability::Disk } else { Durability::Memory };
        let client = kept.unwrap_or_else(|| {
            let key = self.sessions.next_key();
            let outgoing = self.outgoing(key, connection, opening.expiry_s > 0);
            let client = Arc::new(Client::new(key, client_id, user, connection.owner(), outgoing));
            registry.sessions.insert(client_id.as_str().into(), Arc::clone(&client));
            client
        });
        self.attach(&mut registry, &client, opening, connection);
        self.sessions.let_in.fetch_add(1, Ordering::Relaxed);
        Ok(Opened { client, session_present, promise, will })
    }

    /// The queue of a new session.
    fn outgoing(&self, key: SessionKey, connection: &ConnectionHandle, kept: bool) -> Outgoing {
        let plan = self.plan.load();
        let limits = plan.limits_of(connection.origin.listener);
        if kept && self.journal.exists() {
            Outgoing::durable(limits, key, plan.durability.highest())
        } else {
            Outgoing::new(limits)
        }
    }

    /// Gives a session to a connection; an earlier connection is closed (MQTT-3.1.4-3).
    fn attach(
        &self,
        registry: &mut SessionRegistry,
        client: &Arc<Client>,
        opening: &Opening,
        connection: &Arc<ConnectionHandle>,
    ) {
        let mut state = client.state();
        self.timers.cancel(state.due.take());
        state.will = None; // MQTT-3.1.3-9: the client came back before the delay had passed
        state.expires_ms = None;
        state.expiry_s = opening.expiry_s;
        registry.count_kept(client, &mut state, opening.expiry_s > 0);
        state.recorded |= self.is_recorded(opening);
        let limits = *self.plan.load().limits_of(connection.origin.listener);
        let newest = self.topics.retained().newest();
        let mut outgoing = client.outgoing();
        outgoing.attach(connection.key, opening.terms, &limits);
        outgoing.restart_replays(newest);
        drop(outgoing);
        if let Some(earlier) = client.set_connection(&mut state, Some(Arc::clone(connection))) {
            registry.discount(&earlier);
            earlier.close(Reason::SessionTakenOver);
        }
        registry.count(connection);
    }

    /// Ends a client's connection. Returns the will to publish now, if any.
    ///
    /// `will` is None after a DISCONNECT without the will.
    pub fn leave(
        &self,
        client: &Arc<Client>,
        connection: &ConnectionHandle,
        will: Option<WillMessage>,
        goodbye: Option<&Goodbye>,
    ) -> Option<WillMessage> {
        let mut registry = self.sessions.registry();
        let mut state = client.state();
        if state.connection != Some(connection.key) {
            // Taken over: a delayed will is not sent, unless the session ended with it.
            return will.filter(|will| will.delay_s == 0 || state.ended);
        }
        client.set_connection(&mut state, None);
        let mut records = Vec::new();
        let mut outgoing = client.outgoing();
        outgoing.detach(connection.key);
        outgoing.take_records(&mut records);
        drop(outgoing);
        self.journal.note_all(&mut records);
        registry.discount(connection);
        let now_ms = self.clock.now_ms();
        state.expiry_s = goodbye.and_then(|said| said.expiry_s).unwrap_or(state.expiry_s);
        if self.stopping.is_set() && state.recorded {
            // The next start sends the will, unless the client comes back first.
            state.left_ns = self.clock.now_ns();
            state.will = will.map(|will| (will, now_ms));
            self.record_left(client, &state, false);
            return None;
        }
        if state.expiry_s == 0 {
            drop(state);
            self.end_session(&mut registry, client);
            return will;
        }
        state.expires_ms = after(now_ms, state.expiry_s);
        state.left_ns = self.clock.now_ns();
        let now = match will {
            Some(will) if will.delay_s > 0 => {
                let at = after(now_ms, will.delay_s).unwrap_or(Millis::MAX);
                state.will = Some((will, at));
                None
            }
            will => will,
        };
        let gate = self.record_left(client, &state, goodbye.is_some());
        registry.ends.add(&client.name, End { gate, is_kept_session: false }, &self.journal.gates);
        self.timers.set_for(client, &mut state);
        now
    }

    /// Records that a client is away, since when, and its pending will. After a DISCONNECT (`is_said`) the record
    /// is synced: the will must not be published any more.
    fn record_left(&self, client: &Client, state: &State, is_said: bool) -> Gate {
        if !state.recorded {
            return Gate::OPEN;
        }
        let (session, at_ns, expiry_s) = (client.key, state.left_ns, state.expiry_s);
        let will = state.will.as_ref().map(|(will, _)| Cow::Borrowed(will));
        let level = if is_said { Durability::Disk } else { Durability::Memory };
        self.journal.record_one(&SessionRecord::Left { session, at_ns, expiry_s, will }, level)
    }

    /// Whether a session is recorded in the journal, because it is kept or because it has a will.
    fn is_recorded(&self, opening: &Opening) -> bool {
        self.journal.exists() && (opening.expiry_s > 0 || opening.will.is_some())
    }

    /// Takes the timer of a client: ends its session, or returns the will that is due.
    pub fn check_due(&self, client: &Arc<Client>, now_ms: Millis) -> Option<WillMessage> {
        let mut registry = self.sessions.registry();
        let mut state = client.state();
        state.due = None;
        if state.connection.is_some() || state.ended {
            return None;
        }
        if state.expires_ms.is_some_and(|at| at <= now_ms) {
            drop(state);
            let will = self.end_session(&mut registry, client);
            drop(registry);
            self.monitor.report(EventKind::Expired, &client.name, "the session was not taken up");
            return will;
        }
        let due = state.will.take_if(|(_, at)| *at <= now_ms);
        if due.is_some() && state.recorded {
            let willed = SessionRecord::Willed { session: client.key };
            self.journal.record_one(&willed, Durability::Memory);
        }
        self.timers.set_for(client, &mut state);
        due.map(|(will, _)| will)
    }

    /// Takes a session out of every table. Returns its pending will.
    pub fn end_session(
        &self,
        registry: &mut SessionRegistry,
        client: &Arc<Client>,
    ) -> Option<WillMessage> {
        let mut state = client.state();
        if state.ended {
            return None;
        }
        state.ended = true;
        registry.count_kept(client, &mut state, false);
        if state.recorded {
            let gate = self
                .journal
                .record_one(&SessionRecord::Ended { session: client.key }, Durability::Disk);
            let end = End { gate, is_kept_session: client.is_durable };
            registry.ends.add(&client.name, end, &self.journal.gates);
        }
        self.timers.cancel(state.due.take());
        if let Some(connection) = client.set_connection(&mut state, None) {
            registry.discount(&connection);
            connection.close(Reason::SessionTakenOver);
        }
        if let Some(current) = registry.sessions.get(&client.name) {
            if current.key == client.key {
                registry.sessions.remove(&client.name);
            }
        }
        // First: then the session reads nothing, and the table need not look for its filters.
        self.desks().iter().for_each(|(_, desk)| desk.end(client.key));
        self.unsubscribe(client, state.session.filters());
        // Publishers may keep a route to the client for a while; the queue is freed now.
        client.outgoing().end();
        state.will.take().map(|(will, _)| will)
    }
}

/// The time so many seconds later; None is never.
fn after(now_ms: Millis, seconds: u32) -> Option<Millis> {
    (seconds < u32::MAX).then(|| now_ms + u64::from(seconds) * 1000)
}

#[cfg(test)]
#[path = "session_life_tests.rs"]
mod tests;
