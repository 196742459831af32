//! Streams among the connections: one lock, under which a chunk is kept and handed on, so that what is
//! kept and what is live join without a gap. `docs/streams.md` has the topics.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slipring_core::streams::{
    Arrived, BUFFERS_BYTES_MAX, Bounds, Change, ChunkRefused, Following, Outcome, Serving, Streams,
    Told,
};
use slipring_core::table::{Code, Deliver, Refusal};
use slipring_core::{Dropped, Durability, Holder, Limit, NAME_BYTES_MAX, Options, Owner};
use slipring_wire::frame::RangeSet;
use slipring_wire::{Publish, Reason, Version};

use crate::asking::Asked;
use crate::broker::Broker;
use crate::client::Client;
use crate::feed::{Feed, Publisher};
use crate::gates::Gate;
use crate::post::Post;
use crate::status::StreamsStatus;
use crate::table::requests::{OWN_ANSWER_BYTES, UNWRITTEN};

/// Where changes of the streams are told.
const CHANGES: &str = "$slipring/streams/changes";

/// The streams, and what is known of them without their lock.
pub(crate) struct SharedStreams {
    // A lock: taken for each chunk, for each reader that catches up, and when somebody declares (a
    // parameter, too), subscribes or goes. Taken after a client's state, before the table's lock and
    // a client's outgoing messages.
    pub inner: Mutex<Inner>,
    /// Whether there is any stream or reader; while there is none, nothing here costs a lock.
    used: AtomicBool,
    counters: Counters,
}

/// What went through the streams since the start.
#[derive(Debug, Default)]
struct Counters {
    chunks: AtomicU64,
    bytes: AtomicU64,
    refused: AtomicU64,
    delivered: AtomicU64,
    /// Chunks that readers missed.
    lost: AtomicU64,
}

pub(crate) struct Inner {
    pub streams: Streams,
    /// Who reads, by session.
    clients: HashMap<u64, Arc<Client>>,
    packets: Vec<u8>,
    /// Records of changes that the journal does not have yet.
    unwritten: Vec<u8>,
    /// Opens when the journal has the last change.
    gate: Gate,
}

impl SharedStreams {
    pub fn new(streams: Streams) -> Self {
        let used = AtomicBool::new(!streams.catalog().is_empty());
        let (clients, packets, unwritten) = (HashMap::new(), Vec::new(), Vec::new());
        let inner = Inner { streams, clients, packets, unwritten, gate: Gate::OPEN };
        Self { inner: Mutex::new(inner), used, counters: Counters::default() }
    }

    fn is_used(&self) -> bool {
        self.used.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the streams. While they are held, none is added: a name is of a parameter or of a
    /// stream, never of both.
    pub fn names(&self) -> MutexGuard<'_, Inner> {
        self.lock()
    }

    /// The stream that has this topic.
    pub fn index_of(&self, topic: &str) -> Option<u32> {
        if self.is_used() { self.lock().streams.catalog().index_of(topic) } else { None }
    }

    /// Who has how many.
    pub fn greatest(&self, most: usize) -> Vec<(Owner, usize)> {
        self.lock().streams.catalog().shares().greatest(most)
    }

    pub fn status(&self) -> StreamsStatus {
        let Counters { chunks, bytes, refused, delivered, lost } = &self.counters;
        let inner = self.lock();
        StreamsStatus {
            streams: inner.streams.catalog().len(),
            readers: inner.streams.readers(),
            kept_bytes: inner.streams.bytes(),
            chunks: chunks.load(Relaxed),
            bytes: bytes.load(Relaxed),
            delivered: delivered.load(Relaxed),
            lost: lost.load(Relaxed),
            refused: refused.load(Relaxed),
        }
    }
}

