//! The ends of requests: announced first, so that they can be written down, and then done.

use std::sync::Arc;

use slipring_wire::{Publish, QoS};

use super::book::is_stored;
use super::{
    Asked, Handing, Participant, RequestBook, RequestEvent, RequestKey, RequestState, Surroundings,
};
use crate::{Message, Priority, SessionKey};

/// An end that was announced: tell the asker, then call `finish`; or `undo`, if it cannot be written down.
#[derive(Clone, Debug)]
pub struct Ending<C> {
    /// The request.
    pub key: RequestKey,
    /// Its state from now on.
    pub state: RequestState,
    /// Who asked.
    pub asker: Arc<C>,
    /// Where the asker is told.
    pub answer_topic: Arc<str>,
    /// By which the asker knows its request.
    pub correlation: Option<Arc<[u8]>>,
    /// The message that it was.
    pub message: Arc<Message>,
    /// Its priority.
    pub priority: Priority,
    /// Whether the journal knows of it.
    pub is_recorded: bool,
    /// The service that has it.
    pub service: Option<Arc<C>>,
}

/// What becomes of a request whose service has gone.
#[derive(Clone, Debug)]
pub enum GivenBack<C> {
    /// It goes on; and these go to the service that had it, which is still there and has room now.
    Again(Asked<C>, Vec<Handing<C>>),
    /// It may not go to another service: it fails.
    Failed,
    /// It is over, or about to be.
    Over,
}

impl<C: Participant> RequestBook<C> {
    /// Announces the end of a request, or its answer. None if that cannot happen to it now. An answer is only taken
    /// `by` the service that has the request.
    pub fn announce(
        &mut self,
        key: RequestKey,
        event: RequestEvent,
        by: Option<SessionKey>,
    ) -> Option<Ending<C>> {
        let open = self.open.get_mut(&key)?;
        // An answer that waits is in the asker's queue: only the asker's session decides about it.
        let is_answered = open.state >= RequestState::Answered;
        if open.ending.is_some() || is_answered || (by.is_some() && open.service != by) {
            return None;
        }
        let state = open.state.after(event)?;
        open.ending = Some(event);
        self.ending(key, state)
    }

    /// What a partial answer of a request needs to reach the asker; None if it is not with this service.
    pub fn part(&self, key: RequestKey, by: SessionKey) -> Option<Ending<C>> {
        let open = self.open.get(&key)?;
        let is_with = open.service == Some(by) && open.ending.is_none();
        let is_computed = is_with && open.state == RequestState::Delivered;
        is_computed.then(|| self.ending(key, open.state)).flatten()
    }

    fn ending(&self, key: RequestKey, state: RequestState) -> Option<Ending<C>> {
        let open = self.open.get(&key)?;
        let place = open.service.and_then(|session| self.services.place(session));
        let service = place.and_then(|place| self.services.at(place));
        Some(Ending {
            key,
            state,
            asker: open.asked.asker.clone(),
            answer_topic: Arc::clone(&open.asked.answer_topic),
            correlation: open.asked.correlation.clone(),
            message: Arc::clone(&open.asked.message),
            priority: open.asked.priority,
            is_recorded: open.asked.is_recorded,
            service: service.map(|service| service.client.clone()),
        })
    }

    /// Takes an announced end back: it could not be written down.
    pub fn undo(&mut self, key: RequestKey) {
        let Some(open) = self.open.get_mut(&key) else { return };
        (open.ending, open.reason) = (None, None);
        self.victim_bytes -= open.spare(); // memory may have been found elsewhere meanwhile
        if self.overdue.remove(&(open.deadline_ms, key)) {
            self.deadlines.insert((open.deadline_ms, key));
        }
        if open.state == RequestState::Stored {
            // Its pool may have forgotten it meanwhile; if not, it is there twice, and one of them counts as over.
            let (topic, priority) = (Arc::clone(open.asked.message.topic()), open.asked.priority);
            self.store(key, &topic, priority, true);
            self.count_over(&topic);
        }
    }

    /// One more of those that wait on a topic may be over.
    fn count_over(&mut self, topic: &str) {
        if let Some(pool) = self.pools.get_mut(topic) {
            pool.over += 1;
        }
    }

    /// Remembers why a request ends, for people.
    pub fn explain(&mut self, key: RequestKey, reason: &str) {
        if let Some(open) = self.open.get_mut(&key) {
            open.reason = Some(reason.into());
        }
    }

