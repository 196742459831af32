//! The broker's timers: they end sessions, publish delayed wills and the `$SYS` topics, and remove expired messages.
//! The table's beat has a task of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use slipring_core::Millis;
use tokio::sync::Notify;

use crate::broker::Broker;
use crate::client::{Client, State};
use crate::feed::Feed;
use crate::locks::lock;
use crate::{sys, waiting, wills};

/// How often expired retained and waiting messages are removed.
const SWEEP_MS: Millis = 60_000;
/// How often a broker without `$SYS` topics looks whether a new plan has them.
const SYS_OFF_MS: Millis = 60_000;

/// The time and the number of a timer that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    at_ms: Millis,
    number: u64,
}

/// What a timer is for.
#[derive(Debug)]
enum Timer {
    /// A client that is away: its will is due, or its session ends. At most one for each client.
    Away(Weak<Client>),
    Sys,
    Sweep,
}

/// All timers that are set, the earliest first.
#[derive(Debug)]
pub(crate) struct Timers {
    // A lock: taken when a client with a kept session connects or leaves, and when a timer is due.
    set: Mutex<TimersSet>,
    /// Notified when an earlier timer was set.
    sooner: Notify,
}

#[derive(Debug, Default)]
struct TimersSet {
    waiting: BTreeMap<Due, Timer>,
    made: u64,
}

impl Timers {
    /// The timers of a new broker: `$SYS` and the sweep.
    pub fn new() -> Self {
        let timers = Self { set: Mutex::default(), sooner: Notify::new() };
        timers.set(0, Timer::Sys);
        timers.set(SWEEP_MS, Timer::Sweep);
        timers
    }

    /// Sets the timer of a client that is away, for its will or the end of its session, whichever comes first.
    pub fn set_for(&self, client: &Arc<Client>, state: &mut State) {
        self.cancel(state.due.take());
        let will_at = state.will.as_ref().map(|(_, at)| *at);
        let first = will_at.into_iter().chain(state.expires_ms).min();
        state.due = first.map(|at| self.set(at, Timer::Away(Arc::downgrade(client))));
    }

    pub fn cancel(&self, due: Option<Due>) {
        if let Some(due) = due {
            lock(&self.set).waiting.remove(&due);
        }
    }

    fn set(&self, at_ms: Millis, timer: Timer) -> Due {
        let mut timers = lock(&self.set);
        timers.made += 1;
        let due = Due { at_ms, number: timers.made };
        timers.waiting.insert(due, timer);
        if timers.waiting.first_key_value().is_some_and(|(first, _)| *first == due) {
            self.sooner.notify_one();
        }
        due
    }

    fn next_ms(&self) -> Option<Millis> {
        lock(&self.set).waiting.first_key_value().map(|(due, _)| due.at_ms)
    }

    fn take_due(&self, now_ms: Millis) -> Option<Timer> {
        let mut timers = lock(&self.set);
        let first = timers.waiting.first_entry().filter(|first| first.key().at_ms <= now_ms)?;
        Some(first.remove())
    }
}

/// Fires timers until the broker stops.
pub(crate) async fn run(broker: Arc<Broker>) {
    let mut feed = Feed::default();
    while !broker.stopping.is_set() {
        let now_ms = broker.clock.now_ms();
        while let Some(timer) = broker.timers.take_due(now_ms) {
            fire(&broker, &mut feed, timer, now_ms).await;
        }
        let next_ms = broker.timers.next_ms().unwrap_or(now_ms + SWEEP_MS);
        tokio::select! {
            () = broker.clock.sleep_until(next_ms) => {}
            () = broker.timers.sooner.notified() => {}
            () = broker.stopping.wait() => {}
        }
    }
}

/// A periodic timer is set again before its work: a panic in the work must not stop it.
async fn fire(broker: &Arc<Broker>, feed: &mut Feed, timer: Timer, now_ms: Millis) {
    match timer {
        Timer::Away(client) => {
            let Some(client) = client.upgrade() else { return };
            let will = loop {
                match broker.check_due(&client, now_ms) {
                    Ok(will) => break will,
                    Err(appended) => appended.wait().await,
                }
            };
            if let Some(will) = will {
                wills::publish(broker, feed, will).await;
            }
        }
        Timer::Sys => {
            let interval_ms = Millis::from(broker.plan.load().sys_interval_s) * 1_000;
            let is_on = interval_ms > 0;
            let next_ms = now_ms + if is_on { interval_ms } else { SYS_OFF_MS };
            broker.timers.set(next_ms, Timer::Sys);
            if is_on {
                sys::publish(broker, feed);
            }
        }
        Timer::Sweep => {
            broker.timers.set(now_ms + SWEEP_MS, Timer::Sweep);
            broker.topics.retained().expire(now_ms);
            waiting::expire(broker, now_ms);
        }
    }
}

#[cfg(test)]
#[path = "timers_tests.rs"]
mod tests;
