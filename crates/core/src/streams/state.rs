//! The state of all streams: accepts chunks, keeps the newest of each stream, and sends them to readers in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipring_wire::frame::RangeSet;
use slipring_wire::{Packet, PropertiesBuf, PropertyId, Publish, Value, Version};

use super::catalog::{Catalog, StreamEntry};
use super::declare::StreamsChange;
use super::readers::{DueChunk, StreamReaders, is_match};
use super::ring::{Chunk, Ring};
use crate::access::{ClientRights, Right};
use crate::desk::{ChangeEvent, ChangeMessages};
use crate::ledger::StreamRecord;
use crate::publishers::Publishers;
use crate::table::{Deliver, Selection, TIME_PROPERTY, time_text};
use crate::{SessionKey, StreamIndex};

/// The streams: their definitions, their buffers, their publishers and their readers.
#[derive(Debug)]
pub struct Streams {
    pub(super) catalog: Catalog,
    pub(super) rings: BTreeMap<StreamIndex, Ring>,
    pub(super) publishers: Publishers<StreamIndex>,
    pub(super) readers: StreamReaders,
    /// The number of this run of the broker. It tells readers that sequences have begun again.
    run: u32,
    pub(super) revision: u64,
    /// How many chunks have arrived, of all streams.
    arrivals: u64,
    /// Scratch buffer for the properties of a packet.
    properties: PropertiesBuf,
}

/// What follows from a chunk that was accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkArrival {
    /// The sessions that are to get the chunk.
    pub readers: Vec<SessionKey>,
    /// The messages that announce that the stream is live again, if it is.
    pub messages: ChangeMessages,
}

/// How many bytes of chunks a reader can be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkBudget {
    /// About so many: the last chunk may exceed this.
    pub bytes: usize,
    /// Never more than this. A chunk that does not fit is sent next time.
    pub most: usize,
}

/// What a reader was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServedChunks {
    /// How many chunks.
    pub chunks: u64,
    /// How many chunks it missed: they were dropped from the buffer before, or are too large for its packets.
    pub lost: u64,
    /// Whether more chunks wait for it.
    pub has_more: bool,
}

/// Why a chunk was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ChunkRefused {
    #[error("{name} is a stream, and this client has not declared it; declare it first")]
    NotDeclared { name: Arc<str> },
    #[error("the chunk has {bytes} bytes, and the buffer of {name} has {most} (buffer_bytes)")]
    TooLarge { name: Arc<str>, bytes: usize, most: usize },
    #[error("the user property `time` is not a whole number of nanoseconds since 1970")]
    Time,
}

impl Streams {
    /// The streams that the journal knows. They have no publishers yet, and their buffers are empty.
    pub fn new(catalog: Catalog, run: u32) -> Self {
        let buffer = |(index, entry): (StreamIndex, &StreamEntry)| (index, ring_of(entry));
        Self {
            rings: catalog.iter_from(StreamIndex::new(0)).map(buffer).collect(),
            catalog,
            publishers: Publishers::default(),
            readers: StreamReaders::default(),
            run,
            revision: 0,
            arrivals: 0,
            properties: PropertiesBuf::new(),
        }
    }

    /// The definitions of the streams.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The buffer of a stream.
    pub fn ring(&self, index: StreamIndex) -> Option<&Ring> {
        self.rings.get(&index)
    }

    /// How often the streams changed in this run.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// How many subscriptions select streams.
    pub fn readers(&self) -> usize {
        self.readers.len()
    }

    /// The bytes in all buffers.
    pub fn bytes(&self) -> usize {
        self.rings.values().map(Ring::bytes).sum()
    }

    /// Frees memory: each buffer keeps only its newest chunks, within so many bytes.
    pub fn shrink(&mut self, bytes: usize) {
        self.rings.values_mut().for_each(|ring| ring.shrink(bytes));
    }

    pub(super) fn revise(&mut self, change: &StreamsChange) {
        self.revision += u64::from(change.is_recorded());
    }

