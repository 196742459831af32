//! Tells publishers which of their stored messages were dropped: by a message to those that subscribe to it, and as an
//! event; at most once a second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use slipring_core::{JournalVictim, Limit, Millis, PublisherLoss, SessionKey, Victims};
use slipring_wire::{Packet, Publish};
use tokio::sync::Notify;

use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;
use crate::locks::lock;
use crate::post::Post;
use crate::status::since_ms;
use crate::supervision::blocking;

/// The topic that a publisher subscribes to.
const TOPIC: &str = "$slipring/dropped";
/// Publishers are told at most this often.
const TELL_MS: Millis = 1_000;
/// Bytes that are read from the journal in one round, to learn who published what was dropped there.
const READ_BYTES_MAX: u64 = 4 << 20;
/// The client that events name if the publisher is not known, or has no session any more.
const UNKNOWN: &str = "somebody";

/// Victims whose publishers were not told yet.
#[derive(Default)]
pub(crate) struct VictimReports {
    // A lock: taken at the end of a batch that dropped something, and once a second. Taken last.
    gathered: Mutex<Gathered>,
    added: Notify,
}

#[derive(Default)]
struct Gathered {
    victims: Victims,
    /// When the first of them was dropped.
    since_ns: i64,
}

/// The message to one publisher.
#[derive(Serialize)]
struct Told<'a> {
    messages: u64,
    bytes: u64,
    limit: &'a str,
    topics: Vec<&'a str>,
    since_ms: f64,
}

impl VictimReports {
    /// Adds victims, which are told within a second.
    pub fn add(&self, victims: &mut Victims, now_ns: i64) {
        if victims.is_empty() {
            return;
        }
        let mut gathered = lock(&self.gathered);
        if gathered.victims.is_empty() {
            gathered.since_ns = now_ns;
        }
        gathered.victims.append(victims);
        self.added.notify_one();
    }

    fn take(&self) -> Gathered {
        std::mem::take(&mut *lock(&self.gathered))
    }
}

/// Tells publishers until the broker stops.
pub(crate) async fn run(broker: Arc<Broker>) {
    while !broker.stopping.is_set() {
        tokio::select! {
            () = broker.monitor.victims.added.notified() => {}
            () = broker.stopping.wait() => return,
        }
        let mut gathered = broker.monitor.victims.take();
        let in_journal = gathered.victims.take_in_journal();
        if !in_journal.is_empty() {
            let reading = Arc::clone(&broker);
            if let Ok(mut found) = blocking(move || publishers_of(&reading, in_journal)).await {
                gathered.victims.append(&mut found);
            }
        }
        tell(&broker, &gathered);
        tokio::select! {
            () = broker.clock.sleep_until(broker.clock.now_ms() + TELL_MS) => {}
            () = broker.stopping.wait() => {}
        }
    }
}

/// Tells each publisher.
fn tell(broker: &Broker, gathered: &Gathered) {
    let losses = gathered.victims.publishers();
    let clients: Vec<Arc<Client>> = {
        let registry = broker.sessions.registry();
        registry.sessions.values().filter(|one| losses.contains_key(&one.key)).cloned().collect()
    };
    let mut post = Post::default();
    for client in &clients {
        let loss = &losses[&client.key];
        broker.monitor.report(EventKind::Victims, &client.name, in_words(loss));
        send(broker, client, loss, gathered.since_ns, &mut post);
    }
    post.wake();
    let known: u64 = clients.iter().map(|client| losses[&client.key].messages).sum();
    let all: u64 = losses.values().map(|loss| loss.messages).sum();
    let untold = gathered.victims.untold() + all - known;
    if untold > 0 {
        let detail = format!("{} that were stored and had to be dropped", count(untold));
        broker.monitor.report(EventKind::Victims, UNKNOWN, detail);
    }
}

fn send(
    broker: &Broker,
    client: &Arc<Client>,
    loss: &PublisherLoss,
    since_ns: i64,
    post: &mut Post,
) {
    if !client.state().session.has(TOPIC) {
        return;
    }
    let Some(version) = client.outgoing().version() else { return };
    let told = Told {
        messages: loss.messages,
        bytes: loss.bytes,
        limit: loss.limit.name(),
        topics: loss.topics.iter().map(|topic| &**topic).collect(),
        since_ms: since_ms(since_ns),
    };
    let json = serde_json::to_vec(&told).unwrap_or_default();
    let mut packet = Vec::new();
    Packet::Publish(Publish::new(TOPIC, &json)).encode(version, &mut packet);
    post.push_packets(broker, client, &packet);
}

fn in_words(loss: &PublisherLoss) -> String {
    let PublisherLoss { messages, bytes, limit, topics } = loss;
    let (stored, limit) = (count(*messages), limit.name());
    let topics = if topics.is_empty() { String::new() } else { format!(": {}", topics.join(", ")) };
    format!(
        "{stored} that were stored and had to be dropped ({bytes} bytes, limits.{limit}){topics}"
    )
}

fn count(messages: u64) -> String {
    if messages == 1 { "1 message".into() } else { format!("{messages} messages") }
}

/// Reads in the journal who published these messages. It reads files: do not call it on a thread that serves
/// connections.
fn publishers_of(broker: &Broker, victims: Vec<JournalVictim>) -> Victims {
    let mut found = Victims::default();
    let mut times: HashMap<u64, (u64, Limit)> = HashMap::new();
    let mut bytes = 0;
    for JournalVictim { offset, bytes: own, limit } in victims {
        if let Some((times, _)) = times.get_mut(&offset.get()) {
            *times += 1; // the same message, dropped for several subscribers
        } else if bytes + own <= READ_BYTES_MAX {
            bytes += own;
            times.insert(offset.get(), (1, limit));
        } else {
            found.add_lost(SessionKey::BROKER, &"".into(), 0, limit);
        }
    }
    let mut offsets: Vec<u64> = times.keys().copied().collect();
    offsets.sort_unstable();
    let Some(journal) = broker.journal.get() else { return found };
    for (offset, read) in offsets.iter().zip(broker.journal.stored.read(journal, &offsets)) {
        let (times, limit) = times[offset];
        let read = read.ok();
        let publisher = read.as_ref().and_then(|read| broker.sessions.key_of(&read.publisher));
        let topic = read.as_ref().map_or_else(|| "".into(), |read| Arc::clone(&read.topic));
        let bytes = read.map_or(0, |read| {
            (read.topic.len() + read.properties.len() + read.payload.len()) as u64
        });
        for _ in 0..times {
            found.add_lost(publisher.unwrap_or(SessionKey::BROKER), &topic, bytes, limit);
        }
    }
    found
}
