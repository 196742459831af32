//! The streams that all connections share. A chunk is kept and handed on under one lock, so that a reader gets the
//! kept chunks and the live ones without a gap. `docs/streams.md` has the topics.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, Ordering::Relaxed};

use slipring_core::access::Right;
use slipring_core::desk::ChangeMessages;
use slipring_core::streams::{ChunkRefused, ServedChunks, Streams, StreamsRequest};
use slipring_core::table::{Needs, Selection, SelectionFilter};
use slipring_core::{Dropped, Limit, Options, SessionKey, StreamIndex};
use slipring_wire::{Publish, Reason};

use crate::broker::Broker;
use crate::client::Client;
use crate::feed::Feed;
use crate::post::Post;
use crate::publishing::Publication;
use crate::shared_desk::{EngineDesk, SharedDesk};
use crate::status::StreamsStatus;

/// The streams. Their lock is taken for each chunk, for each reader that catches up, and when a client declares (a
/// parameter, too), subscribes or leaves. While it is held, no stream is added: a name belongs to a parameter or to a
/// stream, never to both.
pub(crate) type SharedStreams = SharedDesk<LockedStreams>;

/// Counters of the streams since the start.
#[derive(Debug, Default)]
pub(crate) struct StreamsTraffic {
    chunks: AtomicU64,
    bytes: AtomicU64,
    refused: AtomicU64,
    delivered: AtomicU64,
    /// Chunks that readers missed.
    lost: AtomicU64,
}

/// The state behind the lock.
pub(crate) struct LockedStreams {
    pub streams: Streams,
    /// The readers by session.
    clients: HashMap<SessionKey, Arc<Client>>,
    packets: Vec<u8>,
}

impl EngineDesk for LockedStreams {
    type Core = Streams;
    type Unlocked = StreamsTraffic;

    fn core(&mut self) -> &mut Streams {
        &mut self.streams
    }

    fn is_taken<'a>(
        broker: &'a Broker,
        _: Option<&StreamsRequest>,
    ) -> Box<dyn Fn(&str) -> bool + 'a> {
        Box::new(|name| broker.table.index_of(name).is_some())
    }

    fn leave(&mut self, session: SessionKey) {
        self.clients.remove(&session);
    }
}

impl SharedStreams {
    pub fn new(streams: Streams) -> Self {
        let used = !streams.catalog().is_empty();
        let locked = LockedStreams { streams, clients: HashMap::new(), packets: Vec::new() };
        Self::over(locked, used, StreamsTraffic::default())
    }

    /// The stream that has this topic.
    pub fn index_of(&self, topic: &str) -> Option<StreamIndex> {
        if self.is_used() { self.lock().streams.catalog().index_of(topic) } else { None }
    }

