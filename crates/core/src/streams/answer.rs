//! Answers about streams as JSON: what a client gets, and what is told to all who follow them.

use serde::Serialize;

use super::state::Streams;
use crate::StreamIndex;
use crate::desk::{ChangeMessages, json};

/// Streams in one message that tells of them, at most.
const TOLD_MAX: usize = 100;

/// What is told to those who follow the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamsEvent {
    /// Streams were added.
    Added,
    /// Their descriptions changed.
    Changed,
    /// They were removed.
    Removed,
    /// Nobody publishes them any more.
    Silent,
    /// Somebody publishes them again.
    Live,
}

#[derive(Serialize)]
pub(super) struct DeclaredStreams {
    pub revision: u64,
    pub indices: Vec<StreamIndex>,
}

#[derive(Serialize)]
pub(super) struct RemovedStreams {
    pub revision: u64,
    pub removed: usize,
}

#[derive(Serialize)]
pub(super) struct ListedStream<'a> {
    index: StreamIndex,
    name: &'a str,
    #[serde(flatten)]
    definition: &'a super::Definition,
    /// Whether somebody publishes it, and how many.
    live: bool,
    publishers: usize,
    /// The number of the oldest chunk that is kept, and of the next one.
    first: u64,
    next: u64,
    /// What the chunks that are kept count.
    bytes: usize,
    /// Bytes of all chunks since the start, and when the last one was received.
    received_bytes: u64,
    received_ns: Option<i64>,
}

impl Streams {
    pub(super) fn listed(&self, index: StreamIndex) -> Option<ListedStream<'_>> {
        let (entry, ring) = (self.catalog.get(index)?, self.rings.get(&index)?);
        Some(ListedStream {
            index,
            name: &entry.name,
            definition: &entry.definition,
            live: self.publishers.count(index) > 0,
            publishers: self.publishers.count(index),
            first: ring.first(),
            next: ring.next(),
            bytes: ring.bytes(),
            received_bytes: ring.received_bytes(),
            received_ns: ring.received_ns(),
        })
    }
}

/// The JSON that tells of an event, in as many messages as it takes.
pub fn told(
    revision: u64,
    event: StreamsEvent,
    streams: &[(StreamIndex, String)],
) -> ChangeMessages {
    #[derive(Serialize)]
    struct Message<'a> {
        revision: u64,
        event: StreamsEvent,
        indices: Vec<StreamIndex>,
        names: Vec<&'a str>,
    }
    let messages = streams.chunks(TOLD_MAX).map(|some| {
        let (indices, names) = some.iter().map(|(index, name)| (*index, &**name)).unzip();
        json(&Message { revision, event, indices, names })
    });
    messages.collect()
}
