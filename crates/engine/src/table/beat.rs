//! The beat: gathered samples are sent when they are due, silent parameters go stale.
//!
//! Example: a selection has a beat of 200 ms, and its parameter gets a sample every 50 ms from 0 on. The sample of
//! 0 ms is sent at once, because nothing was sent in the last 200 ms. Those of 50, 100 and 150 ms are gathered:
//! one frame at 200 ms has them, the next at 400 ms has those after it. This task sleeps until the
//! earliest such time of all selections, and at most 100 ms: a parameter with a rate of 10 Hz whose last sample
//! came at 950 ms is silent after 5 periods, at 1,450 ms, and is found stale at the next look, by 1,550 ms.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use slipring_core::Millis;

use crate::broker::Broker;
use crate::client::Client;
use crate::feed::Feed;
use crate::post::Post;
use crate::table::{LockedTable, SharedTable};

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
    while !broker.lifecycle.is_stopping() {
        let sooner = broker.table.unlocked.sooner.notified();
        let next = broker.table.is_used().then(|| beat(&broker, &mut feed, &mut look_ms));
        if next.is_some_and(|next_ms| next_ms <= broker.clock.now_ms()) {
            // Not `select!` with a time that is over: the task would go on at once.
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            () = sooner => {}
            () = broker.lifecycle.stopped() => {}
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

/// One turn of the beat; when the next is. The lock is let go between its parts.
fn beat(broker: &Broker, feed: &mut Feed, look_ms: &mut Millis) -> Millis {
    let now_ms = broker.clock.now_ms();
    feed.begin(broker, broker.clock.now_ns());
    if now_ms >= *look_ms {
        let has_more = look_for_silence(broker, feed);
        let has_more = broker.table.lock().mend(broker, &mut feed.post) || has_more;
        *look_ms = now_ms + if has_more { SOON_MS } else { SILENCE_MS };
    }
    let mut inner = broker.table.lock();
    let due_ms = inner.tick(broker, &mut feed.post);
    let next_ms = due_ms.unwrap_or(*look_ms).min(*look_ms);
    inner.beat_ms = next_ms;
    drop(inner);
    feed.finish();
    next_ms
}

/// Parameters that were silent for too long are stale from now on; whether there are more.
fn look_for_silence(broker: &Broker, feed: &mut Feed) -> bool {
    let rules = broker.plan.load().table;
    let mut inner = broker.table.lock();
    let told = inner.table.check_silent(&rules, broker.clock.arrival());
    let has_more = inner.table.is_going_stale;
    drop(inner);
    SharedTable::tell(broker, feed, told);
    has_more
}

impl SharedTable {
    /// A client is back with its session: it publishes what it declared before.
    pub fn come_back(&self, client: &Client) {
        if self.is_used() {
            self.lock().table.registry.publishers.come_back(client.key);
        }
    }
}

impl LockedTable {
    /// Those whose outbox dropped something get the newest of all they chose, as soon as they have taken
    /// what they were sent before; so do those that have not got all first values yet. A few of them at a
    /// time; whether somebody could have been sent more.
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
            // Who waits for text gets that first: its place is another one's.
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
