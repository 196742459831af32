//! The beat: gathered samples are sent when they are due, silent parameters go stale.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use slipring_core::Millis;
use tokio::time::{Instant, sleep_until};

use crate::broker::Broker;
use crate::client::Client;
use crate::event::now_ns;
use crate::feed::Feed;
use crate::post::Post;
use crate::table::{Inner, requests};

/// How often silent parameters are looked for, and subscribers that have caught up.
const SILENCE_MS: Millis = 100;

/// Beats until the broker stops.
pub(crate) async fn run(broker: Arc<Broker>) {
    let mut feed = Feed::new();
    let mut look_ms = 0;
    while !broker.is_stopping() {
        let sooner = broker.table.sooner.notified();
        let now_ms = broker.now_ms();
        let next = broker.table.is_used().then(|| {
            feed.begin(&broker, now_ns());
            if now_ms >= look_ms {
                look_ms = now_ms + SILENCE_MS;
                broker.look_for_silence(&mut feed);
                broker.table.lock().mend(&broker, &mut feed.post);
            }
            let due_ms = broker.table.lock().tick(&broker, &mut feed.post);
            feed.finish();
            due_ms.unwrap_or(look_ms).min(look_ms)
        });
        let stopping = broker.stopping_told.notified();
        if broker.is_stopping() {
            return;
        }
        tokio::select! {
            () = sooner => {}
            () = stopping => {}
            () = wait_until(&broker, next) => {}
        }
    }
}

async fn wait_until(broker: &Broker, at_ms: Option<Millis>) {
    match at_ms {
        Some(at_ms) => {
            sleep_until(Instant::from_std(broker.started) + Duration::from_millis(at_ms)).await;
        }
        None => std::future::pending().await,
    }
}

impl Broker {
    /// Parameters that were silent for too long are stale from now on.
    fn look_for_silence(&self, feed: &mut Feed) {
        let rules = self.plan.load().table;
        let told = self.table.lock().table.check_silent(&rules, self.arrival(now_ns()));
        requests::tell(self, feed, told);
    }

    /// A client's connection is over, unless it has another by now: what only it published is stale,
    /// what it chose is not sent. What it declared stays its own while its session lives.
    pub fn leave_table(&self, client: &Client, feed: &mut Feed) {
        if !self.table.is_used() {
            return;
        }
        // Held until the table knows: who comes back, or ends the session, comes after.
        let state = client.state();
        if state.link.is_some() {
            return;
        }
        let mut inner = self.table.lock();
        inner.clients.remove(&client.key);
        let told = inner.table.leave(client.key, !state.ended, self.arrival(now_ns()));
        if state.ended {
            inner.table.end(client.key); // it may have subscribed while its session was taken from it
        }
        drop((inner, state));
        requests::tell(self, feed, told);
    }

    /// A client is back with its session: it publishes what it declared before.
    pub fn come_back(&self, client: &Client) {
        if self.table.is_used() {
            self.table.lock().table.registry.come_back(client.key);
        }
    }
}

impl Inner {
    /// Those whose outbox dropped something get the newest of all they chose, as soon as they have taken
    /// what they were sent before.
    fn mend(&mut self, broker: &Broker, post: &mut Post) {
        for client in broker.table.take_missed() {
            client.missed.store(false, Ordering::Release);
            if self.table.missed(client.key) {
                self.mending.insert(client.key);
            }
        }
        let Self { table, clients, mending, .. } = self;
        mending.extend(table.take_overrun());
        mending.retain(|session| {
            let Some(client) = clients.get(session) else { return false };
            let Some(room) = client.outgoing().stream_room() else { return true };
            let mut send = |_, packets: &[u8], _| post.push_packets(broker, client, packets);
            !table.mend(*session, room.bytes, broker.arrival(now_ns()), &mut send)
        });
    }
}
