//! How fast each owner may publish: a client whose owner sends too much is read more slowly, and nobody else is. All
//! connections of an owner share its rates; they are asked once for the packets of a read.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use slipring_core::access::Subject;
use slipring_core::{Limit, Millis, Owner, OwnerQuotas, Plan, RateBucket};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Sleep, sleep_until};

use crate::broker::Broker;
use crate::client::Client;
use crate::connection::Connection;
use crate::connection_handle::ConnectionHandle;
use crate::event::{EventKind, Report};
use crate::feed::Feed;
use crate::locks::lock;

/// A pause ends after this time, so that a new plan is followed soon.
const PAUSE_MAX_MS: Millis = 1_000;
/// An owner that is slowed down is told of at most this often.
const TELL_MS: Millis = 10_000;
/// Owners that may be known before those without connections are looked through.
const REMEMBERED_MIN: usize = 1_000;
/// Owners without connections that are remembered because they owe something, about; a bound on memory.
const REMEMBERED_MAX: usize = 100_000;

/// Whether a connection is read at its own pace.
#[derive(Default)]
pub(crate) struct ReadPace {
    /// Until when it is not read, because its owner sends too much.
    pause: Option<Pin<Box<Sleep>>>,
    /// The connection ends: what was read is taken, whatever the rates of its owner are.
    is_ending: bool,
}

impl ReadPace {
    pub fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    /// The connection ends.
    pub fn end(&mut self) {
        self.is_ending = true;
    }
}

/// The rates of one owner.
#[derive(Debug, Default)]
pub(crate) struct OwnerFlow {
    // A lock: taken once for each read of its connections.
    rates: Mutex<Rates>,
}

#[derive(Debug, Default)]
struct Rates {
    messages: Option<RateBucket>,
    bytes: Option<RateBucket>,
    told_ms: Option<Millis>,
}

impl Rates {
    fn set(&mut self, quotas: &OwnerQuotas, now_ms: Millis) {
        let set = |bucket: &mut Option<RateBucket>, per_s: Option<usize>| match per_s {
            Some(per_s) if bucket.is_some_and(|bucket| bucket.is_of(per_s)) => {}
            _ => *bucket = per_s.map(|per_s| RateBucket::new(per_s, now_ms)),
        };
        set(&mut self.messages, quotas.messages_per_s);
        set(&mut self.bytes, quotas.bytes_per_s);
    }
}

impl OwnerFlow {
    /// How many messages may be taken now.
    fn allowed(&self, now_ms: Millis) -> u64 {
        let Rates { messages, bytes, .. } = &mut *lock(&self.rates);
        let is_owing = bytes.as_mut().is_some_and(|bytes| bytes.allowed(now_ms) == 0);
        let messages = messages.as_mut().map_or(u64::MAX, |bucket| bucket.allowed(now_ms));
        if is_owing { 0 } else { messages }
    }

    /// Takes what came. Returns how long its connection is not read, and for which quota.
    fn take(&self, messages: u64, bytes: u64, now_ms: Millis) -> Option<(Millis, Limit)> {
        let mut rates = lock(&self.rates);
        let take = |bucket: &mut Option<RateBucket>, amount, limit| {
            let bucket = bucket.as_mut()?;
            bucket.take(amount, now_ms);
            let wait_ms = bucket.wait_ms();
            (wait_ms > 0).then_some((wait_ms, limit))
        };
        let messages = take(&mut rates.messages, messages, Limit::QuotaMessages);
        let bytes = take(&mut rates.bytes, bytes, Limit::QuotaBytes);
        messages.into_iter().chain(bytes).max_by_key(|(wait_ms, _)| *wait_ms)
    }

    /// Whether less may come than in a second without anything before.
    fn is_owing(&self, now_ms: Millis) -> bool {
        let Rates { messages, bytes, .. } = &mut *lock(&self.rates);
        let is_short = |bucket: &mut RateBucket| !bucket.is_full(now_ms);
        messages.as_mut().is_some_and(is_short) || bytes.as_mut().is_some_and(is_short)
    }

    /// Whether people are told now.
    fn is_told(&self, now_ms: Millis) -> bool {
        let told_ms = &mut lock(&self.rates).told_ms;
        let is_due = told_ms.is_none_or(|told_ms| now_ms >= told_ms + TELL_MS);
        if is_due {
            *told_ms = Some(now_ms);
        }
        is_due
    }
}

/// The rates of all owners that are connected, and of those that have gone and owe something: who connects again does not
/// begin anew.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    // A lock: taken when a client connects, and when a plan changes quotas.
    owners: Mutex<KnownFlows>,
}

#[derive(Debug, Default)]
struct KnownFlows {
    flows: HashMap<Owner, Arc<OwnerFlow>>,
    /// With so many flows, those that are not needed are forgotten.
    look_at: usize,
}