    /// Creates or resizes the buffer of a stream that was declared; a new stream gets its readers.
    pub(super) fn take_in(&mut self, index: StreamIndex) {
        let Some(entry) = self.catalog.get(index) else { return };
        if let Some(ring) = self.rings.get_mut(&index) {
            return ring.resize(entry.definition.buffer_bytes);
        }
        self.rings.insert(index, ring_of(entry));
        for subscription in self.readers.matching(&entry.name) {
            self.readers.add(subscription, index, 0, None);
        }
    }

    /// How often there was no room to remember a reader's position in a stream, since the last call.
    pub fn take_unread(&mut self) -> u64 {
        std::mem::take(&mut self.readers.unread)
    }

    pub(super) fn take_out(&mut self, index: StreamIndex) -> Option<StreamEntry> {
        let gone = self.catalog.remove(index)?;
        self.rings.remove(&index);
        self.publishers.forget(&one(index));
        self.readers.forget(index);
        Some(gone)
    }

    /// Accepts a chunk that a session published.
    pub fn push(
        &mut self,
        session: SessionKey,
        stream: StreamIndex,
        message: &Publish<'_>,
        receive_ns: i64,
    ) -> Result<ChunkArrival, ChunkRefused> {
        let (Some(entry), Some(ring)) = (self.catalog.get(stream), self.rings.get_mut(&stream))
        else {
            return Ok(ChunkArrival::default()); // the stream was removed a moment ago
        };
        let name = || Arc::clone(&entry.name);
        let Some(is_live) = self.publishers.is_live(session, stream) else {
            return Err(ChunkRefused::NotDeclared { name: name() });
        };
        let (bytes, most) = (message.payload.len(), ring.bytes_max());
        if Chunk::cost(bytes) > most {
            return Err(ChunkRefused::TooLarge { name: name(), bytes, most });
        }
        let time_ns = match time_text(message.properties) {
            Some(text) => text.parse().map_err(|_| ChunkRefused::Time)?,
            None => receive_ns,
        };
        let media = match ring.newest() {
            Some(chunk) if *chunk.media == *entry.definition.media => Arc::clone(&chunk.media),
            _ => entry.definition.media.as_str().into(),
        };
        self.arrivals += 1;
        let (arrival, payload) = (self.arrivals, message.payload.into());
        ring.push(Chunk { sequence: 0, arrival, time_ns, media, payload }, receive_ns);
        let is_live_again =
            !is_live && !self.publishers.enter(session, "", &one(stream)).first.is_empty();
        let live = is_live_again.then(|| (stream, name()));
        let messages = self.announce(ChangeEvent::Live, live.as_slice());
        Ok(ChunkArrival { readers: self.readers.arrived(stream, self.arrivals), messages })
    }

    /// Adds a subscription that selects streams, as far as there is room.
    pub fn follow(&mut self, session: SessionKey, selection: &Selection<'_>) {
        let subscription = self.readers.enter(session, selection);
        let from_newest = selection.needs.deliver == (Deliver::Stream { newest: true });
        for (stream, entry) in self.catalog.iter_from(StreamIndex::new(0)) {
            let Some(ring) = self.rings.get(&stream) else { continue };
            let is_seen =
                selection.rights.is_none_or(|rights| rights.allow(Right::Stream, &entry.name));
            if !is_seen || !is_match(selection.filter, &entry.name) {
                continue;
            }
            let next = if from_newest { ring.next() } else { ring.first() };
            let arrival = ring.from(next).map(|chunk| chunk.arrival);
            self.readers.add(subscription, stream, next, arrival);
        }
    }

