//! Messages that wait in the journal instead of in memory: read back when their client is here.

use std::sync::{Arc, Mutex, PoisonError};

use slipring_core::{Message, Millis, Place, Pushed, Stored};
use slipring_journal::{ReadError, Reader, StoredMessage};
use slipring_wire::{QoS, Reason};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::broker::Broker;
use crate::client::Client;
use crate::event::{EventKind, now_ns};
use crate::supervision::{blocking, spawn};

/// The reader of all clients. It remembers places, so that the next read is quick.
// A lock: held while a client's messages are read, on a thread that serves no connection.
pub(crate) type Shelf = Mutex<Option<Reader>>;

impl Broker {
    /// Reads the messages a client waits for, apart from the threads that serve connections.
    pub fn load(self: &Arc<Self>, client: &Arc<Client>, offsets: Vec<u64>) {
        let (broker, client) = (Arc::clone(self), Arc::clone(client));
        spawn(self, &client.name.clone(), async move {
            loop {
                let moved = broker.gates.moved.notified();
                let (reading, wanted) = (Arc::clone(&broker), offsets.clone());
                let read = move || reading.read_stored(&wanted);
                let found = match Handle::current().runtime_flavor() {
                    RuntimeFlavor::CurrentThread => read(), // a simulation: nothing happens apart
                    _ => match blocking(read).await {
                        Ok(found) => found,
                        Err(why) => return broker.let_go(&client, &why),
                    },
                };
                if found.is_empty() {
                    moved.await; // what is not written yet cannot be read
                    continue;
                }
                if client.outgoing().fill(&found) == Pushed::Wake {
                    client.wake();
                }
                return;
            }
        });
    }

    /// Nobody reads any more what a client waits for: it is to come again.
    fn let_go(&self, client: &Client, why: &str) {
        self.report(EventKind::Panicked, &client.name, why);
        client.close(Reason::UnspecifiedError);
    }

    /// The messages at these offsets, up to the first that is not written yet; None where there is
    /// none any more.
    fn read_stored(&self, offsets: &[u64]) -> Vec<(u64, Option<Arc<Message>>)> {
        let Some(journal) = &self.journal else { return Vec::new() };
        let mut kept = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.get_or_insert_with(|| journal.reader()).messages(offsets);
        drop(kept);
        self.tell_unreadable(&found);
        let written = found.iter().take_while(|found| !is_unwritten(found));
        let messages = written.map(|found| Some(Arc::new(self.restored(found.as_ref().ok()?)?)));
        offsets.iter().copied().zip(messages).collect()
    }

    /// Tells of what was acknowledged and is not there: where, why and how much.
    fn tell_unreadable(&self, found: &[Result<StoredMessage, ReadError>]) {
        let unreadable = found.iter().filter(|found| !is_unwritten(found));
        let mut errors = unreadable.filter_map(|found| found.as_ref().err());
        if let Some(first) = errors.next() {
            let count = 1 + errors.count();
            let detail = format!("{count} messages that waited cannot be read: {first}");
            self.report(EventKind::JournalTrouble, "journal", detail);
        }
    }

    /// A message as it was stored.
    pub fn restored(&self, stored: &StoredMessage) -> Option<Message> {
        let durability = self.plan.load().durability_of(&stored.topic);
        let stored = Stored {
            topic: &stored.topic,
            properties: &stored.properties,
            payload: &stored.payload,
            qos: QoS::from_bits(stored.flags.qos()).ok()?,
            retain: stored.flags.retain(),
            place: Place { offset: stored.offset, durability },
            age_ms: age_ms(stored.receive_ns.saturating_add(self.jumps.since(stored.offset))),
        };
        Message::restored(&stored, self.now_ms()).ok()
    }
}

/// Whether a message is not written yet.
fn is_unwritten(found: &Result<StoredMessage, ReadError>) -> bool {
    matches!(found, Err(ReadError::Beyond { .. }))
}

/// How long ago something was, by the clock on the wall; a clock that went back makes it now.
pub(crate) fn age_ms(at_ns: i64) -> Millis {
    u64::try_from(now_ns().saturating_sub(at_ns)).unwrap_or(0) / 1_000_000
}
