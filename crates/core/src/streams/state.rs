//! The state of all streams: takes chunks in, keeps the last of them, and hands them on in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipring_wire::frame::RangeSet;
use slipring_wire::{Packet, PropertiesBuf, PropertyId, Publish, Value, Version};

use super::answer::{StreamsEvent, told};
use super::catalog::{Catalog, StreamEntry};
use super::declare::StreamsChange;
use super::follows::{Due, Following, Follows, is_asked};
use super::ring::{Chunk, Ring};
use crate::desk::ChangeMessages;
use crate::ledger::StreamRecord;
use crate::publishers::Publishers;
use crate::table::TIME_PROPERTY;
use crate::{SessionKey, StreamIndex};

/// The streams: their definitions, their last chunks, who publishes and who reads them.
#[derive(Debug)]
pub struct Streams {
    pub(super) catalog: Catalog,
    pub(super) rings: BTreeMap<StreamIndex, Ring>,
    pub(super) publishers: Publishers<StreamIndex>,
    pub(super) follows: Follows,
    /// The number of this run of the broker: with it a reader knows numbers that began again.
    run: u32,
    pub(super) revision: u64,
    arrivals: u64,
    properties: PropertiesBuf,
}

/// What a chunk that was taken brings with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// The sessions that are to have it.
    pub readers: Vec<SessionKey>,
    /// What is to be told, as JSON: the stream may be live again.
    pub told: ChangeMessages,
}

/// What a reader takes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// About so many bytes: the last chunk may go beyond them.
    pub bytes: usize,
    /// Not beyond these; what has no room there stays for the next time.
    pub most: usize,
}

/// What was taken for a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serving {
    /// How many chunks.
    pub chunks: u64,
    /// How many it missed: they were gone when it came to them, or are larger than it takes.
    pub lost: u64,
    /// Whether there are more for it.
    pub more: bool,
}

/// Why a chunk was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ChunkRefused {
    #[error("{name} is a stream, and this client has not declared it; declare it first")]
    NotDeclared { name: Arc<str> },
    #[error("a chunk of {bytes} bytes, and the buffer of {name} has {most} (buffer_bytes)")]
    TooLarge { name: Arc<str>, bytes: usize, most: usize },
    #[error("the user property `time` is nanoseconds since 1970, a whole number")]
    Time,
}

impl Streams {
    /// With the streams that the journal knows. Nobody publishes yet, and the buffers are empty.
    pub fn new(catalog: Catalog, run: u32) -> Self {
        let buffer = |(index, entry): (StreamIndex, &StreamEntry)| (index, ring_of(entry));
        Self {
            rings: catalog.iter_from(StreamIndex::new(0)).map(buffer).collect(),
            catalog,
            publishers: Publishers::default(),
            follows: Follows::default(),
            run,
            revision: 0,
            arrivals: 0,
            properties: PropertiesBuf::new(),
        }
    }

    /// What there is.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The last chunks of a stream.
    pub fn ring(&self, index: StreamIndex) -> Option<&Ring> {
        self.rings.get(&index)
    }

    /// How often it changed in this run.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Subscriptions that choose streams.
    pub fn readers(&self) -> usize {
        self.follows.len()
    }

    /// Bytes in all buffers.
    pub fn bytes(&self) -> usize {
        self.rings.values().map(Ring::bytes).sum()
    }

    /// Memory is short: each buffer keeps its newest chunks, within so many bytes.
    pub fn shrink(&mut self, bytes: usize) {
        self.rings.values_mut().for_each(|ring| ring.shrink(bytes));
    }

    pub(super) fn revise(&mut self, change: &StreamsChange) {
        self.revision += u64::from(change.is_recorded());
    }

    /// A stream is new or has changed: its buffer and its readers follow.
    pub(super) fn take_in(&mut self, index: StreamIndex) {
        let Some(entry) = self.catalog.get(index) else { return };
        if let Some(ring) = self.rings.get_mut(&index) {
            return ring.resize(entry.definition.buffer_bytes);
        }
        self.rings.insert(index, ring_of(entry));
        for follow in self.follows.matching(&entry.name) {
            self.follows.add(follow, index, 0, None);
        }
    }

    /// How often a reader does not read a stream for want of room, since this was asked last.
    pub fn take_unread(&mut self) -> u64 {
        self.follows.take_unread()
    }

    pub(super) fn take_out(&mut self, index: StreamIndex) -> Option<StreamEntry> {
        let gone = self.catalog.remove(index)?;
        self.rings.remove(&index);
        self.publishers.forget(&one(index));
        self.follows.forget(index);
        Some(gone)
    }

