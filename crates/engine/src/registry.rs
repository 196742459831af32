//! The sessions by client identifier: opening, taking over, leaving, ending.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::ledger::Record;
use slipring_core::{Durability, Goodbye, Limit, Millis, Opening, Outgoing, Shares, WillMessage};
use slipring_wire::Reason;

use crate::broker::Broker;
use crate::client::{Client, Link, State};
use crate::ends::{End, Ends};
use crate::event::now_ns;
use crate::gates::Gate;

/// Every session, and who has how many.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    pub sessions: HashMap<Box<str>, Arc<Client>>,
    /// Connections of clients that are in.
    pub connections: Shares,
    /// Sessions that are kept when their client goes, whether it is here or away.
    pub kept: Shares,
    /// Connections by listener.
    listeners: HashMap<usize, Shares>,
    ends: Ends,
}

/// A client that was let in.
pub(crate) struct Opened {
    pub client: Arc<Client>,
    pub session_present: bool,
    /// How safe what CONNACK says of the session must be.
    pub promise: Durability,
    /// The will of the session that this one ends, and whose it is.
    pub will: Option<(Arc<Client>, WillMessage)>,
}

/// Why a client is not in.
#[derive(Debug)]
pub(crate) enum NotOpened {
    /// It is refused.
    Refused(Refusal),
    /// Another connection has the session; it was told to let go.
    Held(Arc<Link>),
}

impl From<Refusal> for NotOpened {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Why a client was not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub reason: Reason,
    pub why: &'static str,
    pub limit: Option<Limit>,
}

impl Registry {
    fn count(&mut self, link: &Link) {
        self.connections.take(link.owner(), 1);
        self.listeners.entry(link.origin.listener).or_default().take(link.owner(), 1);
    }

    fn discount(&mut self, link: &Link) {
        self.connections.give(link.owner(), 1);
        if let Some(here) = self.listeners.get_mut(&link.origin.listener) {
            here.give(link.owner(), 1);
        }
    }

    /// Who has how many connections at a listener; None before the first.
    pub fn listener(&self, index: usize) -> Option<&Shares> {
        self.listeners.get(&index)
    }

    /// Counts a session that is kept, or one that is no longer.
    pub fn count_kept(&mut self, client: &Client, state: &mut State, is_kept: bool) {
        match (std::mem::replace(&mut state.is_counted, is_kept), is_kept) {
            (false, true) => self.kept.take(&client.owner, 1),
            (true, false) => self.kept.give(&client.owner, 1),
            _ => {}
        }
    }
}

impl Broker {
    /// Lets a client in: finds or makes its session.
    ///
    /// An earlier connection is told to go first, so that what it sent before counts before; with
    /// `force` the session is taken from it (MQTT-3.1.4-3).
    pub fn open_session(
        &self,
        opening: &Opening,
        link: &Arc<Link>,
        force: bool,
    ) -> Result<Opened, NotOpened> {
        let user = link.origin.user.as_deref().or(opening.user_name.as_deref());
        let assigned = self.client_id_for(link.key);
        let client_id = if opening.client_id.is_empty() { &assigned } else { &opening.client_id };
        let mut registry = self.registry();
        let earlier = registry.sessions.get(client_id.as_str()).cloned();
        if earlier.as_ref().is_some_and(|earlier| earlier.user.as_deref() != user) {
            let why = "the client identifier belongs to another user";
            return Err(Refusal { reason: Reason::NotAuthorized, why, limit: None }.into());
        }
        self.check_room(&registry, earlier.as_deref(), opening, link, force)?;
        if let (Some(held), false) = (earlier.as_ref().and_then(|earlier| earlier.link()), force) {
            held.close(Reason::SessionTakenOver);
            return Err(NotOpened::Held(held));
        }
        let mut will = None;
        let kept = match earlier {
            Some(earlier) if opening.clean_start || self.is_over(&earlier) => {
                let pending = self.end_session(&mut registry, &earlier); // MQTT-3.1.2-4
                will = pending.map(|will| (earlier, will));
                None
            }
            kept => kept,
        };
        let session_present = kept.is_some();
        let changes = match &kept {
            Some(kept) => kept.state().expiry_s != opening.expiry_s,
            None => registry.ends.is_unsafe(client_id, &self.gates),
        };
        let promise = if changes { Durability::Disk } else { Durability::Memory };
        let client = kept.unwrap_or_else(|| {
            let key = self.next_key();
            let outgoing = self.outgoing(key, link, opening.expiry_s > 0);
            let client = Arc::new(Client::new(key, client_id, user, link.owner(), outgoing));
            registry.sessions.insert(client_id.as_str().into(), Arc::clone(&client));
            client
        });
        self.attach(&mut registry, &client, opening, link);
        self.let_in.fetch_add(1, Ordering::Relaxed);
        Ok(Opened { client, session_present, promise, will })
    }

    /// Whether the session of a client that comes back is over: it ends with its connection (MQTT-3.1.2-6
    /// of 3.1.1, and an expiry interval of 0), or its time has passed and nobody has ended it yet.
    fn is_over(&self, client: &Client) -> bool {
        let state = client.state();
        let is_late = state.expires_ms.is_some_and(|at| at <= self.now_ms());
        state.expiry_s == 0 || is_late && state.link.is_none()
    }

    /// The queue of a new session.
    fn outgoing(&self, key: u64, link: &Link, kept: bool) -> Outgoing {
        let plan = self.plan.load();
        let limits = plan.limits_of(link.origin.listener);
        if kept && self.journal.is_some() {
            Outgoing::durable(limits, key, plan.durability.highest())
        } else {
            Outgoing::new(limits)
        }
    }

