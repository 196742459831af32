//! The life of a session: opened, taken over, left, ended. `core` decides which connection gets it.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::ledger::SessionRecord;
use slipring_core::{
    Admission, Applicant, ConnectRefusal, Durability, Goodbye, Millis, Opening, Outgoing,
    SessionKey,
};
use slipring_wire::Reason;

use crate::broker::Broker;
use crate::client::{Client, State};
use crate::connection_handle::ConnectionHandle;
use crate::ends::End;
use crate::event::EventKind;
use crate::gates::Gate;
use crate::latch::Latch;
use crate::sessions::SessionRegistry;
use crate::wills::{DueWill, WillUnderway};

/// A client that was let in.
pub(crate) struct Opened {
    pub client: Arc<Client>,
    pub session_present: bool,
    /// The durability that CONNACK promises for the session.
    pub promise: Durability,
    /// The will of the session that this one replaces, or of the connection that it was taken from.
    pub will: Option<DueWill>,
}

/// Why a client is not let in yet.
#[derive(Debug)]
pub(crate) enum NotOpened {
    /// The broker refuses it.
    Refused(ConnectRefusal),
    /// Another connection has the session, and was asked to let go.
    Held(Arc<ConnectionHandle>),
    /// The will of its earlier connection is on its way to the journal.
    WillUnderway(Arc<Latch>),
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
        if let Some(appended) = registry.wills.find(client_id) {
            return Err(NotOpened::WillUnderway(appended));
        }
        let earlier = registry.sessions.get(client_id.as_str()).cloned();
        let applicant = Applicant {
            clean_start: opening.clean_start,
            expiry_s: opening.expiry_s,
            user,
            identity: connection.identity(),
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
                self.requests.book().asker_starts_clean(earlier.key);
                will = self.end_session(&mut registry, &earlier);
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
            let (owner, identity) = (connection.owner(), Arc::clone(connection.identity()));
            let client = Arc::new(Client::new(key, client_id, user, owner, identity, outgoing));
            registry.sessions.insert(client_id.as_str().into(), Arc::clone(&client));
            client
        });
        will = will.or(self.attach(&mut registry, &client, opening, connection));
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

    /// Gives a session to a connection; an earlier connection is closed (MQTT-3.1.4-3). Returns the will of that one,
    /// if it does not wait for a delay (MQTT-3.1.3-9).
    fn attach(
        &self,
        registry: &mut SessionRegistry,
        client: &Arc<Client>,
        opening: &Opening,
        connection: &Arc<ConnectionHandle>,
    ) -> Option<DueWill> {
        connection.note_replaying(opening.replays);
        let mut state = client.state();
        self.timers.cancel(state.due.take());
        let will = opening.will.clone().map(|will| (will, Millis::MAX));
        let earlier_will = std::mem::replace(&mut state.will, will);
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
        registry.count(connection);
        let earlier = client.set_connection(&mut state, Some(Arc::clone(connection)))?;
        registry.discount(&earlier);
        earlier.close(Reason::SessionTakenOver);
        let (message, _) = earlier_will.filter(|(will, _)| will.delay_s == 0)?;
        // No record: that the client came back says that this will waits no longer.
        Some(DueWill { client: Arc::clone(client), message, record: None })
    }

    /// Ends a client's connection. Returns the will to publish now, if any.
    ///
    /// `with_will` is false after a DISCONNECT without the will.
    pub fn leave(
        &self,
        client: &Arc<Client>,
        connection: &ConnectionHandle,
        with_will: bool,
        goodbye: Option<&Goodbye>,
    ) -> Option<WillUnderway> {
        let mut registry = self.sessions.registry();
        let mut state = client.state();
        if state.connection != Some(connection.key) {
            return None; // who took the session has taken the will, too
        }
        if !with_will {
            state.will = None;
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
        state.left_ns = self.clock.now_ns();
        if self.stopping.is_set() && state.recorded {
            // The next start sends the will, unless the client comes back first.
            self.record_left(client, &state, false);
            return None;
        }
        if state.expiry_s == 0 {
            drop(state);
            let will = self.end_session(&mut registry, client)?;
            return Some(registry.wills.add(will));
        }
        self.requests.left(client);
        state.expires_ms = after(now_ms, state.expiry_s);
        if let Some((will, at)) = &mut state.will {
            *at = after(now_ms, will.delay_s).unwrap_or(Millis::MAX);
        }
        let gate = self.record_left(client, &state, goodbye.is_some());
        registry.ends.add(&client.name, End { gate, is_kept_session: false }, &self.journal.gates);
        let will = take_due_will(client, &mut state, now_ms);
        self.timers.set_for(client, &mut state);
        will.map(|will| registry.wills.add(will))
    }

    /// Records that a client is away, since when, and the will that is not published yet. After a DISCONNECT
    /// (`is_said`) the record is synced: a will that it took back must not be published any more.
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

    /// Takes the timer of a client: ends its session, or returns the will that is due. An error is what to wait for
    /// before.
    pub fn check_due(
        &self,
        client: &Arc<Client>,
        now_ms: Millis,
    ) -> Result<Option<WillUnderway>, Arc<Latch>> {
        let mut registry = self.sessions.registry();
        registry.wills.find(&client.name).map_or(Ok(()), Err)?;
        let mut state = client.state();
        state.due = None;
        if state.connection.is_some() || state.ended {
            return Ok(None);
        }
        if state.expires_ms.is_some_and(|at| at <= now_ms) {
            drop(state);
            let will = self.end_session(&mut registry, client);
            let underway = will.map(|will| registry.wills.add(will));
            drop(registry);
            self.monitor.report(EventKind::Expired, &client.name, "the session was not taken up");
            return Ok(underway);
        }
        let due = take_due_will(client, &mut state, now_ms);
        self.timers.set_for(client, &mut state);
        Ok(due.map(|will| registry.wills.add(will)))
    }

    /// Takes a session out of every table. Returns its will: the record of the end goes with it into the journal.
    pub fn end_session(
        &self,
        registry: &mut SessionRegistry,
        client: &Arc<Client>,
    ) -> Option<DueWill> {
        let mut state = client.state();
        if state.ended {
            return None;
        }
        state.ended = true;
        self.sessions.count_subscriptions(client, &mut state);
        registry.count_kept(client, &mut state, false);
        if state.recorded {
            let gate = self.record_end(client, &mut state);
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
        self.requests.gone(client);
        let (message, _) = state.will.take()?;
        let record = state.recorded.then_some(SessionRecord::Ended { session: client.key });
        Some(DueWill { client: Arc::clone(client), message, record })
    }

    /// Records that a session is over. With a will that is not published yet, only that it is kept no longer: a
    /// broker that starts then ends it with its will.
    fn record_end(&self, client: &Client, state: &mut State) -> Gate {
        if state.will.is_none() {
            let ended = SessionRecord::Ended { session: client.key };
            return self.journal.record_one(&ended, Durability::Disk);
        }
        if !client.is_durable {
            return Gate::OPEN; // it was never kept
        }
        if state.connection.is_some() {
            state.left_ns = self.clock.now_ns();
        }
        state.expiry_s = 0;
        self.record_left(client, state, true)
    }
}

/// Takes the will of a client that is away, if it is due.
fn take_due_will(client: &Arc<Client>, state: &mut State, now_ms: Millis) -> Option<DueWill> {
    let (message, _) = state.will.take_if(|(_, at)| *at <= now_ms)?;
    let record = state.recorded.then_some(SessionRecord::Willed { session: client.key });
    Some(DueWill { client: Arc::clone(client), message, record })
}

/// The time so many seconds later; None is never.
fn after(now_ms: Millis, seconds: u32) -> Option<Millis> {
    (seconds < u32::MAX).then(|| now_ms + u64::from(seconds) * 1000)
}

#[cfg(test)]
#[path = "session_life_tests.rs"]
mod tests;
