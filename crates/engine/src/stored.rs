//! Messages that wait in the journal instead of in memory: read back when their client is connected.

use std::sync::{Arc, Mutex};

use slipring_core::{JournalPlace, Message, Millis, Offset, Plan, Pushed, Stored};
use slipring_journal::{Journal, JournalReader, ReadError, StoredMessage};
use slipring_wire::{QoS, Reason};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::broker::Broker;
use crate::broker_journal::BrokerJournal;
use crate::client::Client;
use crate::event::EventKind;
use crate::locks::lock;
use crate::monitor::Monitor;
use crate::supervision::{blocking, spawn};

/// One reader for all clients. It remembers positions, so that the next read is quick.
#[derive(Default)]
pub(crate) struct StoredReader {
    // A lock: held while a client's messages are read, on a thread that serves no connection.
    reader: Mutex<Option<JournalReader>>,
}

impl StoredReader {
    /// The messages at these offsets, which ascend.
    pub fn read(
        &self,
        journal: &Journal,
        offsets: &[u64],
    ) -> Vec<Result<StoredMessage, ReadError>> {
        let mut reader = lock(&self.reader);
        reader.get_or_insert_with(|| journal.reader()).messages(offsets)
    }
}

/// Reads the messages a client waits for, apart from the threads that serve connections.
pub(crate) fn load(broker: &Arc<Broker>, client: &Arc<Client>, offsets: Vec<Offset>) {
    let client = Arc::clone(client);
    let reading = Arc::clone(broker);
    spawn(broker, &client.name.clone(), async move {
        loop {
            let moved = reading.journal.gates.moved.notified();
            let broker = Arc::clone(&reading);
            let wanted: Vec<u64> = offsets.iter().map(|offset| offset.get()).collect();
            let read = move || read_stored(&broker, &wanted);
            let found = match Handle::current().runtime_flavor() {
                RuntimeFlavor::CurrentThread => read(), // a simulation has one thread
                _ => match blocking(read).await {
                    Ok(found) => found,
                    Err(why) => {
                        // Nobody reads its messages any more: the client must connect again.
                        reading.monitor.report(EventKind::Panicked, &client.name, why);
                        return client.close(Reason::UnspecifiedError);
                    }
                },
            };
            if found.is_empty() {
                moved.await; // a message that is not written yet cannot be read
                continue;
            }
            if reading.monitor.events.wants(EventKind::MessageRestored) {
                tell_restored(&reading.monitor, &client, &found);
            }
            if client.outgoing().fill(&found) == Pushed::Wake {
                client.wake();
            }
            return;
        }
    });
}

/// The messages at these offsets, up to the first that is not written yet; None for a message that is gone.
fn read_stored(broker: &Broker, offsets: &[u64]) -> Vec<(Offset, Option<Arc<Message>>)> {
    let Some(journal) = broker.journal.get() else { return Vec::new() };
    let found = broker.journal.stored.read(journal, offsets);
    tell_unreadable(&broker.monitor, &found);
    let (plan, now_ms) = (broker.plan.load(), broker.clock.now_ms());
    let restored = |found: &StoredMessage| {
        let message = broker.journal.restored(found, &plan, now_ms)?;
        broker.withdraw_if_over(&message);
        Some(message.by(broker.sessions.key_of(&found.publisher).unwrap_or_default()))
    };
    let written = found.iter().take_while(|found| !is_unwritten(found));
    let messages = written.map(|found| Some(Arc::new(restored(found.as_ref().ok()?)?)));
    offsets.iter().copied().map(Offset::new).zip(messages).collect()
}

/// Reports messages that were read for a client that is back.
#[cold]
fn tell_restored(monitor: &Monitor, client: &Client, found: &[(Offset, Option<Arc<Message>>)]) {
    for (offset, message) in found {
        let (kind, topic, detail) = match message {
            Some(message) => (EventKind::MessageRestored, &**message.topic(), "from the journal"),
            None => (EventKind::MessageNotDelivered, "", "the journal has it no longer"),
        };
        monitor.tell_message(
            kind,
            &client.name,
            topic,
            &format!("{detail}, offset {}", offset.get()),
        );
    }
}

/// Reports acknowledged messages that cannot be read: where, why and how many.
fn tell_unreadable(monitor: &Monitor, found: &[Result<StoredMessage, ReadError>]) {
    let unreadable = found.iter().filter(|found| !is_unwritten(found));
    let mut errors = unreadable.filter_map(|found| found.as_ref().err());
    if let Some(first) = errors.next() {
        let count = 1 + errors.count();
        let detail = format!("{count} messages that waited cannot be read: {first}");
        monitor.report(EventKind::JournalTrouble, "journal", detail);
    }
}

impl BrokerJournal {
    /// A message as it was stored.
    pub fn restored(&self, stored: &StoredMessage, plan: &Plan, now_ms: Millis) -> Option<Message> {
        let (offset, durability) = (Offset::new(stored.offset), plan.durability_of(&stored.topic));
        let stored = Stored {
            topic: &stored.topic,
            properties: &stored.properties,
            payload: &stored.payload,
            qos: QoS::from_bits(stored.flags.qos()).ok()?,
            retain: stored.flags.retain(),
            place: JournalPlace { offset, durability },
            age_ms: self.clock.age_ms(stored.receive_ns.saturating_add(self.jumps.since(offset))),
        };
        Message::restored(&stored, now_ms).ok()
    }
}

/// Whether a message is not written yet.
fn is_unwritten(found: &Result<StoredMessage, ReadError>) -> bool {
    matches!(found, Err(ReadError::Beyond { .. }))
}