    /// Gives a session to a connection; an earlier connection has to go (MQTT-3.1.4-3).
    fn attach(
        &self,
        registry: &mut Registry,
        client: &Arc<Client>,
        opening: &Opening,
        link: &Arc<Link>,
    ) {
        let mut state = client.state();
        self.keeper.cancel(state.due.take());
        state.will = None; // MQTT-3.1.3-9: it came back before the delay had passed
        state.expires_ms = None;
        state.expiry_s = opening.expiry_s;
        registry.count_kept(client, &mut state, opening.expiry_s > 0);
        state.recorded |= self.is_recorded(opening);
        let limits = *self.plan.load().limits_of(link.origin.listener);
        let newest = self.retained().newest();
        let mut outgoing = client.outgoing();
        outgoing.attach(link.key, opening.terms, &limits);
        outgoing.restart_replays(newest);
        drop(outgoing);
        if let Some(earlier) = client.set_link(&mut state, Some(Arc::clone(link))) {
            registry.discount(&earlier);
            earlier.close(Reason::SessionTakenOver);
        }
        registry.count(link);
    }

    /// A connection is over. The will to publish now, if any.
    ///
    /// `will` is None after a plain goodbye.
    pub fn leave(
        &self,
        client: &Arc<Client>,
        link: &Link,
        will: Option<WillMessage>,
        goodbye: Option<&Goodbye>,
    ) -> Option<WillMessage> {
        let mut registry = self.registry();
        let mut state = client.state();
        if state.link != Some(link.key) {
            // Taken over: a delayed will is not sent, unless the session ended with it.
            return will.filter(|will| will.delay_s == 0 || state.ended);
        }
        client.set_link(&mut state, None);
        let mut records = Vec::new();
        let mut outgoing = client.outgoing();
        outgoing.detach(link.key);
        outgoing.take_records(&mut records);
        drop(outgoing);
        self.note_all(&mut records);
        registry.discount(link);
        let now_ms = self.now_ms();
        state.expiry_s = goodbye.and_then(|said| said.expiry_s).unwrap_or(state.expiry_s);
        if self.is_stopping() && state.recorded {
            // The next start sends the will, unless the client comes back first.
            state.left_ns = now_ns();
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
        state.left_ns = now_ns();
        let now = match will {
            Some(will) if will.delay_s > 0 => {
                let at = after(now_ms, will.delay_s).unwrap_or(Millis::MAX);
                state.will = Some((will, at));
                None
            }
            will => will,
        };
        let gate = self.record_left(client, &state, goodbye.is_some());
        registry.ends.add(&client.name, End { gate, is_kept_session: false }, &self.gates);
        self.set_timer(client, &mut state);
        now
    }

    /// Tells the journal that a client is away, since when, and the will it may still get. What a client
    /// said itself is to be safe as soon as can be: its will must not be sent any more.
    pub fn record_left(&self, client: &Client, state: &State, is_said: bool) -> Gate {
        if !state.recorded {
            return Gate::OPEN;
        }
        let (session, at_ns, expiry_s) = (client.key, state.left_ns, state.expiry_s);
        let will = state.will.as_ref().map(|(will, _)| Cow::Borrowed(will));
        let level = if is_said { Durability::Disk } else { Durability::Memory };
        self.record_one(&Record::Left { session, at_ns, expiry_s, will }, level)
    }

    /// What must be safe before anyone may know that a session has ended, or that a goodbye was taken.
    pub fn end_gate(&self, client: &Client) -> Gate {
        self.registry().ends.gate(&client.name)
    }

    /// Whether the journal has to know of a session, for itself or for its will.
    pub fn is_recorded(&self, opening: &Opening) -> bool {
        self.journal.is_some() && (opening.expiry_s > 0 || opening.will.is_some())
    }

    /// Sets the timer for whatever comes first of a client that is away.
    pub fn set_timer(&self, client: &Arc<Client>, state: &mut State) {
        self.keeper.cancel(state.due.take());
        let will_at = state.will.as_ref().map(|(_, at)| *at);
        let first = will_at.into_iter().chain(state.expires_ms).min();
        state.due = first.map(|at| self.keeper.set(at, client));
    }

    /// Takes a session out of every table; the will it still had to publish.
    pub fn end_session(
        &self,
        registry: &mut Registry,
        client: &Arc<Client>,
    ) -> Option<WillMessage> {
        let mut state = client.state();
        if state.ended {
            return None;
        }
        state.ended = true;
        registry.count_kept(client, &mut state, false);
        if state.recorded {
            let gate = self.record_one(&Record::Ended { session: client.key }, Durability::Disk);
            let end = End { gate, is_kept_session: client.is_durable() };
            registry.ends.add(&client.name, end, &self.gates);
        }
        self.keeper.cancel(state.due.take());
        if let Some(link) = client.set_link(&mut state, None) {
            registry.discount(&link);
            link.close(Reason::SessionTakenOver);
        }
        if let Some(current) = registry.sessions.get(&client.name) {
            if current.key == client.key {
                registry.sessions.remove(&client.name);
            }
        }
        self.table.end(client.key); // first: it reads nothing then, and its filters are not gone through
        self.unsubscribe(client, state.session.filters());
        self.end_streams(client.key);
        // Publishers may keep a route to it for a while; its messages go now.
        client.outgoing().end();
        state.will.take().map(|(will, _)| will)
    }
}

/// So many seconds later; None is never.
fn after(now_ms: Millis, seconds: u32) -> Option<Millis> {
    (seconds < u32::MAX).then(|| now_ms + u64::from(seconds) * 1000)
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