    /// Takes a chunk of a session.
    pub fn push(
        &mut self,
        session: SessionKey,
        stream: StreamIndex,
        message: &Publish<'_>,
        receive_ns: i64,
    ) -> Result<Arrived, ChunkRefused> {
        let (Some(entry), Some(ring)) = (self.catalog.get(stream), self.rings.get_mut(&stream))
        else {
            return Ok(Arrived::default()); // it was removed a moment ago
        };
        let name = || Arc::clone(&entry.name);
        let Some(is_live) = self.publishers.is_live(session, stream) else {
            return Err(ChunkRefused::NotDeclared { name: name() });
        };
        let (bytes, most) = (message.payload.len(), ring.bytes_max());
        if Chunk::cost(bytes) > most {
            return Err(ChunkRefused::TooLarge { name: name(), bytes, most });
        }
        let time_ns = time_of(message)?.unwrap_or(receive_ns);
        let media = match ring.newest() {
            Some(chunk) if *chunk.media == *entry.definition.media => Arc::clone(&chunk.media),
            _ => entry.definition.media.as_str().into(),
        };
        self.arrivals += 1;
        let (arrival, payload) = (self.arrivals, message.payload.into());
        ring.push(Chunk { sequence: 0, arrival, time_ns, media, payload }, receive_ns);
        let told = if !is_live && !self.publishers.enter(session, "", &one(stream)).first.is_empty()
        {
            told(self.revision, StreamsEvent::Live, &[(stream, entry.name.to_string())])
        } else {
            ChangeMessages::new()
        };
        Ok(Arrived { readers: self.follows.arrived(stream, self.arrivals), told })
    }

    /// A session reads streams from now on, as far as there is room.
    pub fn follow(&mut self, session: SessionKey, following: &Following<'_>) {
        let follow = self.follows.enter(session, following);
        for (stream, entry) in self.catalog.iter_from(StreamIndex::new(0)) {
            let Some(ring) = self.rings.get(&stream) else { continue };
            if !is_asked(following.filter, &entry.name) {
                continue;
            }
            let next = if following.newest { ring.next() } else { ring.first() };
            let arrival = ring.from(next).map(|chunk| chunk.arrival);
            self.follows.add(follow, stream, next, arrival);
        }
    }

    /// A session does not read by this filter any more; whether it did.
    pub fn unfollow(&mut self, session: SessionKey, filter: &str) -> bool {
        self.follows.leave(session, filter)
    }

    /// A session of an earlier run has declared these, and its client is away: those that are still
    /// there are its own.
    pub fn restore_publisher(&mut self, session: SessionKey, declared: &RangeSet) {
        let is_there = |index: &u32| self.catalog.get(StreamIndex::new(*index)).is_some();
        self.publishers.restore(session, "", declared, self.catalog.end().get(), is_there);
    }

    /// Appends the next chunks for a session as packets, as far as it takes them now.
    pub fn take(&mut self, session: SessionKey, portion: Portion, out: &mut Vec<u8>) -> Serving {
        let (mut serving, start) = (Serving::default(), out.len());
        while let Some(due) = self.follows.first(session) {
            let taken = out.len() - start;
            if taken > 0 && taken >= portion.bytes
                || !self.take_one(due, start + portion.most, &mut serving, out)
            {
                serving.more = true;
                break;
            }
        }
        serving
    }

    /// Appends the next chunk for a reader; false if `out` would be longer than this with it.
    fn take_one(&mut self, due: Due, end: usize, serving: &mut Serving, out: &mut Vec<u8>) -> bool {
        let Self { catalog, rings, follows, properties, run, .. } = self;
        let (Some(entry), Some(ring)) = (catalog.get(due.stream), rings.get(&due.stream)) else {
            follows.forget(due.stream);
            return true;
        };
        let (Some(follow), Some(chunk)) = (follows.get(due.follow), ring.from(due.next)) else {
            follows.advance(due, ring.next(), None);
            return true;
        };
        chunk.properties(properties, *run, due.stream, follow.identifier);
        let start = out.len();
        let publish = Publish {
            properties: properties.borrow(),
            ..Publish::new(&entry.name, &chunk.payload)
        };
        Packet::Publish(publish).encode(Version::V5, out);
        let is_too_large = out.len() - start > follow.packet_bytes_max; // MQTT-3.1.2-25
        if is_too_large || out.len() > end {
            out.truncate(start);
        }
        if !is_too_large && out.len() == start {
            return false;
        }
        serving.lost += chunk.sequence.saturating_sub(due.next) + u64::from(is_too_large);
        serving.chunks += u64::from(!is_too_large);
        let next = chunk.sequence + 1;
        let arrival = ring.from(next).map(|chunk| chunk.arrival);
        follows.advance(due, next, arrival);
        true
    }
}

impl StreamEntry {
    /// Appends the record that it is there.
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

pub(super) fn one(stream: StreamIndex) -> RangeSet {
    std::iter::once(stream.get()).collect()
}

/// When the publisher says that a chunk was made.
fn time_of(message: &Publish<'_>) -> Result<Option<i64>, ChunkRefused> {
    let mut pairs = message.properties.iter().filter_map(|(_, value)| match value {
        Value::Pair(TIME_PROPERTY, text) => Some(text),
        _ => None,
    });
    pairs.next().map(|text| text.parse().map_err(|_| ChunkRefused::Time)).transpose()
}