    /// Does what was announced. Returns the requests that go to the service that has room now.
    pub fn finish(&mut self, key: RequestKey, around: &Surroundings<'_, C>) -> Vec<Handing<C>> {
        let mut handings = Vec::new();
        let Some(open) = self.open.get_mut(&key) else { return handings };
        let Some(event) = open.ending.take() else { return handings };
        let Some(mut state) = open.state.after(event) else { return handings };
        let was_stored = open.state == RequestState::Stored;
        let (service, deadline_ms) = (open.service.take(), open.deadline_ms);
        open.times_ns[3] = around.now_ns;
        let taken = open.times_ns[3].saturating_sub(open.times_ns[2]);
        let took_us = u64::try_from(taken).unwrap_or(0) / 1_000;
        if state == RequestState::Answered {
            let is_here = open.asked.asker.is_here();
            let asker = if is_here { RequestEvent::AskerHas } else { RequestEvent::AskerAway };
            state = state.after(asker).unwrap_or(state);
        }
        let topic = Arc::clone(open.asked.message.topic());
        self.census.change(&topic, &mut open.state, state);
        if state == RequestState::AnswerStored {
            self.answers.insert(key);
            let empty = Publish::new(&topic, &[]);
            open.asked.message = Arc::new(Message::new(&empty, Arc::clone(&topic), 0));
        }
        if !state.is_end() {
            self.forget_deadline(deadline_ms, key); // `close` does so for one that is over
        }
        if let Some(session) = service {
            self.release(session, key, &topic, (event, took_us));
        }
        if was_stored {
            self.count_over(&topic);
            self.tidy(&topic);
        }
        if state.is_end() {
            self.close(key, service);
        }
        if let Some(place) = service.and_then(|session| self.services.place(session)) {
            self.hand_to(place, around, &mut handings);
        }
        handings
    }

    /// The service does not have the request any more.
    fn release(
        &mut self,
        session: SessionKey,
        key: RequestKey,
        topic: &str,
        (event, took_us): (RequestEvent, u64),
    ) {
        let Some(place) = self.services.place(session) else { return };
        let Some(service) = self.services.at_mut(place) else { return };
        service.held.remove(&key);
        match event {
            RequestEvent::Answer => service.answered += 1,
            RequestEvent::Fail => service.failed += 1,
            _ => return,
        }
        service.times.add(took_us);
        self.counts.times.add(took_us);
        let members = self.pools.get_mut(topic).map(|pool| &mut pool.members);
        let member = members.and_then(|all| all.iter_mut().find(|member| member.place == place));
        if let Some(member) = member {
            member.speed.add(took_us);
        }
    }

    /// Forgets requests that are over among those that wait on a topic, once they may be more than half: each is looked
    /// at twice at most. Nothing is left of a topic on which none waits and that nobody serves.
    pub(super) fn tidy(&mut self, topic: &str) {
        let Some(pool) = self.pools.get_mut(topic) else { return };
        if pool.over * 2 > pool.stored_len() {
            pool.forget(|key| is_stored(&self.open, key));
        }
        if pool.is_empty() {
            self.stored_topics.remove(topic);
            if pool.members.is_empty() {
                self.pools.remove(topic);
            }
        }
    }

    /// Removes a request that is over, and remembers it for a while.
    fn close(&mut self, key: RequestKey, service: Option<SessionKey>) {
        let Some(mut open) = self.open.remove(&key) else { return };
        self.victim_bytes -= open.spare();
        let asker = open.asked.asker.session();
        if let Some(keys) = self.askers.get_mut(&asker) {
            keys.remove(&(open.hash, key));
            if keys.is_empty() {
                self.askers.remove(&asker);
            }
        }
        self.forget_deadline(open.deadline_ms, key);
        self.answers.remove(&key);
        self.shares.give(&open.asked.owner, 1);
        self.bytes -= open.bytes;
        self.by_priority[open.asked.priority as usize] -= 1;
        self.census.leave(open.asked.message.topic(), open.state);
        self.counts.ends[open.state as usize] += 1;
        let place = service.and_then(|session| self.services.place(session));
        let service = place.and_then(|place| self.services.at(place));
        self.ended.push(&open, service.map(|service| service.client.clone()));
    }

    /// The connection of a service ended, but not its session: the requests at QoS 0 that it may never have got. Those
    /// that went out on the connection that it has now are not among them.
    pub fn service_left(&self, session: SessionKey) -> Vec<RequestKey> {
        let place = self.services.place(session);
        let Some(service) = place.and_then(|place| self.services.at(place)) else {
            return Vec::new();
        };
        let now = service.client.connection_key();
        let is_lost = |key: &RequestKey| {
            self.open.get(key).is_none_or(|open| {
                let is_on_this = now.is_some() && open.handed_on == now;
                open.handed_qos == QoS::AtMostOnce && !is_on_this
            })
        };
        service.sorted(is_lost)
    }

