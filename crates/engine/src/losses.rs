//! Messages that a client did not get: counted at once, reported at most once a second.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};

use slipring_core::{Dropped, Limit, Millis};

use crate::client::Client;
use crate::event::EventKind;
use crate::locks::lock;
use crate::monitor::Monitor;

/// Drops of one client are reported at most this often, and once more at the end.
const TELL_MS: Millis = 1_000;

/// Losses of one client that were not reported yet.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    untold: AtomicU64,
    /// The place of the last limit in `Limit::ALL`, from 1; 0 is the client's own limit on packets.
    bound: AtomicU8,
    /// Whether the client is in `Monitor::losing`. Set after `untold` grew and cleared before it is taken, so that
    /// every loss is reported.
    listed: AtomicBool,
    told_ms: AtomicU64,
}

impl Monitor {
    /// Counts messages that were dropped.
    #[cold]
    pub fn count_dropped(&self, client: &Arc<Client>, dropped: Dropped) {
        let messages = u64::from(dropped.messages);
        client.traffic.dropped.fetch_add(messages, Relaxed);
        self.traffic.dropped.fetch_add(messages, Relaxed);
        if let Some(limit) = dropped.limit {
            self.reached.add(limit, messages);
        }
        let losses = &client.losses;
        losses.bound.store(dropped.limit.map_or(0, |limit| limit as u8 + 1), Relaxed);
        losses.untold.fetch_add(messages, Relaxed);
        if !losses.listed.swap(true, AcqRel) {
            lock(&self.losing).push(Arc::clone(client));
        }
    }

    /// Reports every client that has lost messages and was not reported within the last second.
    pub fn tell_losses(&self, now_ms: Millis) {
        let mut losing = lock(&self.losing);
        losing.retain(|client| {
            let told_ms = client.losses.told_ms.load(Relaxed);
            let waits = told_ms > 0 && now_ms < told_ms + TELL_MS;
            if !waits {
                client.losses.listed.swap(false, AcqRel);
                self.tell_dropped(client, now_ms);
            }
            waits
        });
    }

    /// Reports how many messages for a client were dropped since the last report, if any.
    pub fn tell_dropped(&self, client: &Client, now_ms: Millis) {
        let losses = &client.losses;
        let count = losses.untold.swap(0, Relaxed);
        if count > 0 {
            losses.told_ms.store(now_ms.max(1), Relaxed);
            let bound = usize::from(losses.bound.load(Relaxed));
            let why = match bound.checked_sub(1).and_then(|at| Limit::ALL.get(at)) {
                Some(limit) => format!("it does not keep up ({})", limit.path()),
                None => "it takes no packet of that size".into(),
            };
            let messages = if count == 1 { "message" } else { "messages" };
            self.report(EventKind::Dropped, &client.name, format!("{count} {messages}: {why}"));
        }
    }
}
