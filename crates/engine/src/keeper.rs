//! What happens by itself: sessions end, delayed wills are published, `$SYS` topics are told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use slipring_core::ledger::Record;
use slipring_core::{Millis, WillMessage};
use slipring_wire::{Publish, Version};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::broker::Broker;
use crate::client::Client;
use crate::event::{EventKind, now_ns};
use crate::feed::{Feed, Publisher};
use crate::supervision::spawn;
use crate::sys;

/// How often expired retained messages are looked for.
const SWEEP_MS: Millis = 60_000;
/// The longest sleep; timers are checked again after it.
const SLEEP_MAX_MS: Millis = 60_000;

/// A timer that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    at_ms: Millis,
    number: u64,
}

/// Timers of clients that are away; at most one for each.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    // A lock: taken when a client with a session to keep comes or goes, and when a timer is due.
    timers: Mutex<Timers>,
    /// Told when an earlier timer was set.
    sooner: Notify,
}

#[derive(Debug, Default)]
struct Timers {
    waiting: BTreeMap<Due, Weak<Client>>,
    made: u64,
}

impl Keeper {
    pub fn set(&self, at_ms: Millis, client: &Arc<Client>) -> Due {
        let mut timers = self.timers();
        timers.made += 1;
        let due = Due { at_ms, number: timers.made };
        timers.waiting.insert(due, Arc::downgrade(client));
        if timers.waiting.first_key_value().is_some_and(|(first, _)| *first == due) {
            self.sooner.notify_one();
        }
        due
    }

    pub fn cancel(&self, due: Option<Due>) {
        if let Some(due) = due {
            self.timers().waiting.remove(&due);
        }
    }

    fn next_ms(&self) -> Option<Millis> {
        self.timers().waiting.first_key_value().map(|(due, _)| due.at_ms)
    }

    fn take_due(&self, now_ms: Millis) -> Option<Arc<Client>> {
        let mut timers = self.timers();
        loop {
            let first = timers.waiting.first_entry()?;
            if first.key().at_ms > now_ms {
                return None;
            }
            if let Some(client) = first.remove().upgrade() {
                return Some(client);
            }
        }
    }

    fn timers(&self) -> MutexGuard<'_, Timers> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps until the broker stops.
pub(crate) async fn keep(broker: Arc<Broker>) {
    let mut feed = Feed::new();
    let (mut sys_ms, mut sweep_ms) = (0, SWEEP_MS);
    while !broker.is_stopping() {
        let now_ms = broker.now_ms();
        while let Some(client) = broker.keeper.take_due(now_ms) {
            if let Some(will) = broker.check_due(&client, now_ms) {
                publish(&broker, &mut feed, &client, &will).await;
            }
        }
        let interval_ms = Millis::from(broker.plan.load().sys_interval_s) * 1000;
        if interval_ms > 0 && now_ms >= sys_ms {
            sys_ms = now_ms + interval_ms;
            tell(&broker, &mut feed);
        }
        if now_ms >= sweep_ms {
            sweep_ms = now_ms + SWEEP_MS;
            broker.retained().expire(now_ms);
            broker.expire_waiting(now_ms);
        }
        let mut next = now_ms + SLEEP_MAX_MS;
        next = next.min(broker.keeper.next_ms().unwrap_or(next)).min(sweep_ms);
        if interval_ms > 0 {
            next = next.min(sys_ms);
        }
        wait_until(&broker, next).await;
    }
}

async fn wait_until(broker: &Broker, at_ms: Millis) {
    let at = Instant::from_std(broker.started) + Duration::from_millis(at_ms);
    let stopping = broker.stopping_told.notified();
    if broker.is_stopping() {
        return;
    }
    tokio::select! {
        () = sleep_until(at) => {}
        () = broker.keeper.sooner.notified() => {}
        () = stopping => {}
    }
}

/// Publishes a will in the name of its client. At QoS 2 it goes once it is safe, like all others: until the
/// journal knows that the client has gone, a crash would have it published again.
pub(crate) async fn publish(
    broker: &Arc<Broker>,
    feed: &mut Feed,
    client: &Client,
    will: &WillMessage,
) {
    feed.begin(broker, now_ns());
    let from =
        Publisher { key: client.key, name: &client.name, durable: false, owner: &client.owner };
    feed.publish(broker, from, &will.publish(), Version::V311);
    feed.refusal = None; // nobody is answered
    broker.traffic.received(feed.finish(), 0);
    let _ = feed.journal(broker).await; // nobody waits for an answer
    if let Some(later) = feed.take_later() {
        spawn(broker, &client.name, later.settle(Arc::clone(broker)));
    }
}

/// Publishes the `$SYS` topics, retained.
fn tell(broker: &Broker, feed: &mut Feed) {
    feed.begin(broker, now_ns());
    for (topic, text) in sys::topics(broker) {
        let message = Publish { retain: true, ..Publish::new(&topic, text.as_bytes()) };
        feed.publish(broker, Publisher::broker(), &message, Version::V311);
    }
    feed.finish();
}

impl Broker {
    /// A timer of a client has fired: its session ends, or its will is due.
    fn check_due(&self, client: &Arc<Client>, now_ms: Millis) -> Option<WillMessage> {
        let mut registry = self.registry();
        let mut state = client.state();
        state.due = None;
        if state.link.is_some() || state.ended {
            return None;
        }
        if state.expires_ms.is_some_and(|at| at <= now_ms) {
            drop(state);
            let will = self.end_session(&mut registry, client);
            drop(registry);
            self.report(EventKind::Expired, &client.name, "the session was not taken up");
            return will;
        }
        let due = state.will.take_if(|(_, at)| *at <= now_ms);
        if due.is_some() && state.recorded {
            self.note(&Record::Willed { session: client.key });
        }
        self.set_timer(client, &mut state);
        due.map(|(will, _)| will)
    }
}
