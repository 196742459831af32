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
/// How soon it goes on where there was more to do than fits into a turn.
const SOON_MS: Millis = 2;
/// Subscribers that are sent what they miss in one turn.
const MENDED_AT_ONCE: usize = 4;

/// Beats until the broker stops.
pub(crate) async fn run(broker: Arc<Broker>) {
    let mut feed = Feed::new();
    let mut look_ms = 0;
    while !broker.is_stopping() {
        let sooner = broker.table.sooner.notified();
        let next = broker.table.is_used().then(|| broker.beat(&mut feed, &mut look_ms));
        let stopping = broker.stopping_told.notified();
        if broker.is_stopping() {
            return;
        }
        if next.is_some_and(|next_ms| next_ms <= broker.now_ms()) {
            // Not `select!` with a time that is over: the task would go on at once.
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            () = sooner => {}
            () = stopping => {}
            () = wait_until(&broker, next) => {}
        }
    }
}

pub(crate) async fn wait_until(broker: &Broker, at_ms: Option<Millis>) {
    match at_ms {
        Some(at_ms) => {
            sleep_until(Instant::from_std(broker.started) + Duration::from_millis(at_ms)).await;
        }
        None => std::future::pending().await,
    }
}

impl Broker {
    /// One turn of the beat; when the next is. The lock is let go between its parts.
    fn beat(&self, feed: &mut Feed, look_ms: &mut Millis) -> Millis {
        let now_ms = self.now_ms();
        feed.begin(self, now_ns());
        if now_ms >= *look_ms {
            let has_more = self.look_for_silence(feed);
            let has_more = self.table.lock().mend(self, &mut feed.post) || has_more;
            *look_ms = now_ms + if has_more { SOON_MS } else { SILENCE_MS };
        }
        let mut inner = self.table.lock();
        let due_ms = inner.tick(self, &mut feed.post);
        let next_ms = due_ms.unwrap_or(*look_ms).min(*look_ms);
        inner.beat_ms = next_ms;
        drop(inner);
        feed.finish();
        next_ms
    }

    /// Parameters that were silent for too long are stale from now on; whether there are more.
    fn look_for_silence(&self, feed: &mut Feed) -> bool {
        let rules = self.plan.load().table;
        let mut inner = self.table.lock();
        let told = inner.table.check_silent(&rules, self.arrival(now_ns()));
        let has_more = inner.table.is_going_stale;
        drop(inner);
        requests::tell(self, feed, told);
        has_more
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
        inner.leave_readers(client.key);
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
    /// what they were sent before; so do those that have not got all first values yet. A few of them at a
    /// time; whether somebody could have been sent more.
    pub fn mend(&mut self, broker: &Broker, post: &mut Post) -> bool {
        for client in broker.table.take_missed() {
            client.missed.store(false, Ordering::Release);
            if self.table.missed(client.key) {
                self.mending.insert(client.key);
            }
        }
        let Self { table, clients, mending, .. } = self;
        mending.extend(table.take_overrun());
        let mut mended = 0;
        let mut has_more = false;
        mending.retain(|session| {
            let Some(client) = clients.get(session) else { return false };
            let Some(room) = client.outgoing().stream_room() else { return true };
            has_more = true;
            // Who waits for text gets that first: its place is another one's.
            if mended == MENDED_AT_ONCE || table.awaits_text(*session) {
                return true;
            }
            mended += 1;
            let mut send = |_, packets: &[u8], _| post.push_packets(broker, client, packets);
            !table.mend(*session, room.bytes, broker.arrival(now_ns()), &mut send)
        });
        has_more
    }
}
