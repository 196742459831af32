//! The beat: sends gathered samples when they are due, and marks silent parameters as stale.
//!
//! Example: a selection has a beat of 200 ms, and its parameter gets a sample every 50 ms from 0 on. The sample of
//! 0 ms is sent at once, because nothing was sent in the last 200 ms. Those of 50, 100 and 150 ms are gathered:
//! one frame at 200 ms has them, the next at 400 ms has those after it. This task sleeps until the
//! earliest such time of all selections, and at most 100 ms: a parameter with a rate of 10 Hz whose last sample
//! came at 950 ms is silent after 5 periods, at 1,450 ms. The next look, by 1,550 ms, marks it as stale.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::Millis;

use crate::broker::Broker;
use crate::client::Client;
use crate::feed::Feed;
use crate::post::Post;
use crate::table::{LockedTable, SharedTable};

/// How often the task looks for silent parameters, and for subscribers that have caught up.
const SILENCE_MS: Millis = 100;
/// The pause if there was more to do than fits into a turn.
const SOON_MS: Millis = 2;
/// Subscribers that get what they missed in one turn.
const MENDED_AT_ONCE: usize = 4;

/// Beats until the broker stops.
pub(crate) async fn run(broker: Arc<Broker>) {
    let mut feed = Feed::default();
    let mut look_ms = 0;
    while !broker.stopping.is_set() {
        let sooner = broker.table.unlocked.sooner.notified();
        let next = broker.table.is_used().then(|| beat(&broker, &mut feed, &mut look_ms));
        if next.is_some_and(|next_ms| next_ms <= broker.clock.now_ms()) {
            // `select!` with a time that is over would not let other tasks run.
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            () = sooner => {}
            () = broker.stopping.wait() => {}
            () = wait_until(&broker, next) => {}
        }
    }
}

pub(crate) async fn wait_until(broker: &Broker, at_ms: Option<Millis>) {
    match at_ms {
        Some(at_ms) => broker.clock.sleep_until(at_ms).await,
        None => std::future::pending().await,
    }
}

/// One turn of the beat. Returns when the next is due. The lock is released between its parts.
fn beat(broker: &Broker, feed: &mut Feed, look_ms: &mut Millis) -> Millis {
    let now_ms = broker.clock.now_ms();
    feed.begin(broker, broker.clock.now_ns());
    if now_ms >= *look_ms {
        let has_more = look_for_silence(broker, feed);
        let has_more = broker.table.lock().mend(broker, &mut feed.post) || has_more;
        *look_ms = now_ms + if has_more { SOON_MS } else { SILENCE_MS };
    }
    let mut inner = broker.table.lock();
    inner.send_due(broker, &mut feed.post, true);
    let next_ms = inner.next_due_ms().unwrap_or(*look_ms).min(*look_ms);
    inner.beat_ms = next_ms;
    drop(inner);
    feed.finish();
    next_ms
}

/// Marks parameters that were silent for too long as stale. Returns whether there are more.
fn look_for_silence(broker: &Broker, feed: &mut Feed) -> bool {
    let rules = broker.plan.load().table;
    let mut inner = broker.table.lock();
    let told = inner.table.check_silent(&rules, broker.clock.arrival());
    let has_more = inner.table.is_going_stale;
    drop(inner);
    broker.table.tell(broker, feed, told);
    has_more
}

impl SharedTable {
    /// Notes that a client is back with its session: it publishes what it declared before.
    pub fn come_back(&self, client: &Client) {
        if self.is_used() {
            self.lock().table.registry.publishers.come_back(client.key);
        }
    }
}

impl LockedTable {
    /// Sends the newest values to subscribers whose outbox dropped something, and to those that have not got all
    /// first values yet, as soon as they have taken everything before. Serves a few at a time; returns whether
    /// another one could be served.
    pub fn mend(&mut self, broker: &Broker, post: &mut Post) -> bool {
        for client in broker.table.take_missed() {
            client.missed.store(false, Ordering::Release);
            if self.table.groups.missed(client.key) {
                self.mending.insert(client.key);
            }
        }
        let Self { table, clients, mending, .. } = self;
        mending.extend(table.groups.take_overrun());
        let mut mended = 0;
        let mut has_more = false;
        mending.retain(|session| {
            let Some(client) = clients.get(session) else { return false };
            let Some(room) = client.outgoing().stream_room() else { return true };
            has_more = true;
            // A subscriber that waits for text gets the text first, by `send_due`.
            if mended == MENDED_AT_ONCE || table.groups.awaits_text(*session) {
                return true;
            }
            mended += 1;
            let mut send = |_, packets: &[u8], _| post.push_packets(broker, client, packets);
            let (groups, state) = table.groups_at(broker.clock.arrival());
            !groups.mend(*session, room.bytes, &state, &mut send)
        });
        has_more
    }
}