impl KnownFlows {
    fn forget(&mut self, now_ms: Millis) {
        if self.flows.len() < self.look_at.max(REMEMBERED_MIN) {
            return;
        }
        let is_used = |flow: &Arc<OwnerFlow>| Arc::strong_count(flow) > 1;
        self.flows.retain(|_, flow| is_used(flow) || flow.is_owing(now_ms));
        if self.flows.len() > REMEMBERED_MAX {
            self.flows.retain(|_, flow| is_used(flow));
        }
        self.look_at = 2 * self.flows.len();
    }
}

impl Flows {
    fn of(&self, owner: &Owner, quotas: &OwnerQuotas, now_ms: Millis) -> Arc<OwnerFlow> {
        let mut owners = lock(&self.owners);
        owners.forget(now_ms);
        let flow = Arc::clone(owners.flows.entry(owner.clone()).or_default());
        drop(owners);
        lock(&flow.rates).set(quotas, now_ms);
        flow
    }
}

impl Broker {
    /// Gives a connection the rates of its owner.
    pub fn set_flow(&self, plan: &Plan, client: &Client, connection: &ConnectionHandle) {
        let subject = Subject { identity: connection.identity(), client_id: &client.name };
        let quotas = plan.limits_for(subject).own;
        let now_ms = self.clock.now_ms();
        let flow = quotas.has_rate().then(|| self.flows.of(connection.owner(), &quotas, now_ms));
        connection.flow.store(flow);
    }

    /// A plan was replaced: connections have its rates from now on.
    pub fn follow_quotas(&self, before: &Plan, now: &Plan) {
        if before.quotas == now.quotas && (now.quotas.is_empty() || before.access == now.access) {
            return;
        }
        for client in self.sessions.clients() {
            if let Some(connection) = client.connection() {
                self.set_flow(now, &client, &connection);
            }
        }
    }
}

impl Feed {
    /// Tells the audit of a quota that the last message reached.
    pub fn tell_quota(&mut self, broker: &Broker, client: &Client, by: &ConnectionHandle) {
        if let Some(limit) = self.quota.take() {
            let told = Report::new(EventKind::QuotaReached, &client.name).by(by);
            broker.monitor.record(&told.topic(limit.name()));
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// How many messages may be taken from the client now.
    pub fn allowed_messages(&self) -> u64 {
        match &*self.party.connection.flow.load() {
            Some(flow) if !self.pace.is_ending => flow.allowed(self.party.broker.clock.now_ms()),
            _ => u64::MAX,
        }
    }

    /// Counts what came for the client's owner, and pauses if that was too much.
    pub fn count_flow(&mut self, messages: u64, bytes: u64) {
        let flow = self.party.connection.flow.load();
        let Some(flow) = &*flow else { return };
        let broker = &self.party.broker;
        let now_ms = broker.clock.now_ms();
        let Some((wait_ms, limit)) = flow.take(messages, bytes, now_ms) else { return };
        let until = broker.clock.now() + Duration::from_millis(wait_ms.min(PAUSE_MAX_MS));
        self.pace.pause = Some(Box::pin(sleep_until(until)));
        self.party.connection.slowed_ms.store(now_ms, Ordering::Relaxed);
        broker.monitor.reached.count(limit);
        if flow.is_told(now_ms) {
            let told = Report::new(EventKind::QuotaReached, self.party.name());
            let told = told.by(&self.party.connection).detail(&"it is read more slowly");
            broker.monitor.tell(&told.topic(&limit.path()));
        }
    }

    /// Waits for the end of a pause.
    pub fn poll_pause(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(pause) = &mut self.pace.pause else { return Poll::Ready(()) };
        let over = pause.as_mut().poll(cx);
        if over.is_ready() {
            self.pace.pause = None;
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTAS: OwnerQuotas = OwnerQuotas {
        connections: None,
        messages_per_s: Some(100),
        bytes_per_s: None,
        subscriptions: None,
        stored_bytes: None,
        parameters: None,
        requests: None,
    };

    #[test]
    fn what_an_owner_owes_is_remembered_when_it_connects_again() {
        let (flows, anna) = (Flows::default(), Owner::of(Some("anna"), ""));
        let flow = flows.of(&anna, &QUOTAS, 1_000);
        assert!(flow.take(300, 0, 1_000).is_some());
        drop(flow);
        assert_eq!(flows.of(&anna, &QUOTAS, 1_010).allowed(1_010), 0);
        assert_eq!(flows.of(&anna, &QUOTAS, 10_000).allowed(10_000), 100);
    }

    #[test]
    fn owners_that_owe_nothing_are_forgotten() {
        let flows = Flows::default();
        for number in 0..100_000_u64 {
            let owner = Owner::of(Some(&number.to_string()), "");
            flows.of(&owner, &QUOTAS, number).take(1, 0, number);
        }
        assert!(lock(&flows.owners).flows.len() <= 4 * REMEMBERED_MIN);
    }
}
