//! Readers of parameters: clients with plain subscriptions get the samples of frames, in bounded turns.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use slipring_core::access::Right;
use slipring_core::requests::Balance;
use slipring_core::table::{
    Names, PlainOutlet, PlainRoom, PlainTerms, ReaderId, SampleWriter, text,
};
use slipring_core::{Extras, Options, SessionKey, encode};
use slipring_wire::frame::Sample;
use slipring_wire::{Publish, Version, shared};

use crate::broker::Broker;
use crate::client::Client;
use crate::post::Post;
use crate::routes::{Share, Target};
use crate::table::beat::wait_until;
use crate::table::{LockedTable, SharedTable};
use crate::topics::Topics;

/// Messages to readers that a publisher's own task sends after each of its frames.
const INLINE_MESSAGES: usize = 256;
/// Messages to readers in one turn under the table's lock, about half a millisecond.
const TURN_MESSAGES: usize = 1_024;
/// Between two turns others get the lock and the processor. With the turns it bounds what all readers cost
/// together: about a fifth of a core.
const BETWEEN_TURNS: Duration = Duration::from_millis(2);

/// The clients behind the readers.
#[derive(Default)]
pub(crate) struct ReaderClients {
    clients: HashMap<SessionKey, Arc<Client>>,
    /// The filters of shared subscriptions, by their number.
    shares: HashMap<u64, Box<str>>,
}

/// Serves readers until the broker stops.
pub(crate) async fn run(broker: Arc<Broker>) {
    let mut post = Post::default();
    while !broker.stopping.is_set() {
        let due = broker.table.unlocked.readers_due.notified();
        let next_ms = broker.table.is_used().then(|| {
            let mut inner = broker.table.lock();
            inner.serve_readers(&broker, &mut post, TURN_MESSAGES);
            inner.readers_ms = inner.table.readers.next_due_ms();
            inner.readers_ms
        });
        post.wake();
        let next_ms = next_ms.flatten();
        if next_ms == Some(0) {
            tokio::time::sleep(BETWEEN_TURNS).await;
            continue;
        }
        tokio::select! {
            () = due => {}
            () = broker.stopping.wait() => {}
            () = wait_until(&broker, next_ms) => {}
        }
    }
}

impl LockedTable {
    fn serve_readers(&mut self, broker: &Broker, post: &mut Post, messages: usize) -> usize {
        let Self { table, reader_clients, buffers, .. } = self;
        if table.readers.next_due_ms().is_none() {
            return 0;
        }
        let mut outlet = ReaderOutlet { broker, post, reader_clients, buffers, share: None };
        table.serve_readers(messages, broker.clock.arrival(), &mut outlet)
    }

    /// Sends samples that came to readers: some at once, the rest in turns. Returns the steps of work.
    pub fn read_on(&mut self, broker: &Broker, post: &mut Post) -> usize {
        let steps = self.serve_readers(broker, post, INLINE_MESSAGES);
        let Some(due_ms) = self.table.readers.next_due_ms() else { return steps };
        if self.readers_ms.is_none_or(|readers_ms| due_ms < readers_ms) {
            self.readers_ms = Some(due_ms);
            broker.table.unlocked.readers_due.notify_one();
        }
        steps
    }
}

impl SharedTable {
    /// Enters plain subscriptions of a client, and removes those that became selections. Returns the steps of work.
    pub fn read<'a>(
        &self,
        broker: &Broker,
        client: &Arc<Client>,
        subscriptions: impl Iterator<Item = (&'a str, Options)>,
    ) -> usize {
        if !self.is_used() {
            return 0;
        }
        let mut steps = 0;
        let is_here = client.outgoing().version().is_some();
        for (filter, options) in subscriptions {
            let Options { identifier, no_local, needs, .. } = options;
            let (reader, topics) = match shared(filter) {
                Some(Ok((_, topics))) => {
                    let Some(share) = broker.topics.routes().share_number(filter) else { continue };
                    (ReaderId::Share(share), topics)
                }
                _ => (ReaderId::Client(client.key), filter),
            };
            let mut inner = self.lock();
            if needs.is_some() {
                steps += inner.table.readers.stop(reader, &[filter]);
                continue;
            }
            match reader {
                ReaderId::Client(_) if !is_here => continue,
                ReaderId::Client(key) => {
                    inner.reader_clients.clients.insert(key, Arc::clone(client));
                }
                ReaderId::Share(share) => {
                    inner.reader_clients.shares.insert(share, filter.into());
                }
            }
            let terms = PlainTerms { identifier, no_local };
            let rights = match reader {
                ReaderId::Client(_) => client.narrowing(&broker.plan, Right::Subscribe, topics),
                ReaderId::Share(_) => None, // each member is asked for each sample
            };
            let at = broker.clock.arrival();
            steps += inner.table.read(reader, filter, topics, terms, rights.as_ref(), at);
        }
        steps
    }

