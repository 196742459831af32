//! Answers about streams as JSON, and the messages that announce changes.

use std::sync::Arc;

use serde::Serialize;

use super::state::Streams;
use crate::StreamIndex;
use crate::desk::{ChangeEvent, ChangeMessages, json};

/// The most streams in one message that announces a change.
const ANNOUNCED_MAX: usize = 100;

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
    definition: &'a super::StreamDefinition,
    /// Whether a connected client publishes it, and how many do.
    live: bool,
    publishers: usize,
    /// The sequence of the oldest chunk in the buffer, and of the next chunk to arrive.
    first: u64,
    next: u64,
    /// The bytes of the buffer that are used.
    bytes: usize,
    /// The bytes of all chunks since the start, and when the last one was received.
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
            received_bytes: ring.received_bytes,
            received_ns: ring.received_ns,
        })
    }

    /// The messages that announce an event, as many as it takes.
    pub(super) fn announce(
        &self,
        event: ChangeEvent,
        streams: &[(StreamIndex, Arc<str>)],
    ) -> ChangeMessages {
        #[derive(Serialize)]
        struct Message<'a> {
            revision: u64,
            event: ChangeEvent,
            indices: Vec<StreamIndex>,
            names: Vec<&'a str>,
        }
        let messages = streams.chunks(ANNOUNCED_MAX).map(|some| {
            let (indices, names) = some.iter().map(|(index, name)| (*index, &**name)).unzip();
            json(&Message { revision: self.revision, event, indices, names })
        });
        messages.collect()
    }
}