    pub fn status(&self) -> StreamsStatus {
        let StreamsTraffic { chunks, bytes, refused, delivered, lost } = &self.unlocked;
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

impl Feed {
    /// Takes a message on the topic of a stream as its next chunk; then the message goes on like any other.
    #[inline]
    pub fn take_chunk(
        &mut self,
        publication: &Publication<'_>,
        stream: StreamIndex,
    ) -> Result<(), Reason> {
        let Publication { broker, from, message, .. } = *publication;
        let told = broker.streams.push_chunk(
            broker,
            from.session,
            stream,
            message,
            self.receive_ns,
            &mut self.post,
        );
        let told = told.map_err(|refused| {
            broker.streams.unlocked.refused.fetch_add(1, Relaxed);
            self.refusal = Some(refused.to_string());
            match refused {
                ChunkRefused::NotDeclared { .. } => Reason::NotAuthorized,
                ChunkRefused::TooLarge { .. } => Reason::ImplementationSpecificError,
                ChunkRefused::Time => Reason::PayloadFormatInvalid,
            }
        })?;
        broker.streams.tell(broker, self, told);
        self.paths.find(broker, from, message.topic); // those messages had routes of their own
        Ok(())
    }
}

impl SharedStreams {
    /// Keeps a chunk and hands it on. Returns messages about changes of the stream.
    fn push_chunk(
        &self,
        broker: &Broker,
        session: SessionKey,
        stream: StreamIndex,
        message: &Publish<'_>,
        receive_ns: i64,
        post: &mut Post,
    ) -> Result<ChangeMessages, ChunkRefused> {
        let mut inner = self.lock();
        let arrived = inner.streams.push(session, stream, message, receive_ns)?;
        for reader in arrived.readers {
            inner.serve(broker, reader, post);
        }
        drop(inner);
        self.unlocked.chunks.fetch_add(1, Relaxed);
        self.unlocked.bytes.fetch_add(message.payload.len() as u64, Relaxed);
        Ok(arrived.messages)
    }

    /// Makes a client a reader of streams. Kept chunks are sent first.
    pub fn follow(
        &self,
        broker: &Broker,
        client: &Arc<Client>,
        filter: &str,
        options: Options,
        post: &mut Post,
    ) {
        let Some(needs) = options.needs.filter(Needs::is_stream) else {
            return self.unfollow(client, filter);
        };
        let Some(packet_bytes_max) = client.outgoing().packet_bytes_max() else { return };
        self.begin_use(broker);
        let identifier = options.identifier;
        let topics = SelectionFilter::parse(filter).and_then(SelectionFilter::filter);
        let rights = client.narrowing(&broker.plan, Right::Stream, topics.unwrap_or(filter));
        let rights = rights.as_ref();
        let selection = Selection { filter, identifier, needs, packet_bytes_max, rights };
        let mut inner = self.lock();
        inner.clients.insert(client.key, Arc::clone(client));
        inner.streams.follow(client.key, &selection);
        broker.monitor.reached.add(Limit::Streams, inner.streams.take_unread());
        inner.serve(broker, client.key, post);
    }

    /// Ends a client's reading of streams by this filter, if it did.
    pub fn unfollow(&self, client: &Client, filter: &str) {
        if self.is_used() {
            self.lock().streams.unfollow(client.key, filter);
        }
    }

    /// Gives a client that has been sent everything the next chunks that it is behind with.
    #[inline]
    pub fn catch_up(&self, broker: &Broker, client: &Arc<Client>) {
        if client.behind.load(Ordering::Acquire) {
            self.serve_again(broker, client);
        }
    }

    fn serve_again(&self, broker: &Broker, client: &Arc<Client>) {
        let mut inner = self.lock();
        // Changed only under the lock, so that no request to be served is lost.
        client.behind.store(false, Ordering::Release);
        // The client's own task runs this; nobody needs to be woken.
        let mut post = Post::default();
        if inner.serve_some(broker, client, &mut post) {
            client.behind.store(true, Ordering::Release);
        }
    }
}

impl LockedStreams {
    /// Whether a stream has this name.
    pub fn has(&self, name: &str) -> bool {
        self.streams.catalog().index_of(name).is_some()
    }

    /// Gives a reader chunks that it is behind with; it gets the rest when its connection has written those.
    fn serve(&mut self, broker: &Broker, session: SessionKey, post: &mut Post) {
        let Some(client) = self.clients.get(&session).cloned() else { return };
        let behind = self.serve_some(broker, &client, post);
        if behind && !client.behind.swap(true, Ordering::AcqRel) {
            post.woken.push(client);
        }
    }

    /// Hands over as much as a reader takes now. Returns whether there is more.
    fn serve_some(&mut self, broker: &Broker, client: &Arc<Client>, post: &mut Post) -> bool {
        let Some(room) = client.outgoing().stream_room() else { return true };
        let Self { streams, packets, .. } = self;
        packets.clear();
        let ServedChunks { chunks, lost, has_more } = streams.take(client.key, room, packets);
        post.push_packets(broker, client, packets);
        broker.streams.unlocked.delivered.fetch_add(chunks, Relaxed);
        if lost > 0 {
            broker.streams.unlocked.lost.fetch_add(lost, Relaxed);
            let messages = u32::try_from(lost).unwrap_or(u32::MAX);
            let limit = Some(Limit::OutboxBytes);
            broker.monitor.count_dropped(client, Dropped { limit, messages, wake: false });
        }
        has_more
    }
}