    /// Removes subscriptions of a client. Returns the steps of work.
    pub fn stop_reading(&self, topics: &Topics, client: &Client, filters: &[&str]) -> usize {
        if !self.is_used() {
            return 0;
        }
        let (shared, own): (Vec<&str>, Vec<&str>) =
            filters.iter().partition(|filter| shared(filter).is_some());
        for filter in shared {
            self.end_share(topics, filter);
        }
        // In one call: each call looks at all subscriptions that are left.
        self.lock().table.readers.stop(ReaderId::Client(client.key), &own)
    }

    /// Ends a shared subscription without members. A new one with the same filter has another number.
    fn end_share(&self, topics: &Topics, filter: &str) {
        let mut inner = self.lock();
        let number = topics.routes().share_number(filter);
        let LockedTable { table, reader_clients, .. } = &mut **inner;
        reader_clients.shares.retain(|share, known| {
            let is_over = **known == *filter && Some(*share) != number;
            if is_over {
                table.readers.stop_all(ReaderId::Share(*share));
            }
            !is_over
        });
    }

    /// The table is used from now on: every client reads what its session has subscribed to.
    pub fn begin_reading(&self, broker: &Broker) {
        for client in broker.sessions.clients() {
            let plain: Vec<(Box<str>, Options)> = {
                let state = client.state();
                state.session.plain().map(|(filter, options)| (filter.into(), options)).collect()
            };
            let plain = plain.iter().map(|(filter, options)| (&**filter, *options));
            self.read(broker, &client, plain);
        }
    }
}

impl LockedTable {
    /// Ends all reading of a client whose connection is over.
    pub fn leave_readers(&mut self, session: SessionKey) {
        self.table.readers.stop_all(ReaderId::Client(session));
        self.reader_clients.clients.remove(&session);
    }
}

/// Scratch buffers for the messages.
#[derive(Default)]
pub(crate) struct SampleBuffers {
    payload: Vec<u8>,
    described: SampleWriter,
    packet: Vec<u8>,
}

impl SampleBuffers {
    /// The message of a sample.
    fn packet(
        &mut self,
        topic: &str,
        sample: &Sample<'_>,
        names: &dyn Names,
        identifiers: &[u32],
        version: Version,
    ) -> &[u8] {
        let Self { payload, described, packet } = self;
        payload.clear();
        packet.clear();
        text(sample, names, payload);
        let properties = described.describe(sample.time_ns, sample.quality);
        let message = Publish { properties, ..Publish::new(topic, payload) };
        encode(message, &Extras::identified(identifiers), version, packet);
        packet
    }
}

/// Sends samples to readers.
struct ReaderOutlet<'a> {
    broker: &'a Broker,
    post: &'a mut Post,
    reader_clients: &'a ReaderClients,
    buffers: &'a mut SampleBuffers,
    /// The members of the shared subscription that is served.
    share: Option<Share>,
}

impl PlainOutlet for ReaderOutlet<'_> {
    fn room(&mut self, reader: ReaderId) -> PlainRoom {
        match reader {
            ReaderId::Client(key) => {
                let client = self.reader_clients.clients.get(&key);
                client.map_or_else(PlainRoom::default, |client| client.outgoing().plain_room())
            }
            ReaderId::Share(share) => {
                let filter = self.reader_clients.shares.get(&share);
                self.share = filter.and_then(|filter| self.broker.topics.routes().share_of(filter));
                self.share.as_ref().map_or_else(PlainRoom::default, Share::plain_room)
            }
        }
    }

    fn send(
        &mut self,
        reader: ReaderId,
        topic: &Arc<str>,
        sample: &Sample<'_>,
        names: &dyn Names,
        identifiers: &[u32],
    ) -> usize {
        let (client, identifiers) = match (reader, &self.share) {
            (ReaderId::Client(key), _) => (self.reader_clients.clients.get(&key), identifiers),
            (ReaderId::Share(_), Some(share)) => {
                let policy = &self.broker.plan.load().access;
                let may = |member: &&Target| member.client.may(policy, Right::Subscribe, topic);
                let (chosen, _) = share.choose(Balance::default());
                let member = Some(chosen).filter(may).or_else(|| share.members.iter().find(may));
                let Some(member) = member else { return 0 };
                (Some(&member.client), member.identifiers.as_deref().unwrap_or_default())
            }
            (ReaderId::Share(_), None) => (None, identifiers),
        };
        let Some(client) = client else { return 0 };
        let Some(version) = client.outgoing().version() else { return 0 };
        let packet = self.buffers.packet(topic, sample, names, identifiers, version);
        self.post.push_packets(self.broker, client, packet);
        packet.len()
    }
}