    /// The session of a service is over: the requests that it had. The topics that it could have served are looked at.
    pub fn service_gone(&mut self, session: SessionKey) -> Vec<RequestKey> {
        let Some(gone) = self.services.remove(session) else { return Vec::new() };
        let held = gone.sorted(|_| true);
        self.look_at_topics(gone.backlog);
        held
    }

    /// A request whose service has gone goes to another one, or fails.
    pub fn give_back(&mut self, key: RequestKey, around: &Surroundings<'_, C>) -> GivenBack<C> {
        let Some(open) = self.open.get_mut(&key) else { return GivenBack::Over };
        if open.ending.is_some() || open.state != RequestState::Delivered {
            return GivenBack::Over;
        }
        if open.asked.retries == 0 {
            return GivenBack::Failed;
        }
        open.asked.retries -= 1;
        let topic = open.asked.message.topic();
        self.census.change(topic, &mut open.state, RequestState::Stored);
        let place = open.service.take().and_then(|session| self.services.place(session));
        if let Some(service) = place.and_then(|place| self.services.at_mut(place)) {
            service.held.remove(&key);
        }
        self.counts.retried += 1;
        let (asked, mut handings) = (self.send_out(key, true, around), Vec::new());
        if let Some(place) = place {
            self.hand_to(place, around, &mut handings);
        }
        GivenBack::Again(asked, handings)
    }

    /// The requests that a service has and may no longer serve, by their topics.
    pub fn held_without_right(
        &self,
        session: SessionKey,
        may_serve: impl Fn(&str) -> bool,
    ) -> Vec<RequestKey> {
        let place = self.services.place(session);
        let service = place.and_then(|place| self.services.at(place));
        let is_denied = |key: &RequestKey| {
            self.open.get(key).is_some_and(|open| !may_serve(open.asked.message.topic()))
        };
        service.map(|service| service.sorted(is_denied)).unwrap_or_default()
    }

    /// The open requests of an asker that it may no longer ask, by their topics.
    pub fn asked_without_right(
        &self,
        session: SessionKey,
        may_ask: impl Fn(&str) -> bool,
    ) -> Vec<RequestKey> {
        let is_denied = |key: &RequestKey| {
            self.open.get(key).is_some_and(|open| !may_ask(open.asked.message.topic()))
        };
        self.keys_of(session, is_denied)
    }

    /// The session of an asker is over: the requests to cancel. Answers that waited for it are given up.
    pub fn asker_gone(&mut self, session: SessionKey) -> Vec<RequestKey> {
        let answered = self.answers_stored(session);
        self.end_answered(&answered, RequestEvent::AskerGone);
        self.keys_of(session, |_| true)
    }

    /// The requests of an asker, by their keys: the order of their hashes is another one in each process.
    fn keys_of(
        &self,
        session: SessionKey,
        is_wanted: impl Fn(&RequestKey) -> bool,
    ) -> Vec<RequestKey> {
        let keys = self.askers.get(&session).into_iter().flatten().map(|(_, key)| *key);
        let mut keys: Vec<_> = keys.filter(is_wanted).collect();
        keys.sort_unstable();
        keys
    }

    /// An asker wants a clean start: the answers that wait for it are cancelled.
    pub fn asker_starts_clean(&mut self, session: SessionKey) {
        let answered = self.answers_stored(session);
        self.end_answered(&answered, RequestEvent::Cancel);
    }

    pub(super) fn answers_stored(&self, session: SessionKey) -> Vec<RequestKey> {
        let is_answered = |key: &RequestKey| {
            self.open.get(key).is_some_and(|open| open.state == RequestState::AnswerStored)
        };
        self.keys_of(session, is_answered)
    }

    /// An asker is back: it gets the answers that waited for it. Returns how many there are.
    pub fn asker_back(&mut self, session: SessionKey) -> usize {
        let answered = self.answers_stored(session);
        self.end_answered(&answered, RequestEvent::AskerHas);
        answered.len()
    }

    pub(super) fn end_answered(&mut self, keys: &[RequestKey], event: RequestEvent) {
        for key in keys {
            let Some(open) = self.open.get_mut(key) else { continue };
            if let Some(state) = open.state.after(event) {
                self.census.change(open.asked.message.topic(), &mut open.state, state);
                self.close(*key, None);
            }
        }
    }
}