    /// The rights of a session have changed: its subscriptions read what they allow, each stream from where it was. A
    /// stream that is new to a subscription is read from its next chunk on.
    pub fn judge(&mut self, session: SessionKey, rights: &Arc<ClientRights>) {
        for number in self.readers.of(session) {
            self.readers.set_rights(number, rights);
            let Some(filter) = self.readers.get(number).map(|one| one.filter.clone()) else {
                continue;
            };
            for (stream, entry) in self.catalog.iter_from(StreamIndex::new(0)) {
                let is_seen =
                    is_match(&filter, &entry.name) && rights.allow(Right::Stream, &entry.name);
                match (is_seen, self.readers.reads(number, stream)) {
                    (false, true) => self.readers.take_away(number, stream),
                    (true, false) => {
                        let next = self.rings.get(&stream).map(Ring::next);
                        if let Some(next) = next {
                            self.readers.add(number, stream, next, None);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Ends a subscription; returns whether it selected streams.
    pub fn unfollow(&mut self, session: SessionKey, filter: &str) -> bool {
        self.readers.leave(session, filter)
    }

    /// Appends the next chunks for a session as packets, within its budget.
    pub fn take(
        &mut self,
        session: SessionKey,
        budget: ChunkBudget,
        out: &mut Vec<u8>,
    ) -> ServedChunks {
        let (mut served, start) = (ServedChunks::default(), out.len());
        while let Some(due) = self.readers.first(session) {
            let taken = out.len() - start;
            if taken > 0 && taken >= budget.bytes
                || !self.take_one(due, start + budget.most, &mut served, out)
            {
                served.has_more = true;
                break;
            }
        }
        served
    }

    /// Appends the next chunk for a reader; false if that would make `out` longer than `end`.
    fn take_one(
        &mut self,
        due: DueChunk,
        end: usize,
        served: &mut ServedChunks,
        out: &mut Vec<u8>,
    ) -> bool {
        let Self { catalog, rings, readers, properties, run, .. } = self;
        let (Some(entry), Some(ring)) = (catalog.get(due.stream), rings.get(&due.stream)) else {
            readers.forget(due.stream);
            return true;
        };
        let (Some(terms), Some(chunk)) = (readers.get(due.subscription), ring.from(due.next))
        else {
            readers.advance(due, ring.next(), None);
            return true;
        };
        chunk.properties(properties, *run, due.stream, terms.identifier);
        let start = out.len();
        let publish = Publish {
            properties: properties.borrow(),
            ..Publish::new(&entry.name, &chunk.payload)
        };
        Packet::Publish(publish).encode(Version::V5, out);
        let is_too_large = out.len() - start > terms.packet_bytes_max; // MQTT-3.1.2-25
        if is_too_large || out.len() > end {
            out.truncate(start);
        }
        if !is_too_large && out.len() == start {
            return false;
        }
        served.lost += chunk.sequence.saturating_sub(due.next) + u64::from(is_too_large);
        served.chunks += u64::from(!is_too_large);
        let next = chunk.sequence + 1;
        let arrival = ring.from(next).map(|chunk| chunk.arrival);
        readers.advance(due, next, arrival);
        true
    }
}

impl StreamEntry {
    /// Appends the record that declares it.
    pub(crate) fn record(&self, stream: StreamIndex, out: &mut Vec<u8>) {
        let definition = self.definition.to_json();
        StreamRecord::Declared { stream, name: &self.name, definition: &definition }.encode(out);
    }
}

impl Chunk {
    fn properties(
        &self,
        properties: &mut PropertiesBuf,
        run: u32,
        stream: StreamIndex,
        identifier: u32,
    ) {
        properties.clear();
        properties.push(PropertyId::ContentType, Value::Text(&self.media));
        if identifier > 0 {
            properties.push(PropertyId::SubscriptionIdentifier, Value::Varint(identifier));
        }
        let (sequence, time_ns) = (self.sequence.to_string(), self.time_ns.to_string());
        let run = format!("{run:08x}-{stream}");
        for (name, text) in [("seq", &sequence), (TIME_PROPERTY, &time_ns), ("run", &run)] {
            properties.push(PropertyId::UserProperty, Value::Pair(name, text));
        }
    }
}

fn ring_of(entry: &StreamEntry) -> Ring {
    Ring::new(entry.definition.buffer_bytes)
}

/// A set of this stream alone.
pub(super) fn one(stream: StreamIndex) -> RangeSet {
    std::iter::once(stream.get()).collect()
}