/// A client asks for something of the streams; the reason acknowledges the request.
pub(crate) fn ask(asked: &Asked<'_>, name: &str, feed: &mut Feed, reply: &mut Vec<u8>) -> Reason {
    let Asked { broker, client, message, .. } = *asked;
    let Some((envelope, terms)) = asked.envelope() else {
        return Reason::ImplementationSpecificError;
    };
    feed.work.add_text(message.payload.len());
    let answer_bytes_max = terms.packet_bytes.saturating_sub(envelope.bytes());
    let limits = broker.plan.load().limits;
    let bounds = Bounds {
        streams: limits.streams,
        name_bytes: limits.topic_bytes.min(NAME_BYTES_MAX),
        name_levels: limits.topic_levels,
        holder: Some(Holder {
            owner: asked.link.owner(),
            quotas: limits.streams_quotas(BUFFERS_BYTES_MAX),
        }),
        is_parameter: &|name| broker.table.index_of(name).is_some(),
    };
    let mut inner = broker.streams.lock();
    let outcome = if broker.write_streams(&mut inner) {
        inner.streams.answer(client.key, name, message.payload, &bounds, answer_bytes_max)
    } else {
        Outcome::of(&Refusal::new(Code::Journal, UNWRITTEN), answer_bytes_max)
    };
    broker.count_refused(outcome.refused, [Limit::Streams, Limit::OwnerStreams]);
    broker.reached.add(Limit::Streams, inner.streams.take_unread());
    let told = broker.streams_changed(&mut inner, &outcome.change, client);
    let (is_written, gate) = (inner.unwritten.is_empty(), inner.gate);
    drop(inner);
    if name == "declare" && outcome.refused.is_none() {
        asked.link.publishes();
    }
    // What the client sends next in the same batch is a chunk already.
    feed.paths.check(broker);
    tell(broker, feed, told);
    if !is_written && outcome.refused.is_none() {
        return Reason::QuotaExceeded; // an index that could be given again is not told
    }
    if !broker.gates.is_open(gate) {
        feed.wait_for(Durability::Disk);
    }
    feed.work.add_text(4 * outcome.answer.len()); // all streams may be looked at
    reply.append(&mut envelope.packet(&outcome.answer, terms));
    Reason::Success
}

/// Tells everyone who follows the streams.
fn tell(broker: &Broker, feed: &mut Feed, told: Told) {
    for json in told {
        feed.publish(broker, Publisher::broker(), &Publish::new(CHANGES, &json), Version::V5);
    }
}

impl Feed {
    /// A message on the topic of a stream is a chunk of it; then it goes on like any other.
    #[inline]
    pub fn take_chunk(
        &mut self,
        broker: &Broker,
        from: Publisher<'_>,
        message: &Publish<'_>,
    ) -> Result<(), Reason> {
        let route = self.paths.find(broker, from.key, message.topic);
        let Some(stream) = route.stream else { return Ok(()) };
        if let Some(reason) = broker.gates.refusal(route.level_of(message.qos)) {
            return Err(reason);
        }
        let told = broker.push_chunk(from.key, stream, message, self.receive_ns, &mut self.post);
        let told = told.map_err(|refused| {
            broker.streams.counters.refused.fetch_add(1, Relaxed);
            self.refusal = Some(refused.to_string());
            match refused {
                ChunkRefused::NotDeclared { .. } => Reason::NotAuthorized,
                ChunkRefused::TooLarge { .. } => Reason::ImplementationSpecificError,
                ChunkRefused::Time => Reason::PayloadFormatInvalid,
            }
        })?;
        tell(broker, self, told);
        Ok(())
    }
}

impl Broker {
    /// Answers a question of the control plane, which changes nothing.
    pub fn ask_streams(&self, name: &str, body: &[u8]) -> Vec<u8> {
        let name = if name == "list" { name } else { "" };
        let (name_bytes, name_levels, is_parameter) = (0, 0, &|_: &str| false);
        let bounds = Bounds { streams: 0, name_bytes, name_levels, holder: None, is_parameter };
        self.streams.lock().streams.answer(0, name, body, &bounds, OWN_ANSWER_BYTES).answer
    }

    /// Keeps a chunk and hands it on; what is to be told.
    fn push_chunk(
        &self,
        session: u64,
        stream: u32,
        message: &Publish<'_>,
        receive_ns: i64,
        post: &mut Post,
    ) -> Result<Told, ChunkRefused> {
        let mut inner = self.streams.lock();
        let Arrived { readers, told } = inner.streams.push(session, stream, message, receive_ns)?;
        for reader in readers {
            inner.serve(self, reader, post);
        }
        drop(inner);
        self.streams.counters.chunks.fetch_add(1, Relaxed);
        self.streams.counters.bytes.fetch_add(message.payload.len() as u64, Relaxed);
        Ok(told)
    }

    /// A client reads streams. What is kept of them is sent first.
    pub fn follow(&self, client: &Arc<Client>, filter: &str, options: Options, post: &mut Post) {
        let Some(Deliver::Stream { newest }) = options.needs.map(|needs| needs.deliver) else {
            return self.unfollow(client, filter);
        };
        let Some(packet_bytes_max) = client.outgoing().packet_bytes_max() else { return };
        self.streams.used.store(true, Ordering::Release);
        let identifier = options.identifier;
        let following = Following { filter, identifier, newest, packet_bytes_max };
        let mut inner = self.streams.lock();
        inner.clients.insert(client.key, Arc::clone(client));
        inner.streams.follow(client.key, &following);
        self.reached.add(Limit::Streams, inner.streams.take_unread());
        inner.serve(self, client.key, post);
    }

