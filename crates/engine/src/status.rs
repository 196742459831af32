//! What the engine shows of itself, copied out in one go.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use slipring_wire::Version;

use crate::broker::Broker;
use crate::peer::{Peer, Traffic};

/// The broker as a whole.
#[derive(Clone, Debug)]
pub struct Status {
    /// Since the start.
    pub uptime: Duration,
    /// Counted since the start.
    pub totals: Totals,
    /// Connected clients.
    pub clients: usize,
    /// Clients let in since the start.
    pub connections: u64,
    /// Topics with a newest value.
    pub topics: usize,
    /// None when nothing is journaled.
    pub journal: Option<JournalStatus>,
}

/// Counters since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Messages received from publishers.
    pub messages_in: u64,
    /// Bytes received, all packets.
    pub bytes_in: u64,
    /// Messages sent to subscribers.
    pub messages_out: u64,
    /// Bytes sent, all packets.
    pub bytes_out: u64,
    /// Messages dropped because a subscriber was too slow.
    pub dropped: u64,
}

/// The journal's state.
#[derive(Clone, Debug)]
pub struct JournalStatus {
    /// As the journal tells.
    pub status: slipring_journal::Status,
    /// Messages lost to a failed journal.
    pub not_journaled: u64,
}

/// One connected client.
#[derive(Clone, Debug)]
pub struct ClientStatus {
    /// Its identifier.
    pub client_id: String,
    /// Where it connects from.
    pub address: String,
    /// What it speaks.
    pub version: Version,
    /// Since when, in nanoseconds since 1970.
    pub connected_ns: i64,
    /// Its counters.
    pub totals: Totals,
    /// Bytes waiting for it.
    pub queued_bytes: usize,
    /// Its filters, in order.
    pub subscriptions: Vec<String>,
}

impl From<&Traffic> for Totals {
    fn from(traffic: &Traffic) -> Self {
        Self {
            messages_in: traffic.messages_in.load(Relaxed),
            bytes_in: traffic.bytes_in.load(Relaxed),
            messages_out: traffic.messages_out.load(Relaxed),
            bytes_out: traffic.bytes_out.load(Relaxed),
            dropped: traffic.dropped.load(Relaxed),
        }
    }
}

impl Broker {
    pub fn status(&self) -> Status {
        Status {
            uptime: self.started.elapsed(),
            totals: Totals::from(&self.traffic),
            clients: self.registry().len(),
            connections: self.let_in.load(Relaxed),
            topics: self.topics(),
            journal: self.journal.as_ref().map(|journal| JournalStatus {
                status: journal.status(),
                not_journaled: self.not_journaled.load(Relaxed),
            }),
        }
    }

    pub fn clients(&self, most: usize) -> Vec<ClientStatus> {
        let mut peers: Vec<Arc<Peer>> = self.registry().values().cloned().collect();
        peers.sort_unstable_by_key(|peer| peer.key);
        peers.truncate(most);
        peers.iter().filter_map(|peer| client_status(peer)).collect()
    }
}

fn client_status(peer: &Peer) -> Option<ClientStatus> {
    let identity = peer.identity.get()?;
    let mut subscriptions: Vec<String> =
        peer.session().subscriptions().map(|(filter, _)| filter.into()).collect();
    subscriptions.sort_unstable();
    Some(ClientStatus {
        client_id: identity.client_id.clone(),
        address: peer.origin.address.clone(),
        version: identity.version,
        connected_ns: peer.connected_ns,
        totals: Totals::from(&peer.traffic),
        queued_bytes: peer.outbox().queued_bytes(),
        subscriptions,
    })
}
