//! Publishes the wills of clients. A will and the record that it waits no longer are one batch of the journal: no crash
//! loses the will, and at QoS 2 none publishes it again.
//!
//! Example: a client with a kept session loses its connection. The journal gets `Left` with the will, then one batch
//! with the message and `Willed`. A broker that is killed before that batch publishes the will at its next start. The
//! client must not come back in between: its `Resumed` would take the will out of the journal, or `Willed` its next
//! will. So whoever wants the session waits until the will is appended.

use std::collections::HashMap;
use std::sync::Arc;

use slipring_core::ledger::SessionRecord;
use slipring_core::{Durability, WillMessage};
use slipring_wire::Version;

use crate::acknowledged::Promised;
use crate::broker::Broker;
use crate::client::Client;
use crate::feed::Feed;
use crate::latch::Latch;
use crate::supervision::spawn;

/// A will to publish now.
pub(crate) struct DueWill {
    pub client: Arc<Client>,
    pub message: WillMessage,
    /// The record that the will waits no longer; None if the journal does not know the session, or another record of
    /// the same batch says it.
    pub record: Option<SessionRecord<'static>>,
}

/// A will on its way to the journal. Dropping it lets those go on who wait for the session.
pub(crate) struct WillUnderway {
    will: DueWill,
    appended: Arc<Latch>,
}

impl Drop for WillUnderway {
    fn drop(&mut self) {
        self.appended.set();
    }
}

/// The wills that are on their way to the journal, by client identifier.
#[derive(Debug, Default)]
pub(crate) struct WillsUnderway(HashMap<Box<str>, Arc<Latch>>);

impl WillsUnderway {
    pub fn add(&mut self, will: DueWill) -> WillUnderway {
        let appended = Arc::new(Latch::default());
        if will.record.is_some() {
            self.0.insert(will.client.name.clone(), Arc::clone(&appended));
        }
        WillUnderway { will, appended }
    }

    /// What to wait for before anything is done to a session of this client.
    pub fn find(&self, client_id: &str) -> Option<Arc<Latch>> {
        self.0.get(client_id).filter(|appended| !appended.is_set()).cloned()
    }

    fn remove(&mut self, underway: &WillUnderway) {
        let name = &underway.will.client.name;
        if self.0.get(name).is_some_and(|appended| Arc::ptr_eq(appended, &underway.appended)) {
            self.0.remove(name);
        }
    }
}

/// Publishes a will, with all that waits in the feed. At QoS 2 it goes when it is safe, like all other messages.
pub(crate) async fn publish(broker: &Arc<Broker>, feed: &mut Feed, underway: WillUnderway) {
    add(broker, feed, &underway.will);
    let _ = feed.journal(broker).await; // nobody waits for an answer
    broker.sessions.registry().wills.remove(&underway);
    if let Some(later) = feed.post.take_later() {
        spawn(broker, &underway.will.client.name, later.settle(Arc::clone(broker)));
    }
}

/// Adds a will in the name of its client to the feed's batch, and its record. No other message may be in that batch.
///
/// A journal that is full or has failed takes neither: the next start publishes the will, unless the client is back.
pub(crate) fn add(broker: &Broker, feed: &mut Feed, will: &DueWill) {
    let DueWill { client, message, record } = will;
    feed.begin(broker, broker.clock.now_ns());
    feed.paths.forget(broker); // they may be another client's
    let refuses = || broker.journal.gates.refusal(Durability::Disk).is_some();
    let was_refusing = refuses();
    let identity = client.identity.load_full();
    let from = client.will_principal(&identity);
    let reason = feed.publish(broker, &from, &message.publish(), Version::V311);
    let is_refused = reason.is_error() && (was_refusing || refuses());
    if let (false, Some(record)) = (is_refused, record) {
        record.encode(feed.batch.records());
    }
    feed.paths.forget(broker);
    feed.refusal = None; // a will has no answer
    broker.monitor.traffic.received(feed.finish(), feed.samples, 0);
    (feed.messages, feed.promised) = (0, Promised::default()); // they are not the client's
}

#[cfg(test)]
#[path = "wills_tests.rs"]
mod tests;