    /// A client does not read streams by this filter any more, if it did.
    pub fn unfollow(&self, client: &Client, filter: &str) {
        if self.streams.is_used() {
            self.streams.lock().streams.unfollow(client.key, filter);
        }
    }

    /// A client's connection is over, unless it has another by now: it reads nothing, and what only it
    /// published is silent. What it declared stays its own while its session lives.
    pub fn leave_streams(&self, client: &Client, feed: &mut Feed) {
        if !self.streams.is_used() {
            return;
        }
        // Held until the streams know: who comes back, or ends the session, comes after.
        let state = client.state();
        if state.link.is_some() {
            return;
        }
        let mut inner = self.streams.lock();
        inner.clients.remove(&client.key);
        let told = inner.streams.leave(client.key, !state.ended);
        drop((inner, state));
        tell(self, feed, told);
    }

    /// What a session of an earlier run declared is its own again.
    pub fn restore_streams(&self, session: u64, declared: &RangeSet) {
        self.streams.lock().streams.restore_publisher(session, declared);
    }

    /// A session is over. If its connection is not, that takes the rest with it.
    pub fn end_streams(&self, session: u64) {
        if self.streams.is_used() {
            self.streams.lock().streams.end(session);
        }
    }

    /// Everything before was written to a client: it gets more of what it is behind with.
    #[inline]
    pub fn catch_up(&self, client: &Arc<Client>) {
        if client.behind.load(Ordering::Acquire) {
            self.serve_again(client);
        }
    }

    fn serve_again(&self, client: &Arc<Client>) {
        let mut inner = self.streams.lock();
        // Changed under the lock alone, so that nobody's wish to be served is lost.
        client.behind.store(false, Ordering::Release);
        // The client's own task runs this; nobody needs to be woken.
        let mut post = Post::default();
        if inner.serve_some(self, client, &mut post) {
            client.behind.store(true, Ordering::Release);
        }
    }

    /// The streams have changed: it is written down, and publishers look again which topics they are.
    fn streams_changed(&self, inner: &mut Inner, change: &Change, client: &Client) -> Told {
        if self.journal.is_some() {
            inner.streams.record(change, &mut inner.unwritten);
        }
        if client.is_durable() {
            change.record_entered(client.key, &mut inner.unwritten);
        }
        self.write_streams(inner);
        if change.is_empty() {
            return Told::new();
        }
        self.streams.used.store(true, Ordering::Release);
        self.generation.fetch_add(1, Ordering::Release);
        inner.streams.told_of(change)
    }

    /// Under the lock of the streams, so that the journal has their changes in order.
    fn write_streams(&self, inner: &mut Inner) -> bool {
        self.write_down(&mut inner.unwritten, &mut inner.gate)
    }
}

impl Inner {
    /// Whether a stream has this name.
    pub fn has(&self, name: &str) -> bool {
        self.streams.catalog().index_of(name).is_some()
    }

    /// Gives a reader what it is behind with; the rest when its connection has written that.
    fn serve(&mut self, broker: &Broker, session: u64, post: &mut Post) {
        let Some(client) = self.clients.get(&session).cloned() else { return };
        let behind = self.serve_some(broker, &client, post);
        if behind && !client.behind.swap(true, Ordering::AcqRel) {
            post.wake_later(&client);
        }
    }

    /// Hands over as much as a reader takes now; whether there is more.
    fn serve_some(&mut self, broker: &Broker, client: &Arc<Client>, post: &mut Post) -> bool {
        let Some(room) = client.outgoing().stream_room() else { return true };
        let Self { streams, packets, .. } = self;
        packets.clear();
        let Serving { chunks, lost, more } = streams.take(client.key, room, packets);
        post.push_packets(broker, client, packets);
        broker.streams.counters.delivered.fetch_add(chunks, Relaxed);
        if lost > 0 {
            broker.streams.counters.lost.fetch_add(lost, Relaxed);
            let messages = u32::try_from(lost).unwrap_or(u32::MAX);
            let limit = Some(Limit::OutboxBytes);
            broker.count_dropped(client, Dropped { limit, messages, wake: false });
        }
        more
    }
}
